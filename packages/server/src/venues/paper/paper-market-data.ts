/** Market reads from the embedded exchange's memory. */

import { setImmediate } from 'node:timers/promises';
import type { Catalogue, MarketView, PaperExchange } from '@bellwether/exchange';
import MiniSearch, { type Query, type SearchOptions } from 'minisearch';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { Book } from '../../domain/market.ts';
import {
  arrange,
  comparing,
  type FoundMarkets,
  fitsLife,
  fitsPrice,
  isEverything,
  type MarketSearch,
  sliceOf,
} from '../../domain/market-search.ts';
import type { MarketData } from '../venue.ts';

type ConditionId = MarketView['conditionId'];

export function createPaperMarketData(exchange: PaperExchange): MarketData {
  const pages = new MarketPages(exchange);
  const listing = listingOf(exchange);
  const books = new WeakMap<MarketView, Map<string, Book | null>>();
  return {
    announcesResolutions: true,
    canBeId: () => true,
    async find(id) {
      const byAlias = () => exchange.market(listing().aliases.get(id) ?? id);
      return exchange.market(id) ?? exchange.marketByToken(id)?.market ?? byAlias() ?? null;
    },
    async findAll(conditionIds) {
      return conditionIds.map((id) => exchange.market(id)).filter((market) => market !== undefined);
    },
    async listedAfter(after, limit) {
      const { newestFirst } = listing();
      const markets: MarketView[] = [];
      for (const id of newestFirst) {
        const market = exchange.market(id);
        if (market === undefined || market.createdAt <= after || markets.length === limit) break;
        if (market.status === 'open') markets.push(market);
      }
      const [newest] = newestFirst;
      return { markets, latest: newest === undefined ? 0 : (exchange.market(newest)?.createdAt ?? 0) };
    },
    async byToken(tokenId) {
      return exchange.marketByToken(tokenId) ?? null;
    },
    search: (search) => pages.find(search),
    async book(conditionId, outcome, depth) {
      const market = exchange.market(conditionId);
      if (market === undefined) return exchange.book(conditionId, outcome, depth) ?? null;
      // A change of the book gives the market another view.
      const kept = books.get(market) ?? new Map<string, Book | null>();
      books.set(market, kept);
      const key = `${outcome} ${depth}`;
      let book = kept.get(key);
      if (book === undefined) {
        book = exchange.book(conditionId, outcome, depth) ?? null;
        kept.set(key, book);
      }
      return book;
    },
  };
}

interface Listing {
  readonly catalogue: Catalogue;
  readonly listings: number;
  readonly newestFirst: readonly ConditionId[];
  /** Market ids and slugs. */
  readonly aliases: ReadonlyMap<string, ConditionId>;
}

/** Listing, which changes only when a market is listed or archived. */
function listingOf(exchange: PaperExchange): () => Listing {
  let known: Listing | undefined;
  return () => {
    const { catalogue } = exchange;
    const { listings } = catalogue;
    if (known?.catalogue === catalogue && known.listings === listings) return known;
    const aliases = new Map<string, ConditionId>();
    const inOrder: ConditionId[] = [];
    for (const { id, slug, conditionId } of exchange.markets()) {
      inOrder.push(conditionId);
      aliases.set(id, conditionId).set(slug, conditionId);
    }
    known = { catalogue, listings, newestFirst: inOrder.reverse(), aliases };
    return known;
  };
}

// Pages of searches, from results that are kept per question as lists of ids. An answer is as current as one that is
// computed anew: each list is valid for one value of the catalogue's counter that covers what it was made from, and the
// markets of the page are read at every call. Three steps, each from the list of the one before: the words (valid until
// a market is listed or archived), the lives of the markets (until one ends), prices and volumes (until anything changes:
// then only the markets that changed are looked at, and find their new places).

/** The most that strangers can make it keep: lists of so many questions, of so many ids in all. */
const KEPT_LISTS = 10_000;
const KEPT_IDS = 1_000_000;
/** How long views are built in one turn of the event loop, looked at after so many. */
const SLICE_MS = 5;
const LOOK_EVERY = 100;

type Counter = 'listings' | 'lives' | 'changes';
type Ids = readonly MarketView['conditionId'][];

interface Kept {
  readonly ids: Ids;
  /** The catalogue's counters when it was made. */
  readonly at: Readonly<Record<Counter, number>>;
}

const MOVING: ReadonlySet<MarketSearch['sort']> = new Set(['volume24hr', 'liquidity', 'volume']);

const filtersByPrice = ({ minPrice, maxPrice }: MarketSearch): boolean =>
  minPrice !== undefined || maxPrice !== undefined;

/** Without what prices and volumes decide. */
function steadyPart(search: MarketSearch): MarketSearch {
  const { page: _, minPrice: __, maxPrice: ___, sort: ____, ascending: _____, ...steady } = search;
  return steady;
}

const termsOf = (words: string): string => words.trim().toLowerCase();

const keyOf = (counter: Counter, ...question: readonly unknown[]): string =>
  `${counter} ${JSON.stringify(question)}`;

function movingKey({ words, status, category, endsBefore, ...moving }: MarketSearch): string {
  const { minPrice, maxPrice, sort, ascending } = moving;
  const steady = [status, category?.toLowerCase(), endsBefore, termsOf(words)];
  return keyOf('changes', minPrice, maxPrice, sort, ascending, ...steady);
}

export class MarketPages {
  readonly #exchange: Pick<PaperExchange, 'catalogue' | 'market'>;
  readonly #kept = new BoundedCache<Kept>({
    entries: KEPT_LISTS,
    weight: KEPT_IDS,
    weightOf: ({ ids }) => ids.length,
  });
  #words = new MarketWords();
  #catalogue: Catalogue | undefined;

  constructor(exchange: Pick<PaperExchange, 'catalogue' | 'market'>) {
    this.#exchange = exchange;
  }

  async find(search: MarketSearch): Promise<FoundMarkets> {
    const isMoving = filtersByPrice(search) || MOVING.has(search.sort);
    while (!this.#isReady(search)) await this.#words.follow(this.#exchange);
    if (isMoving && this.#changedSince(this.#kept.get(movingKey(search))) === undefined)
      await this.#buildViews(this.#steady(steadyPart(search)));
    while (!this.#isReady(search)) await this.#words.follow(this.#exchange);
    // From here on nothing is awaited: ids, order and records are of one moment.
    const ids = isMoving ? this.#moving(search) : this.#steady(search);
    return { markets: this.#views(sliceOf(ids, search.page)), total: ids.length };
  }

  /** The exchange builds a view at its first read after a change: of very many, in slices, since others wait. */
  async #buildViews(ids: Ids): Promise<void> {
    let sliceEnds = performance.now() + SLICE_MS;
    for (const [nth, id] of ids.entries()) {
      this.#exchange.market(id);
      if (nth % LOOK_EVERY !== 0 || performance.now() < sliceEnds) continue;
      await setImmediate();
      sliceEnds = performance.now() + SLICE_MS;
    }
  }

  /** Whether the words can be looked up. An exchange that was reopened counts anew. */
  #isReady({ words }: MarketSearch): boolean {
    const { catalogue } = this.#exchange;
    if (catalogue !== this.#catalogue) {
      this.#catalogue = catalogue;
      this.#words = new MarketWords();
      this.#kept.clear();
    }
    return isEverything(words) || this.#words.covers(catalogue);
  }

  #matching(words: string): Ids {
    return this.#list('listings', keyOf('listings', termsOf(words)), () =>
      isEverything(words) ? [...this.#exchange.catalogue.conditionIds()] : this.#words.find(words),
    );
  }

  #steady(search: MarketSearch): Ids {
    const { words, status, category, endsBefore, sort, ascending } = search;
    const question = [status, category?.toLowerCase(), endsBefore, sort, ascending, termsOf(words)];
    return this.#list('lives', keyOf('lives', ...question), () => {
      const { catalogue } = this.#exchange;
      const fitting = this.#matching(words).filter((id) => {
        const life = catalogue.life(id);
        return life !== undefined && fitsLife(life, search);
      });
      if (sort === undefined) return ascending === true ? fitting.reverse() : fitting;
      return arrange(this.#views(fitting), search).map(({ conditionId }) => conditionId);
    });
  }

  #moving(search: MarketSearch): Ids {
    return this.#list('changes', movingKey(search), (before) => {
      const changed = this.#changedSince(before);
      if (before !== undefined && changed !== undefined) return this.#followed(before.ids, changed, search);
      const base = this.#steady(steadyPart(search));
      const fitting = this.#views(base).filter((market) => fitsPrice(market, search));
      return arrange(fitting, search).map(({ conditionId }) => conditionId);
    });
  }

  /** `undefined`: the list is to be made anew. */
  #changedSince(before: Kept | undefined): ReadonlySet<string> | undefined {
    const { catalogue } = this.#exchange;
    return before?.at.lives === catalogue.lives ? catalogue.changedSince(before.at.changes) : undefined;
  }

  /** The list as it was, with the changed markets where they belong now, if they still do. */
  #followed(ids: Ids, changed: ReadonlySet<string>, search: MarketSearch): Ids {
    const { sort, ascending } = search;
    const fits = (id: string): boolean => {
      const market = this.#exchange.market(id);
      return market !== undefined && fitsPrice(market, search);
    };
    if (sort === undefined) {
      const steady = this.#steady(steadyPart(search));
      let nth = 0;
      return (ascending === true ? steady.toReversed() : steady).filter((id) => {
        const wasFound = ids[nth] === id;
        if (wasFound) nth += 1;
        return changed.has(id) ? fits(id) : wasFound;
      });
    }
    const candidates = filtersByPrice(search) ? this.#steady(steadyPart(search)) : ids;
    const moved = this.#views(candidates.filter((id) => changed.has(id) && fits(id)));
    const compare = comparing(sort, ascending);
    return this.#merged(
      ids.filter((id) => !changed.has(id)),
      moved.sort(compare),
      compare,
    );
  }

  /** Both are in order. */
  #merged(ids: Ids, moved: readonly MarketView[], compare: (a: MarketView, b: MarketView) => number): Ids {
    const parts: Ids[] = [];
    let from = 0;
    for (const market of moved) {
      let low = from;
      let high = ids.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        const other = this.#exchange.market(ids[middle] as string);
        if (other !== undefined && compare(other, market) < 0) low = middle + 1;
        else high = middle;
      }
      parts.push(ids.slice(from, low), [market.conditionId]);
      from = low;
    }
    return [...parts, ids.slice(from)].flat();
  }

  #list(counter: Counter, key: string, make: (before: Kept | undefined) => Ids): Ids {
    const { listings, lives, changes } = this.#exchange.catalogue;
    const kept = this.#kept.get(key);
    const at = { listings, lives, changes };
    if (kept !== undefined && kept.at[counter] === at[counter]) return kept.ids;
    const ids = make(kept);
    this.#kept.set(key, { ids, at });
    return ids;
  }

  #views(ids: Ids): MarketView[] {
    return ids.map((id) => this.#exchange.market(id)).filter((market) => market !== undefined);
  }
}

// Finds markets by words: ranked, over titles (question, event, slug) and tags (category, subjects), then over the rules.
//
// An id of a market, its condition, tokens or event finds what it names. Otherwise each step runs only when the one before
// finds nothing, because the rules of all markets are similar and a loose match there would find every market. First: markets
// whose titles and tags contain every word, whole or as a prefix. Then the rules, too; a word that most rules contain says
// nothing about a market and is not looked for there. Then with typing errors: one edit in a short word, two in a longer
// one (two swapped letters are two edits), again first in titles and tags; a word that some title or tag contains is no
// typing error. At last a market may lack some of the words, first those that are typed right.

interface MarketEntry {
  readonly id: string;
  readonly question: string;
  readonly eventTitle: string;
  readonly category: string;
  readonly tags: string;
  readonly description: string;
  readonly slug: string;
  /** Ids of the market, its condition, its tokens and its event. */
  readonly ids: string;
}

/** Shorter words must match exactly: an edit turns them into another word. */
const FUZZY_FROM_CHARS = 4;
const LONG_FROM_CHARS = 6;

/** Two edits turn a short word into an unrelated one: "film" would match "will". */
const editsIn = (term: string): number | false =>
  term.length < FUZZY_FROM_CHARS ? false : term.length < LONG_FROM_CHARS ? 1 : 2;

const TITLES_AND_TAGS = ['question', 'eventTitle', 'category', 'tags', 'slug'];
const ALL_TEXTS = [...TITLES_AND_TAGS, 'description'];
const BY_ID: SearchOptions = { combineWith: 'AND', fields: ['ids'], prefix: false };
/** A word that more of the rules contain is boilerplate; of few markets this cannot be known. */
const BOILERPLATE_SHARE = 0.5;
const TOLD_FROM_MARKETS = 10;

/** Lower case, without accents. */
const plain = (term: string): string => term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const tokenize = MiniSearch.getDefault('tokenize') as (text: string) => string[];

/** Markets added to the index in one turn of the event loop: a few milliseconds. */
const SLICE = 50;

export class MarketWords {
  readonly #index = new MiniSearch<MarketEntry>({
    fields: [...ALL_TEXTS, 'ids'],
    idField: 'id',
    processTerm: plain,
    searchOptions: {
      boost: { question: 4, eventTitle: 2, category: 2, tags: 1, slug: 1, description: 0.5 },
      prefix: (term) => term.length > 1,
      weights: { fuzzy: 0.3, prefix: 0.6 },
    },
  });

  /** Ids of the markets in the index. */
  readonly #known = new Set<MarketView['conditionId']>();
  /** The catalogue's counter that the index is at. */
  #listings = -1;

  covers({ listings }: Catalogue): boolean {
    return listings === this.#listings;
  }

  /** Texts never change, so only newly listed or archived markets are updated; in slices, since others wait. */
  async follow(exchange: Pick<PaperExchange, 'catalogue' | 'market'>): Promise<void> {
    const { listings } = exchange.catalogue;
    const listed = new Set(exchange.catalogue.conditionIds());
    for (const id of this.#known) if (!listed.has(id)) this.#remove(id);
    let added = 0;
    for (const id of listed) {
      if (this.#known.has(id)) continue;
      if (added > 0 && added % SLICE === 0) await setImmediate();
      this.#add(id, exchange.market(id));
      added += 1;
    }
    this.#listings = listings;
  }

  /** Condition ids, best first. */
  find(words: string): readonly MarketView['conditionId'][] {
    const named = this.#index.search(words, BY_ID);
    if (named.length > 0) return named.map((hit) => hit.id);
    for (const stage of this.#stages(tokenize(words))) {
      const hits = this.#index.search(stage);
      if (hits.length > 0) return hits.map((hit) => hit.id);
    }
    return [];
  }

  #stages(words: readonly string[]): readonly Query[] {
    const count = (word: string, fields: string[]) => this.#index.search(word, { fields }).length;
    const most = Math.max(TOLD_FROM_MARKETS, this.#known.size * BOILERPLATE_SHARE);
    const terms = words.map((word) => {
      const isKnown = count(word, TITLES_AND_TAGS) > 0;
      const isTelling = count(word, ['description']) <= most;
      return { word, everywhere: isTelling ? ALL_TEXTS : TITLES_AND_TAGS, fuzzy: isKnown ? false : editsIn };
    });
    const inTitles = terms.map(({ word }) => ({ queries: [word], fields: TITLES_AND_TAGS }));
    const anywhere = terms.map(({ word, everywhere }) => ({ queries: [word], fields: everywhere }));
    const mistyped = (queries: typeof inTitles) =>
      queries.map((query, nth) => ({ ...query, fuzzy: terms[nth]?.fuzzy ?? false }));
    return [
      { combineWith: 'AND', queries: inTitles },
      { combineWith: 'AND', queries: anywhere },
      { combineWith: 'AND', queries: mistyped(inTitles) },
      { combineWith: 'AND', queries: mistyped(anywhere) },
      { combineWith: 'OR', queries: inTitles },
      { combineWith: 'OR', queries: mistyped(inTitles) },
    ];
  }

  /** @param market `undefined`: archived meanwhile */
  #add(id: MarketView['conditionId'], market: MarketView | undefined): void {
    if (market === undefined || this.#known.has(id)) return;
    this.#known.add(id);
    const ids = [market.id, market.conditionId, ...market.tokenIds, market.eventId].join(' ');
    this.#index.add({ ...market, id, ids, tags: market.tags.join(' ') });
  }

  #remove(id: MarketView['conditionId']): void {
    this.#known.delete(id);
    this.#index.discard(id);
  }
}
