/**
 * Keeps order ids unique permanently. The engine has the open orders, exchange_orders every order that ever existed.
 * Calls with the same id run one after another.
 */
import type { Sql } from '@bellwether/durable';
import type { OrderId } from '../engine/types.ts';

export class OrderIds {
  readonly #sql: Sql;
  readonly #inFlight = new Map<OrderId, Promise<void>>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  isInFlight(orderId: OrderId): boolean {
    return this.#inFlight.has(orderId);
  }

  /**
   * Runs `place` while no other call with this id runs, and only if the id was never used.
   * @param isNew the caller has proof that the id is new, and the table is not queried. Its primary key still refuses a
   *   second order with the same id, and the whole commit fails.
   * @returns undefined when the id was used.
   */
  async once<T>(orderId: OrderId, isNew: boolean, place: () => Promise<T>): Promise<T | undefined> {
    for (let twin = this.#inFlight.get(orderId); twin !== undefined; twin = this.#inFlight.get(orderId))
      await twin;
    let done: () => void = () => {};
    this.#inFlight.set(orderId, new Promise((resolve) => (done = resolve)));
    try {
      return isNew || !(await this.#isUsed(orderId)) ? await place() : undefined;
    } finally {
      this.#inFlight.delete(orderId);
      done();
    }
  }

  async #isUsed(orderId: OrderId): Promise<boolean> {
    const known = await this.#sql`select 1 from exchange_orders where order_id = ${orderId}`;
    return known.length > 0;
  }
}
