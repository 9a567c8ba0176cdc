/**
 * Calls of the venue's contracts, as data for the owner of a wallet to sign: collateral into full sets and back, NO shares of a
 * question into YES shares of the others, resolved tokens into collateral, and what has to be approved before. They are made
 * of a person's intent and of addresses that are pinned here; nothing is sent. Addresses and selectors: wire reference 5.1,
 * 5.6 and 6.4; tests compare the encoding with a library's.
 */
import type { Address } from './address.ts';
import { addressToBytes } from './address.ts';
import { bytesToHex, concatBytes, hexToBytes, parseHex, uint256 } from './bytes.ts';
import { addressWord } from './eip712.ts';
import { keccak256 } from './keccak.ts';
import { POLYGON_EXCHANGES } from './order.ts';
import { eventIdOf, parsePositionId, positionIds } from './position-ids.ts';

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

/** `split(bytes31,uint256)` and `merge(bytes31,uint256)` */
const SETS_OF_ROUTER = { split: '0x82d3b9f1', merge: '0x5b63685e' } as const;
/** `convert(bytes29,uint16,uint256)` */
const CONVERT_POSITION = '0x9380f1c8';
/** `redeem(bytes31,uint256,uint256)` */
const REDEEM_POSITION = '0xd217a3cc';
/** `splitPosition(address,bytes32,bytes32,uint256[],uint256)` and `mergePositions(address,bytes32,bytes32,uint256[],uint256)` */
const SETS_OF_ADAPTER = { split: '0x72ce4275', merge: '0x9e7212ad' } as const;
/** `convertPositions(bytes32,uint256,uint256)` */
const CONVERT = '0xc64748c4';
/** `redeemPositions(address,bytes32,bytes32,uint256[])` */
const REDEEM = '0x01b7037c';
/** `setApprovalForAll(address,bool)` */
const APPROVE_TOKENS = '0xa22cb465';
/** `approve(address,uint256)` */
const APPROVE_COLLATERAL = '0x095ea7b3';

const MAX_UINT256 = 2n ** 256n - 1n;
const ZERO_WORD = new Uint8Array(32);
const OUTCOMES = 2n;
const CONDITION = /^0x[0-9a-f]{64}$/i;
const QUESTION_BYTES = 32;

/** A call that a wallet makes, without any of the chain's own money. */
export interface ContractCall {
  readonly to: Address;
  readonly data: `0x${string}`;
}

/** A market as its contracts know it. Its id alone says whether it is one of Protocol V2. */
export interface ContractMarket {
  /** 32 bytes, as this code base keeps it. */
  readonly conditionId: string;
  readonly negRisk: boolean;
}

const encoded = (selector: string, ...words: readonly Uint8Array[]): `0x${string}` =>
  bytesToHex(concatBytes(hexToBytes(selector), ...words));

const isOfV2 = ({ conditionId }: Pick<ContractMarket, 'conditionId'>): boolean =>
  positionIds(conditionId) !== null;

/** @throws RangeError */
function conditionBytes(conditionId: string): Uint8Array {
  if (!CONDITION.test(conditionId)) throw new RangeError('a condition id is 0x and 64 hex digits');
  return hexToBytes(conditionId);
}

/** @throws RangeError */
function amountWord(amount: bigint): Uint8Array {
  if (amount <= 0n) throw new RangeError('an amount is more than zero');
  return uint256(amount);
}

/**
 * The contract that moves a wallet's collateral and tokens when it splits, merges, converts or redeems: the one that both approvals
 * are for.
 * @example
 * const spender = positionContract({ conditionId, negRisk: false });
 */
export const positionContract = (market: ContractMarket): Address => {
  if (isOfV2(market)) return POSITION_ROUTER;
  return market.negRisk ? NEG_RISK_COLLATERAL_ADAPTER : CTF_COLLATERAL_ADAPTER;
};

/**
 * Takes so much pUSD of the caller, and gives it as many YES and NO shares.
 * @throws RangeError
 * @example
 * const { to, data } = splitCall({ conditionId, negRisk: false }, 5_000_000n);
 */
export const splitCall = (market: ContractMarket, amount: bigint): ContractCall =>
  setsCall('split', market, amount);

/**
 * Takes so many YES and NO shares of the caller, and gives it as much pUSD.
 * @throws RangeError
 * @example
 * const { to, data } = mergeCall({ conditionId, negRisk: false }, 5_000_000n);
 */
export const mergeCall = (market: ContractMarket, amount: bigint): ContractCall =>
  setsCall('merge', market, amount);

function setsCall(kind: 'split' | 'merge', market: ContractMarket, amount: bigint): ContractCall {
  const to = positionContract(market);
  const condition = conditionBytes(market.conditionId);
  if (isOfV2(market)) return { to, data: encoded(SETS_OF_ROUTER[kind], condition, amountWord(amount)) };
  // The list stands after the five words of the arguments.
  const head = [addressWord(PUSD), ZERO_WORD, condition, uint256(5n * 32n), amountWord(amount)];
  return { to, data: encoded(SETS_OF_ADAPTER[kind], ...head, ...INDEX_SETS) };
}

/** A list of both outcomes, each as a set of one. */
const INDEX_SETS: readonly Uint8Array[] = [uint256(OUTCOMES), uint256(1n), uint256(2n)];

/**
 * The condition of a question among those that exclude each other, in the venue's first contracts: by it a question is proved to be
 * the market's own.
 * @throws RangeError
 * @example
 * const questionId = `0x${'5f'.repeat(32)}`;
 * const isItsQuestion = negRiskConditionId(questionId) === conditionId;
 */
export function negRiskConditionId(questionId: string): `0x${string}` {
  const question = parseHex(questionId);
  if (question?.length !== QUESTION_BYTES) throw new RangeError('a question id is 0x and 64 hex digits');
  return bytesToHex(
    keccak256(concatBytes(addressToBytes(OLDER_NEG_RISK_ADAPTER), question, uint256(OUTCOMES))),
  );
}

/**
 * Takes so many NO shares of the caller in this market, and gives it as many YES shares of every other question of the event.
 * @param questionId of the market, which its event and its place there follow from; markets of Protocol V2 need none
 * @throws RangeError also for a question that is not the market's, and for a market that excludes no others
 * @example
 * const questionId = `0x${'5f'.repeat(32)}`;
 * const { to, data } = convertCall({ conditionId, negRisk: true }, 5_000_000n, questionId);
 */
export function convertCall(
  market: ContractMarket,
  amount: bigint,
  questionId: string | null = null,
): ContractCall {
  const to = positionContract(market);
  if (isOfV2(market)) {
    const position = parsePositionId(BigInt(market.conditionId));
    const event = eventIdOf(market.conditionId);
    if (position?.module !== 2 || event === null) throw new RangeError(NOT_EXCLUSIVE);
    return {
      to,
      data: encoded(CONVERT_POSITION, hexToBytes(event), uint256(BigInt(position.index)), amountWord(amount)),
    };
  }
  if (!market.negRisk) throw new RangeError(NOT_EXCLUSIVE);
  if (questionId === null) throw new RangeError('converting needs the question id of the market');
  if (negRiskConditionId(questionId) !== market.conditionId.toLowerCase())
    throw new RangeError('this question id is not the one of the market');
  // An event is the question ids of its markets without their last byte, which counts them.
  const eventBytes = hexToBytes(questionId);
  const index = eventBytes[QUESTION_BYTES - 1]!;
  eventBytes[QUESTION_BYTES - 1] = 0;
  return { to, data: encoded(CONVERT, eventBytes, uint256(1n << BigInt(index)), amountWord(amount)) };
}

const NOT_EXCLUSIVE = 'only a market whose outcome excludes others (neg-risk) can be converted';

/**
 * Burns everything that the caller holds of both outcomes, and pays pUSD.
 * @example
 * const { to, data } = redeemCall(conditionId, false);
 */
export const redeemCall = (conditionId: string, negRisk: boolean): ContractCall => ({
  to: negRisk ? NEG_RISK_COLLATERAL_ADAPTER : CTF_COLLATERAL_ADAPTER,
  data: encoded(
    REDEEM,
    addressWord(PUSD),
    ZERO_WORD,
    conditionBytes(conditionId),
    uint256(4n * 32n),
    ...INDEX_SETS,
  ),
});

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
  data: encoded(REDEEM_POSITION, conditionBytes(conditionId), uint256(BigInt(outcome)), amountWord(amount)),
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
