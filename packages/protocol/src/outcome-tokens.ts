/**
 * Which tokens the two outcomes of a condition are: computed as the venue's contracts compute them, so that no desk has to be
 * believed. A collection is a point on the curve of the precompiled contracts, found from the condition and the outcome; a
 * token is its hash with the collateral that backs it. A market that excludes others is backed by wrapped collateral. The ids of
 * Protocol V2 need none of that: they name their condition.
 */
import { type Address, addressToBytes } from './address.ts';
import { bytesToHex, concatBytes, hexToBytes, uint256 } from './bytes.ts';
import { keccak256 } from './keccak.ts';
import { positionIds } from './position-ids.ts';

/** Collateral of the tokens of an ordinary market. */
export const USDC_E = '0x2791bca1f2de4661ed88a30c99a7a9449aa84174' as Address;
/** Collateral of the tokens of a market that excludes others: wrapped by the neg-risk adapter. */
export const WRAPPED_COLLATERAL = '0x3a3bd7bb9528e159577f7c2e685cc81a765002e2' as Address;

/** Prime of the field over which the curve y² = x³ + 3 is defined (alt_bn128). */
const P = 21888242871839275222246405745257275088696311157297823662689037894645226208583n;
const CURVE_B = 3n;
const TOP_BIT = 255n;
const PARITY_BIT = 1n << 254n;
const CONDITION = /^0x[0-9a-f]{64}$/i;

const toNumber = (bytes: Uint8Array): bigint => BigInt(bytesToHex(bytes));

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % P;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}

/** @param indexSet 1 for the first outcome, 2 for the second */
function collectionOf(conditionId: string, indexSet: bigint): bigint {
  const hash = toNumber(keccak256(concatBytes(hexToBytes(conditionId), uint256(indexSet))));
  const isOdd = hash >> TOP_BIT === 1n;
  for (let x = (hash + 1n) % P; ; x = (x + 1n) % P) {
    const squared = (x * x * x + CURVE_B) % P;
    const root = power(squared, (P + 1n) / 4n);
    if ((root * root) % P !== squared) continue;
    const y = ((root & 1n) === 1n) === isOdd ? root : P - root;
    return (y & 1n) === 1n ? x ^ PARITY_BIT : x;
  }
}

const tokenOf = (collateral: Address, collection: bigint): string =>
  toNumber(keccak256(concatBytes(addressToBytes(collateral), uint256(collection)))).toString();

/** Computing one costs half a millisecond; programs ask for the same few. */
const known = new Map<string, readonly [yes: string, no: string]>();
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
  let tokens = known.get(key);
  if (tokens === undefined) {
    const collateral = negRisk ? WRAPPED_COLLATERAL : USDC_E;
    const of = (indexSet: bigint) => tokenOf(collateral, collectionOf(conditionId, indexSet));
    tokens = [of(1n), of(2n)];
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(key, tokens);
  }
  return tokens;
}
