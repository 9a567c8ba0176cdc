/**
 * Keeps order ids unique permanently. The engine has the open orders, exchange_orders every order that ever existed.
 * Calls with the same id run one after another.
 *
 * A sender may prove that an id is new, by a unique key of its own. Its proof does not cover orders that others posted at a
 * door: those are compared in memory, so that an order with proof costs no query.
 */
import type { Sql } from '@bellwether/durable';
import type { OrderId } from '../engine/types.ts';
import { PostedIds } from './posted-orders.ts';

/** Many more than are refused while one of them can still arrive. */
const MOST_REFUSED = 10_000;

/**
 * Orders that this process refused before they arrived, in any of its terms: a late call reaches the process that it was sent
 * to. Their rows are what forbids them; this only saves the look-up of all others.
 */
export class RefusedIds {
  readonly #ids = new Set<OrderId>();

  add(orderId: OrderId): void {
    this.#ids.add(orderId);
    if (this.#ids.size <= MOST_REFUSED) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  has(orderId: OrderId): boolean {
    return this.#ids.has(orderId);
  }
}

export class OrderIds {
  readonly #sql: Sql;
  readonly #posted = new PostedIds();
  readonly #inFlight = new Map<OrderId, Promise<void>>();
  /** Placed in a joined commit that is not durable yet. */
  readonly #joined = new Set<OrderId>();
  readonly #refused: RefusedIds;

  constructor(sql: Sql, refused: RefusedIds) {
    this.#sql = sql;
    this.#refused = refused;
  }

  /** Reads the ids that were posted in earlier terms; to be called before any other method. */
  load(): Promise<void> {
    return this.#posted.load(this.#sql);
  }

  isInFlight(orderId: OrderId): boolean {
    return this.#inFlight.has(orderId);
  }

  /** Whether it may have been posted at a door; false is proof. */
  mayBePosted(orderId: OrderId): boolean {
    return this.#posted.mayHave(orderId);
  }

  /** Notes an order that is refused although it never arrived. */
  refuse(orderId: OrderId): void {
    this.#refused.add(orderId);
  }

  /** Notes an order that was posted at a door, when it is placed. */
  post(orderId: OrderId): void {
    this.#posted.add(orderId);
  }

  /**
   * Takes an id that its sender proves to be new, for an order that is placed at once in a joined commit.
   * @returns false when an order with this id was posted at a door
   */
  join(orderId: OrderId): boolean {
    if (this.#posted.mayHave(orderId) || this.#inFlight.has(orderId)) return false;
    this.#joined.add(orderId);
    return true;
  }

  /** To be called when the joined commit is durable. */
  joinedIsDurable(): void {
    this.#joined.clear();
  }

  /**
   * Runs `place` while no other call with this id runs, and only if the id was never used.
   * @param isNew the caller has proof that the id is new, and the table is queried only where the id may have been posted.
   *   Its primary key still refuses a second order with the same id, and the whole commit fails.
   * @returns undefined when the id was used.
   */
  async once<T>(orderId: OrderId, isNew: boolean, place: () => Promise<T>): Promise<T | undefined> {
    for (let twin = this.#inFlight.get(orderId); twin !== undefined; twin = this.#inFlight.get(orderId))
      await twin;
    let done: () => void = () => {};
    this.#inFlight.set(orderId, new Promise((resolve) => (done = resolve)));
    try {
      const isProved = isNew && !this.#posted.mayHave(orderId) && !this.#refused.has(orderId);
      return isProved || !(await this.#isUsed(orderId)) ? await place() : undefined;
    } finally {
      this.#inFlight.delete(orderId);
      done();
    }
  }

  /** From the time that the id is in flight, no joined commit takes it: one before shows here, or in the table. */
  async #isUsed(orderId: OrderId): Promise<boolean> {
    if (this.#joined.has(orderId)) return true;
    const known = await this.#sql`select 1 from exchange_orders where order_id = ${orderId}`;
    return known.length > 0;
  }
}
