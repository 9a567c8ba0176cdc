/** The engine's whole state. It does not grow with history: ended orders and archived markets are dropped. */

import { ExpiryQueue } from './expiry-queue.ts';
import { Ledger } from './ledger.ts';
import type { Market, RestingOrder } from './records.ts';
import type { ConditionId, OrderId } from './types.ts';

export class EngineState {
  /** Time of the last command. */
  now = 0;
  /** Number of the last match; 0 before the first. */
  lastMatchId = 0;
  readonly markets = new Map<ConditionId, Market>();
  /** Open orders only. */
  readonly orders = new Map<OrderId, RestingOrder>();
  readonly expiry = new ExpiryQueue();
  readonly ledger = new Ledger();
}
