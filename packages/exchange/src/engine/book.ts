/**
 * One market's unified book: every order is stored at its YES price (BUY NO at q is an ask at 1−q, SELL NO at q a
 * bid at 1−q), best price first and oldest first within a price. It handles neither money nor balances.
 *
 * A price has bids or asks, never both, because a book is never crossed; so both sides share one array of levels
 * indexed by tick, and each side has a bitmap of its non-empty ones. Levels are linked lists through the orders
 * themselves: joining, leaving and finding the best are all O(1), or one short scan of the bitmap.
 */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { feeNumerator } from './amounts.ts';
import type { Level, MarketSpec, Outcome, Side } from './types.ts';

/** The fields of an order that the book needs. */
interface Queued<Order> {
  readonly outcome: Outcome;
  readonly side: Side;
  readonly level: PriceLevel<Order>;
  remaining: Micro;
  /** floor(remaining × limit) in micro collateral. */
  value: Micro;
  previous: Order | undefined;
  next: Order | undefined;
}

/** All orders at one YES price, oldest first. Kept when empty: there are at most as many as ticks. */
export class PriceLevel<Order> {
  readonly index: number;
  /** YES price in pips, and both tokens' prices as bigints. */
  readonly pips: Pips;
  readonly yes: bigint;
  readonly no: bigint;
  readonly feeNumerator: bigint;
  size: Micro = 0n;
  first: Order | undefined = undefined;
  last: Order | undefined = undefined;

  constructor(index: number, spec: MarketSpec) {
    this.index = index;
    this.pips = index * spec.tickSize;
    this.yes = BigInt(this.pips);
    this.no = BigInt(PIPS - this.pips);
    this.feeNumerator = feeNumerator(spec.feeRate, spec.feeExponent, this.yes);
  }
}

export const yesPrice = (outcome: Outcome, price: Pips): Pips => (outcome === 'YES' ? price : PIPS - price);

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

export class Book<Order extends Queued<Order>> {
  readonly bids: BookSide;
  readonly asks: BookSide;
  /** Incremented for every order that was added, reduced by a match or removed. */
  sequence = 0;
  changedAt: number;
  /** Collateral value of all resting orders at their limits. */
  liquidity: Micro = 0n;
  readonly #spec: MarketSpec;
  readonly #levels: (PriceLevel<Order> | undefined)[];

  constructor(spec: MarketSpec, listedAt: number) {
    const ticks = PIPS / spec.tickSize;
    this.bids = new BookSide(true, ticks);
    this.asks = new BookSide(false, ticks);
    this.changedAt = listedAt;
    this.#spec = spec;
    this.#levels = new Array(ticks + 1).fill(undefined);
  }

  level(pips: Pips): PriceLevel<Order> {
    return this.levelAt(pips / this.#spec.tickSize);
  }

  levelAt(index: number): PriceLevel<Order> {
    let level = this.#levels[index];
    if (level === undefined) {
      level = new PriceLevel<Order>(index, this.#spec);
      this.#levels[index] = level;
    }
    return level;
  }

  sideOf(outcome: Outcome, side: Side): BookSide {
    return isBid(outcome, side) ? this.bids : this.asks;
  }

  /** True when an order at YES price `pips` would match the best of `opposite`. */
  crosses(opposite: BookSide, pips: Pips): boolean {
    if (opposite.best === -1) return false;
    const best = opposite.best * this.#spec.tickSize;
    return opposite.bids ? best >= pips : best <= pips;
  }

  /** Puts an order at the back of its level. `value` is floor(remaining × limit). */
  add(order: Order, value: Micro, at: number): void {
    const level = order.level;
    order.value = value;
    order.previous = level.last;
    if (level.last === undefined) {
      level.first = order;
      this.sideOf(order.outcome, order.side).add(level.index);
    } else {
      level.last.next = order;
    }
    level.last = order;
    level.size += order.remaining;
    this.#changed(value, at);
  }

  /** Reduces an order by `size`; it keeps its place in the queue. `value` is its new value. */
  reduce(order: Order, size: Micro, value: Micro, at: number): void {
    const change = value - order.value;
    order.remaining -= size;
    order.level.size -= size;
    order.value = value;
    this.#changed(change, at);
  }

  remove(order: Order, at: number): void {
    const level = order.level;
    if (order.previous === undefined) level.first = order.next;
    else order.previous.next = order.next;
    if (order.next === undefined) level.last = order.previous;
    else order.next.previous = order.previous;
    order.previous = undefined;
    order.next = undefined;
    level.size -= order.remaining;
    if (level.first === undefined) this.sideOf(order.outcome, order.side).remove(level.index);
    this.#changed(-order.value, at);
  }

  /** Every resting order of a side, best price first, oldest first. */
  *orders(side: BookSide): Generator<Order> {
    for (let index = side.best; index !== -1; index = side.worseThan(index)) {
      for (let order = this.levelAt(index).first; order !== undefined; order = order.next) yield order;
    }
  }

  /** Up to `depth` levels, best first, in the prices of `outcome`. */
  view(side: BookSide, outcome: Outcome, depth: number): Level[] {
    const levels: Level[] = [];
    for (let index = side.best; index !== -1 && levels.length < depth; index = side.worseThan(index)) {
      const level = this.levelAt(index);
      levels.push([yesPrice(outcome, level.pips), level.size]);
    }
    return levels;
  }

  #changed(liquidity: Micro, at: number): void {
    this.sequence += 1;
    this.changedAt = at;
    this.liquidity += liquidity;
  }
}
