/** Answers of the venue to everybody: markets, books and outcomes, without any credential. */

import { listsNoFirst } from '@bellwether/contract';
import { MICRO, type Pips } from '@bellwether/contract/decimals';
import { type Payout, paysOf } from '@bellwether/contract/positions';
import { conditionOfPosition, positionIds, shortConditionId } from '@bellwether/protocol';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { MarketRecord } from '../../domain/market.ts';
import {
  arrange,
  fitsLife,
  fitsPrice,
  isEverything,
  type MarketSearch,
  sliceOf,
} from '../../domain/market-search.ts';
import type { HttpSend, OutboundLog } from '../../platform/outbound/http.ts';
import type { MarketData } from '../venue.ts';
import { type BookTop, createLiveBooks, type LiveBooks, lastPrice, topOf } from './books.ts';
import {
  createVenueHttp,
  type Governor,
  nextOf,
  type VenueCall,
  type VenueHttp,
  type VenueService,
} from './http.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import {
  conditionOf,
  exactOf,
  isTokenId,
  type KeepsOrder,
  type ListedMarket,
  proportionOf,
  READ,
  toListedMarket,
  type WireClobMarket,
  type WireEvent,
  type WireResolution,
} from './translate-market.ts';

export interface PolymarketUrls {
  readonly clob: string;
  readonly gamma: string;
  readonly data: string;
  /** The venue's pages: the check of the region. */
  readonly site: string;
  readonly relayer: string;
  /** Address of the sockets, without the channel. */
  readonly sockets: string;
}

interface PublicMarketsOptions {
  /** In logs and errors. */
  readonly name: string;
  readonly urls: PolymarketUrls;
  readonly send: HttpSend;
  readonly clock: { now(): number };
  readonly log: OutboundLog;
  readonly governor?: Governor;
  readonly keepsOrder?: KeepsOrder | undefined;
  readonly socketTimes?: SocketTimes;
  /** Shorter ones for tests. */
  readonly times?: { readonly marketLifeMs?: number; readonly askAgainMs?: number };
}

interface PublicMarkets {
  readonly clob: VenueHttp;
  readonly data: VenueHttp;
  readonly site: VenueHttp;
  readonly relayer: VenueHttp;
  readonly books: LiveBooks;
  readonly markets: MarketData;
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  /** Since the start, for operators. */
  counts(): Readonly<Record<string, number>>;
}

export function createPublicMarkets(options: PublicMarketsOptions): PublicMarkets {
  const { name, urls, send, clock, log, socketTimes, governor, keepsOrder, times = {} } = options;
  const service = (what: string, baseUrl: string, limits?: VenueService) =>
    createVenueHttp({
      ...{ service: `${name}'s ${what}`, baseUrl, send, clock, log },
      governor:
        governor === undefined || limits === undefined ? undefined : { of: governor, service: limits },
    });
  const clob = service('order book', urls.clob, 'clob');
  const data = service('data service', urls.data, 'data');
  const catalogue = service('catalogue', urls.gamma, 'gamma');
  const gamma = createGamma({ http: catalogue, clock, log, keepsOrder });
  const books = createLiveBooks({
    clob,
    socketUrl: `${urls.sockets}/market`,
    log,
    ...(socketTimes === undefined ? {} : { socketTimes }),
  });
  const resolutions = createResolutions({ data, clob, ...times });
  const services = [clob, data, catalogue];
  return {
    clob,
    data,
    site: service('site', urls.site),
    relayer: service('relayer', urls.relayer, 'relayer'),
    books,
    markets: createLiveMarketData({ gamma, books, resolutions, clock, keepsOrder, ...times }),
    status: clob.status,
    counts: () => ({
      ...books.counts(),
      unreadable_markets: gamma.malformed(),
      unfinished_lists: services.reduce((sum, { lists }) => sum + lists.unfinished(), 0),
    }),
  };
}

// The port `MarketData` over the venue's own services. Which markets there are comes from Gamma, whose answers are minutes
// old, and is kept for a while within bounds; terms and prices come from the CLOB, whose answers are seconds old.
// Entries leave by age and by bound; nothing that a caller sends becomes part of an entry.

const MARKETS_KEPT = 20_000;
const TEXTS_KEPT = 60_000;
const SEARCHES_KEPT = 200;
const MARKET_LIFE_MS = 60_000;
/** An older entry is answered at once and asked for again meanwhile. */
const USABLE_MS = 600_000;
const MISS_LIFE_MS = 10_000;
const SEARCH_LIFE_MS = 30_000;
const LISTING_LIFE_MS = 60_000;
const MOST_TRADED = 3_000;
const NEWEST = 300;
const LATEST_ENDED = 500;
/** A filter by price looks at the books of so many markets. */
const PRICED_CANDIDATES = 500;
/** Gamma's prices are minutes old: a first choice by them keeps what may have moved meanwhile. */
const ROUGH_SLACK: Pips = 1_500;
const MAX_WORDS_CHARS = 200;

const MARKET_ID = /^\d{1,15}$/;
const CONDITION_ID = /^0x[0-9a-fA-F]{62,64}$/;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)+$/;
const MIN_TOKEN_DIGITS = 20;
const MAX_SLUG_CHARS = 250;

interface LiveMarketDataOptions {
  readonly gamma: Gamma;
  readonly books: LiveBooks;
  readonly resolutions: Resolutions;
  readonly clock: { now(): number };
  readonly keepsOrder?: KeepsOrder | undefined;
  /** How long an entry of the catalogue is taken as it is; a minute when omitted. */
  readonly marketLifeMs?: number;
}

type MarketKeyKind = 'id' | 'slug' | 'condition' | 'token';

const isToken = (text: string): boolean => isTokenId(text) && text.length >= MIN_TOKEN_DIGITS;

/** The kind of id that a text can be here; `null`: none. */
function keyOf(text: string): MarketKeyKind | null {
  if (CONDITION_ID.test(text)) return 'condition';
  if (isToken(text)) return 'token';
  if (MARKET_ID.test(text)) return 'id';
  return text.length <= MAX_SLUG_CHARS && SLUG.test(text) ? 'slug' : null;
}

export function createLiveMarketData(options: LiveMarketDataOptions): MarketData {
  const { gamma, books, resolutions, marketLifeMs = MARKET_LIFE_MS } = options;
  const known = createKnownMarkets(gamma, { lifeMs: marketLifeMs, keepsOrder: options.keepsOrder });
  const lists = createLists(options, known.keep);

  /** With the terms and prices of the CLOB, and the outcome where it is proved. */
  const completed = async (listed: readonly ListedMarket[]): Promise<readonly MarketRecord[]> => {
    const open = listed.filter(({ record }) => record.status === 'open');
    const [tops, outcomes] = await Promise.all([
      books.tops(open.map(({ record }) => record.tokenIds[0])),
      resolutions.of(listed),
    ]);
    return listed.map(({ record }) => {
      const payout = outcomes.get(record.conditionId);
      if (payout !== undefined) return { ...record, status: 'resolved', payout };
      return record.status === 'open' ? withTop(record, tops.get(record.tokenIds[0]) ?? null) : record;
    });
  };
  const single = async (listed: ListedMarket): Promise<MarketRecord> => {
    const { record } = listed;
    if (record.status !== 'open') return (await completed([listed]))[0]!;
    const book = await books.book(record.tokenIds[0]);
    return withTop(record, book === null ? null : topOf(book));
  };
  const find = async (text: string): Promise<MarketRecord | null> => {
    const listed = await known.find(text);
    return listed === null ? null : single(listed);
  };

  /** An id of a market, a token or an event finds what it names; a slug is made of words. */
  const namedBy = async (words: string, { status }: MarketSearch): Promise<List> => {
    const key = keyOf(words);
    if (key === null || key === 'slug') return [];
    const listed = await known.find(words);
    if (listed !== null) return [listed];
    return key === 'condition'
      ? []
      : (await lists.all(status)).filter(({ record }) => record.eventId === words);
  };

  return {
    announcesResolutions: false,
    canBeId: (text) => keyOf(text) !== null,
    find,
    findAll: async (conditionIds) => completed(await known.findAll(conditionIds)),

    async listedAfter(after, limit) {
      const newest = await lists.newest();
      const listed = newest.filter(({ record }) => record.createdAt > after).slice(0, limit);
      const latest = newest.reduce((most, { record }) => Math.max(most, record.createdAt), 0);
      return { markets: await completed(listed), latest };
    },

    async byToken(tokenId) {
      if (!isToken(tokenId)) return null;
      const market = await find(tokenId);
      if (market === null || !market.tokenIds.includes(tokenId)) return null;
      return { market, outcome: market.tokenIds[0] === tokenId ? 'YES' : 'NO' };
    },

    async search(search) {
      const words = search.words.trim().slice(0, MAX_WORDS_CHARS);
      const isAll = words === '' || isEverything(words);
      const named = isAll ? [] : await namedBy(words, search);
      if (named.length > 0) return searchIn(named, search, completed);
      const matching = isAll ? await lists.all(search.status) : await lists.found(words);
      return searchIn(matching, search, completed);
    },

    async book(conditionId, outcome, depth) {
      const listed = await known.find(conditionId);
      if (listed === null || listed.record.status !== 'open') return null;
      const book = await books.book(listed.record.tokenIds[0]);
      return book === null ? null : book.view(listed.record, outcome, depth);
    },
  };
}

/** The CLOB decides: a market that it has no book of takes no orders, with any answer of Gamma. */
function withTop(record: MarketRecord, top: BookTop | null): MarketRecord {
  if (top === null)
    return {
      ...record,
      status: 'closed',
      ...(record.unknownTick === undefined ? {} : { untradable: 'tick_size' }),
    };
  const { terms, lastTrade, ...prices } = top;
  const { unknownTick, ...listed } = record;
  const tick = terms.tick ?? record;
  return {
    ...listed,
    ...prices,
    ...(lastTrade === undefined ? {} : { lastTrade: lastPrice(lastTrade, record) }),
    tickSize: tick.tickSize,
    ...(tick.unknownTick === undefined
      ? {}
      : { unknownTick: tick.unknownTick, status: 'closed', untradable: 'tick_size' }),
    minOrderSize: terms.minOrderSize ?? record.minOrderSize,
    negRisk: terms.negRisk ?? record.negRisk,
  };
}

type Complete = (listed: readonly ListedMarket[]) => Promise<readonly MarketRecord[]>;

async function searchIn(matching: readonly ListedMarket[], search: MarketSearch, complete: Complete) {
  const byCondition = new Map(matching.map((listed) => [listed.record.conditionId, listed]));
  const listedOf = (records: readonly MarketRecord[]): ListedMarket[] =>
    records.map(({ conditionId }) => byCondition.get(conditionId)!);
  // Whether a market is closed or resolved is known only once its outcome was asked for.
  const wantsResolved = search.status === 'resolved';
  const life = wantsResolved ? { ...search, status: 'closed' as const } : search;
  const fitting = arrange(
    matching.map(({ record }) => record).filter((record) => fitsLife(record, life)),
    search,
  );
  const isPriced = search.minPrice !== undefined || search.maxPrice !== undefined;
  if (!isPriced && !wantsResolved)
    return { markets: await complete(listedOf(sliceOf(fitting, search.page))), total: fitting.length };
  const candidates = listedOf(fitting).filter((listed) => !isPriced || mayFit(listed, search));
  const exact = (await complete(candidates.slice(0, PRICED_CANDIDATES))).filter(
    (record) => fitsLife(record, search) && fitsPrice(record, search),
  );
  return { markets: sliceOf(exact, search.page), total: exact.length };
}

function mayFit({ roughPrice }: ListedMarket, { minPrice = 0, maxPrice = 1 }: MarketSearch): boolean {
  if (roughPrice === null) return true;
  const [least, most] = [minPrice * 10_000 - ROUGH_SLACK, maxPrice * 10_000 + ROUGH_SLACK];
  return roughPrice >= least && roughPrice <= most;
}

interface KnownMarkets {
  keep(markets: readonly ListedMarket[]): void;
  /** @throws VenueUnavailable */
  find(text: string): Promise<ListedMarket | null>;
  /** @throws VenueUnavailable */
  findAll(conditionIds: readonly string[]): Promise<readonly ListedMarket[]>;
}

const conditionOfToken = (name: string): string | null =>
  isTokenId(name) ? conditionOfPosition(BigInt(name)) : null;

/** Markets by any of their ids. Questions of one turn of the event loop for the same kind of id go out together. */
function createKnownMarkets(
  gamma: Gamma,
  {
    lifeMs,
    keepsOrder = () => false,
  }: Pick<LiveMarketDataOptions, 'keepsOrder'> & { readonly lifeMs: number },
): KnownMarkets {
  /** Its outcomes were kept in the venue's order, and are not any more. */
  const isOutdated = ({ record: { conditionId, tokenIds, outcomes } }: ListedMarket): boolean =>
    listsNoFirst(outcomes) && !keepsOrder(conditionId, tokenIds[0]);
  const of = <V>(entries: number) => new BoundedCache<V>({ entries, weight: entries, weightOf: () => 1 });
  const markets = of<{ readonly at: number; readonly listed: ListedMarket }>(MARKETS_KEPT);
  const conditionOfText = of<string>(TEXTS_KEPT);
  const missedAt = of<number>(TEXTS_KEPT);
  const asking = new Map<string, Promise<ListedMarket | null>>();
  const waiting: Record<'condition' | 'token', Map<string, (found: Promise<ListedMarket | null>) => void>> = {
    condition: new Map(),
    token: new Map(),
  };

  const keep = (found: readonly ListedMarket[]): void => {
    const at = performance.now();
    for (const listed of found) {
      const { id, slug, conditionId, tokenIds } = listed.record;
      markets.set(conditionId, { at, listed });
      for (const text of [id, slug, ...tokenIds]) conditionOfText.set(text, conditionId);
    }
  };
  const flush = (key: 'condition' | 'token'): void => {
    const batch = new Map(waiting[key]);
    waiting[key].clear();
    const ids = [...batch.keys()];
    const answer = key === 'condition' ? gamma.byConditions(ids) : gamma.byTokens(ids);
    const hasId =
      (id: string) =>
      ({ record }: ListedMarket) =>
        record.conditionId === id || record.tokenIds.includes(id);
    for (const [id, resolve] of batch) resolve(answer.then((found) => found.find(hasId(id)) ?? null));
  };
  const grouped = (key: 'condition' | 'token', id: string): Promise<ListedMarket | null> => {
    if (waiting[key].size === 0) setImmediate(flush, key);
    const { promise, resolve } = Promise.withResolvers<ListedMarket | null>();
    waiting[key].set(id, resolve);
    return promise;
  };
  const load = (key: MarketKeyKind, text: string): Promise<ListedMarket | null> => {
    if (key === 'id') return gamma.byId(text);
    if (key === 'slug') return gamma.bySlug(text);
    return grouped(key, text);
  };
  const ask = (key: MarketKeyKind, text: string): Promise<ListedMarket | null> => {
    const already = asking.get(text);
    if (already !== undefined) return already;
    const answer = load(key, text)
      .then((listed) => {
        if (listed === null) missedAt.set(text, performance.now());
        else keep([listed]);
        return listed;
      })
      .finally(() => asking.delete(text));
    asking.set(text, answer);
    return answer;
  };

  const find = async (name: string): Promise<ListedMarket | null> => {
    // A position names its condition, and the catalogue's filter knows only tokens of Protocol V1.
    const given = conditionOfToken(name) ?? name;
    const key = keyOf(given);
    if (key === null) return null;
    const text = key === 'condition' ? conditionOf(given) : given;
    const now = performance.now();
    const entry = markets.get(key === 'condition' ? text : (conditionOfText.get(text) ?? ''));
    const age = entry === undefined ? Number.POSITIVE_INFINITY : now - entry.at;
    if (entry !== undefined && age < USABLE_MS && !isOutdated(entry.listed)) {
      // The CLOB's book says what changed in a hurry; the catalogue's part may be a little old.
      if (age >= lifeMs) ask(key, text).catch(() => {});
      return entry.listed;
    }
    if (now - (missedAt.get(text) ?? Number.NEGATIVE_INFINITY) < MISS_LIFE_MS) return null;
    return ask(key, text);
  };
  return {
    keep,
    find,
    async findAll(conditionIds) {
      const found = await Promise.all(conditionIds.map(find));
      return found.filter((listed) => listed !== null);
    },
  };
}

type List = readonly ListedMarket[];

interface Lists {
  /** Newest first. @throws VenueUnavailable */
  newest(): Promise<List>;
  /** The most traded that are open, or those that ended last. @throws VenueUnavailable */
  all(status: MarketSearch['status']): Promise<List>;
  /** @throws VenueUnavailable */
  found(words: string): Promise<List>;
}

function createLists({ gamma }: Pick<LiveMarketDataOptions, 'gamma'>, keep: (found: List) => void): Lists {
  const kept = (lifeMs: number, entries: number, load: (name: string) => Promise<List>) =>
    remembered({
      lifeMs,
      entries,
      load: async (name) => {
        const found = await load(name);
        keep(found);
        return found;
      },
    });
  const newest = kept(LISTING_LIFE_MS, 1, async () => {
    const found = await gamma.open('startDate', NEWEST);
    return [...found].sort((a, b) => b.record.createdAt - a.record.createdAt);
  });
  const open = kept(LISTING_LIFE_MS, 1, () => gamma.open('volume24hr', MOST_TRADED));
  const ended = kept(LISTING_LIFE_MS, 1, () => gamma.closed(LATEST_ENDED));
  const found = kept(SEARCH_LIFE_MS, SEARCHES_KEPT, gamma.search);
  return {
    newest: () => newest(''),
    found: (words) => found(words.toLowerCase()),
    async all(status) {
      if (status === 'active') return open('');
      if (status !== undefined) return ended('');
      return (await Promise.all([open(''), ended('')])).flat();
    },
  };
}

interface Remembering {
  readonly lifeMs: number;
  readonly entries: number;
  readonly load: (name: string) => Promise<List>;
}

/** One question at a time per name. A list that outlived its time is answered once more while the next one is loaded. */
function remembered({ lifeMs, entries, load }: Remembering): (name: string) => Promise<List> {
  const lists = new BoundedCache<{ readonly at: number; readonly list: List }>({
    entries,
    weight: MARKETS_KEPT,
    weightOf: ({ list }) => list.length,
  });
  const loading = new Map<string, Promise<List>>();
  const ask = (name: string): Promise<List> => {
    const already = loading.get(name);
    if (already !== undefined) return already;
    const answer = load(name)
      .then((list) => {
        lists.set(name, { at: performance.now(), list });
        return list;
      })
      .finally(() => loading.delete(name));
    loading.set(name, answer);
    return answer;
  };
  return async (name) => {
    const entry = lists.get(name);
    const age = entry === undefined ? Number.POSITIVE_INFINITY : performance.now() - entry.at;
    if (entry === undefined || age >= USABLE_MS) return ask(name);
    if (age >= lifeMs) ask(name).catch(() => {});
    return entry.list;
  };
}

// The venue's catalogue: its answers, item by item. It is for finding markets; prices and terms come from the CLOB.

const MAX_IDS_PER_QUESTION = 50;
const ROWS_PER_PAGE = 100;
const EVENTS_PER_PAGE = 50;
const MAX_SEARCH_PAGES = 4;
const MOST_FOUND = 100_000;
const KEYSET = '/markets/keyset';

interface Gamma {
  /** By Gamma's number. @throws VenueUnavailable */
  byId(id: string): Promise<ListedMarket | null>;
  /** @throws VenueUnavailable */
  bySlug(slug: string): Promise<ListedMarket | null>;
  /** Open and closed markets. @throws VenueUnavailable */
  byConditions(conditionIds: readonly string[]): Promise<readonly ListedMarket[]>;
  /** Open and closed markets. @throws VenueUnavailable */
  byTokens(tokenIds: readonly string[]): Promise<readonly ListedMarket[]>;
  /** The first of the open markets, in an order. @throws VenueUnavailable */
  open(order: 'volume24hr' | 'startDate', most: number): Promise<readonly ListedMarket[]>;
  /** The closed markets that ended last. @throws VenueUnavailable */
  closed(most: number): Promise<readonly ListedMarket[]>;
  /** By words, in the venue's order of relevance. @throws VenueUnavailable */
  search(words: string): Promise<readonly ListedMarket[]>;
  /** How many items were left out so far because they could not be read. */
  malformed(): number;
}

interface GammaOptions {
  readonly http: VenueHttp;
  readonly clock: { now(): number };
  readonly keepsOrder?: KeepsOrder | undefined;
  readonly log: OutboundLog;
}

export function createGamma({ http, clock, log, keepsOrder = () => false }: GammaOptions): Gamma {
  let malformed = 0;

  const leftOut = (): null => {
    malformed += 1;
    // Said once: a venue that changes its format says it in every answer.
    if (malformed === 1) log.warn({}, 'the venue lists a market that cannot be read; it is left out');
    return null;
  };
  const marketOf = (item: unknown, event?: WireEvent): ListedMarket | null => {
    const wire = READ.gammaMarket(item);
    if (wire === null) return leftOut();
    // A placeholder has no tokens yet: that is no fault.
    return toListedMarket(wire, { now: clock.now(), keepsOrder, ...(event === undefined ? {} : { event }) });
  };
  const marketsOf = (items: readonly unknown[], event?: WireEvent): ListedMarket[] =>
    items.map((item) => marketOf(item, event)).filter((market) => market !== null);

  const one = async (path: string): Promise<ListedMarket | null> => {
    const found = await http.read({ path, query: { include_tag: true } }, (item) => ({ item }));
    return found === null ? null : marketOf(found.item);
  };
  const page = (query: NonNullable<VenueCall['query']>) =>
    http.read(
      { path: KEYSET, query: { ...query, include_tag: true, limit: ROWS_PER_PAGE } },
      READ.gammaMarkets,
    );
  /** Closed markets are listed only where they are asked for. */
  const byIds = async (name: string, ids: readonly string[]): Promise<readonly ListedMarket[]> => {
    const parts: Promise<readonly ListedMarket[]>[] = [];
    for (let start = 0; start < ids.length; start += MAX_IDS_PER_QUESTION)
      for (const closed of [false, true])
        parts.push(
          page({ [name]: ids.slice(start, start + MAX_IDS_PER_QUESTION), closed }).then((found) =>
            marketsOf(found?.markets ?? []),
          ),
        );
    return once((await Promise.all(parts)).flat());
  };
  /** Pages shift while they are read, so that a market may come twice. */
  const idOf = ({ record }: ListedMarket): string => record.conditionId;
  const list = (query: NonNullable<VenueCall['query']>, most: number): Promise<readonly ListedMarket[]> =>
    http.lists.first<ListedMarket>(
      {
        ...{ name: KEYSET, whose: '', mostPages: Math.ceil(most / ROWS_PER_PAGE), idOf },
        async ask(after_cursor) {
          const { markets, next_cursor } = (await page({ ...query, after_cursor })) ?? { markets: [] };
          return { rows: marketsOf(markets), next: nextOf(next_cursor) };
        },
      },
      most,
    );

  return {
    malformed: () => malformed,
    byId: (id) => one(`/markets/${encodeURIComponent(id)}`),
    bySlug: (slug) => one(`/markets/slug/${encodeURIComponent(slug)}`),
    // The catalogue shows 31 bytes of Protocol V2; which width its filter takes is not known.
    byConditions: (ids) =>
      byIds(
        'condition_ids',
        ids.flatMap((id) => (positionIds(id) === null ? [id] : [id, shortConditionId(id)])),
      ),
    byTokens: (ids) => byIds('clob_token_ids', ids),
    open: (order, most) => list({ closed: false, order, ascending: false }, most),
    closed: (most) => list({ closed: true, order: 'endDate', ascending: false }, most),
    search: (words) =>
      http.lists.first<ListedMarket>(
        {
          ...{ name: '/public-search', whose: '', mostPages: MAX_SEARCH_PAGES, idOf },
          async ask(cursor = '1') {
            const query = {
              q: words,
              page: cursor,
              limit_per_type: EVENTS_PER_PAGE,
              keep_closed_markets: 1,
              events_status: 'all',
            };
            const reply = await http.read({ path: '/public-search', query }, READ.searchPage);
            const rows = (reply?.events ?? []).flatMap((item) => {
              const event = READ.gammaEvent(item);
              if (event === null) leftOut();
              return event === null ? [] : marketsOf(event.markets ?? [], event);
            });
            const hasMore = reply?.pagination?.hasMore === true;
            return { rows, next: hasMore ? String(Number(cursor) + 1) : null };
          },
        },
        MOST_FOUND,
      ),
  };
}

/** An open and a closed list may both have a market that ends meanwhile. */
const once = (markets: readonly ListedMarket[]): readonly ListedMarket[] => [
  ...new Map(markets.map((market) => [market.record.conditionId, market])).values(),
];

// How markets ended. One source is no proof: an outcome is believed when two of Gamma, the Data API and the CLOB say the
// same and none says otherwise. A market that is proposed or disputed has no outcome yet, in none of them.

const CONDITIONS_PER_QUESTION = 20;
const OUTCOMES_KEPT = 50_000;
/** So many markets whose outcome is not known are asked about one by one in a turn. */
const MAX_SINGLE_QUESTIONS = 20;
const ASK_AGAIN_MS = 30_000;
const FINAL = 'resolved';
/** Two sources may round a part of a collateral differently. */
const SAME_WITHIN = MICRO / 10_000n;

type Ended = Pick<ListedMarket, 'saidPayout'> & {
  readonly record: Pick<ListedMarket['record'], 'conditionId' | 'tokenIds' | 'status' | 'isTurned'>;
};

interface Resolutions {
  /** The outcomes that are proved, by condition id. Sources that do not answer prove nothing. Never throws. */
  of(markets: readonly Ended[]): Promise<ReadonlyMap<string, Payout>>;
}

interface ResolutionSources {
  readonly data: VenueHttp;
  readonly clob: VenueHttp;
  /** How long a market without a proved outcome is not asked about again; half a minute when omitted. */
  readonly askAgainMs?: number;
}

export function createResolutions({ data, clob, askAgainMs = ASK_AGAIN_MS }: ResolutionSources): Resolutions {
  const proved = new BoundedCache<Payout>({
    entries: OUTCOMES_KEPT,
    weight: OUTCOMES_KEPT,
    weightOf: () => 1,
  });
  const askedAt = new BoundedCache<number>({
    entries: OUTCOMES_KEPT,
    weight: OUTCOMES_KEPT,
    weightOf: () => 1,
  });

  const fromData = async (markets: readonly Ended[]): Promise<Map<string, Payout>> => {
    const said = new Map<string, Payout>();
    const asked = new Map(markets.map((market) => [market.record.conditionId, market]));
    const page = await data
      .read({ path: '/v2/resolutions', query: { condition: [...asked.keys()].join(',') } }, READ.dataPage)
      .catch(() => null);
    for (const row of page?.data ?? []) {
      const wire = READ.resolution(row);
      const market = wire === null ? undefined : asked.get(conditionOf(wire.condition_id));
      const payout =
        wire === null || market === undefined ? null : payoutOfRow(wire, market.record.isTurned === true);
      if (market !== undefined && payout !== null) said.set(market.record.conditionId, payout);
    }
    return said;
  };
  const fromClob = async ({ record }: Ended): Promise<Payout | null> => {
    const path = `/markets/${record.conditionId}`;
    const wire = await clob.read({ path }, READ.clobMarket).catch(() => null);
    return wire === null ? null : payoutByWinner(wire, record.tokenIds);
  };

  const ask = async (markets: readonly Ended[]): Promise<void> => {
    const questions: Promise<Map<string, Payout>>[] = [];
    for (let start = 0; start < markets.length; start += CONDITIONS_PER_QUESTION)
      questions.push(fromData(markets.slice(start, start + CONDITIONS_PER_QUESTION)));
    const said = new Map((await Promise.all(questions)).flatMap((part) => [...part]));
    let singles = 0;
    await Promise.all(
      markets.map(async (market) => {
        const { conditionId } = market.record;
        const voices = voicesOf(said.get(conditionId) ?? null, market.saidPayout);
        const isHalfKnown = voices.filter((voice) => voice !== null).length === 1;
        if (isHalfKnown && singles++ < MAX_SINGLE_QUESTIONS) voices.push(await fromClob(market));
        const payout = agreed(voices);
        if (payout !== null) proved.set(conditionId, payout);
      }),
    );
  };

  return {
    async of(markets) {
      const now = performance.now();
      const unknown = markets.filter(
        ({ record: { conditionId, status } }) =>
          status !== 'open' &&
          proved.get(conditionId) === undefined &&
          now - (askedAt.get(conditionId) ?? Number.NEGATIVE_INFINITY) >= askAgainMs,
      );
      for (const { record } of unknown) askedAt.set(record.conditionId, now);
      if (unknown.length > 0) await ask(unknown);
      return new Map(
        markets.flatMap(({ record: { conditionId } }) => {
          const payout = proved.get(conditionId);
          return payout === undefined ? [] : [[conditionId, payout] as const];
        }),
      );
    },
  };
}

/** The Data API first: it has the chain's figures. A part that Gamma says may be a last price, so it only confirms. */
const voicesOf = (data: Payout | null, gamma: Payout | null): (Payout | null)[] => [
  data,
  gamma !== null && isPart(gamma) && (data === null || !isSame(data, gamma)) ? null : gamma,
];

/** Two voices that say the same, and none that says otherwise. */
export function agreed(voices: readonly (Payout | null)[]): Payout | null {
  const [first, ...others] = voices.filter((voice) => voice !== null);
  return first !== undefined && others.length > 0 && others.every((voice) => isSame(voice, first))
    ? first
    : null;
}

const isPart = (payout: Payout): boolean => payout.startsWith('0.');

function isSame(a: Payout, b: Payout): boolean {
  const apart = paysOf(a, 'YES') - paysOf(b, 'YES');
  return a === b || (isPart(a) && isPart(b) && apart <= SAME_WITHIN && apart >= -SAME_WITHIN);
}

function payoutOfRow({ status, payouts }: WireResolution, isTurned: boolean): Payout | null {
  if (status?.toLowerCase() !== FINAL || payouts == null) return null;
  return proportionOf(payouts.map(exactOf), isTurned);
}

function payoutByWinner(wire: WireClobMarket, [yes, no]: readonly [string, string]): Payout | null {
  if (wire.closed !== true) return null;
  const winners = wire.tokens.filter(({ winner }) => winner === true).map(({ token_id }) => token_id);
  if (winners.length === 0) return wire.is_50_50_outcome === true ? 'HALF' : null;
  if (winners.length > 1) return null;
  return winners[0] === yes ? 'YES' : winners[0] === no ? 'NO' : null;
}
