/**
 * Decides what observations mean for an order: pure, and the same for any order and number of them.
 *
 * A trade counts once, when it is first heard of, and is taken back once if its settlement fails; one that is first
 * heard of as failed never counts. An order is over when the venue says that nothing of it rests and every share that it
 * matched is accounted for by a known trade; until each of these trades is final the order is `matched`.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { isImmediate } from '../../domain/draft.ts';
import type { FillEvidence, FirstAnswer, OutcomeEvidence } from '../../domain/evidence.ts';
import {
  isInDoubt,
  isTerminal,
  type OrderEventKind,
  type OrderStatus,
  reachable,
} from '../../domain/lifecycle.ts';
import type { MarketRecord } from '../../domain/market.ts';
import type {
  KeptAside,
  KnownTrade,
  LiveChange,
  LiveOrder,
  LiveOrderRow,
  OrderEnd,
  Reversal,
  TradeStatus,
  VenueStanding,
} from '../live-orders.ts';
import { beyondSigned, DUST, mostShares, type Observation, type TradePart } from './order-wire.ts';

/** The `matchKind` of fills at a live venue, which does not say how it matched them. */
const LIVE_MATCH = 'LIVE';
/** The venue ends a GTD order a minute before the time that it signed; its clock and ours differ by a little. */
const EXPIRES_EARLY_MS = 65_000;
/** A sale that is found later than this carries the venue's time, else the desk's, which orders fills exactly. */
const FOUND_LATE_MS = 60_000;

const UNSEEN: VenueStanding = {
  matched: 0n,
  ended: null,
  isCounted: false,
  missingSince: null,
  isFinal: false,
};

const RANK: Readonly<Record<TradeStatus, number>> = {
  matched: 0,
  mined: 1,
  retrying: 1,
  confirmed: 2,
  failed: 2,
};
const isSettled = ({ status }: Pick<KnownTrade, 'status'>): boolean =>
  status === 'confirmed' || status === 'failed';

export interface FoldedOrder {
  readonly change: LiveChange | null;
  /** Observations that contradict the record and changed nothing: for the log. */
  readonly contradictions: readonly string[];
  /** Trades that are kept aside from now on, each with its reason: for an operator. */
  readonly keptAside: readonly string[];
}

/** @param market of the order; `null` only when no observation is of a trade */
export function foldOrder(
  live: LiveOrder,
  seen: readonly Observation[],
  market: MarketRecord | null,
): FoldedOrder {
  const state = new OrderState(live);
  for (const one of seen) state.see(one);
  return state.result(market);
}

/** Sums of the trades that count. */
interface Totals {
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
}

interface Move {
  readonly status: OrderStatus;
  /** For the order's journal. */
  readonly event: OrderEventKind | null;
  readonly errorCode?: string | null;
}

/** An order while observations are applied to it. */
class OrderState {
  readonly #order: LiveOrderRow;
  readonly #known: LiveOrder;
  readonly #trades: Map<string, KnownTrade>;
  readonly #touched = new Set<string>();
  readonly #fills: FillEvidence[] = [];
  readonly #reversals: Reversal[] = [];
  readonly #contradictions: string[] = [];
  readonly #keptAside: string[] = [];
  /** For the order's journal, what became of trades that were kept aside. */
  readonly #asideNews: { readonly event: string; readonly detail: string }[] = [];
  #venue: VenueStanding;
  #accepted: Extract<Observation, { kind: 'accepted' }> | null = null;
  #rejected: Extract<Observation, { kind: 'rejected' }> | null = null;
  #heldBack = false;
  #detail: string | null = null;
  #at: number;

  constructor(live: LiveOrder) {
    this.#known = live;
    this.#order = live.order;
    this.#trades = new Map(live.trades);
    this.#venue = live.venue ?? UNSEEN;
    this.#at = live.order.updatedAt;
  }

  see(seen: Observation): void {
    this.#at = Math.max(this.#at, seen.at);
    switch (seen.kind) {
      case 'rejected':
        this.#rejected ??= seen;
        return;
      case 'missing':
        this.#venue = { ...this.#venue, missingSince: this.#venue.missingSince ?? seen.at };
        return;
      case 'accepted':
        this.#accept(seen);
        return;
      case 'standing':
        this.#stand(seen);
        return;
      case 'trade':
        this.#trade(seen.part, seen.at);
        return;
      case 'decision':
        this.#decide(seen);
    }
  }

  #accept(seen: Extract<Observation, { kind: 'accepted' }>): void {
    if (this.#accepted === null || (this.#accepted.word === null && seen.word !== null))
      this.#accepted = seen;
    if (seen.word === 'delayed') this.#heldBack = true;
    if (seen.word === null) return;
    this.#matched(seen.filled);
    // An immediate order leaves nothing to rest after its match. A delayed one is matched later.
    if (isImmediate(this.#order.timeInForce) && seen.word !== 'delayed') this.#end('killed', true);
    else if (seen.filled >= this.#order.shares) this.#end('filled', true);
  }

  #stand({ matched, end, isCounted, detail }: Extract<Observation, { kind: 'standing' }>): void {
    this.#detail ??= detail;
    if (end === null) {
      // A listed order: news that it was missing was early. A late event never reopens what has ended.
      this.#venue = { ...this.#venue, missingSince: null };
      this.#matched(matched ?? 0n);
      return;
    }
    if (matched !== null) this.#matched(matched);
    this.#end(end === 'undecided' ? this.#decideEnd() : end, isCounted);
    // The complete list of its trades decides over a rounded figure.
    if (isCounted && matched !== null && this.#venue.matched - matched < DUST)
      this.#venue = { ...this.#venue, matched: max(matched, this.#sum()) };
  }

  #matched(shares: Micro): void {
    if (shares > mostShares(this.#order)) this.#contradictions.push('more shares matched than it signed');
    else if (shares > this.#venue.matched) this.#venue = { ...this.#venue, matched: shares };
  }

  #end(end: OrderEnd, isCounted: boolean): void {
    this.#venue = {
      ...this.#venue,
      ended: this.#venue.ended ?? end,
      isCounted: this.#venue.isCounted || isCounted,
    };
  }

  #decideEnd(): OrderEnd {
    const { timeInForce, expiration, shares } = this.#order;
    if (isImmediate(timeInForce)) return 'killed';
    if (max(this.#venue.matched, this.#sum()) + DUST > shares) return 'filled';
    return expiration !== null && expiration - EXPIRES_EARLY_MS <= this.#at ? 'expired' : 'canceled';
  }

  #trade(part: TradePart, at: number): void {
    const before = this.#trades.get(part.tradeId);
    if (before?.aside?.state === 'held') {
      this.#saidAgain(before, before.aside, part);
      return;
    }
    if (before !== undefined) {
      this.#progress(before, part, at);
      return;
    }
    const counts = part.status !== 'failed';
    if (isTerminal(this.#order.status)) {
      if (counts) this.#contradictions.push('a trade of an order that has ended');
      return;
    }
    const nth = [...this.#trades.values()].reduce(
      (most, { nth: one }) => (one >= most ? one + 1n : most),
      0n,
    );
    const why = this.#excess(part, part.status);
    if (why !== null) {
      this.#keepAside(part, nth, { why, at });
      return;
    }
    this.#put({ ...part, nth, isCounted: counts, aside: null });
    if (counts) this.#count(part, nth, at);
  }

  /** A trade that failed takes nothing from what other trades may take. */
  #excess(amounts: Pick<TradePart, 'size' | 'cost'>, status: TradeStatus): string | null {
    return beyondSigned(this.#order, amounts, status === 'failed' ? NO_AMOUNTS : this.#counted());
  }

  #keepAside(part: TradePart, nth: bigint, { why, at }: { readonly why: string; readonly at: number }): void {
    const { tradeId, status, size, cost, fee, price, liquidity, matchedAt } = part;
    const said = { size, cost, fee, price, liquidity, matchedAt };
    const aside = { state: 'held', why, since: at, said } as const;
    this.#put({ tradeId, nth, status, ...NO_AMOUNTS, isCounted: false, aside });
    this.#keptAside.push(why);
    const detail = `The venue says a trade (${tradeId}) that cannot be: ${why}. It is kept aside and counts nothing until it is explained.`;
    this.#asideNews.push({ event: 'trade_kept_aside', detail });
  }

  /** Other amounts of a trade that is kept aside may be its right ones. */
  #saidAgain(before: KnownTrade, aside: KeptAside, part: TradePart): void {
    const { size, cost, fee, price, liquidity, matchedAt } = part;
    const status = RANK[part.status] > RANK[before.status] ? part.status : before.status;
    if (this.#excess(part, status) === null)
      this.#put({
        ...{ ...before, status },
        aside: { ...aside, said: { size, cost, fee, price, liquidity, matchedAt } },
      });
    else if (status !== before.status) this.#put({ ...before, status });
  }

  /** A trade that is kept aside counts as soon as it fits: another trade of the order may have failed meanwhile. */
  #countExplained(): void {
    for (const trade of [...this.#trades.values()]) {
      const { aside } = trade;
      if (aside?.state !== 'held' || beyondSigned(this.#order, aside.said, this.#counted()) !== null)
        continue;
      this.#countAside(trade, aside, 'explained');
    }
  }

  #decide({ tradeId, decision, at }: Extract<Observation, { kind: 'decision' }>): void {
    const trade = this.#trades.get(tradeId);
    this.#at = Math.max(this.#at, at);
    if (trade?.aside?.state !== 'held') return;
    if (decision === 'release') {
      this.#countAside(trade, trade.aside, 'released');
      return;
    }
    this.#put({ ...trade, aside: { ...trade.aside, state: 'discarded' } });
    const detail = `The operator discarded the trade ${tradeId} that was kept aside.`;
    this.#asideNews.push({ event: 'trade_discarded', detail });
  }

  #countAside(trade: KnownTrade, aside: KeptAside, state: 'explained' | 'released'): void {
    const { tradeId, nth, status } = trade;
    const counts = status !== 'failed';
    const { size, cost, fee } = aside.said;
    this.#put({ ...trade, size, cost, fee, isCounted: counts, aside: { ...aside, state } });
    if (counts) this.#count({ tradeId, status, ...aside.said }, nth, this.#at);
    const by = state === 'released' ? 'The operator released' : 'The venue explained';
    this.#asideNews.push({
      event: `trade_${state}`,
      detail: `${by} the trade ${tradeId} that was kept aside.`,
    });
  }

  /** The same trade again. Its amounts are those that counted: the venue never changes them. */
  #progress(before: KnownTrade, part: TradePart, at: number): void {
    if (before.isCounted && before.size !== part.size)
      this.#contradictions.push('other amounts of a trade than before');
    if (RANK[part.status] <= RANK[before.status]) {
      if (isSettled(before) && isSettled(part) && before.status !== part.status)
        this.#contradictions.push(`a ${before.status} trade that is ${part.status} now`);
      return;
    }
    const fails = part.status === 'failed' && before.isCounted;
    this.#put({ ...before, status: part.status, isCounted: before.isCounted && !fails });
    if (!fails) return;
    const earlier = this.#fills.findIndex(({ tradeId }) => tradeId === Number(before.nth));
    // Counted in this very change: it never becomes a fill.
    if (earlier >= 0) this.#fills.splice(earlier, 1);
    else
      this.#reversals.push({
        wallet: this.#order.funder,
        orderId: this.#order.orderId,
        tradeId: Number(before.nth),
        at,
      });
  }

  #put(trade: KnownTrade & Partial<TradePart>): void {
    const { tradeId, nth, status, size, cost, fee, isCounted, aside } = trade;
    this.#trades.set(tradeId, { tradeId, nth, status, size, cost, fee, isCounted, aside });
    this.#touched.add(tradeId);
  }

  #count(part: TradePart, nth: bigint, at: number): void {
    const { orderId, funder, conditionId, tokenId, outcome, side, createdAt } = this.#order;
    // Shares that the desk hears of late may have been sold meanwhile, within the same second: records have whole seconds.
    const isLate = side === 'BUY' ? part.matchedAt < at : at - part.matchedAt > FOUND_LATE_MS;
    const when = isLate ? Math.min(at, Math.max(part.matchedAt, createdAt)) : at;
    this.#fills.push({
      wallet: funder,
      ...{ orderId, conditionId, tokenId, outcome, side },
      tradeId: Number(nth),
      price: part.price,
      size: part.size,
      cost: part.cost,
      fee: part.fee,
      liquidity: part.liquidity,
      matchKind: LIVE_MATCH,
      // Fills of one moment keep their order.
      at: when + this.#fills.length,
    });
  }

  /** Shares of all its trades, of failed ones, too. */
  #sum(): Micro {
    return [...this.#trades.values()].reduce((sum, { size }) => sum + size, 0n);
  }

  #counted(): Totals {
    let [size, cost, fee] = [0n, 0n, 0n];
    for (const trade of this.#trades.values())
      if (trade.isCounted) {
        size += trade.size;
        cost += trade.cost;
        fee += trade.fee;
      }
    return { size, cost, fee };
  }

  result(market: MarketRecord | null): FoldedOrder {
    const nothing = { change: null, contradictions: this.#contradictions, keptAside: [] };
    const { status: before, filled, cost, fees } = this.#order;
    if (isTerminal(before)) {
      if (this.#accepted !== null && before === 'rejected')
        this.#contradictions.push('an order that was proved not to be there');
      return nothing;
    }
    const isThere = this.#accepted !== null || this.#trades.size > 0 || this.#venue.ended !== null;
    if (!isThere && this.#rejected === null && isInDoubt(before)) return nothing;
    this.#countExplained();
    const totals = this.#counted();
    const move = this.#next(isThere, totals.size);
    const venue = { ...this.#venue, isFinal: isTerminal(move.status) };
    const first = this.#firstAnswer(move, totals);
    const isMoved =
      move.status !== before ||
      totals.size !== filled ||
      this.#reversals.length > 0 ||
      this.#asideNews.length > 0;
    const isSaid = this.#known.venue !== null && sameStanding(this.#known.venue, venue);
    if (!isMoved && first === null && this.#touched.size === 0 && isSaid) return nothing;
    const outcome: OutcomeEvidence = {
      orderId: this.#order.orderId,
      status: move.status,
      filled: totals.size - filled,
      cost: totals.cost - cost,
      fees: totals.fee - fees,
      errorCode: move.errorCode ?? null,
      first,
      ...(move.status === 'rejected' && !isThere ? { isRepeatable: true } : {}),
      journal: [
        ...(move.event === null ? [] : [this.#entry(move.event, move.status)]),
        ...this.#asideNews.map((news) => ({ at: this.#at, status: move.status, ...news })),
      ],
      at: this.#at,
    };
    const change: LiveChange = {
      venue,
      trades: [...this.#touched].map((id) => this.#trades.get(id) as KnownTrade),
      reversals: this.#reversals,
      evidence: {
        outcomes: isMoved || first !== null ? [outcome] : [],
        fills: this.#fills,
        markets:
          this.#fills.length === 0 || market === null ? [] : [marketEvidence(market, this.#order.venue)],
      },
    };
    return { change, contradictions: this.#contradictions, keptAside: this.#keptAside };
  }

  #entry(event: OrderEventKind, status: OrderStatus): OutcomeEvidence['journal'][number] {
    const detail = this.#rejected?.detail ?? this.#detail;
    return { at: this.#at, event, status, ...(detail === null ? {} : { detail }) };
  }

  #next(isThere: boolean, filled: Micro): Move {
    const { status: before } = this.#order;
    if (!isThere && this.#rejected !== null)
      return { status: 'rejected', event: 'rejected', errorCode: this.#rejected.reason };
    const { ended, isCounted, matched } = this.#venue;
    const isTold = this.#sum() >= matched || this.#has('discarded');
    const isAccounted = isTold && (isCounted || ended === 'filled') && !this.#has('held');
    if (ended !== null && isAccounted) return this.#atEnd(ended, filled);
    const isMatched = this.#trades.size > 0 || matched > 0n;
    if (ended !== null && isMatched) return this.#moved('matched', this.#correction(filled));
    if (this.#heldBack && isInDoubt(before)) return this.#moved('delayed', 'held_back');
    if (this.#isHeldBack(ended, filled)) return this.#moved('delayed', 'held_back');
    if (filled > 0n) return this.#moved('partially_filled', this.#correction(filled));
    return this.#moved('live', this.#reversals.length > 0 ? 'all_fills_reversed' : 'accepted');
  }

  /** An immediate order never rests: one that is there and has no end yet waits for its match, by any source. */
  #isHeldBack(ended: OrderEnd | null, filled: Micro): boolean {
    const isWaiting = ended === null && filled === 0n && this.#reversals.length === 0;
    return isWaiting && isImmediate(this.#order.timeInForce);
  }

  #has(state: KeptAside['state']): boolean {
    return [...this.#trades.values()].some(({ aside }) => aside?.state === state);
  }

  /** Nothing of it rests, and each of its trades is known. */
  #atEnd(ended: OrderEnd, filled: Micro): Move {
    const trades = [...this.#trades.values()].filter(({ aside }) => aside?.state !== 'discarded');
    const { status: before, timeInForce } = this.#order;
    if (trades.length === 0 && ended === 'killed') {
      const isAnswer = isInDoubt(before) || before === 'delayed';
      const errorCode = timeInForce === 'FOK' ? 'fok_not_filled' : 'fak_no_match';
      return {
        ...(isAnswer ? this.#moved('rejected', 'rejected') : this.#moved('canceled', 'canceled')),
        errorCode,
      };
    }
    if (!trades.every(isSettled)) return this.#moved('matched', this.#correction(filled));
    if (trades.some(({ status }) => status === 'failed'))
      return { ...this.#moved('settlement_failed', 'settlement_failed'), errorCode: 'settlement_failed' };
    return this.#moved(...(ended === 'killed' && this.#isComplete() ? ENDINGS.filled : ENDINGS[ended]));
  }

  /** An immediate BUY is complete when its money is spent, any other order when its shares are traded. */
  #isComplete(): boolean {
    const { side, shares, money } = this.#order;
    const { size, cost } = this.#counted();
    return size + DUST > shares || (side === 'BUY' && cost + DUST > money);
  }

  #correction(filled: Micro): OrderEventKind {
    if (this.#reversals.length === 0) return 'filled_partly';
    return filled === 0n ? 'all_fills_reversed' : 'fills_reversed';
  }

  /** Changes no status on late news: a move that the lifecycle does not allow from here. */
  #moved(status: OrderStatus, event: OrderEventKind): Move {
    const { status: before } = this.#order;
    if (status === before) {
      const isNews = this.#reversals.length > 0 || this.#fills.length > 0;
      return { status, event: isNews ? event : null };
    }
    if (!reachable('signed', before).includes(status)) return { status: before, event: null };
    return { status, event: status === 'matched' && this.#reversals.length === 0 ? 'matched' : event };
  }

  #firstAnswer({ status, errorCode = null }: Move, totals: Totals): FirstAnswer | null {
    if (this.#order.first !== null || isInDoubt(status)) return null;
    if (status === 'rejected') {
      const detail = this.#rejected?.detail ?? null;
      const refused = { success: false, status, filled: 0n, cost: 0n, fees: 0n };
      return { ...refused, errorCode, ...(detail === null ? {} : { detail }) };
    }
    const taken = { success: true, errorCode: null };
    const said = this.#accepted;
    if (said !== null && said.word !== null)
      return {
        ...{ ...taken, status: said.word, filled: said.filled, cost: said.cost },
        // The fee was added up from the list of trades, which may have a wrong one.
        fees: this.#has('held') ? totals.fee : said.fees,
      };
    const isMatched = totals.size > 0n || this.#has('held');
    const word = isMatched ? 'matched' : status === 'delayed' ? 'delayed' : 'live';
    return { ...taken, status: word, filled: totals.size, cost: totals.cost, fees: totals.fee };
  }
}

const ENDINGS: Readonly<Record<OrderEnd, readonly [OrderStatus, OrderEventKind]>> = {
  filled: ['filled', 'filled_completely'],
  killed: ['partially_filled_closed', 'rest_killed'],
  canceled: ['canceled', 'canceled'],
  expired: ['expired', 'expired'],
  market_resolved: ['market_resolved', 'market_resolved'],
};

const NO_AMOUNTS = { size: 0n, cost: 0n, fee: 0n } as const;

const max = (a: Micro, b: Micro): Micro => (a > b ? a : b);

const sameStanding = (a: VenueStanding, b: VenueStanding): boolean =>
  a.matched === b.matched &&
  a.ended === b.ended &&
  a.isCounted === b.isCounted &&
  a.missingSince === b.missingSince &&
  a.isFinal === b.isFinal;

const marketEvidence = (market: MarketRecord, venue: string) => ({
  conditionId: market.conditionId,
  marketId: market.id,
  slug: market.slug,
  question: market.question,
  outcomes: market.outcomes,
  endDate: market.endDate,
  venue,
});
