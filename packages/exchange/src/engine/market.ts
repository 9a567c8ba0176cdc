/** One market: its specification, its totals and its book. */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import {
  addTo,
  CELL,
  changeMicro,
  type FeeSchedule,
  type FeeSchedules,
  type FeeShare,
  MOST_UNITS,
  microAt,
  takeFrom,
  type Units,
} from './amounts.ts';
import type { Level, MarketSpec, Outcome, Payout, Side } from './commands.ts';
import { NEXT, NONE, type Orders, PREVIOUS, REMAINING, VALUE } from './orders.ts';
import { Rows } from './rows.ts';

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

// One market's unified book: every order is stored at its YES price (BUY NO at q is an ask at 1−q, SELL NO at q a
// bid at 1−q), best price first and oldest first within a price. It handles neither money nor balances.
//
// A price has bids or asks, never both, because a book is never crossed; so both sides share one array of levels
// indexed by tick, and each side has a bitmap of its non-empty ones. Levels are lists through the rows of the orders
// themselves: joining, leaving and finding the best are all O(1), or one short scan of the bitmap.

export const yesPrice = (outcome: Outcome, price: Pips): Pips => (outcome === 'YES' ? price : PIPS - price);

/** Eight-byte words of a level: two integers (its oldest and newest order), then a cell with the size that rests there. */
const WORDS = 1 + CELL;
const RESTING = 1;
const INTS = 2 * WORDS;
const OLDEST = 0;
const NEWEST = 1;

/** True when the order is on the bid side of the YES book. */
export const isBid = (outcome: Outcome, side: Side): boolean => (outcome === 'YES') === (side === 'BUY');

/** The non-empty levels of one side. */
export class BookSide {
  readonly bids: boolean;
  /** Index of the best level, or −1 when the side is empty. */
  best = -1;
  readonly #bitmap: Int32Array;

  constructor(bids: boolean, ticks: number) {
    this.bids = bids;
    this.#bitmap = new Int32Array((ticks >> 5) + 1);
  }

  add(index: number): void {
    const word = index >> 5;
    this.#bitmap[word] = this.#bitmap[word]! | (1 << (index & 31));
    if (this.best === -1 || (this.bids ? index > this.best : index < this.best)) this.best = index;
  }

  remove(index: number): void {
    const word = index >> 5;
    this.#bitmap[word] = this.#bitmap[word]! & ~(1 << (index & 31));
    if (index === this.best) this.best = this.worseThan(index);
  }

  /** The next non-empty level after `index`, away from the best; −1 when no other exists. */
  worseThan(index: number): number {
    return this.bids ? this.#below(index) : this.#above(index);
  }

  #below(index: number): number {
    let word = index >> 5;
    let bits = this.#bitmap[word]! & ((1 << (index & 31)) - 1);
    while (bits === 0) {
      if (word === 0) return -1;
      word -= 1;
      bits = this.#bitmap[word]!;
    }
    return (word << 5) + 31 - Math.clz32(bits);
  }

  #above(index: number): number {
    let word = index >> 5;
    // A shift by 32 would be a shift by 0, so the bits above are masked in two steps.
    let bits = this.#bitmap[word]! & ~((1 << (index & 31)) | ((1 << (index & 31)) - 1));
    while (bits === 0) {
      word += 1;
      if (word === this.#bitmap.length) return -1;
      bits = this.#bitmap[word]!;
    }
    return (word << 5) + 31 - Math.clz32(bits & -bits);
  }
}

class Book {
  readonly bids: BookSide;
  readonly asks: BookSide;
  /** Incremented for every order that was added, reduced by a match or removed. */
  sequence = 0;
  changedAt: number;
  readonly #spec: MarketSpec;
  readonly #orders: Orders;
  readonly #levels: Rows;
  readonly #fees: FeeSchedule;
  /** One cell: collateral value of all resting orders at their limits. */
  readonly #liquidity = new Float64Array(CELL);

  constructor(
    spec: MarketSpec,
    { orders, fees, at }: { readonly orders: Orders; readonly fees: FeeSchedules; readonly at: number },
  ) {
    const ticks = PIPS / spec.tickSize;
    this.bids = new BookSide(true, ticks);
    this.asks = new BookSide(false, ticks);
    this.changedAt = at;
    this.#spec = spec;
    this.#orders = orders;
    this.#levels = new Rows(WORDS, ticks + 1);
    for (let tick = 0; tick <= ticks; tick += 1) {
      this.#levels.ints[tick * INTS + OLDEST] = NONE;
      this.#levels.ints[tick * INTS + NEWEST] = NONE;
    }
    this.#fees = fees.of(spec);
  }

  get liquidity(): Micro {
    return microAt(this.#liquidity, 0);
  }

  tickOf(yesPrice: Pips): number {
    return yesPrice / this.#spec.tickSize;
  }

  /** YES price of a level. */
  priceAt(tick: number): Pips {
    return tick * this.#spec.tickSize;
  }

  /** The oldest order of a level, or NONE. */
  firstAt(tick: number): number {
    return this.#levels.ints[tick * INTS + OLDEST]!;
  }

  sizeAt(tick: number): Micro {
    return microAt(this.#levels.doubles, tick * WORDS + RESTING);
  }

  /** The share of a fill that its taker pays at a level; the same for both outcomes. */
  feeAt(tick: number): FeeShare {
    return this.#fees.at(tick);
  }

  sideOf(outcome: Outcome, side: Side): BookSide {
    return isBid(outcome, side) ? this.bids : this.asks;
  }

  /** True when an order at YES price `pips` would match the best of `opposite`. */
  crosses(opposite: BookSide, pips: Pips): boolean {
    if (opposite.best === NONE) return false;
    const best = this.priceAt(opposite.best);
    return opposite.bids ? best >= pips : best <= pips;
  }

  /** Puts an order at the back of its level. `value` is floor(remaining × limit). */
  add(order: number, value: Units, at: number): void {
    const orders = this.#orders;
    const tick = orders.tick(order);
    const { ints, doubles } = this.#levels;
    const last = ints[tick * INTS + NEWEST]!;
    orders.setAmount(order, VALUE, value);
    orders.setLink(order, PREVIOUS, last);
    if (last === NONE) {
      ints[tick * INTS + OLDEST] = order;
      this.#sideOf(order).add(tick);
    } else {
      orders.setLink(last, NEXT, order);
    }
    ints[tick * INTS + NEWEST] = order;
    addTo(doubles, tick * WORDS + RESTING, orders.amount(order, REMAINING));
    addTo(this.#liquidity, 0, value);
    this.#changed(at);
  }

  /** Reduces an order by `size`; it keeps its place in the queue. `value` is its new, smaller value. */
  reduce(order: number, size: Units, value: Units, at: number): void {
    const orders = this.#orders;
    const released = (orders.amount(order, VALUE) - value) as Units;
    orders.setAmount(order, REMAINING, (orders.amount(order, REMAINING) - size) as Units);
    orders.setAmount(order, VALUE, value);
    takeFrom(this.#levels.doubles, orders.tick(order) * WORDS + RESTING, size, 'the size of a level');
    takeFrom(this.#liquidity, 0, released, 'liquidity');
    this.#changed(at);
  }

  remove(order: number, at: number): void {
    const orders = this.#orders;
    const tick = orders.tick(order);
    const { ints, doubles } = this.#levels;
    const previous = orders.link(order, PREVIOUS);
    const next = orders.link(order, NEXT);
    if (previous === NONE) ints[tick * INTS + OLDEST] = next;
    else orders.setLink(previous, NEXT, next);
    if (next === NONE) ints[tick * INTS + NEWEST] = previous;
    else orders.setLink(next, PREVIOUS, previous);
    takeFrom(doubles, tick * WORDS + RESTING, orders.amount(order, REMAINING), 'the size of a level');
    takeFrom(this.#liquidity, 0, orders.amount(order, VALUE), 'liquidity');
    if (previous === NONE && next === NONE) this.#sideOf(order).remove(tick);
    this.#changed(at);
  }

  /** Every resting order of a side, best price first, oldest first. */
  *orders(side: BookSide): Generator<number> {
    for (let tick = side.best; tick !== NONE; tick = side.worseThan(tick)) {
      for (let order = this.firstAt(tick); order !== NONE; order = this.#orders.link(order, NEXT))
        yield order;
    }
  }

  /** Up to `depth` levels, best first, in the prices of `outcome`. */
  view(side: BookSide, outcome: Outcome, depth: number): Level[] {
    const levels: Level[] = [];
    for (let tick = side.best; tick !== NONE && levels.length < depth; tick = side.worseThan(tick))
      levels.push([yesPrice(outcome, this.priceAt(tick)), this.sizeAt(tick)]);
    return levels;
  }

  #sideOf(order: number): BookSide {
    return this.sideOf(this.#orders.outcome(order), this.#orders.side(order));
  }

  #changed(at: number): void {
    this.sequence += 1;
    this.changedAt = at;
  }
}
