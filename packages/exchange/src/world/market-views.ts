/**
 * The public views of the markets: built at the first read after a change, then reused. Hidden values must not leak: a
 * view is written field by field, never spread from a record.
 */
import { MICRO } from '@bellwether/contract/decimals';
import type { ConditionId, EngineEvent, MarketSpec, Outcome, TokenId } from '../engine/commands.ts';
import type { Engine } from '../engine/engine.ts';
import { tagsOf } from './events.ts';
import {
  CATEGORY_FEE_RATES,
  type Catalogue,
  FEE_EXPONENT,
  type MarketLife,
  type MarketView,
  YES_NO,
} from './markets.ts';
import type { WorldEvent, WorldMarket } from './records.ts';
import { SLOTS } from './slots.ts';

const MIN_ORDER_SIZE = 5n * MICRO;

type EventTerms = Pick<
  MarketView,
  'version' | 'category' | 'negRisk' | 'minOrderSize' | 'feeRate' | 'feeExponent'
>;

/** Facts that all markets of an event have in common. */
function termsOf({ slot, mirror, ...event }: WorldEvent): EventTerms {
  const version = event.version ?? 'v1';
  if (mirror !== undefined) {
    const { category, negRisk, minOrderSize, feeRate, feeExponent } = mirror;
    return { version, category, negRisk, minOrderSize, feeRate, feeExponent };
  }
  const { category, markets } = SLOTS[slot]!;
  return {
    version,
    category,
    negRisk: markets > 1,
    minOrderSize: MIN_ORDER_SIZE,
    feeRate: CATEGORY_FEE_RATES[category],
    feeExponent: FEE_EXPONENT,
  };
}

export function specOf(market: WorldMarket, event: WorldEvent): MarketSpec {
  const { minOrderSize, feeRate, feeExponent } = termsOf(event);
  return {
    conditionId: market.conditionId,
    tokenIds: market.tokenIds,
    tickSize: SLOTS[event.slot]!.finerTick ?? market.tickSize,
    minOrderSize,
    feeRate,
    feeExponent,
  };
}

interface KnownView {
  readonly market: WorldMarket;
  readonly event: WorldEvent;
  readonly tags: readonly string[];
  view: MarketView | undefined;
}

/** Their events change a market's status. */
const ENDS: ReadonlySet<EngineEvent['kind']> = new Set(['market_closed', 'market_resolved']);
/** `changedSince` knows at least this many of the latest changes. */
const OUTDATED_KEPT = 2_000;

export class MarketViews implements Catalogue {
  listings = 0;
  lives = 0;
  changes = 0;
  readonly #engine: Engine;
  /** Views that were read and that something has changed since, the newest last: all of those after `#toldAfter`. */
  readonly #outdated: { readonly at: number; readonly conditionId: ConditionId }[] = [];
  #toldAfter = 0;
  /** In the order of listing. */
  readonly #known = new Map<ConditionId, KnownView>();
  readonly #tokens = new Map<TokenId, { readonly known: KnownView; readonly outcome: Outcome }>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  add(market: WorldMarket, event: WorldEvent): void {
    const tags = tagsOf(market.question, event.title);
    const known: KnownView = { market, event, tags, view: undefined };
    this.#known.set(market.conditionId, known);
    this.#tokens.set(market.tokenIds[0], { known, outcome: 'YES' });
    this.#tokens.set(market.tokenIds[1], { known, outcome: 'NO' });
    this.#listingChanged();
  }

  remove(market: WorldMarket): void {
    this.#known.delete(market.conditionId);
    for (const tokenId of market.tokenIds) this.#tokens.delete(tokenId);
    this.#listingChanged();
  }

  record(conditionId: ConditionId): { readonly market: WorldMarket; readonly event: WorldEvent } | undefined {
    return this.#known.get(conditionId);
  }

  /** Must receive every event of the engine. */
  observe(event: EngineEvent): void {
    if (!('conditionId' in event)) return;
    this.changes += 1;
    if (ENDS.has(event.kind)) this.lives += 1;
    this.#outdate(event.conditionId);
  }

  changed(conditionId: ConditionId): void {
    this.changes += 1;
    this.#outdate(conditionId);
  }

  allChanged(): void {
    this.lives += 1;
    this.changes += 1;
    this.#toldAfter = this.changes;
    for (const known of this.#known.values()) known.view = undefined;
  }

  changedSince(changes: number): ReadonlySet<ConditionId> | undefined {
    if (changes < this.#toldAfter) return undefined;
    const changed = new Set<ConditionId>();
    for (let nth = this.#outdated.length - 1; nth >= 0; nth -= 1) {
      const { at, conditionId } = this.#outdated[nth]!;
      if (at <= changes) break;
      changed.add(conditionId);
    }
    return changed;
  }

  conditionIds(): Iterable<ConditionId> {
    return this.#known.keys();
  }

  life(conditionId: ConditionId): MarketLife | undefined {
    const known = this.#known.get(conditionId);
    if (known === undefined) return undefined;
    const { market, event } = known;
    return { status: market.status, category: termsOf(event).category, endDate: event.endDate };
  }

  *all(): Generator<MarketView> {
    for (const known of this.#known.values()) yield this.#view(known);
  }

  get(conditionId: ConditionId): MarketView | undefined {
    const known = this.#known.get(conditionId);
    return known === undefined ? undefined : this.#view(known);
  }

  byToken(tokenId: TokenId): { readonly market: MarketView; readonly outcome: Outcome } | undefined {
    const found = this.#tokens.get(tokenId);
    return found === undefined ? undefined : { market: this.#view(found.known), outcome: found.outcome };
  }

  #outdate(conditionId: ConditionId): void {
    const known = this.#known.get(conditionId);
    // Without a view, no one has read the market since its last change, which the list already holds.
    if (known?.view === undefined) return;
    known.view = undefined;
    this.#outdated.push({ at: this.changes, conditionId });
    if (this.#outdated.length <= 2 * OUTDATED_KEPT) return;
    const [last] = this.#outdated.splice(0, OUTDATED_KEPT).slice(-1);
    this.#toldAfter = last?.at ?? this.changes;
  }

  #listingChanged(): void {
    this.listings += 1;
    this.lives += 1;
    this.changes += 1;
  }

  #view(known: KnownView): MarketView {
    known.view ??= build(this.#engine, known);
    return known.view;
  }
}

function build(engine: Engine, { market, event, tags }: KnownView): MarketView {
  const best = engine.bestPrices(market.conditionId);
  const volume = engine.volume(market.conditionId);
  return {
    id: market.id,
    conditionId: market.conditionId,
    tokenIds: market.tokenIds,
    slug: market.slug,
    question: market.question,
    description: market.description,
    outcomes: market.outcomes ?? YES_NO,
    ...termsOf(event),
    tags,
    eventId: event.id,
    eventTitle: event.title,
    tickSize: market.tickSize,
    createdAt: market.createdAt,
    endDate: event.endDate,
    // The market's own fields change rarely; trading and quoting change the book.
    updatedAt: Math.max(market.updatedAt, best?.changedAt ?? 0),
    status: market.status,
    ...(market.payout === undefined ? {} : { payout: market.payout }),
    ...(market.resolvedAt === undefined ? {} : { resolvedAt: market.resolvedAt }),
    ...(best?.bid === undefined ? {} : { bestBid: best.bid }),
    ...(best?.ask === undefined ? {} : { bestAsk: best.ask }),
    ...(best?.last === undefined ? {} : { lastTrade: best.last }),
    volume,
    volume24h: volume - volumeBeforeToday(market),
    liquidity: engine.liquidity(market.conditionId),
  };
}

/** Hours of volume stored; a market with fewer is younger than a day. */
export const HOURS_KEPT = 24;

const volumeBeforeToday = (market: WorldMarket): bigint =>
  market.hourlyVolumes.length < HOURS_KEPT ? 0n : market.hourlyVolumes[0]!;
