/**
 * The simulated world around the engine: markets, their hidden probabilities, their ends, and the house maker's prices.
 * Pure and deterministic: a step follows from (state, time) alone, so the journal only records that a step happened. It
 * must never read a clock, draw from `Math.random`, or reveal a probability.
 *
 * Time. All times are wall times. Speed shortens the world's durations: D at speed 1 becomes D/speed. The end of a
 * market is set when it is listed; a step with a new speed moves future ends in proportion. A pause is harmless:
 * probabilities do not move without steps, and work that became due meanwhile is done afterwards in bounded slices,
 * oldest first. GTD orders expire by wall time at any speed.
 *
 * Life of an event. Listed → (end date) closed: every order is removed, of a large market in slices; another event is listed in its slot → a minute
 * of the world later, once no order is left, resolved: the winner is drawn from the hidden probabilities, for all markets of the event at the
 * same time, and the house redeems its tokens → a day of the world later, once no account holds its tokens, archived.
 *
 * A step does, in this order: new speed · hourly volumes · resolutions due · ends due · visits of the maker (the
 * probability moves, then the quotes) · an occasional crowd trade · archive. Each is bounded.
 *
 * The maker reacts to each public command: a side of which more than half was filled is requoted immediately, further
 * from fair.
 */

import type {
  AccountId,
  AccountView,
  BookView,
  ConditionId,
  ConvertCommand,
  EngineCommand,
  EngineEvent,
  HolderView,
  NewOrder,
  OpenOrder,
  OrderId,
  Outcome,
  RejectReason,
  TokenId,
} from '../engine/commands.ts';
import { Engine } from '../engine/engine.ts';
import {
  drawWinner,
  Listing,
  type MarketIds,
  moveContest,
  moveMarket,
  QUOTE_EVERY_MS,
  scaled,
  tickAt,
} from './events.ts';
import { CONVERSIONS, CROWD, crowdTrade, HouseMaker, makerOf } from './house.ts';
import { HOURS_KEPT, MarketViews, specOf } from './market-views.ts';
import { type Catalogue, type MarketFacts, type MarketView, type PublicCommand, YES_NO } from './markets.ts';
import { type MirrorChange, MirroredMarkets } from './mirror.ts';
import { Random } from './random.ts';
import {
  decodeWorld,
  encodeWorld,
  type WorldEvent,
  type WorldMarket,
  type WorldParts,
  type WorldState,
} from './records.ts';
import { isOfV2, SLOTS, type V2Share } from './slots.ts';

const HOUR_MS = 3_600_000;
/** World time from the end of trading to the outcome, and from the outcome to the archive. */
const RESOLVE_AFTER_MS = 60_000;
const ARCHIVE_AFTER_MS = 24 * HOUR_MS;
/** For an event of a few minutes: a day of those would be most of the listings. */
const ARCHIVE_BLITZ_AFTER_MS = HOUR_MS;
/** Bounds of one step: events ended, events resolved, markets quoted, events tried for the archive. */
const ENDS_PER_STEP = 4;
const RESOLUTIONS_PER_STEP = 4;
const QUOTES_PER_STEP = 16;
const longestWaitFirst = (a: WorldEvent, b: WorldEvent): number =>
  a.nextQuoteAt - b.nextQuoteAt || a.slot - b.slot;
const ARCHIVES_PER_STEP = 4;
/** Orders of closed markets, and expired ones, that one command removes. */
const SWEEPS_PER_COMMAND = 500;
/** The crowd trades in one of this many steps. */
const CROWD_ONE_IN = 2;

/** Speeds are whole thousandths. */
export const SPEED_UNIT = 1_000;

export class World {
  readonly #engine: Engine;
  readonly #state: WorldState;
  readonly #listing: Listing;
  readonly #maker: HouseMaker;
  readonly #mirrored: MirroredMarkets;
  readonly #views: MarketViews;
  readonly #random: WorldParts['random'];
  #at = 0;
  #ids: MarketIds | undefined;
  #events: EngineEvent[] = [];
  /** Markets with fills since the maker last looked. */
  readonly #traded = new Set<ConditionId>();

  private constructor(parts: WorldParts, ids: MarketIds | undefined) {
    this.#ids = ids;
    const { engine, state, random } = parts;
    this.#engine = engine;
    this.#state = state;
    this.#random = random;
    this.#listing = new Listing(random.catalogue, parts.listed.markets, parts.listed.events);
    this.#views = new MarketViews(engine);
    // Ids increase, so their order is the order of listing.
    const all = [...state.resolved, ...state.closed, ...state.open]
      .flatMap((event) => event.markets.map((market) => ({ market, event })))
      .sort((a, b) => Number(a.market.id) - Number(b.market.id));
    for (const { market, event } of all) this.#views.add(market, event);
    for (const event of state.mirrored) for (const market of event.markets) this.#views.add(market, event);
    this.#maker = new HouseMaker(
      engine,
      parts.nextOrder,
      all.map(({ market }) => market),
    );
    const newOrderId = () => this.#maker.newOrderId();
    this.#mirrored = new MirroredMarkets({ engine, state, views: this.#views, newOrderId });
  }

  /**
   * A new world with every slot listed and quoted, and the events of its founding.
   * @param speed in thousandths
   * @param options.slots how many of the plan's slots the world has, permanently
   * @param options.v2Share which of them have markets of Protocol V2, permanently
   */
  static begin(
    seed: string,
    speed: number,
    at: number,
    {
      slots = SLOTS.length,
      ids,
      v2Share,
    }: { slots?: number; ids?: MarketIds | undefined; v2Share?: V2Share | undefined } = {},
  ): { world: World; events: EngineEvent[] } {
    const state: WorldState = {
      seed,
      speed,
      hour: Math.floor(at / HOUR_MS),
      open: [],
      closed: [],
      resolved: [],
      mirrored: [],
      hasBoundedSweeps: false,
      hasDerivedTokens: ids !== undefined,
      v2Share,
    };
    const random = {
      latent: Random.seeded(seed, 'latent'),
      catalogue: Random.seeded(seed, 'catalogue'),
      crowd: Random.seeded(seed, 'crowd'),
    };
    const listed = { markets: 0, events: 0 };
    const world = new World({ engine: new Engine(), state, random, listed, nextOrder: 1 }, ids);
    const events = world.#during(at, () => {
      for (let slot = 0; slot < slots; slot += 1) {
        world.#list(slot, true);
        for (const market of state.open[slot]!.markets) world.#crowdTrade(market);
      }
    });
    return { world, events };
  }

  /** @throws Error when the bytes are not a snapshot of a world. */
  static restore(bytes: Uint8Array, ids?: MarketIds): World {
    return new World(decodeWorld(bytes), ids);
  }

  /** Canonical bytes: equal worlds give equal bytes. */
  snapshot(): Uint8Array {
    return encodeWorld({
      engine: this.#engine,
      state: this.#state,
      random: this.#random,
      listed: this.#listing.counters,
      nextOrder: this.#maker.nextOrder,
    });
  }

  /** @throws RangeError when time runs backwards. */
  execute(command: PublicCommand, at: number): EngineEvent[] {
    return this.#during(at, () => {
      if (command.kind === 'place' && this.#refuse(command.order)) return;
      if (command.kind === 'convert') this.#convert(command);
      else this.#run(command);
      this.#react();
    });
  }

  /** Undoes a trade that failed to settle. */
  reverse(command: Extract<EngineCommand, { readonly kind: 'reverse' }>, at: number): EngineEvent[] {
    return this.#during(at, () => {
      this.#run(command);
    });
  }

  /** Applies changes of a live venue, in their order. */
  mirror(changes: readonly MirrorChange[], at: number): EngineEvent[] {
    return this.#during(at, () => {
      this.#run({ kind: 'expire' });
      for (const change of changes) this.#mirrored.apply(change, at, this.#run);
    });
  }

  /** Every market is a live venue's. */
  get isMirror(): boolean {
    return this.#state.open.length === 0;
  }

  unresolvedMirrors(): ReturnType<MirroredMarkets['unresolved']> {
    return this.#mirrored.unresolved();
  }

  /** @param speed a new speed in thousandths, from this step on */
  step(at: number, speed = this.#state.speed): EngineEvent[] {
    return this.#during(at, () => {
      this.#run({ kind: 'expire' });
      this.#changeSpeed(speed);
      this.#turnHours();
      this.#resolveDue();
      this.#endDue();
      this.#visitDue();
      this.#maybeTrade();
      this.#archiveDue();
      this.#mirrored.archive(at);
    });
  }

  /** Removes orders of closed markets and expired ones, and nothing else. */
  sweep(at: number): EngineEvent[] {
    return this.#during(at, () => {
      this.#run({ kind: 'expire' });
    });
  }

  /** True while such orders are left: `sweep` until it is false. */
  get isBehind(): boolean {
    return this.#engine.isBehind();
  }

  /** From now on each command removes a bounded number of them. A world of an earlier release removed all at once. */
  boundSweeps(): void {
    this.#state.hasBoundedSweeps = true;
  }

  /** From here on, what is listed has the token ids that follow from its condition. */
  deriveTokens(ids: MarketIds): void {
    this.#ids = ids;
    this.#state.hasDerivedTokens = true;
  }

  get hasDerivedTokens(): boolean {
    return this.#state.hasDerivedTokens;
  }

  get hasBoundedSweeps(): boolean {
    return this.#state.hasBoundedSweeps;
  }

  get seed(): string {
    return this.#state.seed;
  }

  /** In thousandths. */
  get speed(): number {
    return this.#state.speed;
  }

  /** Time of the last command. */
  get now(): number {
    return this.#engine.now();
  }

  markets(): Iterable<MarketView> {
    return this.#views.all();
  }

  /** Catalogue of this world: a world that is restored has another one. */
  get catalogue(): Catalogue {
    return this.#views;
  }

  market(conditionId: ConditionId): MarketView | undefined {
    return this.#views.get(conditionId);
  }

  /** Finds a market that is not archived; does not read its book. */
  facts(conditionId: ConditionId): MarketFacts | undefined {
    const known = this.#views.record(conditionId);
    if (known === undefined) return undefined;
    const { id, tokenIds, slug, question, outcomes = YES_NO, payout } = known.market;
    return {
      id,
      conditionId,
      tokenIds,
      slug,
      question,
      outcomes,
      endDate: known.event.endDate,
      ...(payout === undefined ? {} : { payout }),
    };
  }

  marketByToken(tokenId: TokenId): { readonly market: MarketView; readonly outcome: Outcome } | undefined {
    return this.#views.byToken(tokenId);
  }

  book(conditionId: ConditionId, outcome: Outcome, depth?: number): BookView | undefined {
    return this.#engine.book(conditionId, outcome, depth);
  }

  account(account: AccountId): AccountView {
    return this.#engine.account(account);
  }

  holders(conditionId: ConditionId): HolderView[] {
    return this.#engine.holders(conditionId);
  }

  available(account: AccountId): bigint {
    return this.#engine.available(account);
  }

  freeTokens(account: AccountId, conditionId: ConditionId, outcome: Outcome): bigint {
    return this.#engine.freeTokens(account, conditionId, outcome);
  }

  openOrder(orderId: OrderId): OpenOrder | undefined {
    return this.#engine.openOrder(orderId);
  }

  openOrders(account: AccountId): OpenOrder[] {
    return this.#engine.openOrders(account);
  }

  checkConservation(): void {
    this.#engine.checkConservation();
  }

  /** Twice the YES mid price, in pips, of an open market that has both sides. */
  mid(
    conditionId: ConditionId,
  ): { readonly market: Pick<WorldMarket, 'tokenIds' | 'tickSize'>; readonly doubled: number } | undefined {
    const known = this.#views.record(conditionId);
    const best = this.#engine.bestPrices(conditionId);
    if (known === undefined || best?.bid === undefined || best.ask === undefined) return undefined;
    return { market: known.market, doubled: best.bid + best.ask };
  }

  #during(at: number, work: () => void): EngineEvent[] {
    this.#at = at;
    this.#events = [];
    this.#traded.clear();
    this.#engine.allowSweeps(this.#state.hasBoundedSweeps ? SWEEPS_PER_COMMAND : Number.POSITIVE_INFINITY);
    work();
    return this.#events;
  }

  readonly #run = (command: EngineCommand): readonly EngineEvent[] => {
    const events = this.#engine.apply(command, this.#at);
    for (const event of events) {
      this.#maker.observe(event);
      this.#mirrored.observe(event);
      this.#views.observe(event);
      if (event.kind === 'fill') this.#traded.add(event.conditionId);
      this.#events.push(event);
    }
    return events;
  };

  /** The pool has what it splits, and no more than that. The events of a live venue may have markets that are not listed here. */
  #convert(command: ConvertCommand): void {
    const { account, conditionId, amount } = command;
    const event = this.#views.record(conditionId)?.event;
    const markets = event === undefined || event.mirror !== undefined ? [] : event.markets;
    const others = markets.map((market) => market.conditionId).filter((id) => id !== conditionId);
    const lacks = amount * BigInt(others.length) - this.#engine.available(CONVERSIONS);
    const isHeld = this.#engine.freeTokens(account, conditionId, 'NO') >= amount;
    if (isHeld && lacks > 0n) this.#run({ kind: 'deposit', account: CONVERSIONS, amount: lacks });
    this.#run({ ...command, others, pool: CONVERSIONS });
  }

  /** @returns whether the order is refused by the terms of the moment, which the engine does not know */
  #refuse(order: NewOrder): boolean {
    const { orderId, account, conditionId } = order;
    const known = this.#views.record(conditionId);
    if (known?.market.status !== 'open' || this.#engine.openOrder(orderId) !== undefined) return false;
    const { mirror } = known.event;
    const reason =
      mirror === undefined ? tickFault(order, known) : this.#mirrored.faultOf(order, known.market, mirror);
    if (reason === null) return false;
    this.#run({ kind: 'expire' });
    this.#events.push({ kind: 'order_rejected', orderId, account, conditionId, reason });
    return true;
  }

  #react(): void {
    const traded = [...this.#traded];
    this.#traded.clear();
    for (const conditionId of traded) {
      const known = this.#views.record(conditionId);
      if (known !== undefined && known.event.mirror === undefined)
        this.#maker.react(known.market, SLOTS[known.event.slot]!.category, this.#run);
    }
  }

  #list(slot: number, midway: boolean): void {
    const { open, speed, hasDerivedTokens, v2Share } = this.#state;
    const ids = hasDerivedTokens ? this.#ids : undefined;
    if (hasDerivedTokens && ids === undefined) throw new Error('nothing computes the ids of tokens');
    const asked = new Set(open.flatMap((event) => event.markets.map((market) => market.question)));
    const request = { slot, at: this.#at, speed, midway, ids, isOfV2: isOfV2(slot, v2Share) };
    const event = this.#listing.make(request, (question) => asked.has(question));
    open[slot] = event;
    for (const market of event.markets) {
      this.#views.add(market, event);
      this.#run({ kind: 'list', market: specOf(market, event) });
      this.#maker.requote(market, SLOTS[slot]!.category, this.#run);
    }
  }

  #changeSpeed(speed: number): void {
    const state = this.#state;
    if (speed === state.speed) return;
    for (const event of state.open) {
      const left = Math.max(0, event.endDate - this.#at);
      event.endDate = this.#at + Math.floor((left * state.speed) / speed);
      for (const market of event.markets) market.updatedAt = this.#at;
    }
    state.speed = speed;
    this.#views.allChanged();
  }

  #turnHours(): void {
    const state = this.#state;
    const hour = Math.floor(this.#at / HOUR_MS);
    const passed = Math.min(HOURS_KEPT, hour - state.hour);
    if (passed <= 0) return;
    state.hour = hour;
    for (const event of [...state.open, ...state.closed, ...state.resolved, ...state.mirrored]) {
      for (const market of event.markets) {
        const volume = this.#engine.volume(market.conditionId);
        for (let i = 0; i < passed; i += 1) market.hourlyVolumes.push(volume);
        market.hourlyVolumes.splice(0, market.hourlyVolumes.length - HOURS_KEPT);
      }
    }
    this.#views.allChanged();
  }

  #resolveDue(): void {
    const { closed } = this.#state;
    for (let i = 0; i < RESOLUTIONS_PER_STEP; i += 1) {
      const event = closed[0];
      if (event === undefined || event.dueAt > this.#at) return;
      if (event.markets.some((market) => this.#engine.isEmptying(market.conditionId))) return;
      closed.shift();
      this.#resolve(event);
      this.#awaitArchive(event);
    }
  }

  /** In order of due time; for equal times, in order of insertion. */
  #awaitArchive(event: WorldEvent): void {
    const { resolved, speed } = this.#state;
    const isBlitz = SLOTS[event.slot]!.horizon === 'blitz';
    event.dueAt = this.#at + scaled(isBlitz ? ARCHIVE_BLITZ_AFTER_MS : ARCHIVE_AFTER_MS, speed);
    let place = resolved.length;
    while (isBlitz && place > 0 && resolved[place - 1]!.dueAt > event.dueAt) place -= 1;
    resolved.splice(place, 0, event);
  }

  #resolve(event: WorldEvent): void {
    const winner = drawWinner(event.markets, this.#random.latent);
    const house = [makerOf(SLOTS[event.slot]!.category), ...CROWD, CONVERSIONS];
    for (const [index, market] of event.markets.entries()) {
      market.status = 'resolved';
      market.payout = index === winner ? 'YES' : 'NO';
      market.resolvedAt = this.#at;
      market.updatedAt = this.#at;
      const { conditionId, payout } = market;
      this.#run({ kind: 'resolve', conditionId, payout });
      for (const account of house) {
        if (this.#holds(account, conditionId)) this.#run({ kind: 'redeem', account, conditionId });
      }
    }
  }

  #holds(account: AccountId, conditionId: ConditionId): boolean {
    const free = (outcome: Outcome) => this.#engine.freeTokens(account, conditionId, outcome);
    return free('YES') > 0n || free('NO') > 0n;
  }

  /** Ends the events that are due, longest overdue first, and lists their successors. */
  #endDue(): void {
    const { open, closed, speed } = this.#state;
    const due = open
      .filter((event) => event.endDate <= this.#at)
      .sort((a, b) => a.endDate - b.endDate || a.slot - b.slot);
    for (const event of due.slice(0, ENDS_PER_STEP)) {
      for (const market of event.markets) {
        market.status = 'closed';
        market.updatedAt = this.#at;
        this.#run({ kind: 'close', conditionId: market.conditionId });
      }
      event.dueAt = this.#at + scaled(RESOLVE_AFTER_MS, speed);
      closed.push(event);
      this.#list(event.slot, false);
    }
  }

  /** Visits the markets that have waited longest, up to the bound of a step. */
  #visitDue(): void {
    const due = this.#state.open.filter((event) => event.nextQuoteAt <= this.#at);
    let quoted = 0;
    // Each has a market at least, so no more of them come into question.
    for (const event of firstOf(due, QUOTES_PER_STEP, longestWaitFirst)) {
      if (quoted >= QUOTES_PER_STEP) return;
      quoted += event.markets.length;
      if (event.markets.length > 1) moveContest(event.markets, this.#random.latent);
      else moveMarket(event.markets[0]!, this.#random.latent);
      const { category } = SLOTS[event.slot]!;
      for (const market of event.markets) {
        this.#fitTick(market, event);
        this.#maker.requote(market, category, this.#run);
      }
      event.nextQuoteAt = this.#at + QUOTE_EVERY_MS;
    }
  }

  /** Orders that rest stay. */
  #fitTick(market: WorldMarket, { slot }: WorldEvent): void {
    const before = market.tickSize;
    market.tickSize = tickAt(SLOTS[slot]!, market);
    if (market.tickSize === before) return;
    for (const side of ['bid', 'ask'] as const)
      market.pressure[side] = Math.ceil((market.pressure[side] * before) / market.tickSize);
    market.updatedAt = this.#at;
    this.#views.changed(market.conditionId);
  }

  #maybeTrade(): void {
    const { crowd } = this.#random;
    if (this.isMirror) return;
    const event = crowd.pick(this.#state.open);
    const market = crowd.pick(event.markets);
    if (crowd.below(CROWD_ONE_IN) !== 0) return;
    this.#traded.clear();
    this.#crowdTrade(market);
    this.#react();
  }

  #crowdTrade(market: WorldMarket): void {
    crowdTrade(this.#engine, market, this.#random.crowd, () => this.#maker.newOrderId(), this.#run);
  }

  #archiveDue(): void {
    const { resolved } = this.#state;
    for (let i = 0; i < ARCHIVES_PER_STEP; i += 1) {
      const event = resolved[0];
      if (event === undefined || event.dueAt > this.#at) return;
      resolved.shift();
      event.markets = event.markets.filter((market) => {
        const gone = this.#engine.archive(market.conditionId);
        if (gone) this.#views.remove(market);
        return !gone;
      });
      if (event.markets.length > 0) this.#awaitArchive(event);
    }
  }
}

/** A market whose tick changes has a finer grid in the engine. */
const tickFault = (
  { limit }: NewOrder,
  { market, event }: { readonly market: WorldMarket; readonly event: WorldEvent },
): RejectReason | null =>
  SLOTS[event.slot]!.finerTick !== undefined && limit % market.tickSize !== 0 ? 'price_off_tick_grid' : null;

/** The first `count` of the items in the given order, as a stable sort would put them; the others are not sorted. */
export function firstOf<T>(items: readonly T[], count: number, compare: (a: T, b: T) => number): T[] {
  const first: T[] = [];
  for (const item of items) {
    let place = first.length;
    while (place > 0 && compare(item, first[place - 1] as T) < 0) place -= 1;
    if (place === count) continue;
    first.splice(place, 0, item);
    if (first.length > count) first.pop();
  }
  return first;
}
