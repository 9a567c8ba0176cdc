/**
 * The matching engine and ledger as a pure, deterministic state machine: a command and its time go in, events come
 * out. No clock, no randomness, no I/O; the same commands at the same times give the same events and the same
 * snapshot bytes, on any machine. It must never keep a closed order or do work that grows with history.
 *
 * State machine
 *
 * Time arrives with each command and never runs backwards. Every command first removes the due GTD orders from their
 * books (order_done expired, in the order of expiresAt, then order id). `expire` does only that. A due order is never
 * matched, cancelled or counted, also where a bound leaves its removal to a later command (resting.ts).
 *
 * A market is open, closed, then resolved, and never goes back. Open: it trades. `close` removes every resting order
 * (market_closed first, then order_done market_closed: bids from the best, then asks from the best, each by age).
 * `resolve` of an open market does the same with the reason market_resolved, then sets the payout permanently
 * (market_resolved last). Only a resolved market redeems (sets.ts); full sets are split while it is open and merged
 * until it is resolved.
 *
 * An order is checked (placing.ts, which documents the fixed order of refusals), planned and then
 * either rejected without any change or accepted: order_accepted; per match the taker's fill, the maker's fill and,
 * where the maker is complete, its order_done; for an own order on the way, its order_done self_trade; at the end the
 * incoming order's own order_done, unless it rests. FOK and FAK never rest; GTC rests until it is filled or cancelled,
 * GTD until it is due.
 *
 * Money: resting orders have a hold (a BUY floor(remaining × limit), a SELL its tokens), everything else is free
 * immediately. After every command, collateral available + held + backing of open sets + fees equals the deposits.
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import { clampedUnits, isEmpty, microAt, microOf } from './amounts.ts';
import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  EngineCommand,
  EngineEvent,
  HolderView,
  MarketSpec,
  NewOrder,
  OpenOrder,
  OrderId,
  Outcome,
  Payout,
  Side,
} from './commands.ts';
import { checkConservation } from './conservation.ts';
import { AVAILABLE, HELD } from './ledger.ts';
import { type Market, type MarketStatus, NO_SUPPLY, VOLUME, YES_SUPPLY, yesPrice } from './market.ts';
import { COST, FEES, FILLED, NONE, OWNERS_NEXT, REMAINING, SIZE, VALUE } from './orders.ts';
import { admit, executePlan, Rejection } from './placing.ts';
import { emptyBook, finish, isBehind, isDead, rest, settleAccount, shrink, sweep } from './resting.ts';
import { convert, redeem, reverse, splitOrMerge } from './sets.ts';
import { decodeState, encodeState } from './snapshot.ts';
import { EngineState, type Plan } from './state.ts';

export type { MarketStatus } from './market.ts';

export class Engine {
  #state = new EngineState();

  /**
   * @param at epoch milliseconds, not before the previous command's.
   * @throws Error ("engine bug") when a balance would go below zero: the state must not be used afterwards.
   * @throws RangeError when time runs backwards or is not an integer, a market's specification is impossible, or what is to be
   *   reversed is no trade; the state is then unchanged.
   */
  apply(command: EngineCommand, at: number): EngineEvent[] {
    const state = this.#state;
    if (!Number.isSafeInteger(at) || at < state.now)
      throw new RangeError(`time is whole milliseconds and never runs backwards: ${at} after ${state.now}`);
    // Built before any change, because only this step can throw because of a caller's bug.
    const listing =
      command.kind === 'list' && !state.markets.has(command.market.conditionId)
        ? state.newMarket(command.market, at)
        : undefined;
    state.now = at;
    const events: EngineEvent[] = [];
    sweep(state, events);
    if (isBehind(state)) settle(state, command, events);
    switch (command.kind) {
      case 'place':
        place(state, command.order, events);
        break;
      case 'cancel':
        cancel(state, command.account, command.orderIds, events);
        break;
      case 'reduce':
        reduce(state, command.account, command.orderId, command.size);
        break;
      case 'deposit':
        events.push(deposit(state, command));
        break;
      case 'list':
        events.push(list(state, listing));
        break;
      case 'split':
      case 'merge':
        events.push(splitOrMerge(state, command));
        break;
      case 'convert':
        events.push(convert(state, command));
        break;
      case 'close':
        close(state, command.conditionId, events);
        break;
      case 'resolve':
        resolve(state, command.conditionId, command.payout, events);
        break;
      case 'redeem':
        events.push(redeem(state, command.account, command.conditionId));
        break;
      case 'reverse':
        reverse(state, command, events);
        break;
      case 'expire':
        break;
    }
    return events;
  }

  /**
   * From here on at most `count` dead orders are removed, until the next call; all that there are when it is never
   * called (resting.ts). It is part of the state: a replay must call it at the same positions.
   */
  allowSweeps(count: number): void {
    this.#state.sweeps = count;
  }

  /** True while dead orders are left to remove: every further command removes some. */
  isBehind(): boolean {
    return isBehind(this.#state);
  }

  /** True while a market that no longer trades has orders left to remove. */
  isEmptying(conditionId: ConditionId): boolean {
    return this.#state.emptying.has(conditionId);
  }

  /** At most `depth` levels a side (all when omitted), in `outcome`'s own prices. */
  book(conditionId: ConditionId, outcome: Outcome, depth = Number.POSITIVE_INFINITY): BookView | undefined {
    const market = this.#state.markets.get(conditionId);
    return market === undefined ? undefined : bookView(market, outcome, depth);
  }

  /** YES prices, O(1). */
  bestPrices(
    conditionId: ConditionId,
  ):
    | { readonly bid?: Pips; readonly ask?: Pips; readonly last?: Pips; readonly changedAt: number }
    | undefined {
    const market = this.#state.markets.get(conditionId);
    if (market === undefined) return undefined;
    const isOpen = market.status === 'open';
    const { bids, asks } = market.book;
    const tick = market.spec.tickSize;
    return {
      ...(!isOpen || bids.best === NONE ? {} : { bid: bids.best * tick }),
      ...(!isOpen || asks.best === NONE ? {} : { ask: asks.best * tick }),
      ...(market.lastTrade === undefined ? {} : { last: market.lastTrade }),
      changedAt: market.book.changedAt,
    };
  }

  /** Whether every price of this tick is on the market's grid. */
  hasTick(conditionId: ConditionId, tickSize: Pips): boolean {
    const market = this.#state.markets.get(conditionId);
    return market !== undefined && tickSize % market.spec.tickSize === 0;
  }

  /** Zeros for an unknown account. */
  account(id: AccountId): AccountView {
    return accountView(this.#state, id);
  }

  /** Every account with tokens of the market. Its cost grows with all positions: for occasional reads. */
  holders(conditionId: ConditionId): HolderView[] {
    const market = this.#state.markets.get(conditionId);
    return market === undefined ? [] : holderViews(this.#state, market);
  }

  /** Free collateral, without the view of a whole account. */
  available(id: AccountId): Micro {
    const { ledger } = this.#state;
    const account = ledger.find(id);
    return account === NONE ? 0n : ledger.money(account, AVAILABLE);
  }

  /** Free tokens of one market, without the view of a whole account. */
  freeTokens(id: AccountId, conditionId: ConditionId, outcome: Outcome): Micro {
    const { ledger, markets } = this.#state;
    const account = ledger.find(id);
    const market = markets.get(conditionId);
    if (account === NONE || market === undefined) return 0n;
    return ledger.freeTokens(ledger.position(account, market.row), outcome);
  }

  openOrder(id: OrderId): OpenOrder | undefined {
    const order = this.#state.orders.find(id);
    return order === NONE || isDead(this.#state, order) ? undefined : openOrderView(this.#state, order);
  }

  /** Oldest first; orders of the same time by id. */
  openOrders(id: AccountId): OpenOrder[] {
    return openOrderViews(this.#state, id);
  }

  marketSpec(conditionId: ConditionId): MarketSpec | undefined {
    return this.#state.markets.get(conditionId)?.spec;
  }

  marketStatus(conditionId: ConditionId): MarketStatus | undefined {
    return this.#state.markets.get(conditionId)?.status;
  }

  marketPayout(conditionId: ConditionId): Payout | undefined {
    return this.#state.markets.get(conditionId)?.payout;
  }

  /** Collateral traded (the takers' costs, fees apart); 0n for an unknown market. */
  volume(conditionId: ConditionId): Micro {
    const market = this.#state.markets.get(conditionId);
    return market === undefined ? 0n : microAt(market.totals, VOLUME);
  }

  /** Collateral value of the resting orders, each at its own limit; 0n for an unknown market. */
  liquidity(conditionId: ConditionId): Micro {
    const market = this.#state.markets.get(conditionId);
    return market?.status === 'open' ? market.book.liquidity : 0n;
  }

  /** Taker fees, and the rounding remainders of HALF redemptions. */
  fees(): Micro {
    return microAt(this.#state.ledger.fees, 0);
  }

  /** Time of the last command. */
  now(): number {
    return this.#state.now;
  }

  /**
   * Removes a resolved market without outstanding tokens; false for any other market. It changes the state without an
   * event: a replay of the journal must call it at the same position.
   */
  archive(conditionId: ConditionId): boolean {
    const market = this.#state.markets.get(conditionId);
    if (market?.status !== 'resolved' || this.#state.emptying.has(conditionId)) return false;
    if (!isEmpty(market.totals, YES_SUPPLY) || !isEmpty(market.totals, NO_SUPPLY)) return false;
    this.#state.unlist(market);
    return true;
  }

  /** Canonical bytes: equal states give equal bytes, independent of their history. */
  snapshot(): Uint8Array {
    return encodeState(this.#state);
  }

  /** @throws Error when the bytes are not a snapshot of a consistent state. */
  static restore(bytes: Uint8Array): Engine {
    const engine = new Engine();
    engine.#state = decodeState(bytes);
    engine.checkConservation();
    return engine;
  }

  /** Recomputes every sum from scratch. @throws Error with both figures when a sum differs. */
  checkConservation(): void {
    checkConservation(this.#state);
  }
}

function deposit(
  { ledger }: EngineState,
  { account, amount, orderId }: Extract<EngineCommand, { kind: 'deposit' }>,
): EngineEvent {
  if (amount <= 0n) return { kind: 'refused', command: 'deposit', reason: 'amount_not_positive' };
  ledger.changeMoney(ledger.open(account), amount);
  ledger.deposits += amount;
  return { kind: 'deposited', account, amount, ...(orderId === undefined ? {} : { orderId }) };
}

function list(state: EngineState, market: Market | undefined): EngineEvent {
  if (market === undefined) return { kind: 'refused', command: 'list', reason: 'market_exists' };
  state.list(market);
  return { kind: 'market_listed', conditionId: market.spec.conditionId };
}

function place(state: EngineState, order: NewOrder, events: EngineEvent[]): void {
  const { orderId, account, conditionId } = order;
  const taking = admit(state, order, events);
  if (taking instanceof Rejection) {
    events.push(rejected(order, taking));
    return;
  }
  const { market, size } = taking;
  const { plan, orders } = state;
  events.push({ kind: 'order_accepted', orderId, account, conditionId });
  const owner = taking.owner === NONE ? state.ledger.open(account) : taking.owner;
  if (plan.length > 0) executePlan(state, owner === taking.owner ? taking : { ...taking, owner }, events);
  if (plan.complete || order.timeInForce === 'FAK') {
    events.push(takerDone(order, plan));
    return;
  }
  const resting = orders.add(order, {
    owner,
    market: market.row,
    position: taking.position,
    tick: market.book.tickOf(yesPrice(order.outcome, order.limit)),
    size,
    remaining: plan.remaining,
    acceptedAt: state.now,
  });
  orders.setAmount(resting, FILLED, plan.filled);
  orders.setAmount(resting, COST, plan.cost);
  orders.setAmount(resting, FEES, plan.fees);
  rest(state, resting);
}

function rejected(order: NewOrder, { reason, needed, available }: Rejection): EngineEvent {
  const { orderId, account, conditionId } = order;
  return {
    kind: 'order_rejected',
    orderId,
    account,
    conditionId,
    reason,
    ...(needed === undefined ? {} : { needed }),
    ...(available === undefined ? {} : { available }),
  };
}

/** `remaining` is 0n for a market BUY that received more than its size. */
function takerDone(order: NewOrder, plan: Plan): EngineEvent {
  const { orderId, account, conditionId, size } = order;
  const filled = microOf(plan.filled);
  return {
    kind: 'order_done',
    orderId,
    account,
    conditionId,
    reason: plan.complete ? 'filled' : 'killed',
    filled,
    remaining: filled < size ? size - filled : 0n,
    cost: microOf(plan.cost),
    fees: microOf(plan.fees),
  };
}

function cancel(
  state: EngineState,
  account: AccountId,
  orderIds: readonly OrderId[],
  events: EngineEvent[],
): void {
  const { orders, ledger } = state;
  for (const orderId of orderIds) {
    const order = orders.find(orderId);
    if (order === NONE || ledger.id(orders.owner(order)) !== account)
      events.push({ kind: 'cancel_refused', orderId, reason: 'order_not_found' });
    else finish(state, order, 'canceled', events);
  }
}

function reduce(state: EngineState, account: AccountId, orderId: OrderId, size: Micro): void {
  const { orders, ledger } = state;
  const order = orders.find(orderId);
  const isOwn = order !== NONE && ledger.id(orders.owner(order)) === account && !isDead(state, order);
  if (isOwn && size > 0n) shrink(state, order, clampedUnits(size));
}

function close(state: EngineState, conditionId: ConditionId, events: EngineEvent[]): void {
  const market = state.markets.get(conditionId);
  if (market?.status === 'open') {
    stopTrading(state, market, 'closed', events);
    return;
  }
  const reason =
    market === undefined
      ? 'market_not_found'
      : market.status === 'resolved'
        ? 'market_resolved'
        : 'market_closed';
  events.push({ kind: 'refused', command: 'close', reason });
}

function resolve(state: EngineState, conditionId: ConditionId, payout: Payout, events: EngineEvent[]): void {
  const market = state.markets.get(conditionId);
  if (market === undefined || market.status === 'resolved') {
    const reason = market === undefined ? 'market_not_found' : 'market_resolved';
    events.push({ kind: 'refused', command: 'resolve', reason });
    return;
  }
  if (market.status === 'open') stopTrading(state, market, 'resolved', events);
  market.status = 'resolved';
  market.payout = payout;
  events.push({ kind: 'market_resolved', conditionId, payout });
}

/** The book is emptied at once, or by later commands as well (resting.ts). */
function stopTrading(state: EngineState, market: Market, status: MarketStatus, events: EngineEvent[]): void {
  const { conditionId } = market.spec;
  market.status = status;
  events.push({ kind: 'market_closed', conditionId });
  state.emptying.add(conditionId);
  emptyBook(state, market, events);
}

/** The account of a command sees none of its orders that are dead. */
function settle(state: EngineState, command: EngineCommand, events: EngineEvent[]): void {
  const id =
    command.kind === 'place' ? command.order.account : 'account' in command ? command.account : undefined;
  const account = id === undefined ? NONE : state.ledger.find(id);
  if (account !== NONE) settleAccount(state, account, events);
}

// Copies for readers in the shapes of commands.ts, never the engine's own objects.

/** The NO book is the YES book seen from the other side: YES asks are NO bids at the mirrored price. */
function bookView(market: Market, outcome: Outcome, depth: number): BookView {
  const { book, lastTrade, lastTakerSide } = market;
  // Levels that are left on the book of a market that no longer trades are dead.
  const shown = market.status === 'open' ? depth : 0;
  const [bids, asks] = outcome === 'YES' ? [book.bids, book.asks] : [book.asks, book.bids];
  return {
    conditionId: market.spec.conditionId,
    outcome,
    bids: book.view(bids, outcome, shown),
    asks: book.view(asks, outcome, shown),
    ...(lastTrade === undefined ? {} : { lastTrade: yesPrice(outcome, lastTrade) }),
    ...(lastTakerSide === undefined ? {} : { lastTakerSide: sideOn(outcome, lastTakerSide) }),
    sequence: book.sequence,
    changedAt: book.changedAt,
  };
}

const sideOn = (outcome: Outcome, side: Side): Side =>
  (outcome === 'YES') === (side === 'BUY') ? 'BUY' : 'SELL';

interface Tokens {
  yes: bigint;
  no: bigint;
  yesHeld: bigint;
  noHeld: bigint;
}

function accountView(state: EngineState, id: AccountId): AccountView {
  const { ledger } = state;
  const account = ledger.find(id);
  const tokens = new Map<ConditionId, Tokens>();
  if (account === NONE) return { account: id, available: 0n, held: 0n, tokens };
  for (let at = ledger.firstPosition(account); at !== NONE; at = ledger.nextPosition(at))
    tokens.set(state.marketOf(ledger.marketOf(at)).spec.conditionId, {
      yes: ledger.freeTokens(at, 'YES'),
      no: ledger.freeTokens(at, 'NO'),
      yesHeld: ledger.heldTokens(at, 'YES'),
      noHeld: ledger.heldTokens(at, 'NO'),
    });
  const dead = isBehind(state) ? releaseDead(state, account, tokens) : 0n;
  return {
    account: id,
    available: ledger.money(account, AVAILABLE) + dead,
    held: ledger.money(account, HELD) - dead,
    tokens,
  };
}

/** Frees the tokens that dead orders hold. @returns the collateral that they hold */
function releaseDead(state: EngineState, account: number, tokens: ReadonlyMap<ConditionId, Tokens>): bigint {
  const { orders } = state;
  let collateral = 0n;
  for (let at = state.ledger.firstOrder(account); at !== NONE; at = orders.link(at, OWNERS_NEXT)) {
    if (!isDead(state, at)) continue;
    if (orders.isBuy(at)) {
      collateral += microOf(orders.amount(at, VALUE));
      continue;
    }
    const held = tokens.get(state.marketOf(orders.market(at)).spec.conditionId)!;
    const amount = microOf(orders.amount(at, REMAINING));
    if (orders.outcome(at) === 'YES') {
      held.yes += amount;
      held.yesHeld -= amount;
    } else {
      held.no += amount;
      held.noHeld -= amount;
    }
  }
  return collateral;
}

function holderViews({ ledger }: EngineState, market: Market): HolderView[] {
  return Array.from(ledger.positionsIn(market.row), ({ account, position }) => ({
    account: ledger.id(account),
    yes: ledger.freeTokens(position, 'YES') + ledger.heldTokens(position, 'YES'),
    no: ledger.freeTokens(position, 'NO') + ledger.heldTokens(position, 'NO'),
  }));
}

function openOrderView(state: EngineState, order: number): OpenOrder {
  const { orders } = state;
  const isGtd = orders.isGtd(order);
  return {
    orderId: orders.id(order),
    account: state.ledger.id(orders.owner(order)),
    conditionId: state.marketOf(orders.market(order)).spec.conditionId,
    outcome: orders.outcome(order),
    side: orders.side(order),
    limit: orders.limit(order),
    size: microOf(orders.amount(order, SIZE)),
    filled: microOf(orders.amount(order, FILLED)),
    cost: microOf(orders.amount(order, COST)),
    fees: microOf(orders.amount(order, FEES)),
    timeInForce: isGtd ? 'GTD' : 'GTC',
    ...(isGtd ? { expiresAt: orders.expiresAt(order) } : {}),
    acceptedAt: orders.acceptedAt(order),
  };
}

/** Oldest first; orders of the same time by id. */
function openOrderViews(state: EngineState, id: AccountId): OpenOrder[] {
  const account = state.ledger.find(id);
  const open: OpenOrder[] = [];
  if (account === NONE) return open;
  for (let at = state.ledger.firstOrder(account); at !== NONE; at = state.orders.link(at, OWNERS_NEXT))
    if (!isDead(state, at)) open.push(openOrderView(state, at));
  return open.sort(compareOpenOrders);
}

const compareOpenOrders = (a: OpenOrder, b: OpenOrder): number =>
  a.acceptedAt - b.acceptedAt || (a.orderId < b.orderId ? -1 : 1);
