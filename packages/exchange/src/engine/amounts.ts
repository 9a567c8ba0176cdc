/**
 * The engine's arithmetic: the cost of a fill, the fee, the size that a budget buys. Pure integer maths; all rounding
 * of the exchange is in this file.
 *
 * Rounding. A maker's side of a fill is floor(size × price): the floors of the parts never exceed the floor of
 * the whole, so a resting BUY that holds floor(remaining × limit) can always pay. The taker's side follows from
 * conservation. COMPLEMENTARY: the same figure. MINT: size − floor(size × maker's price), which is
 * ceil(size × taker's price), so a MINT may cost a taker one micro-unit more than its price implies; it comes out of
 * the order's budget (see `affordable`), never on top of it. MERGE: the same expression, in the taker's favour.
 *
 * Exactness. For whole numbers n and d with n + d ≤ 2^53, Math.floor(n / d) is the exact quotient: where n / d is
 * below a whole number, it is so by 1/d at least, which is more than the division's rounding error. A product that
 * could exceed 2^53 is split, or computed as a bigint. Results are at most the size, except `affordable`, which is
 * clamped, because it is only compared with sizes.
 */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { MatchKind, NewOrder } from './types.ts';
import { clampedUnits, MOST_UNITS, NOTHING, type Units, unitsOf } from './units.ts';

const WHOLE = BigInt(PIPS);
/** Up to this budget, (budget + 1) × PIPS + PIPS is below 2^53. */
const PLAIN_BUDGET = Math.floor(MOST_UNITS / PIPS) - 2;

/** floor(size × price) in micro collateral. */
export function floorCost(size: Units, price: Pips): Units {
  // Whole tens of thousands apart, so that no product exceeds the size.
  const whole = Math.floor(size / PIPS);
  return (whole * price + Math.floor(((size - whole * PIPS) * price) / PIPS)) as Units;
}

/** The taker's cost or proceeds when the maker's side of the match is `makerCost`, which is at most `size`. */
export const takerCost = (kind: MatchKind, size: Units, makerCost: Units): Units =>
  kind === 'COMPLEMENTARY' ? makerCost : ((size - makerCost) as Units);

/**
 * The most micro-shares that cost a taker at most `budget` at `price`. When the budget is what limits a fill, the
 * fill spends it to the last micro-unit (price < 1, so one more micro-share costs at most one more unit).
 */
export function affordable(kind: MatchKind, budget: Units, price: Pips): Units {
  if (budget <= PLAIN_BUDGET) {
    const buys = kind === 'COMPLEMENTARY' ? (budget + 1) * PIPS - 1 : budget * PIPS;
    return Math.floor(buys / price) as Units;
  }
  const buys = kind === 'COMPLEMENTARY' ? (BigInt(budget) + 1n) * WHOLE - 1n : BigInt(budget) * WHOLE;
  return clampedUnits(buys / BigInt(price));
}

/** Most that an order may cost, without fees: the amount that its signer offered. */
export const budgetOf = (order: NewOrder): Micro =>
  spendsBudget(order) ? (order.spend ?? 0n) : (order.size * BigInt(order.limit)) / WHOLE;

export const isImmediate = (order: NewOrder): boolean =>
  order.timeInForce === 'FOK' || order.timeInForce === 'FAK';

/** True for a market BUY: limited by its money, not by its size. `spend` on any other order is ignored. */
export const spendsBudget = (order: NewOrder): boolean =>
  order.spend !== undefined && order.side === 'BUY' && isImmediate(order);

/** A taker's fee for each micro-share at one price, as a reduced fraction. */
export class FeeShare {
  readonly #numerator: bigint;
  readonly #denominator: bigint;
  /** Numerator and denominator as numbers; infinite where they are not exact. */
  readonly #top: number;
  readonly #bottom: number;

  /** rate × (p(1−p))^exponent, the same for a price and its mirror. The rate in millionths, at most a million. */
  constructor(rate: Micro, exponent: number, price: Pips) {
    const numerator = rate * (BigInt(price) * BigInt(PIPS - price)) ** BigInt(exponent);
    const denominator = 1_000_000n * (WHOLE * WHOLE) ** BigInt(exponent);
    const common = greatestCommonDivisor(numerator, denominator);
    this.#numerator = numerator / common;
    this.#denominator = denominator / common;
    this.#top = exactOrInfinite(this.#numerator);
    this.#bottom = exactOrInfinite(this.#denominator);
  }

  /** The fee for one fill, rounded up to a micro-unit: at most `size`, because the share is at most one. */
  of(size: Units): Units {
    if (this.#top === 0) return NOTHING;
    const product = size * this.#top;
    // A product that is not exact, or infinite, exceeds the limit.
    if (product + 2 * this.#bottom <= MOST_UNITS)
      return Math.floor((product + this.#bottom - 1) / this.#bottom) as Units;
    return unitsOf((BigInt(size) * this.#numerator + this.#denominator - 1n) / this.#denominator);
  }
}

const exactOrInfinite = (value: bigint): number =>
  value <= BigInt(MOST_UNITS) ? Number(value) : Number.POSITIVE_INFINITY;

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  let [left, right] = [a, b];
  while (right !== 0n) [left, right] = [right, left % right];
  return left;
}
