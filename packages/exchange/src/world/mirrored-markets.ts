/**
 * The markets of a live venue in this world: their records, and what becomes of a change that the venue made. The engine
 * has their books on a finer grid and without a least size, because both change while orders rest; an order of an account
 * is held to the terms of the moment here.
 */
import type { Pips } from '@bellwether/contract/decimals';
import type { Engine } from '../engine/engine.ts';
import type { ConditionId, EngineEvent, MarketSpec, NewOrder, RejectReason } from '../engine/types.ts';
import type { Run } from './house.ts';
import type { MarketViews } from './market-views.ts';
import { MirrorMaker } from './mirror.ts';
import type { MirrorChange, MirroredMarket } from './mirror-changes.ts';
import type { MirrorTerms, WorldEvent, WorldMarket, WorldState } from './records.ts';

/** Its own slot is no place of the plan. */
const NO_SLOT = -1;
/** Fine enough for every usual tick size down to a tenth of a cent, and for 0.0025; finer ones have their own. */
const GRID: Pips = 5;
const ARCHIVE_AFTER_MS = 24 * 3_600_000;
const ARCHIVES_PER_STEP = 4;

export interface MirroredParts {
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
