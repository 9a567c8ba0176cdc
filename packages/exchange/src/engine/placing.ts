/**
 * An order from its checks to its fills: admission here, matching below.
 *
 * Admission checks whether an order is accepted, and if not, which of its faults is reported. The order of the checks is part of
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
import { MICRO, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import {
  addTo,
  affordable,
  budgetOf,
  clampedUnits,
  floorCost,
  isImmediate,
  least,
  MOST_UNITS,
  microOf,
  minus,
  NOTHING,
  plus,
  spendsBudget,
  takerCost,
  type Units,
} from './amounts.ts';
import type { EngineEvent, MatchKind, NewOrder, OrderId, RejectReason } from './commands.ts';
import { AVAILABLE } from './ledger.ts';
import { isBid, type Market, VOLUME, yesPrice } from './market.ts';
import { NEXT, NONE, REMAINING } from './orders.ts';
import { clearTheWay, fillMaker, finish, isBehind, removeDead } from './resting.ts';
import type { EngineState, Plan, Step } from './state.ts';

/** Least amount of a BUY that takes liquidity, in micro collateral. */
const MIN_TAKING_BUY_MICRO = MICRO;
const MIN_TAKING_BUY = Number(MIN_TAKING_BUY_MICRO);

export class Rejection {
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
export function admit(state: EngineState, order: NewOrder, events: EngineEvent[]): Taking | Rejection {
  if (isOpen(state, order.orderId, events)) return new Rejection('duplicate_order');
  const market = state.markets.get(order.conditionId);
  if (market === undefined) return new Rejection('market_not_found');
  const size = clampedUnits(order.size);
  const malformed = faultOfTerms(order, { market, size, now: state.now });
  if (malformed !== undefined) return new Rejection(malformed);
  if (isBehind(state)) clearTheWay(state, order, market, events);
  if (order.postOnly && wouldCross(order, market)) return new Rejection('post_only_would_cross');

  const isBuy = order.side === 'BUY';
  const budget = isBuy ? clampedBudget(order, size) : NOTHING;
  const small = isBuy && budget < MIN_TAKING_BUY;
  // Before planning, which requires a positive budget.
  if (small && isImmediate(order)) return new Rejection('amount_below_minimum');
  const owner = state.ledger.find(order.account);
  const position = isBuy || owner === NONE ? NONE : state.ledger.position(owner, market.row);
  const taking: Taking = { order, market, owner, position, size, budget };
  const plan = planOrder(state, taking);
  if (small && plan.crosses) return new Rejection('amount_below_minimum');

  const isHuge = spendsBudget(order) ? isAbove(order.spend!, budget) : isAbove(order.size, size);
  if (isHuge || !isCovered(state, taking)) {
    const needed = isBuy ? budgetOf(order) + microOf(plan.fees) : order.size;
    const available = availableTo(state, taking);
    if (available < needed) return new Rejection('insufficient_balance', needed, available);
    if (isHuge) return new Rejection('size_above_maximum');
  }

  if (order.timeInForce === 'FAK' && plan.filled === 0) return new Rejection('fak_no_match');
  if (order.timeInForce === 'FOK' && !plan.complete) return new Rejection('fok_not_filled');
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

// Matches an incoming order with resting orders, and moves the money and tokens.
//
// Planning walks the opposite side without changing anything, so that admission checks exactly the matches that would
// happen; executing applies the plan. Nothing else runs in between.
//
// The walk takes the best price first and the oldest order within a price. It ends when the incoming order is
// complete, when the next price is beyond its limit, or when its money is used up.
//
// Budget. A BUY never costs more than its signer offered: `spend` for a market BUY (FOK/FAK with `spend`),
// floor(size × limit) for any other. Fees come on top. A fill that the budget makes smaller spends it to the last
// micro-unit and ends the order. For a limit BUY that can only happen through the micro-units that MINT matches
// round up (amounts.ts), when they were not made good by better prices; its unfilled rest is then smaller than what
// one micro-unit per MINT match buys, and is dropped: the order is `filled` with that dust as `remaining`. If such
// an order comes to rest, the dust stays off the book in the same way, so that its hold covers it exactly.
//
// Complete means: a market BUY has spent its whole budget or received at least `size` when nothing more crosses
// (it goes on past `size` while money is left); any other order has reached `size`, or has used up its money as
// above. A FOK must become complete; an FAK must match at least one order.
//
// Exactness. An order's filled size, cost and fees are each at most its size, or for a market BUY the size is bounded
// here: it never receives more than 2^53 − 1 micro-shares.
//
// Own orders on the way are skipped, do not count, and are cancelled when (and only when) the incoming order is
// accepted. Own orders that the walk does not reach stay.

/** An order that is being placed. */
interface Taking {
  readonly order: NewOrder;
  readonly market: Market;
  /** Row of its account; NONE for an account that the engine does not know yet. */
  readonly owner: number;
  /** Position with the tokens of a SELL, or NONE. */
  readonly position: number;
  readonly size: Units;
  /** Collateral of a BUY. */
  readonly budget: Units;
}

/** Writes `state.plan`. */
function planOrder(state: EngineState, taking: Taking): Plan {
  const { plan } = state;
  const { order, market, size } = taking;
  plan.reset(size);
  const { book } = market;
  const opposite = book.sideOf(order.outcome, order.side === 'BUY' ? 'SELL' : 'BUY');
  const limit = yesPrice(order.outcome, order.limit);
  if (!book.crosses(opposite, limit)) return plan;
  const walk = new Walk(state, taking);
  for (let tick = opposite.best; tick !== NONE; tick = opposite.worseThan(tick)) {
    const price = book.priceAt(tick);
    if (opposite.bids ? price < limit : price > limit) break;
    if (!walk.take(tick)) break;
  }
  walk.end();
  return plan;
}

class Walk {
  readonly #state: EngineState;
  readonly #taking: Taking;
  readonly #plan: Plan;
  readonly #isBuy: boolean;
  readonly #bySize: boolean;
  /** The budget is used up and ended the order. */
  #exhausted = false;
  /** Shares still wanted (by size) and money still to spend (BUY). */
  #wanted: Units;
  #budget: Units;

  constructor(state: EngineState, taking: Taking) {
    this.#state = state;
    this.#taking = taking;
    this.#plan = state.plan;
    this.#isBuy = taking.order.side === 'BUY';
    this.#bySize = !spendsBudget(taking.order);
    // A market BUY goes on past its size.
    this.#wanted = this.#bySize ? taking.size : MOST_UNITS;
    this.#budget = taking.budget;
  }

  /** Takes what it can of a level; false when the walk is over. */
  take(tick: number): boolean {
    const { orders } = this.#state;
    const { owner, market } = this.#taking;
    for (let maker = market.book.firstAt(tick); maker !== NONE; maker = orders.link(maker, NEXT)) {
      if (this.#wanted === 0 || (!this.#bySize && this.#budget === 0)) return false;
      if (orders.owner(maker) === owner) {
        this.#add(maker, 'COMPLEMENTARY', NOTHING);
        continue;
      }
      this.#plan.crosses = true;
      this.#match(maker, tick);
      if (this.#exhausted) return false;
    }
    return true;
  }

  #match(maker: number, tick: number): void {
    const { order, market } = this.#taking;
    const { orders } = this.#state;
    const kind = orders.outcome(maker) === order.outcome ? 'COMPLEMENTARY' : this.#isBuy ? 'MINT' : 'MERGE';
    let size = least(orders.amount(maker, REMAINING), this.#wanted);
    if (this.#isBuy) {
      const most = affordable(kind, this.#budget, yesPrice(order.outcome, market.book.priceAt(tick)));
      if (most < size) {
        size = most;
        this.#exhausted = true;
        if (size === 0) return;
      }
    }
    const step = this.#add(maker, kind, size);
    step.makerCost = floorCost(size, orders.limit(maker));
    step.takerCost = takerCost(kind, size, step.makerCost);
    step.fee = market.book.feeAt(tick).of(size);
    if (this.#isBuy) this.#budget = minus(this.#budget, step.takerCost);
    else step.fee = least(step.fee, step.takerCost);
    this.#wanted = minus(this.#wanted, size);
    const plan = this.#plan;
    plan.filled = plus(plan.filled, size);
    plan.cost = plus(plan.cost, step.takerCost);
    plan.fees = plus(plan.fees, step.fee);
  }

  #add(maker: number, kind: MatchKind, size: Units): Step {
    const step = this.#plan.next();
    step.maker = maker;
    step.kind = kind;
    step.size = size;
    return step;
  }

  /** Completes the plan. */
  end(): void {
    const plan = this.#plan;
    plan.complete = this.#bySize
      ? this.#wanted === 0 || this.#exhausted
      : this.#budget === 0 || plan.filled >= this.#taking.size;
    plan.remaining = plan.complete ? NOTHING : this.#remaining();
  }

  /** The size that may rest: at most what the budget covers at the limit, see the top of the file. */
  #remaining(): Units {
    const { order, size } = this.#taking;
    // A market BUY rests with nothing.
    if (!this.#bySize) return size;
    if (!this.#isBuy) return this.#wanted;
    return least(affordable('COMPLEMENTARY', this.#budget, order.limit), this.#wanted);
  }
}

/** Executes the plan: for each step the taker's fill, the maker's fill, and the end of a complete maker. */
export function executePlan(state: EngineState, taking: Taking, events: EngineEvent[]): void {
  const { plan, ledger } = state;
  const { order, market, owner } = taking;
  let { position } = taking;
  for (let index = 0; index < plan.length; index += 1) {
    const step = plan.steps[index]!;
    if (step.size === 0) {
      finish(state, step.maker, 'self_trade', events);
      continue;
    }
    state.lastMatchId += 1;
    pushFills(state, order, step, events);
    if (position === NONE) position = ledger.opened(owner, market.row);
    settleTaker(state, { order, owner, position }, step);
    if (step.kind === 'MINT') market.makeSets(step.size);
    else if (step.kind === 'MERGE') market.unwindSets(step.size);
    addTo(market.totals, VOLUME, step.takerCost);
    market.lastTrade = market.book.priceAt(state.orders.tick(step.maker));
    market.lastTakerSide = isBid(order.outcome, order.side) ? 'BUY' : 'SELL';
    fillMaker(state, step, events);
  }
}

function settleTaker(
  state: EngineState,
  { order, owner, position }: Pick<Taking, 'order' | 'owner' | 'position'>,
  step: Step,
): void {
  const { ledger } = state;
  if (order.side === 'BUY') {
    ledger.debit(owner, step.takerCost);
    ledger.debit(owner, step.fee);
    ledger.creditTokens(position, order.outcome, step.size);
  } else {
    ledger.debitTokens(position, order.outcome, step.size);
    ledger.credit(owner, minus(step.takerCost, step.fee));
  }
  addTo(ledger.fees, 0, step.fee);
}

function pushFills(state: EngineState, order: NewOrder, step: Step, events: EngineEvent[]): void {
  const { orders, ledger, lastMatchId: matchId } = state;
  const { maker, kind } = step;
  const limit = orders.limit(maker);
  const outcome = orders.outcome(maker);
  const price: Pips = outcome === order.outcome ? limit : PIPS - limit;
  const size = microOf(step.size);
  const makerCost = microOf(step.makerCost);
  events.push(
    {
      kind: 'fill',
      orderId: order.orderId,
      account: order.account,
      conditionId: order.conditionId,
      matchId,
      matchKind: kind,
      liquidity: 'taker',
      outcome: order.outcome,
      side: order.side,
      price,
      size,
      cost: kind === 'COMPLEMENTARY' ? makerCost : microOf(step.takerCost),
      fee: microOf(step.fee),
    },
    {
      kind: 'fill',
      orderId: orders.id(maker),
      account: ledger.id(orders.owner(maker)),
      conditionId: order.conditionId,
      matchId,
      matchKind: kind,
      liquidity: 'maker',
      outcome,
      side: orders.side(maker),
      price: limit,
      size,
      cost: makerCost,
      fee: 0n,
    },
  );
}
