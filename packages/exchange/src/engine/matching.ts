/**
 * Matches an incoming order with resting orders, and moves the money and tokens.
 *
 * Planning walks the opposite side without changing anything, so that admission checks exactly the matches that would
 * happen; executing applies the plan. Nothing else runs in between.
 *
 * The walk takes the best price first and the oldest order within a price. It ends when the incoming order is
 * complete, when the next price is beyond its limit, or when its money is used up.
 *
 * Budget. A BUY never costs more than its signer offered: `spend` for a market BUY (FOK/FAK with `spend`),
 * floor(size × limit) for any other. Fees come on top. A fill that the budget makes smaller spends it to the last
 * micro-unit and ends the order. For a limit BUY that can only happen through the micro-units that MINT matches
 * round up (amounts.ts), when they were not made good by better prices; its unfilled rest is then smaller than what
 * one micro-unit per MINT match buys, and is dropped: the order is `filled` with that dust as `remaining`. If such
 * an order comes to rest, the dust stays off the book in the same way, so that its hold covers it exactly.
 *
 * Complete means: a market BUY has spent its whole budget or received at least `size` when nothing more crosses
 * (it goes on past `size` while money is left); any other order has reached `size`, or has used up its money as
 * above. A FOK must become complete; an FAK must match at least one order.
 *
 * Own orders on the way are skipped, do not count, and are cancelled when (and only when) the incoming order is
 * accepted. Own orders that the walk does not reach stay.
 */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { affordable, budgetOf, feeOf, floorCost, spendsBudget, takerCost } from './amounts.ts';
import { isBid, type PriceLevel, yesPrice } from './book.ts';
import type { Account, Market, RestingOrder } from './records.ts';
import { fillMaker, finish } from './resting.ts';
import type { EngineState } from './state.ts';
import type { EngineEvent, MatchKind, NewOrder } from './types.ts';

/** One resting order on the way. `size` 0n: it belongs to the same account and will be cancelled. */
export interface Step {
  readonly maker: RestingOrder;
  readonly kind: MatchKind;
  readonly size: Micro;
  /** The maker's side, and the taker's before the fee. */
  readonly makerCost: Micro;
  readonly takerCost: Micro;
  readonly fee: Micro;
}

/** The complete immediate outcome of an order. */
export interface Plan {
  readonly steps: readonly Step[];
  /** True when the order matches another account's order within its limit. */
  readonly crosses: boolean;
  readonly complete: boolean;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  /** Micro-shares that can rest, or would be killed; 0n when complete. */
  readonly remaining: Micro;
}

const NO_STEPS: readonly Step[] = [];

export function planOrder(order: NewOrder, market: Market): Plan {
  const { book } = market;
  const opposite = book.sideOf(order.outcome, order.side === 'BUY' ? 'SELL' : 'BUY');
  const limit = yesPrice(order.outcome, order.limit);
  if (!book.crosses(opposite, limit))
    return {
      steps: NO_STEPS,
      crosses: false,
      complete: false,
      filled: 0n,
      cost: 0n,
      fees: 0n,
      remaining: order.size,
    };
  const walk = new Walk(order, market);
  for (let index = opposite.best; index !== -1; index = opposite.worseThan(index)) {
    const level = book.levelAt(index);
    if (opposite.bids ? level.pips < limit : level.pips > limit) break;
    if (!walk.take(level)) break;
  }
  return walk.plan();
}

class Walk {
  readonly #order: NewOrder;
  readonly #market: Market;
  readonly #isBuy: boolean;
  readonly #bySize: boolean;
  readonly #steps: Step[] = [];
  #crosses = false;
  /** The budget is used up and ended the order. */
  #exhausted = false;
  /** Shares still wanted (by size) and money still to spend (BUY). */
  #wanted: Micro;
  #budget: Micro;
  #filled: Micro = 0n;
  #cost: Micro = 0n;
  #fees: Micro = 0n;

  constructor(order: NewOrder, market: Market) {
    this.#order = order;
    this.#market = market;
    this.#isBuy = order.side === 'BUY';
    this.#bySize = !spendsBudget(order);
    this.#wanted = order.size;
    this.#budget = this.#isBuy ? budgetOf(order) : 0n;
  }

  /** Takes what it can of a level; false when the walk is over. */
  take(level: PriceLevel<RestingOrder>): boolean {
    for (let maker = level.first; maker !== undefined; maker = maker.next) {
      if (this.#bySize ? this.#wanted === 0n : this.#budget === 0n) return false;
      if (maker.owner.id === this.#order.account) {
        this.#steps.push({ maker, kind: 'COMPLEMENTARY', size: 0n, makerCost: 0n, takerCost: 0n, fee: 0n });
        continue;
      }
      this.#crosses = true;
      this.#match(maker, level);
      if (this.#exhausted) return false;
    }
    return true;
  }

  #match(maker: RestingOrder, level: PriceLevel<RestingOrder>): void {
    const kind = maker.outcome === this.#order.outcome ? 'COMPLEMENTARY' : this.#isBuy ? 'MINT' : 'MERGE';
    let size = maker.remaining;
    if (this.#bySize && this.#wanted < size) size = this.#wanted;
    if (this.#isBuy) {
      const most = affordable(kind, this.#budget, this.#order.outcome === 'YES' ? level.yes : level.no);
      if (most < size) {
        size = most;
        this.#exhausted = true;
        if (size === 0n) return;
      }
    }
    const makerCost = floorCost(size, maker.price);
    const cost = takerCost(kind, size, makerCost);
    let fee = feeOf(size, level.feeNumerator, this.#market.feeDenominator);
    if (this.#isBuy) this.#budget -= cost;
    else if (fee > cost) fee = cost;
    if (this.#bySize) this.#wanted -= size;
    this.#filled += size;
    this.#cost += cost;
    this.#fees += fee;
    this.#steps.push({ maker, kind, size, makerCost, takerCost: cost, fee });
  }

  plan(): Plan {
    const complete = this.#bySize
      ? this.#wanted === 0n || this.#exhausted
      : this.#budget === 0n || this.#filled >= this.#order.size;
    return {
      steps: this.#steps,
      crosses: this.#crosses,
      complete,
      filled: this.#filled,
      cost: this.#cost,
      fees: this.#fees,
      remaining: complete ? 0n : this.#remaining(),
    };
  }

  /** The size that may rest: at most what the budget covers at the limit, see the top of the file. */
  #remaining(): Micro {
    if (!this.#isBuy || !this.#bySize) return this.#wanted;
    const covered = affordable('COMPLEMENTARY', this.#budget, BigInt(this.#order.limit));
    return covered < this.#wanted ? covered : this.#wanted;
  }
}

/** Executes a plan: for each step the taker's fill, the maker's fill, and the end of a complete maker. */
export function executePlan(
  state: EngineState,
  taking: { readonly order: NewOrder; readonly owner: Account; readonly market: Market; readonly plan: Plan },
  events: EngineEvent[],
): void {
  for (const step of taking.plan.steps) {
    if (step.size === 0n) {
      finish(state, step.maker, 'self_trade', events);
      continue;
    }
    state.lastMatchId += 1;
    pushFills(state.lastMatchId, taking.order, step, events);
    settleTaker(state, taking, step);
    if (step.kind === 'MINT') taking.market.changeSets(step.size);
    else if (step.kind === 'MERGE') taking.market.changeSets(-step.size);
    taking.market.volume += step.takerCost;
    taking.market.lastTrade = step.maker.level.pips;
    taking.market.lastTakerSide = isBid(taking.order.outcome, taking.order.side) ? 'BUY' : 'SELL';
    fillMaker(state, step.maker, { size: step.size, cost: step.makerCost }, events);
  }
}

function settleTaker(
  state: EngineState,
  taking: { readonly order: NewOrder; readonly owner: Account; readonly market: Market },
  step: Step,
): void {
  const { order, owner, market } = taking;
  if (order.side === 'BUY') {
    owner.credit(-(step.takerCost + step.fee));
    owner.creditTokens(market, order.outcome, step.size);
  } else {
    owner.creditTokens(market, order.outcome, -step.size);
    owner.credit(step.takerCost - step.fee);
  }
  state.ledger.fees += step.fee;
}

function pushFills(matchId: number, order: NewOrder, step: Step, events: EngineEvent[]): void {
  const { maker, kind, size } = step;
  const price: Pips = maker.outcome === order.outcome ? maker.limit : PIPS - maker.limit;
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
      cost: step.takerCost,
      fee: step.fee,
    },
    {
      kind: 'fill',
      orderId: maker.orderId,
      account: maker.owner.id,
      conditionId: order.conditionId,
      matchId,
      matchKind: kind,
      liquidity: 'maker',
      outcome: maker.outcome,
      side: maker.side,
      price: maker.limit,
      size,
      cost: step.makerCost,
      fee: 0n,
    },
  );
}
