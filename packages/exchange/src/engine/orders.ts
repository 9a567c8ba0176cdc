/**
 * The open orders: one row each in a typed array, because a hundred thousand objects that refer to one another cost a
 * memory access for every reference. A row is used again when its order has ended. `NONE` ends every list. Those with
 * an expiry are queued by their due time.
 */
import type { Pips } from '@bellwether/contract/decimals';
import type { Units } from './amounts.ts';
import type { NewOrder, OrderId, Outcome, Side } from './commands.ts';
import { mixed, RowIndex, Rows } from './rows.ts';

export const NONE = -1;

/** Eight-byte words of a row: six with integers, eight with doubles. Two lines of the cache, one beside the other. */
const WORDS = 16;

/** Integers of a row: neighbours, then what the order belongs to. */
const INTS = 2 * WORDS;
export const PREVIOUS = 0;
export const NEXT = 1;
export const OWNERS_PREVIOUS = 2;
export const OWNERS_NEXT = 3;
const OWNER = 4;
const MARKET = 5;
const TICK = 6;
const LIMIT = 7;
const TERMS = 8;
/** Place in the expiry queue, or NONE. */
const QUEUED = 9;
const HASH = 10;
/** Position with the tokens of a SELL, which it keeps open. */
export const POSITION = 11;

/** Doubles of a row, behind its integers: units, then times. */
export const SIZE = 6;
/** Size that still rests: size − filled, less rounding dust (see placing.ts). */
export const REMAINING = 7;
export const FILLED = 8;
export const COST = 9;
export const FEES = 10;
/** floor(remaining × limit) in micro collateral: the hold of a BUY, the book value of a SELL. */
export const VALUE = 11;
const ACCEPTED_AT = 12;
const EXPIRES_AT = 13;

const IS_NO = 1;
const IS_SELL = 2;
const IS_GTD = 4;

const FIRST_ROWS = 256;
/** Hexadecimal digits of an id that its hash uses: 64 bits of a digest. */
const HASHED = 16;

/** Where an order is accepted. */
interface Placement {
  /** Rows of its owner and its market, and the tick of its YES price. */
  readonly owner: number;
  readonly market: number;
  /** Tokens of a SELL. */
  readonly position: number;
  readonly tick: number;
  readonly size: Units;
  readonly remaining: Units;
  readonly acceptedAt: number;
}

export class Orders {
  readonly #rows = new Rows(WORDS, FIRST_ROWS);
  readonly #ids: OrderId[] = [];
  readonly #index = new RowIndex();
  /** Decides where the index has an order, and nothing else; unknown to those who choose ids. */
  readonly #seed = Math.floor(Math.random() * 2 ** 32) | 0;
  /** The last id that was hashed: a new order is looked for, then added. */
  #lastId: OrderId = '';
  #lastHash = mixed(this.#seed);
  /** First of the rows without an order, which NEXT connects. */
  #free = NONE;

  get size(): number {
    return this.#index.size;
  }

  find(id: OrderId): number {
    for (let slot = this.#index.first(this.#hash(id)); slot !== NONE; slot = this.#index.next(slot)) {
      const row = this.#index.row(slot);
      if (this.#ids[row] === id) return row;
    }
    return NONE;
  }

  /** Its id must be new. The order is on no list yet, and nothing of it is filled. */
  add(order: NewOrder, place: Placement): number {
    const row = this.#newRow();
    const hash = this.#hash(order.orderId);
    this.#ids[row] = order.orderId;
    this.#index.add(hash, row);
    const isGtd = order.timeInForce === 'GTD';
    const { ints, doubles } = this.#rows;
    const link = row * INTS;
    ints[link + PREVIOUS] = NONE;
    ints[link + NEXT] = NONE;
    ints[link + OWNERS_PREVIOUS] = NONE;
    ints[link + OWNERS_NEXT] = NONE;
    ints[link + OWNER] = place.owner;
    ints[link + MARKET] = place.market;
    ints[link + TICK] = place.tick;
    ints[link + LIMIT] = order.limit;
    ints[link + TERMS] =
      (order.outcome === 'NO' ? IS_NO : 0) | (order.side === 'SELL' ? IS_SELL : 0) | (isGtd ? IS_GTD : 0);
    ints[link + QUEUED] = NONE;
    ints[link + HASH] = hash;
    ints[link + POSITION] = place.position;
    const at = row * WORDS;
    doubles[at + SIZE] = place.size;
    doubles[at + REMAINING] = place.remaining;
    doubles[at + FILLED] = 0;
    doubles[at + COST] = 0;
    doubles[at + FEES] = 0;
    doubles[at + VALUE] = 0;
    doubles[at + ACCEPTED_AT] = place.acceptedAt;
    // A signed expiry may exceed the exact range of a number; such a time is never reached.
    doubles[at + EXPIRES_AT] = isGtd
      ? Math.min(Math.floor(order.expiresAt ?? 0), Number.MAX_SAFE_INTEGER)
      : 0;
    return row;
  }

  /** The order must be on no list any more. */
  remove(row: number): void {
    this.#index.remove(this.#rows.ints[row * INTS + HASH]!, row);
    this.#ids[row] = '';
    this.#rows.ints[row * INTS + NEXT] = this.#free;
    this.#free = row;
  }

  id(row: number): OrderId {
    return this.#ids[row]!;
  }

  link(row: number, which: number): number {
    return this.#rows.ints[row * INTS + which]!;
  }

  setLink(row: number, which: number, value: number): void {
    this.#rows.ints[row * INTS + which] = value;
  }

  amount(row: number, which: number): Units {
    return this.#rows.doubles[row * WORDS + which]! as Units;
  }

  setAmount(row: number, which: number, value: Units): void {
    this.#rows.doubles[row * WORDS + which] = value;
  }

  owner(row: number): number {
    return this.#rows.ints[row * INTS + OWNER]!;
  }

  market(row: number): number {
    return this.#rows.ints[row * INTS + MARKET]!;
  }

  /** Index of its level in the YES book. */
  tick(row: number): number {
    return this.#rows.ints[row * INTS + TICK]!;
  }

  /** Price of its own token. */
  limit(row: number): Pips {
    return this.#rows.ints[row * INTS + LIMIT]!;
  }

  outcome(row: number): Outcome {
    return (this.#rows.ints[row * INTS + TERMS]! & IS_NO) === 0 ? 'YES' : 'NO';
  }

  side(row: number): Side {
    return (this.#rows.ints[row * INTS + TERMS]! & IS_SELL) === 0 ? 'BUY' : 'SELL';
  }

  isBuy(row: number): boolean {
    return (this.#rows.ints[row * INTS + TERMS]! & IS_SELL) === 0;
  }

  isGtd(row: number): boolean {
    return (this.#rows.ints[row * INTS + TERMS]! & IS_GTD) !== 0;
  }

  acceptedAt(row: number): number {
    return this.#rows.doubles[row * WORDS + ACCEPTED_AT]!;
  }

  /** Expiration of a GTD order. */
  expiresAt(row: number): number {
    return this.#rows.doubles[row * WORDS + EXPIRES_AT]!;
  }

  #newRow(): number {
    const row = this.#free;
    if (row !== NONE) {
      this.#free = this.#rows.ints[row * INTS + NEXT]!;
      return row;
    }
    const next = this.#ids.length;
    this.#rows.reserve(next);
    return next;
  }

  #hash(id: OrderId): number {
    if (id === this.#lastId) return this.#lastHash;
    let hash = this.#seed;
    for (let at = Math.max(0, id.length - HASHED); at < id.length; at += 1)
      hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
    this.#lastId = id;
    this.#lastHash = mixed(hash);
    return this.#lastHash;
  }
}

// Open GTD orders by due time: a binary heap whose entries know their index, so that an order that ends early is
// removed completely in O(log n). Ties are broken by order id, so the result depends only on the orders.

export class ExpiryQueue {
  readonly #orders: Orders;
  readonly #heap: number[] = [];

  constructor(orders: Orders) {
    this.#orders = orders;
  }

  /** The next order that is due at `at` or before, or NONE. */
  due(at: number): number {
    const first = this.#heap[0];
    return first !== undefined && this.#orders.expiresAt(first) <= at ? first : NONE;
  }

  get size(): number {
    return this.#heap.length;
  }

  add(order: number): void {
    this.#heap.push(order);
    this.#rise(order, this.#heap.length - 1);
  }

  remove(order: number): void {
    const index = this.#orders.link(order, QUEUED);
    if (index === NONE) return;
    this.#orders.setLink(order, QUEUED, NONE);
    const last = this.#heap.pop()!;
    if (last === order) return;
    this.#sink(last, index);
    this.#rise(last, this.#orders.link(last, QUEUED));
  }

  #put(order: number, index: number): void {
    this.#heap[index] = order;
    this.#orders.setLink(order, QUEUED, index);
  }

  #rise(order: number, from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent]!;
      if (!this.#isBefore(order, above)) break;
      this.#put(above, index);
      index = parent;
    }
    this.#put(order, index);
  }

  #sink(order: number, from: number): void {
    let index = from;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && this.#isBefore(this.#heap[child + 1]!, this.#heap[child]!))
        child += 1;
      const below = this.#heap[child]!;
      if (!this.#isBefore(below, order)) break;
      this.#put(below, index);
      index = child;
    }
    this.#put(order, index);
  }

  #isBefore(a: number, b: number): boolean {
    const orders = this.#orders;
    const [atA, atB] = [orders.expiresAt(a), orders.expiresAt(b)];
    return atA < atB || (atA === atB && orders.id(a) < orders.id(b));
  }
}
