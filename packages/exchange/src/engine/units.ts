/**
 * Amounts inside the engine: micro-units as doubles, which are exact below 2^53 (9 billion collateral). Outside the
 * engine an amount is a bigint; this file is the border, and the only place that makes a `Units` (docs/decisions/paper-exchange.md).
 *
 * One order and its parts are `Units`: the size is refused above the limit, and every part is proved to be at most the
 * size (amounts.ts). Sums over many orders have no such bound and are cells: two neighbouring elements of a
 * Float64Array that hold low + high × 2^53, exact up to 2^106.
 */
import type { Micro } from '@bellwether/contract/decimals';

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
