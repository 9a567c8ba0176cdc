/**
 * Adds and removes resting orders: the only place that keeps book, owner, expiry queue and holds consistent.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { floorCost } from './amounts.ts';
import type { RestingOrder } from './records.ts';
import type { EngineState } from './state.ts';
import type { DoneReason, EngineEvent } from './types.ts';

/** Puts an order on its book and holds its collateral or tokens. */
export function rest(state: EngineState, order: RestingOrder): void {
  const value = floorCost(order.remaining, order.price);
  order.market.book.add(order, value, state.now);
  link(state, order);
  if (order.side === 'BUY') order.owner.hold(value);
  else order.owner.holdTokens(order.market, order.outcome, order.remaining);
}

/** Makes an order on a book findable by id, owner and expiry. */
export function link(state: EngineState, order: RestingOrder): void {
  state.orders.set(order.orderId, order);
  order.owner.addOrder(order);
  if (order.expiresAt !== undefined) state.expiry.add(order);
}

/** Removes an order from its book, releases its hold, and records the reason. */
export function finish(
  state: EngineState,
  order: RestingOrder,
  reason: DoneReason,
  events: EngineEvent[],
): void {
  unlink(state, order);
  if (order.side === 'BUY') order.owner.hold(-order.value);
  else if (order.remaining > 0n) order.owner.holdTokens(order.market, order.outcome, -order.remaining);
  events.push(doneEvent(order, reason));
}

/**
 * The maker's part of a match: `size` at exactly its limit. A BUY pays out of its hold, and the excess hold of the
 * smaller rest is released; tokens and proceeds move immediately. A completely filled order is removed.
 */
export function fillMaker(
  state: EngineState,
  order: RestingOrder,
  fill: { readonly size: Micro; readonly cost: Micro },
  events: EngineEvent[],
): void {
  const { market, owner, outcome } = order;
  const { size, cost } = fill;
  const value = floorCost(order.remaining - size, order.price);
  if (order.side === 'BUY') {
    owner.payFromHold(order.value - value, cost);
    owner.creditTokens(market, outcome, size);
  } else {
    owner.deliverHeld(market, outcome, size);
    owner.credit(cost);
  }
  order.filled += size;
  order.cost += cost;
  if (order.remaining === size) {
    unlink(state, order);
    events.push(doneEvent(order, 'filled'));
  } else {
    market.book.reduce(order, size, value, state.now);
  }
}

function unlink(state: EngineState, order: RestingOrder): void {
  order.market.book.remove(order, state.now);
  state.orders.delete(order.orderId);
  order.owner.removeOrder(order);
  state.expiry.remove(order);
}

/** `size` less `filled` is never negative here: only a market BUY may receive more, and that never rests. */
const doneEvent = (order: RestingOrder, reason: DoneReason): EngineEvent => ({
  kind: 'order_done',
  orderId: order.orderId,
  account: order.owner.id,
  conditionId: order.market.spec.conditionId,
  reason,
  filled: order.filled,
  remaining: order.size - order.filled,
  cost: order.cost,
  fees: order.fees,
});
