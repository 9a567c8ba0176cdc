/**
 * The exchange's catalogue as this door's records. What never changes of an event is made once per listing; a record is
 * made again when the exchange's view of its market is another object. Bounded by the markets that are listed.
 */
import type { ConditionId, MarketView, PaperExchange } from '../../paper-exchange.ts';
import {
  type EventRecord,
  eventRecord,
  type ListedEvent,
  listedEvent,
  type MarketRecord,
  type Markets,
  marketRecord,
  type TagRecord,
} from './records.ts';

export type CatalogueReads = Pick<PaperExchange, 'catalogue' | 'market' | 'marketByToken'>;

export interface GammaMarket {
  readonly view: MarketView;
  readonly event: ListedEvent;
  readonly record: MarketRecord;
}

export interface GammaEvent {
  readonly listed: ListedEvent;
  readonly markets: Markets;
  readonly record: EventRecord;
}

export class Directory {
  readonly #exchange: CatalogueReads;
  readonly #catalogue: CatalogueReads['catalogue'];
  readonly #listings: number;
  readonly #events = new Map<string, ListedEvent>();
  readonly #eventOf = new Map<ConditionId, ListedEvent>();
  readonly #bySlug = new Map<string, { readonly event?: ListedEvent; readonly market?: ConditionId }>();
  readonly #byId = new Map<string, ConditionId>();
  readonly #tags = new Map<string, TagRecord>();
  readonly #marketRecords: WeakMap<MarketView, MarketRecord>;
  readonly #texts: WeakMap<object, string>;
  readonly #eventRecords = new Map<string, { readonly markets: Markets; readonly record: EventRecord }>();

  constructor(exchange: CatalogueReads, earlier?: Directory) {
    this.#exchange = exchange;
    this.#catalogue = exchange.catalogue;
    this.#listings = exchange.catalogue.listings;
    const listed = new Map<string, MarketView[]>();
    for (const conditionId of exchange.catalogue.conditionIds()) {
      const market = exchange.market(conditionId);
      if (market === undefined) continue;
      const siblings = listed.get(market.eventId);
      if (siblings === undefined) listed.set(market.eventId, [market]);
      else siblings.push(market);
    }
    for (const markets of listed.values()) this.#add(markets as unknown as Markets, earlier);
    this.#marketRecords = earlier === undefined ? new WeakMap() : earlier.#marketRecords;
    this.#texts = earlier === undefined ? new WeakMap() : earlier.#texts;
  }

  #add(markets: Markets, earlier: Directory | undefined): void {
    const before = earlier === undefined ? undefined : earlier.#events.get(markets[0].eventId);
    const isSame =
      before?.markets.size === markets.length &&
      markets.every(({ conditionId }) => before.markets.has(conditionId));
    const event = isSame ? before : listedEvent(markets);
    this.#events.set(event.id, event);
    this.#bySlug.set(event.slug, { ...this.#bySlug.get(event.slug), event });
    for (const tag of event.tags) this.#tags.set(tag.id, tag);
    for (const { conditionId, id, slug } of markets) {
      this.#eventOf.set(conditionId, event);
      this.#byId.set(id, conditionId);
      this.#bySlug.set(slug, { ...this.#bySlug.get(slug), market: conditionId });
    }
  }

  /** Whether the listings are still those that it was made from. */
  covers({ catalogue }: CatalogueReads): boolean {
    return catalogue === this.#catalogue && catalogue.listings === this.#listings;
  }

  get tags(): readonly TagRecord[] {
    return [...this.#tags.values()];
  }

  tag(id: string): TagRecord | undefined {
    return this.#tags.get(id);
  }

  tagBySlug(slug: string): TagRecord | undefined {
    return this.tags.find((tag) => tag.slug === slug);
  }

  *listed(): Generator<ListedEvent> {
    yield* this.#events.values();
  }

  *markets(): Generator<GammaMarket> {
    for (const conditionId of this.#eventOf.keys()) {
      const market = this.market(conditionId);
      if (market !== undefined) yield market;
    }
  }

  *events(): Generator<GammaEvent> {
    for (const listed of this.#events.values()) {
      const event = this.event(listed);
      if (event !== undefined) yield event;
    }
  }

  market(conditionId: ConditionId): GammaMarket | undefined {
    const event = this.#eventOf.get(conditionId);
    const view = this.#exchange.market(conditionId);
    if (event === undefined || view === undefined) return undefined;
    return { view, event, record: this.#recordOf(view, event) };
  }

  marketById(id: string): GammaMarket | undefined {
    const conditionId = this.#byId.get(id);
    return conditionId === undefined ? undefined : this.market(conditionId);
  }

  marketBySlug(slug: string): GammaMarket | undefined {
    const conditionId = this.#bySlug.get(slug)?.market;
    return conditionId === undefined ? undefined : this.market(conditionId);
  }

  eventById(id: string): GammaEvent | undefined {
    const listed = this.#events.get(id);
    return listed === undefined ? undefined : this.event(listed);
  }

  eventBySlug(slug: string): GammaEvent | undefined {
    const listed = this.#bySlug.get(slug)?.event;
    return listed === undefined ? undefined : this.event(listed);
  }

  event(listed: ListedEvent): GammaEvent | undefined {
    const markets = [...listed.markets.keys()]
      .map((conditionId) => this.#exchange.market(conditionId))
      .filter((market) => market !== undefined);
    if (!isSome(markets)) return undefined;
    return { listed, markets, record: this.#eventRecordOf(listed, markets) };
  }

  marketsOf({ listed, markets }: GammaEvent): readonly GammaMarket[] {
    return markets.map((view) => ({ view, event: listed, record: this.#recordOf(view, listed) }));
  }

  /** A record's JSON, made once: a list of a hundred events is some hundred kilobytes. */
  textOf(record: object): string {
    const known = this.#texts.get(record);
    if (known !== undefined) return known;
    const text = JSON.stringify(record);
    this.#texts.set(record, text);
    return text;
  }

  #recordOf(view: MarketView, event: ListedEvent): MarketRecord {
    const known = this.#marketRecords.get(view);
    if (known !== undefined) return known;
    const record = marketRecord(view, event.markets.get(view.conditionId) ?? { index: 0, groupTitle: '' });
    this.#marketRecords.set(view, record);
    return record;
  }

  #eventRecordOf(listed: ListedEvent, markets: Markets): EventRecord {
    const known = this.#eventRecords.get(listed.id);
    const isSame =
      known?.markets.length === markets.length && known.markets.every((view, nth) => view === markets[nth]);
    if (isSame) return known.record;
    const record = eventRecord(listed, markets);
    this.#eventRecords.set(listed.id, { markets, record });
    return record;
  }
}

const isSome = (markets: readonly MarketView[]): markets is Markets => markets.length > 0;

// The JSON of markets and events with what is nested in them, put together from the texts of their records.

interface MarketShape {
  readonly withTags: boolean;
}

/** A market of its own, with its event inside. */
export function marketText(directory: Directory, market: GammaMarket, { withTags }: MarketShape): string {
  const event = directory.event(market.event);
  const fields = [listOf(directory, 'events', event === undefined ? [] : [event.record])];
  if (withTags) fields.push(listOf(directory, 'tags', market.event.tags));
  return extended(directory, market.record, fields);
}

interface EventShape {
  readonly withMarkets: boolean;
  /** Whether closed markets of the event are among them. */
  readonly withClosed: boolean;
}

export function eventText(
  directory: Directory,
  event: GammaEvent,
  { withMarkets, withClosed }: EventShape,
): string {
  const fields = [listOf(directory, 'tags', event.listed.tags)];
  if (withMarkets) {
    const records = directory.marketsOf(event).map(({ record }) => record);
    const shown = withClosed ? records : records.filter(({ closed }) => !closed);
    fields.push(listOf(directory, 'markets', shown));
  }
  return extended(directory, event.record, fields);
}

/** The record's text with further fields at its end. */
const extended = (directory: Directory, record: object, fields: readonly string[]): string =>
  `${directory.textOf(record).slice(0, -1)},${fields.join(',')}}`;

const listOf = (directory: Directory, name: string, records: readonly object[]): string =>
  `"${name}":[${records.map((record) => directory.textOf(record)).join(',')}]`;
