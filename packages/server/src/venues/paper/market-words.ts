/**
 * Finds markets by words: ranked, over titles (question, event, slug) and tags (category, subjects), then over the rules.
 *
 * An id of a market, its condition, tokens or event finds what it names. Otherwise each step runs only when the one before
 * finds nothing, because the rules of all markets are similar and a loose match there would find every market. First: markets
 * whose titles and tags contain every word, whole or as a prefix. Then the rules, too; a word that most rules contain says
 * nothing about a market and is not looked for there. Then with typing errors: one edit in a short word, two in a longer
 * one (two swapped letters are two edits), again first in titles and tags; a word that some title or tag contains is no
 * typing error. At last a market may lack some of the words, first those that are typed right.
 */
import { setImmediate } from 'node:timers/promises';
import type { Catalogue, MarketView, PaperExchange } from '@bellwether/exchange';
import MiniSearch, { type Query, type SearchOptions } from 'minisearch';

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
