/**
 * Ids of outcome tokens. Those of the venue's Protocol V2: a position is one number that says everything about itself,
 * from the highest bits down: module 8, base hash 128, arity 16, reserved 64 (zero), chain 16 (0 is Polygon),
 * condition index 16, outcome 8. Without the outcome it is the condition (31 bytes), without the condition index too
 * it is the event (29 bytes). Where the venue writes 32 bytes it appends zeros; this code base keeps condition ids in
 * that form alone, so that one market never has two names.
 */

import { type Address, addressToBytes } from './accounts.ts';
import { bytesToHex, concatBytes, hexToBytes, parseHex, uint256 } from './bytes.ts';
import { keccak256 } from './keccak.ts';

/** 1: one question of its own. 2: questions of which exactly one comes true; the last of them is the synthetic "Other". */
export type PositionModule = 1 | 2;

export interface PositionCondition {
  readonly module: PositionModule;
  /** 128 bits. */
  readonly baseHash: bigint;
  /** Questions that have a name; 0 for module 1. */
  readonly arity: number;
  /** 0 to `arity`: the last one is "Other". 0 for module 1. */
  readonly index: number;
}

export interface PositionId extends PositionCondition {
  readonly outcome: 'YES' | 'NO';
}

const MODULE_SHIFT = 248n;
const HASH_SHIFT = 120n;
const ARITY_SHIFT = 104n;
const INDEX_SHIFT = 8n;
const HASH_MASK = (1n << 128n) - 1n;
const BYTE = 0xffn;
const SHORT = 0xffffn;
/** Reserved bits and the chain, which is Polygon's wherever this service trades. */
const ZERO_MASK = ((1n << 80n) - 1n) << 24n;

const PADDED_CONDITION = /^0x[0-9a-f]{62}00$/i;
const SHORT_CONDITION = /^0x[0-9a-f]{62}$/i;

/**
 * `null`: not a position of a module that is traded here. The ids of V1 tokens are hashes and never have this layout.
 * @example
 * const position = parsePositionId(fields.tokenId);
 */
export function parsePositionId(id: bigint): PositionId | null {
  if ((id & ZERO_MASK) !== 0n || id >> 256n !== 0n) return null;
  const module = id >> MODULE_SHIFT;
  const arity = Number((id >> ARITY_SHIFT) & SHORT);
  const index = Number((id >> INDEX_SHIFT) & SHORT);
  const outcome = id & BYTE;
  if (outcome > 1n) return null;
  const fits = module === 1n ? arity === 0 && index === 0 : module === 2n && arity >= 2 && index <= arity;
  if (!fits) return null;
  return {
    module: module === 1n ? 1 : 2,
    baseHash: (id >> HASH_SHIFT) & HASH_MASK,
    arity,
    index,
    outcome: outcome === 0n ? 'YES' : 'NO',
  };
}

/**
 * Whether a token is a position of Protocol V2: its orders are for ExchangeV3 then.
 * @example
 * const isProtocolV2 = isPositionId(fields.tokenId);
 */
export const isPositionId = (id: bigint): boolean => (id & ZERO_MASK) === 0n && parsePositionId(id) !== null;

/**
 * @throws RangeError for parts that are no condition of their module
 * @example
 * const position = parsePositionId(fields.tokenId);
 * const condition = position === null ? null : conditionIdOf(position);
 */
export function conditionIdOf({ module, baseHash, arity, index }: PositionCondition): `0x${string}` {
  const id =
    (BigInt(module) << MODULE_SHIFT) |
    (baseHash << HASH_SHIFT) |
    (BigInt(arity) << ARITY_SHIFT) |
    (BigInt(index) << INDEX_SHIFT);
  if (baseHash < 0n || baseHash > HASH_MASK || parsePositionId(id) === null)
    throw new RangeError('these parts are no condition of Protocol V2');
  return padded(id >> 8n, 62);
}

const padded = (value: bigint, digits: 62 | 58): `0x${string}` =>
  `0x${value.toString(16).padStart(digits, '0').padEnd(64, '0')}`;

/**
 * The event of a condition, 29 bytes filled up to 32. `null`: not a condition of Protocol V2.
 * @example
 * const eventId = eventIdOf(conditionId);
 */
export const eventIdOf = (conditionId: string): `0x${string}` | null =>
  positionIds(conditionId) === null ? null : padded(BigInt(conditionIdOfBothWidths(conditionId)) >> 24n, 58);

/**
 * All conditions of the event that a condition belongs to, itself among them, in their order. `null`: it excludes no others.
 * @example
 * const all = conditionsOfEvent(conditionId) ?? [];
 */
export function conditionsOfEvent(conditionId: string): readonly `0x${string}`[] | null {
  const [yes] = positionIds(conditionId) ?? [];
  const position = yes === undefined ? null : parsePositionId(BigInt(yes));
  if (position?.module !== 2) return null;
  return Array.from({ length: position.arity + 1 }, (_, index) => conditionIdOf({ ...position, index }));
}

/**
 * The condition id of 32 bytes, for either width that the venue writes. Any other text comes back as it is: it names no condition of
 * Protocol V2, and its reader refuses it.
 * @example
 * const whole = conditionIdOfBothWidths(conditionId);
 */
export const conditionIdOfBothWidths = (text: string): string =>
  SHORT_CONDITION.test(text) ? `${text.toLowerCase()}00` : text;

/**
 * 31 bytes, as the venue's catalogue and contracts take it. Any other text comes back as it is.
 * @example
 * const short = shortConditionId(conditionId);
 */
export const shortConditionId = (conditionId: string): string =>
  positionIds(conditionId) === null ? conditionId : conditionIdOfBothWidths(conditionId).slice(0, 64);

/**
 * The [YES, NO] positions of a condition in either width; `null` for what is no condition of Protocol V2.
 * @example
 * const [yes, no] = positionIds(conditionId) ?? [];
 */
export function positionIds(conditionId: string): readonly [yes: string, no: string] | null {
  const whole = conditionIdOfBothWidths(conditionId);
  if (!PADDED_CONDITION.test(whole)) return null;
  const yes = BigInt(whole);
  return isPositionId(yes) ? [yes.toString(), (yes | 1n).toString()] : null;
}

/**
 * The condition of a position, 32 bytes; `null` for what is no position.
 * @example
 * const condition = conditionOfPosition(fields.tokenId);
 */
export const conditionOfPosition = (id: bigint): `0x${string}` | null =>
  isPositionId(id) ? padded(id >> 8n, 62) : null;

/**
 * The base hash of a question: low 128 bits of `keccak256(abi.encode(uint256 module, bytes data))`.
 * @example
 * const baseHash = positionBaseHash(1, '0x1234');
 */
export function positionBaseHash(module: PositionModule, data: string): bigint {
  const bytes = parseHex(data);
  if (bytes === null) throw new RangeError('the data of a question is hex');
  const hash = keccak256(
    concatBytes(
      uint256(BigInt(module)),
      uint256(64n),
      uint256(BigInt(bytes.length)),
      bytes,
      new Uint8Array((32 - (bytes.length % 32)) % 32),
    ),
  );
  return BigInt(bytesToHex(hash.subarray(16)));
}

// Which tokens the two outcomes of a condition are: computed as the venue's contracts compute them, so that no desk has to be
// believed. A collection is a point on the curve of the precompiled contracts, found from the condition and the outcome; a
// token is its hash with the collateral that backs it. A market that excludes others is backed by wrapped collateral. The ids of
// Protocol V2 need none of that: they name their condition.

/** Collateral of the tokens of an ordinary market. */
export const USDC_E = '0x2791bca1f2de4661ed88a30c99a7a9449aa84174' as Address;
/** Collateral of the tokens of a market that excludes others: wrapped by the neg-risk adapter. */
export const WRAPPED_COLLATERAL = '0x3a3bd7bb9528e159577f7c2e685cc81a765002e2' as Address;

/** Prime of the field over which the curve y² = x³ + 3 is defined (alt_bn128). */
const CURVE_P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const CURVE_B = 3n;
const TOP_BIT = 255n;
const PARITY_BIT = 1n << 254n;
const CONDITION = /^0x[0-9a-f]{64}$/i;

const toNumber = (bytes: Uint8Array): bigint => BigInt(bytesToHex(bytes));

function powerModP(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % CURVE_P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % CURVE_P;
    square = (square * square) % CURVE_P;
  }
  return result;
}

/** @param indexSet 1 for the first outcome, 2 for the second */
function collectionOf(conditionId: string, indexSet: bigint): bigint {
  const hash = toNumber(keccak256(concatBytes(hexToBytes(conditionId), uint256(indexSet))));
  const isOdd = hash >> TOP_BIT === 1n;
  for (let x = (hash + 1n) % CURVE_P; ; x = (x + 1n) % CURVE_P) {
    const squared = (x * x * x + CURVE_B) % CURVE_P;
    const root = powerModP(squared, (CURVE_P + 1n) / 4n);
    if ((root * root) % CURVE_P !== squared) continue;
    const y = ((root & 1n) === 1n) === isOdd ? root : CURVE_P - root;
    return (y & 1n) === 1n ? x ^ PARITY_BIT : x;
  }
}

const tokenOf = (collateral: Address, collection: bigint): string =>
  toNumber(keccak256(concatBytes(addressToBytes(collateral), uint256(collection)))).toString();

/** Computing one costs half a millisecond; programs ask for the same few. */
const knownTokens = new Map<string, readonly [yes: string, no: string]>();
const MOST_KNOWN = 10_000;

/**
 * The [YES, NO] tokens of a condition, in decimal: its positions where it is one of Protocol V2, with any `negRisk`.
 * @throws RangeError for what is no condition id
 * @example
 * const [yes, no] = outcomeTokens(conditionId, false);
 */
export function outcomeTokens(conditionId: string, negRisk: boolean): readonly [yes: string, no: string] {
  const positions = positionIds(conditionId);
  if (positions !== null) return positions;
  if (!CONDITION.test(conditionId)) throw new RangeError('a condition id is 0x and 64 hex digits');
  const key = `${conditionId.toLowerCase()} ${negRisk}`;
  let tokens = knownTokens.get(key);
  if (tokens === undefined) {
    const collateral = negRisk ? WRAPPED_COLLATERAL : USDC_E;
    const of = (indexSet: bigint) => tokenOf(collateral, collectionOf(conditionId, indexSet));
    tokens = [of(1n), of(2n)];
    if (knownTokens.size >= MOST_KNOWN) knownTokens.clear();
    knownTokens.set(key, tokens);
  }
  return tokens;
}
