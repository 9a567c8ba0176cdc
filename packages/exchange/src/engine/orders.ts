/**
 * The open orders: one row each in two typed arrays, because a hundred thousand objects that refer to one another cost
 * a memory access for every reference. A row is used again when its order has ended. `NONE` ends every list.
 */
import type { Pips } from '@bellwether/contract/decimals';
import { mixed, RowIndex } from './row-index.ts';
import type { NewOrder, OrderId, Outcome, Side } from './types.ts';
import type { Units } from './units.ts';

export const NONE = -1;

/** Elements of a row in `links`: neighbours, then what the order belongs to. Together one line of the cache. */
const LINKS = 16;
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
export const QUEUED = 9;
const HASH = 10;

/** Elements of a row in `amounts`: units, then times. */
const AMOUNTS = 8;
export const SIZE = 0;
/** What still rests: size − filled, less rounding dust (see matching.ts). */
export const REMAINING = 1;
export const FILLED = 2;
export const COST = 3;
export const FEES = 4;
/** floor(remaining × limit) in micro collateral: the hold of a BUY, the book value of a SELL. */
export const VALUE = 5;
const ACCEPTED_AT = 6;
const EXPIRES_AT = 7;

const IS_NO = 1;
const IS_SELL = 2;
const IS_GTD = 4;

const FIRST_ROWS = 256;
/** Hexadecimal digits of an id that its hash uses: 64 bits of a digest. */
const HASHED = 16;

/** Where an order is accepted. */
export interface Placement {
  /** Rows of its owner and its market, and the tick of its YES price. */
  readonly owner: number;
  readonly market: number;
  readonly tick: number;
  readonly size: Units;
  readonly remaining: Units;
  readonly acceptedAt: number;
}

export class Orders {
  links = new Int32Array(FIRST_ROWS * LINKS);
  amounts = new Float64Array(FIRST_ROWS * AMOUNTS);
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
    const { links, amounts } = this;
    const link = row * LINKS;
    links[link + PREVIOUS] = NONE;
    links[link + NEXT] = NONE;
    links[link + OWNERS_PREVIOUS] = NONE;
    links[link + OWNERS_NEXT] = NONE;
    links[link + OWNER] = place.owner;
    links[link + MARKET] = place.market;
    links[link + TICK] = place.tick;
    links[link + LIMIT] = order.limit;
    links[link + TERMS] =
      (order.outcome === 'NO' ? IS_NO : 0) | (order.side === 'SELL' ? IS_SELL : 0) | (isGtd ? IS_GTD : 0);
    links[link + QUEUED] = NONE;
    links[link + HASH] = hash;
    const at = row * AMOUNTS;
    amounts[at + SIZE] = place.size;
    amounts[at + REMAINING] = place.remaining;
    amounts[at + FILLED] = 0;
    amounts[at + COST] = 0;
    amounts[at + FEES] = 0;
    amounts[at + VALUE] = 0;
    amounts[at + ACCEPTED_AT] = place.acceptedAt;
    // A signed expiry may exceed the exact range of a number; such a time is never reached.
    amounts[at + EXPIRES_AT] = isGtd
      ? Math.min(Math.floor(order.expiresAt ?? 0), Number.MAX_SAFE_INTEGER)
      : 0;
    return row;
  }

  /** The order must be on no list any more. */
  remove(row: number): void {
    this.#index.remove(this.links[row * LINKS + HASH]!, row);
    this.#ids[row] = '';
    this.links[row * LINKS + NEXT] = this.#free;
    this.#free = row;
  }

  id(row: number): OrderId {
    return this.#ids[row]!;
  }

  link(row: number, which: number): number {
    return this.links[row * LINKS + which]!;
  }

  setLink(row: number, which: number, value: number): void {
    this.links[row * LINKS + which] = value;
  }

  amount(row: number, which: number): Units {
    return this.amounts[row * AMOUNTS + which]! as Units;
  }

  setAmount(row: number, which: number, value: Units): void {
    this.amounts[row * AMOUNTS + which] = value;
  }

  owner(row: number): number {
    return this.links[row * LINKS + OWNER]!;
  }

  market(row: number): number {
    return this.links[row * LINKS + MARKET]!;
  }

  /** Index of its level in the YES book. */
  tick(row: number): number {
    return this.links[row * LINKS + TICK]!;
  }

  /** Of its own token. */
  limit(row: number): Pips {
    return this.links[row * LINKS + LIMIT]!;
  }

  outcome(row: number): Outcome {
    return (this.links[row * LINKS + TERMS]! & IS_NO) === 0 ? 'YES' : 'NO';
  }

  side(row: number): Side {
    return (this.links[row * LINKS + TERMS]! & IS_SELL) === 0 ? 'BUY' : 'SELL';
  }

  isBuy(row: number): boolean {
    return (this.links[row * LINKS + TERMS]! & IS_SELL) === 0;
  }

  isGtd(row: number): boolean {
    return (this.links[row * LINKS + TERMS]! & IS_GTD) !== 0;
  }

  acceptedAt(row: number): number {
    return this.amounts[row * AMOUNTS + ACCEPTED_AT]!;
  }

  /** Of a GTD order. */
  expiresAt(row: number): number {
    return this.amounts[row * AMOUNTS + EXPIRES_AT]!;
  }

  #newRow(): number {
    const row = this.#free;
    if (row !== NONE) {
      this.#free = this.links[row * LINKS + NEXT]!;
      return row;
    }
    const next = this.#ids.length;
    if ((next + 1) * LINKS > this.links.length) {
      const links = new Int32Array(2 * this.links.length);
      const amounts = new Float64Array(2 * this.amounts.length);
      links.set(this.links);
      amounts.set(this.amounts);
      this.links = links;
      this.amounts = amounts;
    }
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
