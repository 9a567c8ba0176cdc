/**
 * The markets of a live venue in this world. A change that the venue made comes as a command, so the journal keeps it:
 * sizes and prices are those of YES, and nothing here is read from anywhere. The house offers what rests on the live
 * book.
 */
import { MICRO, type Micro, notional, PIPS, type Pips } from '@bellwether/contract/decimals';
import type {
  AccountId,
  ConditionId,
  EngineEvent,
  MarketSpec,
  NewOrder,
  OrderId,
  Payout,
  RejectReason,
  Side,
  TokenId,
} from '../engine/commands.ts';
import type { Engine } from '../engine/engine.ts';
import { HOUSE_PREFIX, type Run, TOP_UP } from './house.ts';
import type { MarketViews } from './market-views.ts';
import type { OutcomeNames } from './markets.ts';
import type { MirrorTerms, Quote, QuoteSide, WorldEvent, WorldMarket, WorldState } from './records.ts';

/** A market of the live venue, with the terms that change while it is open. */
export interface MirroredMarket extends MirroredTerms {
  readonly id: string;
  readonly conditionId: ConditionId;
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly eventId: string;
  readonly eventTitle: string;
  /** Absent: `v1`. */
  readonly version?: 'v2';
  readonly negRisk: boolean;
  readonly feeRate: Micro;
  readonly feeExponent: number;
  readonly createdAt: number;
}

export interface MirroredTerms {
  readonly tickSize: Pips;
  readonly minOrderSize: Micro;
  readonly endDate: number;
  /** Absent: Yes and No, of a market that is listed; of one that is known, its present names. */
  readonly outcomes?: OutcomeNames;
}

/** The size that rests at a price in all; 0n: nothing. */
export type MirroredLevel = readonly [side: QuoteSide, price: Pips, size: Micro];

export type MirrorChange =
  | { readonly kind: 'list'; readonly market: MirroredMarket }
  | { readonly kind: 'terms'; readonly conditionId: ConditionId; readonly terms: MirroredTerms }
  /** Levels that changed; with `isWhole` all that there are. The market trades from here on. */
  | {
      readonly kind: 'levels';
      readonly conditionId: ConditionId;
      readonly levels: readonly MirroredLevel[];
      readonly isWhole: boolean;
    }
  /** The live book is not known: no order is taken until it is. What rests keeps its place. */
  | { readonly kind: 'pause'; readonly conditionId: ConditionId }
  /** A trade of others there, by a taker of this side. */
  | {
      readonly kind: 'trade';
      readonly conditionId: ConditionId;
      readonly side: Side;
      readonly price: Pips;
      readonly size: Micro;
    }
  | { readonly kind: 'resolve'; readonly conditionId: ConditionId; readonly payout: Payout };

// The markets of a live venue in this world: their records, and what becomes of a change that the venue made. The engine
// has their books on a finer grid and without a least size, because both change while orders rest; an order of an account
// is held to the terms of the moment here.

/** Its own slot is no place of the plan. */
const NO_SLOT = -1;
/** Fine enough for every usual tick size down to a tenth of a cent, and for 0.0025; finer ones have their own. */
const GRID: Pips = 5;
const ARCHIVE_AFTER_MS = 24 * 3_600_000;
const ARCHIVES_PER_STEP = 4;

interface MirroredParts {
  readonly engine: Engine;
  readonly state: WorldState;
  readonly views: MarketViews;
  readonly newOrderId: () => string;
}

interface FoundMirror {
  readonly market: WorldMarket;
  readonly event: WorldEvent & { readonly mirror: NonNullable<WorldEvent['mirror']> };
}

export class MirroredMarkets {
  readonly #engine: Engine;
  readonly #state: WorldState;
  readonly #views: MarketViews;
  readonly #maker: MirrorMaker;

  constructor({ engine, state, views, newOrderId }: MirroredParts) {
    this.#engine = engine;
    this.#state = state;
    this.#views = views;
    this.#maker = new MirrorMaker(
      engine,
      newOrderId,
      state.mirrored.flatMap(({ markets }) => markets),
    );
  }

  observe(event: EngineEvent): void {
    this.#maker.observe(event);
  }

  apply(change: MirrorChange, at: number, run: Run): void {
    if (change.kind === 'list') {
      this.#list(change.market, at, run);
      return;
    }
    const found = this.#find(change.conditionId);
    if (found === undefined || found.market.status === 'resolved') return;
    const { market, event } = found;
    if (change.kind === 'terms') {
      market.tickSize = change.terms.tickSize;
      event.mirror.minOrderSize = change.terms.minOrderSize;
      event.endDate = change.terms.endDate;
      market.outcomes = change.terms.outcomes ?? market.outcomes;
      market.updatedAt = at;
    } else if (change.kind === 'resolve') {
      market.status = 'resolved';
      market.payout = change.payout;
      market.resolvedAt = at;
      market.updatedAt = at;
      event.dueAt = at + ARCHIVE_AFTER_MS;
      this.#maker.resolve(market, change.payout, run);
    } else if (change.kind === 'pause' || !this.#engine.hasTick(market.conditionId, market.tickSize)) {
      // In ticks that are finer than the grid here, levels of the live book have no place.
      event.mirror.isPaused = true;
    } else if (change.kind === 'levels') {
      event.mirror.isPaused = false;
      this.#maker.change(market, change.levels, change.isWhole, run);
    } else if (!event.mirror.isPaused) this.#maker.trade(market, change, run);
    this.#views.changed(market.conditionId);
  }

  /** Why an account's order is refused before the engine sees it; `null`: it is the engine's to judge. */
  faultOf(order: NewOrder, market: WorldMarket, mirror: MirrorTerms): RejectReason | null {
    if (mirror.isPaused) return 'market_closed';
    if (order.limit % market.tickSize !== 0) return 'price_off_tick_grid';
    const rests = order.timeInForce === 'GTC' || order.timeInForce === 'GTD';
    return rests && order.size < mirror.minOrderSize ? 'size_below_minimum' : null;
  }

  /** Those that are not resolved, and whether an account besides the house has an order there. */
  *unresolved(): Generator<{ conditionId: ConditionId; isPaused: boolean; hasOrders: boolean }> {
    for (const event of this.#state.mirrored) {
      const [market] = event.markets;
      if (market === undefined || market.status === 'resolved') continue;
      const { conditionId } = market;
      yield { conditionId, isPaused: event.mirror?.isPaused === true, hasOrders: this.#hasOrders(market) };
    }
  }

  archive(now: number): void {
    let left = ARCHIVES_PER_STEP;
    this.#state.mirrored = this.#state.mirrored.filter((event) => {
      const [market] = event.markets;
      if (market?.status !== 'resolved' || event.dueAt > now || left === 0) return true;
      left -= 1;
      // Somebody still holds tokens of it: looked at again with the others, later.
      if (!this.#engine.archive(market.conditionId)) {
        event.dueAt = now + ARCHIVE_AFTER_MS;
        return true;
      }
      this.#views.remove(market);
      return false;
    });
  }

  #find(conditionId: ConditionId): FoundMirror | undefined {
    const known = this.#views.record(conditionId);
    return known?.event.mirror === undefined ? undefined : (known as FoundMirror);
  }

  /** A level holds more than the house's quotes there. */
  #hasOrders(market: WorldMarket): boolean {
    const book = this.#engine.book(market.conditionId, 'YES');
    if (book === undefined) return false;
    const total = [...book.bids, ...book.asks].reduce((sum, [, size]) => sum + size, 0n);
    return total > market.quotes.reduce((sum, { remaining }) => sum + remaining, 0n);
  }

  #list(listed: MirroredMarket, at: number, run: Run): void {
    if (this.#views.record(listed.conditionId) !== undefined) return;
    const { id, conditionId, tokenIds, slug, question, description, tickSize, createdAt, outcomes } = listed;
    const { category, negRisk, minOrderSize, feeRate, feeExponent } = listed;
    const market: WorldMarket = {
      ...{ id, conditionId, tokenIds, slug, question, description, tickSize, createdAt },
      ...(outcomes === undefined ? {} : { outcomes }),
      updatedAt: at,
      status: 'open',
      payout: undefined,
      resolvedAt: undefined,
      probability: 0,
      moveSize: 0,
      pressure: { bid: 0, ask: 0 },
      quotes: [],
      quoted: { bid: 0n, ask: 0n },
      hourlyVolumes: [],
    };
    const event: WorldEvent = {
      id: listed.eventId,
      title: listed.eventTitle,
      slot: NO_SLOT,
      ...(listed.version === undefined ? {} : { version: listed.version }),
      mirror: { category, negRisk, minOrderSize, feeRate, feeExponent, isPaused: true },
      endDate: listed.endDate,
      dueAt: 0,
      nextQuoteAt: 0,
      markets: [market],
    };
    this.#state.mirrored.push(event);
    this.#views.add(market, event);
    const spec: MarketSpec = {
      conditionId,
      tokenIds,
      tickSize: tickSize % GRID === 0 ? GRID : 1,
      minOrderSize: 1n,
      feeRate,
      feeExponent,
    };
    run({ kind: 'list', market: spec });
  }
}

// The house of a mirrored market: it offers what rests on the live book, so that paper orders fill against real depth and
// wait in a real queue.
//
// Each live level is one or more quotes, oldest first. What paper orders take of a quote stays taken: the live venue goes
// on showing it, because nothing was taken there. A level that grows gets another quote, behind the paper orders that
// wait at that price. A level that shrinks loses its newest quotes first, so that cancellations there never move a paper
// order forward. A live trade is a taker of its own account: it takes what rests before a paper order, then the paper
// order, each at its own price.

const MAKER: AccountId = `${HOUSE_PREFIX}mirror`;
/** Trades of the live venue. Another account, because no account trades with itself. */
const TAPE: AccountId = `${HOUSE_PREFIX}tape`;
const MIRROR_ACCOUNTS: readonly AccountId[] = [MAKER, TAPE];
const MERGE_FROM: Micro = 1_000n * MICRO;

class MirrorMaker {
  readonly #engine: Engine;
  readonly #newOrderId: () => OrderId;
  /** Quotes with something on the book, by order id. */
  readonly #open = new Map<OrderId, { market: WorldMarket; quote: Quote }>();

  constructor(engine: Engine, newOrderId: () => OrderId, markets: Iterable<WorldMarket>) {
    this.#engine = engine;
    this.#newOrderId = newOrderId;
    for (const market of markets)
      for (const quote of market.quotes)
        if (quote.remaining > 0n) this.#open.set(quote.orderId, { market, quote });
  }

  /** Must receive every event of the engine. */
  observe(event: EngineEvent): void {
    if (event.kind === 'fill') {
      const known = this.#open.get(event.orderId);
      if (known !== undefined) known.quote.remaining -= event.size;
    } else if (event.kind === 'order_done' || event.kind === 'order_rejected') {
      const known = this.#open.get(event.orderId);
      if (known === undefined) return;
      this.#open.delete(event.orderId);
      // Taken amounts are remembered as long as the live level has them; all else is gone.
      if (event.kind === 'order_done' && event.reason === 'filled') return;
      const { quotes } = known.market;
      const at = quotes.indexOf(known.quote);
      if (at >= 0) quotes.splice(at, 1);
    }
  }

  /** @param isWhole levels that are not named are gone */
  change(market: WorldMarket, levels: readonly MirroredLevel[], isWhole: boolean, run: Run): void {
    // The last word counts where a level is named twice.
    const named = new Map(levels.map((level) => [`${level[0]} ${level[1]}`, level]));
    const gone = isWhole ? market.quotes.filter(({ side, price }) => !named.has(`${side} ${price}`)) : [];
    // Removals go first: otherwise quotes of one moment would meet quotes of the one before.
    for (const quote of gone) this.#drop(market, quote, run);
    const grown: MirroredLevel[] = [];
    for (const level of named.values()) {
      const known = sizeAt(market, level);
      if (level[2] < known) this.#shrink(market, level, run);
      else if (level[2] > known) grown.push([level[0], level[1], level[2] - known]);
    }
    this.#mergePairs(market, run);
    for (const [side, price, size] of grown) this.#quote(market, { side, price, size }, run);
  }

  /** A live taker: what the live book had at better prices is gone by then. */
  trade(market: WorldMarket, trade: { side: Side; price: Pips; size: Micro }, run: Run): void {
    const { side, price, size } = trade;
    const isSell = side === 'SELL';
    const gone = market.quotes.filter((quote) =>
      isSell ? quote.side === 'bid' && quote.price > price : quote.side === 'ask' && quote.price < price,
    );
    for (const quote of gone) this.#drop(market, quote, run);
    const outcome = isSell ? 'YES' : 'NO';
    const held = this.#engine.freeTokens(TAPE, market.conditionId, outcome);
    if (held < size) this.#split(market, size - held, run);
    run({
      kind: 'place',
      order: {
        orderId: this.#newOrderId(),
        account: TAPE,
        conditionId: market.conditionId,
        // The tape sells, because a sale has no least amount: selling NO at 1 − p takes the offers of YES at p.
        outcome,
        side: 'SELL',
        limit: isSell ? price : PIPS - price,
        size,
        timeInForce: 'FAK',
        postOnly: false,
      },
    });
  }

  /** The house redeems what it holds, so that the market can be archived one day. */
  resolve(market: WorldMarket, payout: Payout, run: Run): void {
    const { conditionId } = market;
    market.quotes = [];
    run({ kind: 'resolve', conditionId, payout });
    for (const account of MIRROR_ACCOUNTS) {
      const free = (outcome: 'YES' | 'NO') => this.#engine.freeTokens(account, conditionId, outcome);
      if (free('YES') + free('NO') > 0n) run({ kind: 'redeem', account, conditionId });
    }
  }

  #split(market: WorldMarket, amount: Micro, run: Run): void {
    if (this.#engine.available(TAPE) < amount)
      run({ kind: 'deposit', account: TAPE, amount: amount + TOP_UP });
    run({ kind: 'split', account: TAPE, conditionId: market.conditionId, amount });
  }

  #shrink(market: WorldMarket, [side, price, size]: MirroredLevel, run: Run): void {
    let excess = sizeAt(market, [side, price, size]) - size;
    for (const quote of quotesAt(market, side, price).reverse()) {
      if (excess === 0n) return;
      const cut = quote.size < excess ? quote.size : excess;
      excess -= cut;
      if (cut === quote.size) {
        this.#drop(market, quote, run);
        continue;
      }
      quote.size -= cut;
      const left = quote.remaining < quote.size ? quote.remaining : quote.size;
      if (left < quote.remaining)
        run({ kind: 'reduce', account: MAKER, orderId: quote.orderId, size: quote.remaining - left });
      quote.remaining = left;
    }
  }

  #drop(market: WorldMarket, quote: Quote, run: Run): void {
    if (this.#open.has(quote.orderId)) run({ kind: 'cancel', account: MAKER, orderIds: [quote.orderId] });
    const at = market.quotes.indexOf(quote);
    if (at >= 0) market.quotes.splice(at, 1);
  }

  #quote(market: WorldMarket, level: { side: QuoteSide; price: Pips; size: Micro }, run: Run): void {
    const { side, price, size } = level;
    const limit = side === 'bid' ? price : PIPS - price;
    // Twice the cost leaves room for a taker's fee where a paper order is in the way.
    const needed = 2n * notional(size, limit, 'ceil');
    if (this.#engine.available(MAKER) < needed)
      run({ kind: 'deposit', account: MAKER, amount: needed + TOP_UP });
    const orderId = this.#newOrderId();
    const quote: Quote = { orderId, side, price, size, remaining: size };
    market.quotes.push(quote);
    this.#open.set(orderId, { market, quote });
    run({
      kind: 'place',
      order: {
        orderId,
        account: MAKER,
        conditionId: market.conditionId,
        outcome: side === 'bid' ? 'YES' : 'NO',
        side: 'BUY',
        limit,
        size,
        timeInForce: 'GTC',
        postOnly: false,
      },
    });
  }

  #mergePairs(market: WorldMarket, run: Run): void {
    const { conditionId } = market;
    for (const account of MIRROR_ACCOUNTS) {
      const [yes, no] = (['YES', 'NO'] as const).map((one) =>
        this.#engine.freeTokens(account, conditionId, one),
      );
      const pairs = yes! < no! ? yes! : no!;
      if (pairs >= MERGE_FROM) run({ kind: 'merge', account, conditionId, amount: pairs });
    }
  }
}

const quotesAt = (market: WorldMarket, side: QuoteSide, price: Pips): Quote[] =>
  market.quotes.filter((quote) => quote.side === side && quote.price === price);

/** Size of the live level at its last news. */
const sizeAt = (market: WorldMarket, [side, price]: MirroredLevel): Micro =>
  quotesAt(market, side, price).reduce((sum, quote) => sum + quote.size, 0n);
