/**
 * The engine's whole state, and the plan of the order that is being placed. It does not grow with history: ended orders
 * and archived markets are dropped.
 */

import { FeeSchedules, NOTHING, type Units } from './amounts.ts';
import type { ConditionId, MarketSpec, MatchKind } from './commands.ts';
import { Ledger } from './ledger.ts';
import { Market } from './market.ts';
import { ExpiryQueue, NONE, Orders } from './orders.ts';

export class EngineState {
  /** Time of the last command. */
  now = 0;
  /** Number of the last match; 0 before the first. */
  lastMatchId = 0;
  readonly markets = new Map<ConditionId, Market>();
  readonly orders = new Orders();
  /** Markets that no longer trade, with orders on their books. */
  readonly emptying = new Set<ConditionId>();
  /** How many dead orders may be removed before the next call of `allowSweeps` (resting.ts). */
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

// The complete immediate outcome of an order, before anything of it happens. There is one, used again for every order,
// with its steps: an order needs it only while it is placed.

/** One resting order on the way. Size zero: it belongs to the same account and will be cancelled. */
export class Step {
  maker = NONE;
  kind: MatchKind = 'COMPLEMENTARY';
  size = NOTHING;
  /** The maker's side, and the taker's before the fee. */
  makerCost = NOTHING;
  takerCost = NOTHING;
  fee = NOTHING;
}

export class Plan {
  /** Number of steps that belong to this order. */
  length = 0;
  readonly steps: Step[] = [];
  /** True when the order matches another account's order within its limit. */
  crosses = false;
  complete = false;
  filled = NOTHING;
  cost = NOTHING;
  fees = NOTHING;
  /** Micro-shares that can rest, or would be killed; zero when complete. */
  remaining = NOTHING;

  reset(remaining: Units): void {
    this.length = 0;
    this.crosses = false;
    this.complete = false;
    this.filled = NOTHING;
    this.cost = NOTHING;
    this.fees = NOTHING;
    this.remaining = remaining;
  }

  /** A step to fill in. */
  next(): Step {
    let step = this.steps[this.length];
    if (step === undefined) {
      step = new Step();
      this.steps.push(step);
    }
    this.length += 1;
    return step;
  }
}
