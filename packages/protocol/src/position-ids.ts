/**
 * Ids of the venue's Protocol V2. A position is one number that says everything about itself, from the highest bits down: module 8,
 * base hash 128, arity 16, reserved 64 (zero), chain 16 (0 is Polygon), condition index 16, outcome 8. Without the outcome it is the
 * condition (31 bytes), without the condition index too it is the event (29 bytes). Where the venue writes 32 bytes it appends zeros; this
 * code base keeps condition ids in that form alone, so that one market never has two names.
 */
import { bytesToHex, concatBytes, parseHex, uint256 } from './bytes.ts';
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
