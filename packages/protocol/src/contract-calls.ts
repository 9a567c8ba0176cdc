/**
 * Calls of the venue's contracts, as data for the owner of a wallet to sign: how resolved tokens become collateral, and
 * what has to be approved before an order. Nothing here is sent. Addresses and selectors: wire reference 5.1, 5.6 and 6.4;
 * tests compare the encoding with a library's.
 */
import type { Address } from './address.ts';
import { bytesToHex, concatBytes, hexToBytes, uint256 } from './bytes.ts';
import { addressWord } from './eip712.ts';
import { POLYGON_EXCHANGES, type SignatureType } from './order.ts';
import { PROXY_FACTORY } from './wallets.ts';

export const PUSD = '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb' as Address;
export const CONDITIONAL_TOKENS = '0x4d97dcd97ec945f40cf65f87097ace5ea0476045' as Address;
/** Redeems for pUSD. The conditional tokens themselves would redeem pUSD for nothing, without an error. */
export const CTF_COLLATERAL_ADAPTER = '0xada100db00ca00073811820692005400218fce1f' as Address;
export const NEG_RISK_COLLATERAL_ADAPTER = '0xada2005600dec949baf300f4c6120000bdb6eaab' as Address;
/**
 * The adapter of the venue's first version. The relayer refuses calls of it since July 2026, and approvals of it are
 * reported to be asked for all the same before BUYs in neg-risk markets (August and September 2026).
 */
export const OLDER_NEG_RISK_ADAPTER = '0xd91e80cf2e7be2e162c6513ced06f1dd0da35296' as Address;

/** Contract of Protocol V2: holds its positions. */
export const POSITION_MANAGER = '0x006f54f7f9a22e0000cc2ab60031000000ae9fef' as Address;
/** Contract of Protocol V2: splits, merges and redeems its caller's positions. */
export const POSITION_ROUTER = '0x12121212006e4cd160d18e3f00711da5c3372600' as Address;

/** `redeem(bytes31,uint256,uint256)` */
const REDEEM_POSITION = '0xd217a3cc';
/** `redeemPositions(address,bytes32,bytes32,uint256[])` */
const REDEEM = '0x01b7037c';
/** `setApprovalForAll(address,bool)` */
const APPROVE_TOKENS = '0xa22cb465';
/** `approve(address,uint256)` */
const APPROVE_COLLATERAL = '0x095ea7b3';
/** `proxy((uint8,address,uint256,bytes)[])` */
const PROXY = '0x34ee9791';
/** `execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)` */
const SAFE_EXECUTE = '0x6a761202';

const MAX_UINT256 = 2n ** 256n - 1n;
const ZERO_WORD = new Uint8Array(32);
const PROXY_CALL_KIND = 1n;

/** A call that a wallet makes. */
export interface ContractCall {
  readonly to: Address;
  readonly data: `0x${string}`;
}

/** A call for the owner to sign: `from` pays the network and is the wallet itself, or its owner. */
export interface OwnerCall extends ContractCall {
  readonly from: Address;
}

/** Length, then the bytes filled up to whole words. */
const dynamicBytes = (bytes: Uint8Array): Uint8Array =>
  concatBytes(uint256(BigInt(bytes.length)), bytes, new Uint8Array((32 - (bytes.length % 32)) % 32));

const encoded = (selector: string, ...words: readonly Uint8Array[]): `0x${string}` =>
  bytesToHex(concatBytes(hexToBytes(selector), ...words));

/**
 * Where tokens of a market are redeemed.
 * @example
 * const spender = redemptionAdapter(true);
 */
export const redemptionAdapter = (negRisk: boolean): Address =>
  negRisk ? NEG_RISK_COLLATERAL_ADAPTER : CTF_COLLATERAL_ADAPTER;

/**
 * Burns everything that the caller holds of both outcomes, and pays pUSD.
 * @example
 * const { to, data } = redeemCall(conditionId, false);
 */
export function redeemCall(conditionId: string, negRisk: boolean): ContractCall {
  const outcomes = [uint256(2n), uint256(1n), uint256(2n)];
  return {
    to: redemptionAdapter(negRisk),
    data: encoded(
      REDEEM,
      addressWord(PUSD),
      ZERO_WORD,
      hexToBytes(conditionId),
      uint256(4n * 32n),
      ...outcomes,
    ),
  };
}

/**
 * Burns an amount of one position of the caller, and pays pUSD. A condition of 31 bytes is filled up as its id here is.
 * @example
 * const { to, data } = redeemPositionCall(conditionId, { outcome: 0, amount: 5_000_000n });
 */
export const redeemPositionCall = (
  conditionId: string,
  { outcome, amount }: { readonly outcome: 0 | 1; readonly amount: bigint },
): ContractCall => ({
  to: POSITION_ROUTER,
  data: encoded(REDEEM_POSITION, hexToBytes(conditionId), uint256(BigInt(outcome)), uint256(amount)),
});

/**
 * Approvals of a wallet: once before it can trade, and before it can redeem.
 * @example
 * for (const { to, data, spender } of approvalCalls()) console.log(spender, to, data);
 */
export function approvalCalls(): readonly (ContractCall & {
  readonly spender: Address;
  readonly asset: 'collateral' | 'tokens';
})[] {
  const spenders = [
    POLYGON_EXCHANGES.v2,
    POLYGON_EXCHANGES.v2NegRisk,
    CTF_COLLATERAL_ADAPTER,
    NEG_RISK_COLLATERAL_ADAPTER,
    POLYGON_EXCHANGES.v3,
    POSITION_ROUTER,
  ];
  const ofV2: readonly Address[] = [POLYGON_EXCHANGES.v3, POSITION_ROUTER];
  return spenders.flatMap((spender) => [
    {
      asset: 'collateral' as const,
      spender,
      to: PUSD,
      data: encoded(APPROVE_COLLATERAL, addressWord(spender), uint256(MAX_UINT256)),
    },
    {
      asset: 'tokens' as const,
      spender,
      // Approvals of one protocol's tokens do not count for the other's.
      to: ofV2.includes(spender) ? POSITION_MANAGER : CONDITIONAL_TOKENS,
      data: encoded(APPROVE_TOKENS, addressWord(spender), uint256(1n)),
    },
  ]);
}

/**
 * The approval of the older adapter, for an amount and no more. It is no part of {@link approvalCalls}: a contract that the
 * venue has retired may move money only where the wallet's owner expressly wants it to.
 * @example
 * const { to, data } = olderAdapterApprovalCall(25_000_000n);
 */
export const olderAdapterApprovalCall = (amount: bigint): ContractCall => ({
  to: PUSD,
  data: encoded(APPROVE_COLLATERAL, addressWord(OLDER_NEG_RISK_ADAPTER), uint256(amount)),
});

/**
 * The transaction of an owner that makes its wallet call. A deposit wallet takes no transaction of its owner: it executes
 * what the owner signs as a batch and the relayer delivers, so that its call stays as it is, `from` the wallet.
 * @example
 * const call = ownerCall({ eoa: owner, wallet: deriveSafeWallet(owner), type: 2 }, redeemCall(conditionId, false));
 */
export function ownerCall(
  owner: { readonly eoa: Address; readonly wallet: Address; readonly type: SignatureType },
  call: ContractCall,
): OwnerCall {
  const { eoa, wallet, type } = owner;
  if (type === 1) return { from: eoa, to: PROXY_FACTORY, data: proxyData(call) };
  if (type === 2) return { from: eoa, to: wallet, data: safeData(eoa, call) };
  return { from: wallet, ...call };
}

function proxyData({ to, data }: ContractCall): `0x${string}` {
  const call = concatBytes(
    uint256(PROXY_CALL_KIND),
    addressWord(to),
    ZERO_WORD,
    uint256(4n * 32n),
    dynamicBytes(hexToBytes(data)),
  );
  return encoded(PROXY, uint256(32n), uint256(1n), uint256(32n), call);
}

/** A Safe takes its only owner's own transaction as that owner's approval: no signature over a nonce is needed. */
function safeData(eoa: Address, { to, data }: ContractCall): `0x${string}` {
  const inner = dynamicBytes(hexToBytes(data));
  const approvedBySender = concatBytes(addressWord(eoa), ZERO_WORD, Uint8Array.of(1));
  const head = 10n * 32n;
  return encoded(
    SAFE_EXECUTE,
    addressWord(to),
    ZERO_WORD,
    uint256(head),
    ...new Array<Uint8Array>(6).fill(ZERO_WORD),
    uint256(head + BigInt(inner.length)),
    inner,
    dynamicBytes(approvedBySender),
  );
}
