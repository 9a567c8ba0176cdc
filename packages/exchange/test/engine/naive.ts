/**
 * Test helper: a slow and obvious second implementation of the exchange's rules, to test the engine against. Arrays,
 * sorting, linear scans; matching from first principles instead of a mirrored book; holds computed from the open orders
 * at every read; a refused order is undone from a copy. It shares no code with the engine.
 */

import type {
  AccountId,
  ConditionId,
  DoneReason,
  EngineCommand,
  EngineEvent,
  MatchKind,
  NewOrder,
  Outcome,
  Payout,
  RejectReason,
} from '../../src/engine/commands.ts';
import { floor, type NaiveMarket, type NaiveOrder, NaiveState, type Totals } from './naive-state.ts';

interface Fault {
  reason: RejectReason;
  needed?: bigint;
  available?: bigint;
}

type Refusal = Extract<EngineEvent, { kind: 'refused' }>;

const opposite = (outcome: Outcome): Outcome => (outcome === 'YES' ? 'NO' : 'YES');
const ceil = (numerator: bigint, denominator: bigint): bigint =>
  numerator % denominator === 0n ? numerator / denominator : numerator / denominator + 1n;

const WHOLE = 1_000_000n;
/** What a share of [YES, NO] pays. */
function partsOf(payout: Payout): readonly [bigint, bigint] {
  if (payout === 'YES') return [WHOLE, 0n];
  if (payout === 'NO') return [0n, WHOLE];
  const yes = payout === 'HALF' ? WHOLE / 2n : BigInt(payout.slice(2).padEnd(6, '0'));
  return [yes, WHOLE - yes];
}

export class NaiveExchange extends NaiveState {
  arrivals = 0;
  /** How often a budget made a fill smaller, and how often a limit order gave up dust: for coverage. */
  budgetLimited = 0;
  dustDropped = 0;
  reduced = 0;

  apply(command: EngineCommand, at: number): EngineEvent[] {
    this.now = at;
    const events: EngineEvent[] = [];
    const due = this.t.orders.filter((o) => o.timeInForce === 'GTD' && o.expiresAt! <= at);
    due.sort((a, b) => a.expiresAt! - b.expiresAt! || (a.orderId < b.orderId ? -1 : 1));
    for (const order of due) this.leave(order, 'expired', events);
    if (command.kind === 'place') this.place(command.order, events);
    else if (command.kind === 'cancel') {
      for (const orderId of command.orderIds) {
        const order = this.t.orders.find((o) => o.orderId === orderId && o.account === command.account);
        if (order === undefined) events.push({ kind: 'cancel_refused', orderId, reason: 'order_not_found' });
        else this.leave(order, 'canceled', events);
      }
    } else if (command.kind === 'reduce') {
      const order = this.t.orders.find((o) => o.orderId === command.orderId && o.account === command.account);
      if (order !== undefined && command.size > 0n && command.size < order.rests) {
        this.reduced += 1;
        order.rests -= command.size;
        order.size -= command.size;
        this.touch(this.market(order.conditionId)!);
      }
    } else if (command.kind === 'reverse') events.push(this.reverse(command));
    else if (command.kind === 'close' || command.kind === 'resolve') this.end(command, events);
    else if (command.kind !== 'expire') events.push(this.simple(command));
    return events;
  }

  private simple(
    command: Extract<EngineCommand, { kind: 'deposit' | 'list' | 'split' | 'merge' | 'convert' | 'redeem' }>,
  ): EngineEvent {
    const refused = (reason: Refusal['reason']): EngineEvent => ({
      kind: 'refused',
      command: command.kind,
      reason,
    });
    if (command.kind === 'deposit') {
      if (command.amount <= 0n) return refused('amount_not_positive');
      this.pay(command.account, command.amount);
      this.t.deposits += command.amount;
      return { kind: 'deposited', account: command.account, amount: command.amount };
    }
    if (command.kind === 'list') {
      const spec = command.market;
      if (this.market(spec.conditionId)) return refused('market_exists');
      this.t.markets.push({
        spec,
        status: 'open',
        backing: 0n,
        sequence: 0,
        changedAt: this.now,
        volume: 0n,
      });
      return { kind: 'market_listed', conditionId: spec.conditionId };
    }
    const { account, conditionId } = command;
    const market = this.market(conditionId);
    if (market === undefined) return refused('market_not_found');
    if (command.kind === 'redeem') return this.redeem(market, account) ?? refused('market_not_resolved');
    if (command.kind === 'convert') return this.convert(command, market) ?? this.faultOfConversion(command);
    if (market.status === 'resolved') return refused('market_resolved');
    if (command.kind === 'split' && market.status === 'closed') return refused('market_closed');
    const amount = command.amount;
    if (amount <= 0n) return refused('amount_not_positive');
    const sign = command.kind === 'split' ? 1n : -1n;
    const enough =
      command.kind === 'split'
        ? this.free(account) >= amount
        : this.freeTokens(account, conditionId, 'YES') >= amount &&
          this.freeTokens(account, conditionId, 'NO') >= amount;
    if (!enough) return refused('insufficient_balance');
    this.pay(account, -sign * amount);
    this.give(account, conditionId, 'YES', sign * amount);
    this.give(account, conditionId, 'NO', sign * amount);
    market.backing += sign * amount;
    return { kind: command.kind === 'split' ? 'split' : 'merged', account, conditionId, amount };
  }

  /** Both markets exist; undefined where it is refused. */
  private convert(
    { account, conditionId, others, pool, amount }: Extract<EngineCommand, { kind: 'convert' }>,
    market: NaiveMarket,
  ): EngineEvent | undefined {
    const made = others.map((other) => this.market(other)!);
    if (made.some((one) => one?.status !== 'open') || market.status !== 'open' || amount <= 0n)
      return undefined;
    if (this.freeTokens(account, conditionId, 'NO') < amount) return undefined;
    this.give(account, conditionId, 'NO', -amount);
    this.give(pool, conditionId, 'NO', amount);
    for (const other of made) {
      const id = other.spec.conditionId;
      this.pay(pool, -amount);
      this.give(pool, id, 'YES', amount);
      this.give(pool, id, 'NO', amount);
      this.give(pool, id, 'YES', -amount);
      this.give(account, id, 'YES', amount);
      other.backing += amount;
    }
    const worth = amount - floor(amount, this.middle(market));
    // There is one other market: it gets all of it.
    return {
      ...{ kind: 'converted', account, conditionId, amount, worth },
      made: [{ conditionId: others[0]!, worth }],
    };
  }

  private faultOfConversion({
    conditionId,
    others,
    amount,
  }: Extract<EngineCommand, { kind: 'convert' }>): EngineEvent {
    const refused = (reason: Refusal['reason']): EngineEvent => ({
      kind: 'refused',
      command: 'convert',
      reason,
    });
    const markets = [conditionId, ...others].map((id) => this.market(id));
    if (markets.includes(undefined)) return refused('conversion_not_supported');
    const statuses = markets.map((one) => one!.status);
    if (statuses.includes('resolved')) return refused('market_resolved');
    if (statuses.includes('closed')) return refused('market_closed');
    return refused(amount <= 0n ? 'amount_not_positive' : 'insufficient_balance');
  }

  private middle({ spec: { conditionId }, last }: NaiveMarket): number {
    const [bid] = this.book(conditionId, 'YES')?.bids[0] ?? [];
    const [ask] = this.book(conditionId, 'YES')?.asks[0] ?? [];
    if (bid === undefined || ask === undefined) return last ?? 5_000;
    return Math.floor((bid + ask) / 2);
  }

  /** Gives everything back, and takes the whole back when somebody is then short. */
  private reverse({ conditionId, trade, legs }: Extract<EngineCommand, { kind: 'reverse' }>): EngineEvent {
    const refused = (
      reason: 'market_not_found' | 'market_resolved' | 'insufficient_balance',
    ): EngineEvent => ({
      kind: 'reversal_refused',
      conditionId,
      trade,
      reason,
    });
    const market = this.market(conditionId);
    if (market === undefined) return refused('market_not_found');
    if (market.status === 'resolved') return refused('market_resolved');
    const { money, tokens, fees } = this.t;
    const { backing } = market;
    this.t.money = { ...money };
    this.t.tokens = { ...tokens };
    for (const { account, outcome, side, size, cost, fee } of legs) {
      const sign = side === 'BUY' ? 1n : -1n;
      this.pay(account, sign * cost + fee);
      this.t.fees -= fee;
      this.give(account, conditionId, outcome, -sign * size);
    }
    market.backing = this.supply(conditionId, 'YES');
    const isShort = legs.some(
      ({ account }) =>
        this.free(account) < 0n ||
        this.freeTokens(account, conditionId, 'YES') < 0n ||
        this.freeTokens(account, conditionId, 'NO') < 0n,
    );
    if (!isShort && this.t.fees >= 0n) return { kind: 'trade_reversed', conditionId, trade };
    Object.assign(this.t, { money, tokens, fees });
    market.backing = backing;
    return refused('insufficient_balance');
  }

  private redeem(market: NaiveMarket, account: AccountId): EngineEvent | undefined {
    if (market.status !== 'resolved') return undefined;
    const { conditionId } = market.spec;
    const yes = this.allTokens(account, conditionId, 'YES');
    const no = this.allTokens(account, conditionId, 'NO');
    const [yesPays, noPays] = partsOf(market.payout!);
    const payout = (yes * yesPays) / WHOLE + (no * noPays) / WHOLE;
    this.give(account, conditionId, 'YES', -yes);
    this.give(account, conditionId, 'NO', -no);
    this.pay(account, payout);
    market.backing -= payout;
    const claims = this.supply(conditionId, 'YES') * yesPays + this.supply(conditionId, 'NO') * noPays;
    // Whole micro-units that no remaining token has a claim on.
    while ((market.backing - 1n) * WHOLE >= claims) {
      market.backing -= 1n;
      this.t.fees += 1n;
    }
    return { kind: 'redeemed', account, conditionId, yes, no, payout };
  }

  private end(command: Extract<EngineCommand, { kind: 'close' | 'resolve' }>, events: EngineEvent[]): void {
    const market = this.market(command.conditionId);
    const fault: Refusal['reason'] | undefined =
      market === undefined
        ? 'market_not_found'
        : market.status === 'resolved'
          ? 'market_resolved'
          : market.status === 'closed' && command.kind === 'close'
            ? 'market_closed'
            : undefined;
    if (market === undefined || fault !== undefined) {
      events.push({ kind: 'refused', command: command.kind, reason: fault! });
      return;
    }
    const { conditionId } = market.spec;
    if (market.status === 'open') {
      market.status = 'closed';
      events.push({ kind: 'market_closed', conditionId });
      const reason = command.kind === 'close' ? 'market_closed' : 'market_resolved';
      for (const order of this.ranked(conditionId, true)) this.leave(order, reason, events);
      for (const order of this.ranked(conditionId, false)) this.leave(order, reason, events);
    }
    if (command.kind === 'resolve') {
      market.status = 'resolved';
      market.payout = command.payout;
      events.push({ kind: 'market_resolved', conditionId, payout: command.payout });
    }
  }

  archive(conditionId: ConditionId): boolean {
    if (this.market(conditionId)?.status !== 'resolved') return false;
    if (this.supply(conditionId, 'YES') + this.supply(conditionId, 'NO') > 0n) return false;
    this.t.markets = this.t.markets.filter((m) => m.spec.conditionId !== conditionId);
    return true;
  }

  private place(order: NewOrder, events: EngineEvent[]): void {
    const { orderId, account, conditionId } = order;
    const before: Totals = {
      ...this.t,
      money: { ...this.t.money },
      tokens: { ...this.t.tokens },
      orders: this.t.orders.map((o) => ({ ...o })),
      markets: this.t.markets.map((m) => ({ ...m })),
    };
    const mine: EngineEvent[] = [{ kind: 'order_accepted', orderId, account, conditionId }];
    const fault = this.attempt(order, mine);
    if (fault === undefined) {
      events.push(...mine);
      return;
    }
    this.t = before;
    events.push({ kind: 'order_rejected', orderId, account, conditionId, ...fault });
  }

  /** Executes the whole order; returns the first fault for which it should have been refused. */
  private attempt(order: NewOrder, events: EngineEvent[]): Fault | undefined {
    const malformed = this.faultOfTerms(order);
    if (malformed !== undefined) return { reason: malformed };
    const immediate = order.timeInForce === 'FOK' || order.timeInForce === 'FAK';
    const buy = order.side === 'BUY';
    const budgeted = buy && immediate && order.spend !== undefined;
    const budget = budgeted ? order.spend! : floor(order.size, order.limit);
    const available = buy
      ? this.free(order.account)
      : this.freeTokens(order.account, order.conditionId, order.outcome);
    if (order.postOnly && this.candidates(order).length > 0) return { reason: 'post_only_would_cross' };
    const run = this.run(order, { budgeted, budget }, events);
    if (buy && budget < 1_000_000n && (immediate || run.met)) return { reason: 'amount_below_minimum' };
    const needed = buy ? budget + run.taker.fees : order.size;
    if (available < needed) return { reason: 'insufficient_balance', needed, available };
    const complete = budgeted
      ? run.left === 0n || run.taker.filled >= order.size
      : run.taker.filled === order.size || run.broke;
    if (order.timeInForce === 'FAK' && run.taker.filled === 0n) return { reason: 'fak_no_match' };
    if (order.timeInForce === 'FOK' && !complete) return { reason: 'fok_not_filled' };
    const missing = order.size - run.taker.filled;
    if (complete || immediate) {
      if (complete && missing > 0n && !budgeted) this.dustDropped += 1;
      const remaining = missing > 0n ? missing : 0n;
      events.push(doneOf(run.taker, complete ? 'filled' : 'killed', remaining));
      return undefined;
    }
    const covered = (size: bigint): boolean => !buy || floor(size, order.limit) <= run.left;
    run.taker.rests = this.most(missing, covered);
    if (run.taker.rests < missing) this.dustDropped += 1;
    this.t.orders.push(run.taker);
    this.touch(this.market(order.conditionId)!);
    return undefined;
  }

  private faultOfTerms(order: NewOrder): RejectReason | undefined {
    if (this.t.orders.some((o) => o.orderId === order.orderId)) return 'duplicate_order';
    const market = this.market(order.conditionId);
    if (market === undefined) return 'market_not_found';
    if (market.status !== 'open') return 'market_closed';
    const rests = order.timeInForce === 'GTC' || order.timeInForce === 'GTD';
    if (order.postOnly && !rests) return 'post_only_needs_gtc_or_gtd';
    const ticks = order.limit / market.spec.tickSize;
    if (!Number.isInteger(ticks)) return 'price_off_tick_grid';
    if (ticks < 1 || ticks > 10_000 / market.spec.tickSize - 1) return 'price_out_of_range';
    if (order.size < 1n) return 'size_below_minimum';
    if (rests && order.size < market.spec.minOrderSize) return 'size_below_minimum';
    if (order.timeInForce === 'GTD' && (order.expiresAt === undefined || order.expiresAt <= this.now))
      return 'already_expired';
    return undefined;
  }

  /** Matches for real; the caller undoes it when the order is refused. */
  private run(
    order: NewOrder,
    terms: { budgeted: boolean; budget: bigint },
    events: EngineEvent[],
  ): { taker: NaiveOrder; left: bigint; met: boolean; broke: boolean } {
    const taker: NaiveOrder = {
      ...order,
      arrival: this.arrivals++,
      acceptedAt: this.now,
      filled: 0n,
      cost: 0n,
      fees: 0n,
      rests: 0n,
    };
    let left = terms.budget;
    let met = false;
    for (;;) {
      if (terms.budgeted ? left === 0n : taker.filled === order.size) break;
      const maker = this.candidates(order)[0];
      if (maker === undefined) break;
      if (maker.account === order.account) {
        this.leave(maker, 'self_trade', events);
        continue;
      }
      met = true;
      const kind = kindOf(order, maker);
      const wanted = terms.budgeted ? maker.rests : smaller(maker.rests, order.size - taker.filled);
      const price = kind === 'COMPLEMENTARY' ? maker.limit : 10_000 - maker.limit;
      const costOf = (size: bigint): bigint =>
        kind === 'COMPLEMENTARY' ? floor(size, maker.limit) : size - floor(size, maker.limit);
      const left0 = left;
      const size = order.side === 'SELL' ? wanted : this.most(wanted, (s) => costOf(s) <= left0);
      const broke = size < wanted;
      if (broke) this.budgetLimited += 1;
      if (size > 0n) {
        const fee = this.match(taker, maker, { kind, size, price, cost: costOf(size) }, events);
        if (order.side === 'BUY') left -= costOf(size);
        taker.fees += fee;
      }
      if (broke) return { taker, left, met, broke };
    }
    return { taker, left, met, broke: false };
  }

  private match(
    taker: NaiveOrder,
    maker: NaiveOrder,
    deal: { kind: MatchKind; size: bigint; price: number; cost: bigint },
    events: EngineEvent[],
  ): bigint {
    const { kind, size, price, cost } = deal;
    const market = this.market(taker.conditionId)!;
    const { feeRate, feeExponent } = market.spec;
    let weight = feeRate;
    let scale = 1_000_000n;
    for (let power = 0; power < feeExponent; power += 1) {
      weight *= BigInt(price) * BigInt(10_000 - price);
      scale *= 100_000_000n;
    }
    let fee = ceil(size * weight, scale);
    if (taker.side === 'SELL') fee = smaller(fee, cost);
    const makerCost = floor(size, maker.limit);
    this.t.matches += 1;
    const common = { conditionId: taker.conditionId, matchId: this.t.matches, matchKind: kind, size };
    events.push(fillOf(taker, { ...common, liquidity: 'taker', price, cost, fee }));
    events.push(
      fillOf(maker, { ...common, liquidity: 'maker', price: maker.limit, cost: makerCost, fee: 0n }),
    );
    for (const [party, amount] of [
      [taker, cost],
      [maker, makerCost],
    ] as const) {
      const sign = party.side === 'BUY' ? 1n : -1n;
      this.pay(party.account, -sign * amount);
      this.give(party.account, party.conditionId, party.outcome, sign * size);
      party.filled += size;
      party.cost += amount;
    }
    this.pay(taker.account, -fee);
    this.t.fees += fee;
    if (kind === 'MINT') market.backing += size;
    if (kind === 'MERGE') market.backing -= size;
    market.volume += cost;
    market.last = maker.outcome === 'YES' ? maker.limit : 10_000 - maker.limit;
    market.lastWasBid = (taker.outcome === 'YES') === (taker.side === 'BUY');
    maker.rests -= size;
    if (maker.rests === 0n) this.leave(maker, 'filled', events);
    else this.touch(market);
    return fee;
  }

  /** Resting orders that this one may trade with, in the order in which it must take them. */
  private candidates(order: NewOrder): NaiveOrder[] {
    const fits = (o: NaiveOrder): boolean => {
      if (o.conditionId !== order.conditionId) return false;
      if (o.outcome === order.outcome) {
        if (o.side === order.side) return false;
        return order.side === 'BUY' ? order.limit >= o.limit : o.limit >= order.limit;
      }
      if (o.side !== order.side) return false;
      return order.side === 'BUY' ? order.limit + o.limit >= 10_000 : order.limit + o.limit <= 10_000;
    };
    const own = (o: NaiveOrder): number => (o.outcome === order.outcome ? o.limit : 10_000 - o.limit);
    const better = order.side === 'BUY' ? 1 : -1;
    return this.t.orders.filter(fits).sort((a, b) => better * (own(a) - own(b)) || a.arrival - b.arrival);
  }

  /** The largest size up to `top` that is fine, by bisection; 0n is always fine. */
  private most(top: bigint, fine: (size: bigint) => boolean): bigint {
    let low = 0n;
    let high = top;
    while (low < high) {
      const middle = (low + high + 1n) / 2n;
      if (fine(middle)) low = middle;
      else high = middle - 1n;
    }
    return low;
  }

  private leave(order: NaiveOrder, reason: DoneReason, events: EngineEvent[]): void {
    this.t.orders = this.t.orders.filter((o) => o.orderId !== order.orderId);
    this.touch(this.market(order.conditionId)!);
    events.push(doneOf(order, reason, order.size - order.filled));
  }
}

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

function kindOf(a: NewOrder, b: NewOrder): MatchKind {
  if (opposite(a.outcome) !== b.outcome) return 'COMPLEMENTARY';
  return a.side === 'BUY' ? 'MINT' : 'MERGE';
}

const fillOf = (
  order: NewOrder,
  part: Omit<Extract<EngineEvent, { kind: 'fill' }>, 'kind' | 'orderId' | 'account' | 'outcome' | 'side'>,
): EngineEvent => ({
  kind: 'fill',
  orderId: order.orderId,
  account: order.account,
  outcome: order.outcome,
  side: order.side,
  ...part,
});

const doneOf = (order: NaiveOrder, reason: DoneReason, remaining: bigint): EngineEvent => {
  const { orderId, account, conditionId, filled, cost, fees } = order;
  return { kind: 'order_done', orderId, account, conditionId, reason, filled, remaining, cost, fees };
};
