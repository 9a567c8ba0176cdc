/**
 * Removes dead orders from the books: GTD orders that are due, and the orders of a market that no longer trades. A
 * command removes at most `state.sweeps` of them, so that the end of a large market does not stop everything else;
 * later commands remove the others. Meanwhile a dead order has no effect that anyone could notice:
 *
 * - it is in no view, and its hold is in the balance of its account (views.ts);
 * - a command of its account first removes all dead orders of that account;
 * - an order that would meet dead orders on the book first removes those.
 */
import { yesPrice } from './book.ts';
import type { Market } from './market.ts';
import { NEXT, NONE, OWNERS_NEXT } from './orders.ts';
import { finish } from './resting.ts';
import type { EngineState } from './state.ts';
import type { DoneReason, EngineEvent, NewOrder } from './types.ts';

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
