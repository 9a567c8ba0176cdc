/**
 * How the owner of a wallet makes the wallet call contracts: the transactions that the owner's key signs and sends itself, and pays the
 * network for. Several calls of a contract wallet are one transaction, so that an approval and what needs it happen together or
 * not at all. Tests compare the encoding with a library's and with the venue's own client.
 */
import { type Address, addressToBytes, parseAddress } from './address.ts';
import { bytesToHex, concatBytes, hexToBytes, uint256 } from './bytes.ts';
import type { ContractCall } from './contract-calls.ts';
import { addressWord } from './eip712.ts';
import type { SignatureType } from './order.ts';
import { PROXY_FACTORY, signatureTypeOf } from './wallets.ts';

/** Makes a Safe call several contracts. It is the only contract that a wallet ever calls as a delegate. */
export const SAFE_MULTISEND = '0xa238cbeb142c10ef7ad8442c6d1f9e89e07e7761' as Address;

/** `proxy((uint8,address,uint256,bytes)[])` */
const PROXY = '0x34ee9791';
/** `execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)` */
const SAFE_EXECUTE = '0x6a761202';
/** `multiSend(bytes)` */
const MULTISEND = '0x8d80ff0a';

const ZERO_WORD = new Uint8Array(32);
const WORD = 32n;
const PROXY_CALL_KIND = 1n;
const PARTS_OF_PROXY_CALL = 4n;
const PARTS_OF_EXECUTION = 10n;

/** A wallet and the key that controls it. */
export interface WalletOwner {
  readonly eoa: Address;
  readonly wallet: Address;
  readonly type: SignatureType;
}

/** A transaction for the owner to sign: `from` pays the network and is the wallet itself, or its owner. */
export interface OwnerCall extends ContractCall {
  readonly from: Address;
}

/** A call of a Safe. `delegate` only with {@link SAFE_MULTISEND}. */
export interface SafeCall extends ContractCall {
  readonly operation: 'call' | 'delegate';
}

/**
 * The wallet of a key, with its type; `null`: it is none of the key's.
 * @example
 * const safe = ownerOf(owner, deriveSafeWallet(owner));
 */
export function ownerOf(eoa: Address, wallet: string): WalletOwner | null {
  const address = parseAddress(wallet);
  const type = address === null ? null : signatureTypeOf(eoa, address);
  return address === null || type === null ? null : { eoa, wallet: address, type };
}

/** Length, then the bytes filled up to whole words. */
const dynamicBytes = (bytes: Uint8Array): Uint8Array =>
  concatBytes(uint256(BigInt(bytes.length)), bytes, new Uint8Array((32 - (bytes.length % 32)) % 32));

const encoded = (selector: string, ...words: readonly Uint8Array[]): `0x${string}` =>
  bytesToHex(concatBytes(hexToBytes(selector), ...words));

/**
 * The transactions of an owner that make its wallet call. A deposit wallet takes no transaction of its owner: it executes what the
 * owner signs as a batch and the relayer delivers, so that its calls stay as they are, `from` the wallet.
 * @throws RangeError without a call
 * @example
 * const safe = { eoa: owner, wallet: deriveSafeWallet(owner), type: 2 as const };
 * const transactions = ownerCalls(safe, [redeemCall(conditionId, false)]);
 */
export function ownerCalls({ eoa, wallet, type }: WalletOwner, calls: readonly ContractCall[]): OwnerCall[] {
  if (calls.length === 0) throw new RangeError('there is no call to make');
  if (type === 1) return [{ from: eoa, to: PROXY_FACTORY, data: proxyData(calls) }];
  if (type === 2) return [{ from: eoa, to: wallet, data: executionOf(eoa, safeCall(calls)) }];
  return calls.map((call) => ({ from: wallet, ...call }));
}

/**
 * Data of the call of the factory that makes its caller's proxy wallet call.
 * @example
 * const data = proxyData([splitCall({ conditionId, negRisk: false }, 5_000_000n)]);
 */
export function proxyData(calls: readonly ContractCall[]): `0x${string}` {
  const encodedCalls = calls.map(({ to, data }) =>
    concatBytes(
      uint256(PROXY_CALL_KIND),
      addressWord(to),
      ZERO_WORD,
      uint256(PARTS_OF_PROXY_CALL * WORD),
      dynamicBytes(hexToBytes(data)),
    ),
  );
  let offset = BigInt(calls.length) * WORD;
  const offsets = encodedCalls.map(({ length }) => {
    const word = uint256(offset);
    offset += BigInt(length);
    return word;
  });
  return encoded(PROXY, uint256(WORD), uint256(BigInt(calls.length)), ...offsets, ...encodedCalls);
}

/**
 * One call of a Safe: the call itself, or several through the pinned multisend.
 * @throws RangeError without a call
 * @example
 * const { to, data, operation } = safeCall([...approvalCalls(), redeemCall(conditionId, false)]);
 */
export function safeCall(calls: readonly ContractCall[]): SafeCall {
  const [only, ...others] = calls;
  if (only === undefined) throw new RangeError('there is no call to make');
  if (others.length === 0) return { to: only.to, data: only.data, operation: 'call' };
  const packed = calls.map(({ to, data }) => {
    const bytes = hexToBytes(data);
    // The operation (0: call), the target, no value, the length, the data.
    return concatBytes(Uint8Array.of(0), addressToBytes(to), ZERO_WORD, uint256(BigInt(bytes.length)), bytes);
  });
  return {
    to: SAFE_MULTISEND,
    data: encoded(MULTISEND, uint256(WORD), dynamicBytes(concatBytes(...packed))),
    operation: 'delegate',
  };
}

/** A Safe takes its only owner's own transaction as that owner's approval: no signature over a nonce is needed. */
function executionOf(eoa: Address, { to, data, operation }: SafeCall): `0x${string}` {
  const inner = dynamicBytes(hexToBytes(data));
  const approvedBySender = concatBytes(addressWord(eoa), ZERO_WORD, Uint8Array.of(1));
  const head = PARTS_OF_EXECUTION * WORD;
  return encoded(
    SAFE_EXECUTE,
    addressWord(to),
    ZERO_WORD,
    uint256(head),
    uint256(operation === 'call' ? 0n : 1n),
    // Gas, price, token and receiver of a refund: there is none.
    ...new Array<Uint8Array>(5).fill(ZERO_WORD),
    uint256(head + BigInt(inner.length)),
    inner,
    dynamicBytes(approvedBySender),
  );
}
