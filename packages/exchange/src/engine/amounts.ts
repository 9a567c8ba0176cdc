/**
 * Amounts inside the engine, and all of its arithmetic: sums, costs, fees. Pure integer maths; all rounding of the
 * exchange is in this file.
 *
 * Amounts are micro-units as doubles, which are exact below 2^53 (9 billion collateral). Outside the engine an amount
 * is a bigint; this file is the border, and the only place that makes a `Units` (docs/decisions/paper-exchange.md).
 *
 * One order and its parts are `Units`: the size is refused above the limit, and every part is proved to be at most the
 * size (see the arithmetic below). Sums over many orders have no such bound and are cells: two neighbouring elements of
 * a Float64Array that hold low + high × 2^53, exact up to 2^106.
 */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import type { MarketSpec, MatchKind, NewOrder } from './commands.ts';

declare const unit: unique symbol;
/** A whole number of micro-units, 0 to 2^53 − 1. */
export type Units = number & { readonly [unit]: 'micro' };

export const NOTHING = 0 as Units;
export const MOST_UNITS = Number.MAX_SAFE_INTEGER as Units;
const LIMIT = 2 ** 53;
const LIMIT_MICRO = BigInt(LIMIT);

/** `amount`, or the limit where it is above. A negative amount gives a negative number: callers check the sign first. */
export const clampedUnits = (amount: Micro): Units => Math.min(Number(amount), MOST_UNITS) as Units;

/** @throws RangeError for an amount that is negative or above the limit */
export function unitsOf(amount: Micro): Units {
  const value = Number(amount);
  if (!(value >= 0 && value <= MOST_UNITS)) throw new RangeError(`${amount} is no amount of the engine`);
  return value as Units;
}

/** @throws Error where arithmetic left the exact range or went below zero: only a bug can cause it */
export function checked(value: number, what: string): Units {
  if (value >= 0 && value <= MOST_UNITS) return value as Units;
  throw new Error(`engine bug: ${what} would become ${value}`);
}

/** Both are at most 2^53 − 1, so a sum that is not exact exceeds the limit and is found. */
export const plus = (a: Units, b: Units): Units => checked(a + b, 'a sum');
export const minus = (a: Units, b: Units): Units => checked(a - b, 'a difference');
export const least = (a: Units, b: Units): Units => (a < b ? a : b);

export const microOf = (amount: Units): Micro => (amount === 0 ? 0n : BigInt(amount));

/** Elements of a cell. */
export const CELL = 2;

export function addTo(cells: Float64Array, at: number, amount: Units): void {
  const sum = cells[at]! + amount;
  if (sum < LIMIT) {
    cells[at] = sum;
    return;
  }
  // The sum may not be exact; the difference is, because it is small.
  cells[at] = cells[at]! - LIMIT + amount;
  cells[at + 1]! += 1;
}

/** @throws Error that names `what` where the cell would go below zero: only a bug can cause it */
export function takeFrom(cells: Float64Array, at: number, amount: Units, what: string): void {
  const rest = cells[at]! - amount;
  if (rest >= 0) {
    cells[at] = rest;
    return;
  }
  if (cells[at + 1] === 0) throw new Error(`engine bug: ${what} would become ${rest}`);
  cells[at] = rest + LIMIT;
  cells[at + 1]! -= 1;
}

export const isEmpty = (cells: Float64Array, at: number): boolean => cells[at] === 0 && cells[at + 1] === 0;

export const covers = (cells: Float64Array, at: number, amount: Units): boolean =>
  cells[at]! >= amount || cells[at + 1]! > 0;

export function microAt(cells: Float64Array, at: number): Micro {
  const low = microOf(cells[at]! as Units);
  return cells[at + 1] === 0 ? low : BigInt(cells[at + 1]!) * LIMIT_MICRO + low;
}

/** Sets any size. @throws Error that names `what` below zero */
export function setMicro(cells: Float64Array, at: number, amount: Micro, what: string): void {
  if (amount < 0n) throw new Error(`engine bug: ${what} would become ${amount}`);
  cells[at] = Number(amount % LIMIT_MICRO);
  cells[at + 1] = Number(amount / LIMIT_MICRO);
}

/** Adds an amount of any size and sign. @throws Error that names `what` where the cell would go below zero */
export const changeMicro = (cells: Float64Array, at: number, change: Micro, what: string): void =>
  setMicro(cells, at, microAt(cells, at) + change, what);

// The arithmetic: the cost of a fill, the fee, the size that a budget buys.
//
// Rounding. A maker's side of a fill is floor(size × price): the floors of the parts never exceed the floor of
// the whole, so a resting BUY that holds floor(remaining × limit) can always pay. The taker's side follows from
// conservation. COMPLEMENTARY: the same figure. MINT: size − floor(size × maker's price), which is
// ceil(size × taker's price), so a MINT may cost a taker one micro-unit more than its price implies; it comes out of
// the order's budget (see `affordable`), never on top of it. MERGE: the same expression, in the taker's favour.
//
// Exactness. For whole numbers n and d with n + d ≤ 2^53, Math.floor(n / d) is the exact quotient: where n / d is
// below a whole number, it is so by 1/d at least, which is more than the division's rounding error. A product that
// could exceed 2^53 is split, or computed as a bigint. Results are at most the size, except `affordable`, which is
// clamped, because it is only compared with sizes.

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

// The taker's fees by price. Markets with the same terms share one schedule, so that its shares stay in the processor's
// cache. Terms come from listings, never from those who trade, and are few.

type ScheduleTerms = Pick<MarketSpec, 'feeRate' | 'feeExponent' | 'tickSize'>;

export class FeeSchedule {
  readonly #terms: ScheduleTerms;
  readonly #shares: (FeeShare | undefined)[];

  constructor(terms: ScheduleTerms) {
    this.#terms = terms;
    this.#shares = new Array(PIPS / terms.tickSize + 1).fill(undefined);
  }

  at(tick: number): FeeShare {
    let share = this.#shares[tick];
    if (share === undefined) {
      const { feeRate, feeExponent, tickSize } = this.#terms;
      share = new FeeShare(feeRate, feeExponent, tick * tickSize);
      this.#shares[tick] = share;
    }
    return share;
  }
}

export class FeeSchedules {
  readonly #byTerms = new Map<string, FeeSchedule>();

  /** Schedule of valid terms. */
  of({ feeRate, feeExponent, tickSize }: ScheduleTerms): FeeSchedule {
    const key = `${feeRate} ${feeExponent} ${tickSize}`;
    let schedule = this.#byTerms.get(key);
    if (schedule === undefined) {
      schedule = new FeeSchedule({ feeRate, feeExponent, tickSize });
      this.#byTerms.set(key, schedule);
    }
    return schedule;
  }
}
