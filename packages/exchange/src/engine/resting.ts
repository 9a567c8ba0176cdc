/**
 * Adds and removes resting orders, dead ones too: the only place that keeps book, owner, expiry queue and holds
 * consistent.
 */
import { floorCost, microOf, minus, plus, type Units } from './amounts.ts';
import type { DoneReason, EngineEvent, NewOrder } from './commands.ts';
import { type Market, yesPrice } from './market.ts';
import {
  COST,
  FEES,
  FILLED,
  NEXT,
  NONE,
  OWNERS_NEXT,
  OWNERS_PREVIOUS,
  POSITION,
  REMAINING,
  SIZE,
  VALUE,
} from './orders.ts';
import type { EngineState, Step } from './state.ts';

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

// Removes dead orders from the books: GTD orders that are due, and the orders of a market that no longer trades. A
// command removes at most `state.sweeps` of them, so that the end of a large market does not stop everything else;
// later commands remove the others. Meanwhile a dead order has no effect that anyone could notice:
//
// - it is in no view, and its hold is in the balance of its account (engine.ts);
// - a command of its account first removes all dead orders of that account;
// - an order that would meet dead orders on the book first removes those.

/** True while dead orders are left. */
export const isBehind = (state: EngineState): boolean =>
  state.emptying.size > 0 || state.expiry.due(state.now) !== NONE;

export const isDead = (state: EngineState, order: number): boolean =>
  isDue(state, order) || state.marketOf(state.orders.market(order)).status !== 'open';

const isDue = ({ orders, now }: EngineState, order: number): boolean =>
  orders.isGtd(order) && orders.expiresAt(order) <= now;

/** Removes dead orders, as far as the command may: due ones by time and id, then market by market. */
export function sweep(state: EngineState, events: EngineEvent[]): void {
  for (
    let due = state.expiry.due(state.now);
    due !== NONE && state.sweeps > 0;
    due = state.expiry.due(state.now)
  ) {
    state.sweeps -= 1;
    removeDead(state, due, events);
  }
  if (state.emptying.size === 0) return;
  // By id, because the order in which markets closed is not part of a snapshot.
  for (const id of [...state.emptying].sort()) emptyBook(state, state.markets.get(id)!, events);
}

/** Bids from the best, then asks from the best, each by age. */
export function emptyBook(state: EngineState, market: Market, events: EngineEvent[]): void {
  const { book } = market;
  for (const side of [book.bids, book.asks]) {
    while (side.best !== NONE && state.sweeps > 0) {
      state.sweeps -= 1;
      const order = book.firstAt(side.best);
      finish(state, order, reasonFor(state, order), events);
    }
  }
  forgetIfEmpty(state, market);
}

function forgetIfEmpty(state: EngineState, { spec, book }: Market): void {
  if (book.bids.best === NONE && book.asks.best === NONE) state.emptying.delete(spec.conditionId);
}

/** Removes the dead orders of one account, however many. */
export function settleAccount(state: EngineState, account: number, events: EngineEvent[]): void {
  const { orders, ledger } = state;
  let next = NONE;
  for (let order = ledger.firstOrder(account); order !== NONE; order = next) {
    next = orders.link(order, OWNERS_NEXT);
    removeDead(state, order, events);
  }
}

/** Removes an order if it is dead. */
export function removeDead(state: EngineState, order: number, events: EngineEvent[]): void {
  if (!isDead(state, order)) return;
  const market = state.marketOf(state.orders.market(order));
  finish(state, order, reasonFor(state, order), events);
  forgetIfEmpty(state, market);
}

/** Removes the due orders that `order` would meet on the opposite side. */
export function clearTheWay(
  state: EngineState,
  order: NewOrder,
  market: Market,
  events: EngineEvent[],
): void {
  const { book } = market;
  const opposite = book.sideOf(order.outcome, order.side === 'BUY' ? 'SELL' : 'BUY');
  const limit = yesPrice(order.outcome, order.limit);
  let worse = NONE;
  for (let tick = opposite.best; tick !== NONE; tick = worse) {
    const price = book.priceAt(tick);
    if (opposite.bids ? price < limit : price > limit) return;
    worse = opposite.worseThan(tick);
    let next = NONE;
    for (let resting = book.firstAt(tick); resting !== NONE; resting = next) {
      next = state.orders.link(resting, NEXT);
      if (isDue(state, resting)) finish(state, resting, 'expired', events);
    }
  }
}

function reasonFor(state: EngineState, order: number): DoneReason {
  const { status } = state.marketOf(state.orders.market(order));
  if (status === 'open') return 'expired';
  return status === 'resolved' ? 'market_resolved' : 'market_closed';
}
