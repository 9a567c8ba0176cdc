/**
 * Adds and removes resting orders: the only place that keeps book, owner, expiry queue and holds consistent.
 */
import { floorCost } from './amounts.ts';
import {
  COST,
  FEES,
  FILLED,
  NONE,
  OWNERS_NEXT,
  OWNERS_PREVIOUS,
  POSITION,
  REMAINING,
  SIZE,
  VALUE,
} from './orders.ts';
import type { Step } from './plan.ts';
import type { EngineState } from './state.ts';
import type { DoneReason, EngineEvent } from './types.ts';
import { microOf, minus, plus, type Units } from './units.ts';

/** Puts an order on its book and holds its collateral or tokens. */
export function rest(state: EngineState, order: number): void {
  const { orders, ledger } = state;
  const remaining = orders.amount(order, REMAINING);
  const value = floorCost(remaining, orders.limit(order));
  const owner = orders.owner(order);
  state.marketOf(orders.market(order)).book.add(order, value, state.now);
  link(state, order);
  if (orders.isBuy(order)) ledger.hold(owner, value);
  else ledger.holdTokens(orders.link(order, POSITION), orders.outcome(order), remaining);
}

/** Makes an order on a book findable by owner and expiry. */
export function link(state: EngineState, order: number): void {
  const { orders, ledger } = state;
  const owner = orders.owner(order);
  const next = ledger.firstOrder(owner);
  orders.setLink(order, OWNERS_NEXT, next);
  if (next !== NONE) orders.setLink(next, OWNERS_PREVIOUS, order);
  ledger.setFirstOrder(owner, order);
  if (orders.isGtd(order)) state.expiry.add(order);
}

/** Removes an order from its book, releases its hold, and records the reason. */
export function finish(state: EngineState, order: number, reason: DoneReason, events: EngineEvent[]): void {
  const { orders, ledger } = state;
  const owner = orders.owner(order);
  if (orders.isBuy(order)) {
    const value = orders.amount(order, VALUE);
    ledger.endHold(owner, value);
    ledger.credit(owner, value);
  } else {
    ledger.releaseTokens(
      orders.link(order, POSITION),
      orders.outcome(order),
      orders.amount(order, REMAINING),
    );
  }
  unlink(state, order, reason, events);
}

/**
 * The maker's part of a match, at exactly its limit. A BUY pays out of its hold, and the excess hold of the
 * smaller rest is released; tokens and proceeds move immediately. A completely filled order is removed.
 */
export function fillMaker(state: EngineState, { maker, size, makerCost }: Step, events: EngineEvent[]): void {
  const { orders, ledger } = state;
  const owner = orders.owner(maker);
  const market = orders.market(maker);
  const rests = minus(orders.amount(maker, REMAINING), size);
  const value = floorCost(rests, orders.limit(maker));
  if (orders.isBuy(maker)) {
    const released = minus(orders.amount(maker, VALUE), value);
    ledger.endHold(owner, released);
    ledger.credit(owner, minus(released, makerCost));
    ledger.creditTokens(ledger.opened(owner, market), orders.outcome(maker), size);
  } else {
    ledger.deliverTokens(orders.link(maker, POSITION), orders.outcome(maker), size);
    ledger.credit(owner, makerCost);
  }
  add(state, maker, FILLED, size);
  add(state, maker, COST, makerCost);
  if (rests === 0) unlink(state, maker, 'filled', events);
  else state.marketOf(market).book.reduce(maker, size, value, state.now);
}

/** Takes shares off an order's rest and releases their hold. @returns false, unchanged, unless some of it still rests */
export function shrink(state: EngineState, order: number, size: Units): boolean {
  const { orders, ledger } = state;
  const remaining = orders.amount(order, REMAINING);
  if (size >= remaining) return false;
  const owner = orders.owner(order);
  const market = orders.market(order);
  const value = floorCost(minus(remaining, size), orders.limit(order));
  if (orders.isBuy(order)) {
    const released = minus(orders.amount(order, VALUE), value);
    ledger.endHold(owner, released);
    ledger.credit(owner, released);
  } else {
    ledger.releaseTokens(orders.link(order, POSITION), orders.outcome(order), size);
  }
  orders.setAmount(order, SIZE, minus(orders.amount(order, SIZE), size));
  state.marketOf(market).book.reduce(order, size, value, state.now);
  return true;
}

const add = (
  { orders }: EngineState,
  order: number,
  which: typeof FILLED | typeof COST,
  amount: Units,
): void => orders.setAmount(order, which, plus(orders.amount(order, which), amount));

function unlink(state: EngineState, order: number, reason: DoneReason, events: EngineEvent[]): void {
  const { orders, ledger } = state;
  const market = state.marketOf(orders.market(order));
  const owner = orders.owner(order);
  market.book.remove(order, state.now);
  const previous = orders.link(order, OWNERS_PREVIOUS);
  const next = orders.link(order, OWNERS_NEXT);
  if (previous === NONE) ledger.setFirstOrder(owner, next);
  else orders.setLink(previous, OWNERS_NEXT, next);
  if (next !== NONE) orders.setLink(next, OWNERS_PREVIOUS, previous);
  state.expiry.remove(order);
  const filled = orders.amount(order, FILLED);
  events.push({
    kind: 'order_done',
    orderId: orders.id(order),
    account: ledger.id(owner),
    conditionId: market.spec.conditionId,
    reason,
    filled: microOf(filled),
    // Never negative here: only a market BUY may receive more than its size, and that never rests.
    remaining: microOf(minus(orders.amount(order, SIZE), filled)),
    cost: microOf(orders.amount(order, COST)),
    fees: microOf(orders.amount(order, FEES)),
  });
  orders.remove(order);
}
