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
 * 12. size_above_maximum: more than 2^53 − 1 micro-units of shares, or of money for a market BUY.
 * 13. fak_no_match: no order of another account within the limit.
 * 14. fok_not_filled: not completely filled immediately, without own orders.
 */
import { MICRO, type Micro, PIPS } from '@bellwether/contract/decimals';
import { budgetOf, floorCost, isImmediate, spendsBudget } from './amounts.ts';
import { yesPrice } from './book.ts';
import { AVAILABLE } from './ledger.ts';
import type { Market } from './market.ts';
import { planOrder, type Taking } from './matching.ts';
import { NONE } from './orders.ts';
import type { EngineState } from './state.ts';
import { clearTheWay, isBehind, removeDead } from './sweeps.ts';
import type { EngineEvent, NewOrder, OrderId, RejectReason } from './types.ts';
import { clampedUnits, MOST_UNITS, microOf, NOTHING, type Units } from './units.ts';

/** Least amount of a BUY that takes liquidity, in micro collateral. */
const MIN_TAKING_BUY_MICRO = MICRO;
const MIN_TAKING_BUY = Number(MIN_TAKING_BUY_MICRO);

export class Refusal {
  readonly reason: RejectReason;
  readonly needed: Micro | undefined;
  readonly available: Micro | undefined;

  constructor(reason: RejectReason, needed?: Micro, available?: Micro) {
    this.reason = reason;
    this.needed = needed;
    this.available = available;
  }
}

/** An accepted order has its plan in `state.plan`. `events` receives the ends of orders that were due before it. */
export function admit(state: EngineState, order: NewOrder, events: EngineEvent[]): Taking | Refusal {
  if (isOpen(state, order.orderId, events)) return new Refusal('duplicate_order');
  const market = state.markets.get(order.conditionId);
  if (market === undefined) return new Refusal('market_not_found');
  const size = clampedUnits(order.size);
  const malformed = faultOfTerms(order, { market, size, now: state.now });
  if (malformed !== undefined) return new Refusal(malformed);
  if (isBehind(state)) clearTheWay(state, order, market, events);
  if (order.postOnly && wouldCross(order, market)) return new Refusal('post_only_would_cross');

  const isBuy = order.side === 'BUY';
  const budget = isBuy ? clampedBudget(order, size) : NOTHING;
  const small = isBuy && budget < MIN_TAKING_BUY;
  // Before planning, which requires a positive budget.
  if (small && isImmediate(order)) return new Refusal('amount_below_minimum');
  const owner = state.ledger.find(order.account);
  const position = isBuy || owner === NONE ? NONE : state.ledger.position(owner, market.row);
  const taking: Taking = { order, market, owner, position, size, budget };
  const plan = planOrder(state, taking);
  if (small && plan.crosses) return new Refusal('amount_below_minimum');

  const isHuge = spendsBudget(order) ? isAbove(order.spend!, budget) : isAbove(order.size, size);
  if (isHuge || !isCovered(state, taking)) {
    const needed = isBuy ? budgetOf(order) + microOf(plan.fees) : order.size;
    const available = availableTo(state, taking);
    if (available < needed) return new Refusal('insufficient_balance', needed, available);
    if (isHuge) return new Refusal('size_above_maximum');
  }

  if (order.timeInForce === 'FAK' && plan.filled === 0) return new Refusal('fak_no_match');
  if (order.timeInForce === 'FOK' && !plan.complete) return new Refusal('fok_not_filled');
  return taking;
}

function isOpen(state: EngineState, id: OrderId, events: EngineEvent[]): boolean {
  const twin = state.orders.find(id);
  if (twin === NONE) return false;
  if (isBehind(state)) removeDead(state, twin, events);
  return state.orders.find(id) !== NONE;
}

/** Quickly; where it is false, bigints decide. */
function isCovered({ ledger, plan }: EngineState, { order, owner, position, size, budget }: Taking): boolean {
  if (owner === NONE) return false;
  if (order.side === 'BUY') {
    const needed = budget + plan.fees;
    return needed <= MOST_UNITS && ledger.covers(owner, needed as Units);
  }
  return ledger.coversTokens(position, order.outcome, size);
}

function availableTo({ ledger }: EngineState, { order, owner, position }: Taking): Micro {
  if (owner === NONE) return 0n;
  return order.side === 'BUY' ? ledger.money(owner, AVAILABLE) : ledger.freeTokens(position, order.outcome);
}

/** `amount` is more than an order may have; `clamped` is what remains of it. */
const isAbove = (amount: Micro, clamped: Units): boolean =>
  clamped === MOST_UNITS && Number(amount) > MOST_UNITS;

const clampedBudget = (order: NewOrder, size: Units): Units =>
  spendsBudget(order) ? clampedUnits(order.spend!) : floorCost(size, order.limit);

/** Steps 3 to 8: the checks that need neither the book nor balances. */
function faultOfTerms(
  order: NewOrder,
  { market, size, now }: { readonly market: Market; readonly size: Units; readonly now: number },
): RejectReason | undefined {
  const { tickSize } = market.spec;
  const immediate = isImmediate(order);
  if (market.status !== 'open') return 'market_closed';
  if (order.postOnly && immediate) return 'post_only_needs_gtc_or_gtd';
  if (order.limit % tickSize !== 0) return 'price_off_tick_grid';
  if (order.limit < tickSize || order.limit > PIPS - tickSize) return 'price_out_of_range';
  if (size <= 0 || (!immediate && size < market.minOrderSize)) return 'size_below_minimum';
  // The comparison treats a missing or invalid time as past.
  if (order.timeInForce === 'GTD' && !((order.expiresAt ?? 0) > now)) return 'already_expired';
  return undefined;
}

function wouldCross(order: NewOrder, market: Market): boolean {
  const opposite = market.book.sideOf(order.outcome, order.side === 'BUY' ? 'SELL' : 'BUY');
  return market.book.crosses(opposite, yesPrice(order.outcome, order.limit));
}
