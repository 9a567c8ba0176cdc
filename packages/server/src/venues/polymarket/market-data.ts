/**
 * The port `MarketData` over the venue's own services. Which markets there are comes from Gamma, whose answers are minutes
 * old, and is kept for a while within bounds; terms and prices come from the CLOB, whose answers are seconds old.
 * Entries leave by age and by bound; nothing that a caller sends becomes part of an entry.
 */

import { listsNoFirst } from '@bellwether/contract';
import type { Pips } from '@bellwether/contract/decimals';
import { conditionOfPosition } from '@bellwether/protocol';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { MarketRecord } from '../../domain/market.ts';
import {
  arrange,
  fitsLife,
  fitsPrice,
  isEverything,
  type MarketSearch,
  pageOf,
} from '../../domain/market-search.ts';
import type { MarketData } from '../venue.ts';
import type { BookTop, LiveBooks } from './books.ts';
import { topOf } from './books.ts';
import type { Gamma } from './gamma.ts';
import type { Resolutions } from './resolutions.ts';
import { lastPrice } from './token-book.ts';
import { conditionOf, isTokenId, type KeepsOrder, type ListedMarket } from './translate-market.ts';

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

export interface LiveMarketDataOptions {
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
    return { markets: await complete(listedOf(pageOf(fitting, search.page))), total: fitting.length };
  const candidates = listedOf(fitting).filter((listed) => !isPriced || mayFit(listed, search));
  const exact = (await complete(candidates.slice(0, PRICED_CANDIDATES))).filter(
    (record) => fitsLife(record, search) && fitsPrice(record, search),
  );
  return { markets: pageOf(exact, search.page), total: exact.length };
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
