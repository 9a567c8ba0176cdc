/**
 * Keeps order ids unique for ever. The engine knows the open ones, exchange_orders all that ever were; this makes
 * sure that the table is asked only when it may know the id. Twins in flight are judged one after the other.
 */
import type { Sql } from '@bellwether/durable';
import type { OrderId } from '../engine/types.ts';
import { SeenOrders } from './seen-orders.ts';

/** Ids per read of the past: small enough that parsing them stops nobody. */
const IDS_PER_READ = 5_000;

export class OrderIds {
  readonly #sql: Sql;
  readonly #seen = new SeenOrders();
  /** Whether `#seen` knows the whole past; until then the table is asked about every id. */
  #complete = false;
  #stopped = false;
  readonly #inFlight = new Map<OrderId, Promise<void>>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Reads the past in the background. Opening does not wait for it: its length grows with history. */
  async load(): Promise<void> {
    let last = '';
    while (!this.#stopped) {
      const rows = await this.#sql`
        select order_id from exchange_orders where order_id > ${last} order by order_id limit ${IDS_PER_READ}`;
      for (const row of rows) this.#seen.add(row.order_id as string);
      if (rows.length < IDS_PER_READ) {
        this.#complete = !this.#stopped;
        return;
      }
      last = rows.at(-1)!.order_id as string;
    }
  }

  stop(): void {
    this.#stopped = true;
  }

  isInFlight(orderId: OrderId): boolean {
    return this.#inFlight.has(orderId);
  }

  /**
   * Runs `place` while no other call with this id runs, and only if the id was never used.
   * @returns undefined when it was used.
   */
  async once<T>(orderId: OrderId, place: () => Promise<T>): Promise<T | undefined> {
    for (let twin = this.#inFlight.get(orderId); twin !== undefined; twin = this.#inFlight.get(orderId))
      await twin;
    let done: () => void = () => {};
    this.#inFlight.set(orderId, new Promise((resolve) => (done = resolve)));
    try {
      if (!this.#complete || this.#seen.mayHave(orderId)) {
        const known = await this.#sql`select 1 from exchange_orders where order_id = ${orderId}`;
        if (known.length > 0) return undefined;
      }
      this.#seen.add(orderId);
      return await place();
    } finally {
      this.#inFlight.delete(orderId);
      done();
    }
  }
}
