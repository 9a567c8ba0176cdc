/**
 * Checks whether an order is accepted, and if not, which of its faults is reported. The order of the checks is part of
 * the contract; the first failing check is reported, and a refused order changes nothing:
 *
 *  1. duplicate_order: an order with this id is open. (The journal keeps the ids of closed orders.)
 *  2. market_not_found
 *  3. market_closed: closed or resolved.
 *  4. post_only_needs_gtc_or_gtd
 *  5. price_off_tick_grid
 *  6. price_out_of_range: outside [tick, 1 − tick].
 *  7. size_below_minimum: GTC/GTD under the market's minimum; any order of size zero.
 *  8. already_expired: GTD without a future time.
 *  9. post_only_would_cross: checked on the whole book, own orders included; a post-only order cancels nothing.
 * 10. amount_below_minimum: a BUY that is immediate, or that would match another account, for under 1 collateral.
 * 11. insufficient_balance: a BUY needs its budget (`spend`, or floor(size × limit)) plus the fees of its immediate
 *     matches; a SELL its size in free tokens. Holds that self-trade cancels would free do not count.
 * 12. fak_no_match: no order of another account within the limit.
 * 13. fok_not_filled: not completely filled immediately, without own orders.
 */
import { MICRO, type Micro, PIPS } from '@bellwether/contract/decimals';
import { budgetOf, isImmediate } from './amounts.ts';
import { yesPrice } from './book.ts';
import { type Plan, planOrder } from './matching.ts';
import type { Market } from './records.ts';
import type { EngineState } from './state.ts';
import type { NewOrder, RejectReason } from './types.ts';

/** Least amount of a BUY that takes liquidity, in micro collateral. */
export const MIN_TAKING_BUY_MICRO = MICRO;

export type Admission =
  | { readonly admitted: true; readonly market: Market; readonly plan: Plan }
  | {
      readonly admitted: false;
      readonly reason: RejectReason;
      readonly needed?: Micro;
      readonly available?: Micro;
    };

export function admit(state: EngineState, order: NewOrder): Admission {
  if (state.orders.has(order.orderId)) return refuse('duplicate_order');
  const market = state.markets.get(order.conditionId);
  if (market === undefined) return refuse('market_not_found');
  const malformed = faultOfTerms(order, market, state.now);
  if (malformed !== undefined) return refuse(malformed);
  if (order.postOnly && wouldCross(order, market)) return refuse('post_only_would_cross');

  const isBuy = order.side === 'BUY';
  const budget = isBuy ? budgetOf(order) : 0n;
  const small = isBuy && budget < MIN_TAKING_BUY_MICRO;
  // Before planning, which requires a positive budget.
  if (small && isImmediate(order)) return refuse('amount_below_minimum');
  const plan = planOrder(order, market);
  if (small && plan.crosses) return refuse('amount_below_minimum');

  const account = state.ledger.accounts.get(order.account);
  const needed = isBuy ? budget + plan.fees : order.size;
  const available =
    account === undefined ? 0n : isBuy ? account.available : account.freeTokens(market, order.outcome);
  if (available < needed) return { admitted: false, reason: 'insufficient_balance', needed, available };

  if (order.timeInForce === 'FAK' && plan.filled === 0n) return refuse('fak_no_match');
  if (order.timeInForce === 'FOK' && !plan.complete) return refuse('fok_not_filled');
  return { admitted: true, market, plan };
}

/** Steps 3 to 8: the checks that need neither the book nor balances. */
function faultOfTerms(order: NewOrder, market: Market, now: number): RejectReason | undefined {
  const { tickSize, minOrderSize } = market.spec;
  const immediate = isImmediate(order);
  if (market.status !== 'open') return 'market_closed';
  if (order.postOnly && immediate) return 'post_only_needs_gtc_or_gtd';
  if (order.limit % tickSize !== 0) return 'price_off_tick_grid';
  if (order.limit < tickSize || order.limit > PIPS - tickSize) return 'price_out_of_range';
  if (order.size <= 0n || (!immediate && order.size < minOrderSize)) return 'size_below_minimum';
  // The comparison treats a missing or invalid time as past.
  if (order.timeInForce === 'GTD' && !((order.expiresAt ?? 0) > now)) return 'already_expired';
  return undefined;
}

function wouldCross(order: NewOrder, market: Market): boolean {
  const opposite = market.book.sideOf(order.outcome, order.side === 'BUY' ? 'SELL' : 'BUY');
  return market.book.crosses(opposite, yesPrice(order.outcome, order.limit));
}

const refuse = (reason: RejectReason): Admission => ({ admitted: false, reason });
