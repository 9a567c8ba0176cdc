/** The engine's whole state. It does not grow with history: ended orders and archived markets are dropped. */

import { ExpiryQueue } from './expiry-queue.ts';
import { FeeSchedules } from './fee-schedules.ts';
import { Ledger } from './ledger.ts';
import { Market } from './market.ts';
import { Orders } from './orders.ts';
import { Plan } from './plan.ts';
import type { ConditionId, MarketSpec } from './types.ts';

export class EngineState {
  /** Time of the last command. */
  now = 0;
  /** Number of the last match; 0 before the first. */
  lastMatchId = 0;
  readonly markets = new Map<ConditionId, Market>();
  readonly orders = new Orders();
  /** Markets that no longer trade, with orders on their books. */
  readonly emptying = new Set<ConditionId>();
  /** How many dead orders may be removed before the next call of `allowSweeps` (sweeps.ts). */
  sweeps = Number.POSITIVE_INFINITY;
  readonly expiry = new ExpiryQueue(this.orders);
  readonly ledger = new Ledger();
  /** Plan of the order that is being placed. */
  readonly plan = new Plan();
  /** By row; undefined where an archived market has made room. */
  readonly #rows: (Market | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #fees = new FeeSchedules();

  /** Not listed yet. @throws RangeError for an impossible specification; the state is then unchanged */
  newMarket(spec: MarketSpec, at: number): Market {
    const row = this.#free.at(-1) ?? this.#rows.length;
    return new Market(spec, { row, orders: this.orders, fees: this.#fees, at });
  }

  list(market: Market): void {
    if (this.#free.at(-1) === market.row) this.#free.pop();
    this.#rows[market.row] = market;
    this.markets.set(market.spec.conditionId, market);
  }

  unlist(market: Market): void {
    this.markets.delete(market.spec.conditionId);
    this.#rows[market.row] = undefined;
    this.#free.push(market.row);
  }

  marketOf(row: number): Market {
    return this.#rows[row]!;
  }
}
