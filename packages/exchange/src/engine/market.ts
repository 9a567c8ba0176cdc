/** One market: its specification, its totals and its book. */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { Book } from './book.ts';
import type { FeeSchedules } from './fee-schedules.ts';
import type { Orders } from './orders.ts';
import type { MarketSpec, Payout, Side } from './types.ts';
import { addTo, CELL, changeMicro, MOST_UNITS, takeFrom, type Units } from './units.ts';

/** `closed`: no longer trading, outcome open. `resolved`: final. */
export type MarketStatus = 'open' | 'closed' | 'resolved';

/** Cells of `totals`. Tokens in existence, held or not; equal to each other until redemption starts. */
export const YES_SUPPLY = 0;
export const NO_SUPPLY = CELL;
/** Collateral behind the tokens. */
export const BACKING = 2 * CELL;
/** Collateral traded: the sum of the takers' costs. */
export const VOLUME = 3 * CELL;
const TOTALS = 4 * CELL;

/** In millionths: a fee is at most the size of its fill. */
const GREATEST_FEE_RATE = 1_000_000n;

export class Market {
  /** Number of the market in the engine; a number is used again after the archive. */
  readonly row: number;
  readonly spec: MarketSpec;
  readonly book: Book;
  readonly minOrderSize: Units;
  readonly totals = new Float64Array(TOTALS);
  status: MarketStatus = 'open';
  payout: Payout | undefined = undefined;
  /** YES price of the last match. */
  lastTrade: Pips | undefined = undefined;
  /** Its taker's side in terms of YES; unknown for trades of snapshot version 1. */
  lastTakerSide: Side | undefined = undefined;

  /** @throws RangeError for an impossible specification: a bug of the caller, not a refusal. */
  constructor(
    spec: MarketSpec,
    place: {
      readonly row: number;
      readonly orders: Orders;
      readonly fees: FeeSchedules;
      readonly at: number;
    },
  ) {
    const { conditionId, tickSize, feeRate, feeExponent, minOrderSize } = spec;
    if (!Number.isSafeInteger(tickSize) || tickSize <= 0 || tickSize === PIPS || PIPS % tickSize !== 0)
      throw new RangeError(`tick size ${tickSize} of market ${conditionId} does not divide the whole price`);
    if (!Number.isSafeInteger(feeExponent) || feeExponent < 0 || feeRate < 0n || feeRate > GREATEST_FEE_RATE)
      throw new RangeError(`fee ${feeRate}, ${feeExponent} of market ${conditionId} is no fee`);
    if (minOrderSize > BigInt(MOST_UNITS))
      throw new RangeError(`no order reaches the minimum ${minOrderSize} of market ${conditionId}`);
    this.row = place.row;
    this.spec = spec;
    this.minOrderSize = Number(minOrderSize) as Units;
    this.book = new Book(spec, place);
  }

  /** Makes (or, negative, unwinds) any number of full sets at one collateral each. */
  changeSets(change: Micro): void {
    changeMicro(this.totals, YES_SUPPLY, change, 'YES supply');
    changeMicro(this.totals, NO_SUPPLY, change, 'NO supply');
    changeMicro(this.totals, BACKING, change, 'backing');
  }

  /** Makes full sets for a match. */
  makeSets(amount: Units): void {
    addTo(this.totals, YES_SUPPLY, amount);
    addTo(this.totals, NO_SUPPLY, amount);
    addTo(this.totals, BACKING, amount);
  }

  unwindSets(amount: Units): void {
    takeFrom(this.totals, YES_SUPPLY, amount, 'YES supply');
    takeFrom(this.totals, NO_SUPPLY, amount, 'NO supply');
    takeFrom(this.totals, BACKING, amount, 'backing');
  }
}
