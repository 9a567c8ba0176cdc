/**
 * Finds markets by words: ranked, over titles (question, event, slug) and tags (category, subjects), then over the rules.
 *
 * Each step runs only when the one before finds nothing, because the rules of all markets are similar and a loose match
 * there would find every market. First: markets whose titles and tags contain every word, whole or as a prefix. Then the
 * rules, too. Then with typing errors: one edit in a short word, two in a longer one (two swapped letters are two
 * edits), again first in titles and tags. At last a market may lack some of the words.
 */
import type { MarketView } from '@bellwether/exchange';
import MiniSearch, { type SearchOptions } from 'minisearch';

interface Entry {
  readonly id: string;
  readonly question: string;
  readonly eventTitle: string;
  readonly category: string;
  readonly tags: string;
  readonly description: string;
  readonly slug: string;
}

/** Shorter words must match exactly: an edit turns them into another word. */
const FUZZY_FROM_CHARS = 4;
const LONG_FROM_CHARS = 6;

/** Two edits turn a short word into an unrelated one: "film" would match "will". */
const fuzzy = (term: string): number | false =>
  term.length < FUZZY_FROM_CHARS ? false : term.length < LONG_FROM_CHARS ? 1 : 2;

const TITLES_AND_TAGS = ['question', 'eventTitle', 'category', 'tags', 'slug'];

const STAGES: readonly SearchOptions[] = [
  { combineWith: 'AND', fields: TITLES_AND_TAGS },
  { combineWith: 'AND' },
  { combineWith: 'AND', fuzzy, fields: TITLES_AND_TAGS },
  { combineWith: 'AND', fuzzy },
  { combineWith: 'OR', fuzzy, fields: TITLES_AND_TAGS },
];

/** Lower case, without accents. */
const plain = (term: string): string => term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export class MarketSearch {
  readonly #index = new MiniSearch<Entry>({
    fields: [...TITLES_AND_TAGS, 'description'],
    idField: 'id',
    processTerm: plain,
    searchOptions: {
      boost: { question: 4, eventTitle: 2, category: 2, tags: 1, slug: 1, description: 0.5 },
      prefix: (term) => term.length > 1,
      weights: { fuzzy: 0.3, prefix: 0.6 },
    },
  });

  /** Texts never change, so only newly listed or archived markets are updated. */
  follow(markets: Iterable<MarketView>): void {
    const seen = new Set<string>();
    for (const market of markets) {
      seen.add(market.conditionId);
      if (!this.#index.has(market.conditionId))
        this.#index.add({ ...market, id: market.conditionId, tags: market.tags.join(' ') });
    }
    if (seen.size === this.#index.documentCount) return;
    for (const id of this.#ids()) if (!seen.has(id)) this.#index.discard(id);
  }

  /** Condition ids, best first. */
  find(words: string): readonly string[] {
    for (const stage of STAGES) {
      const hits = this.#index.search(words, stage);
      if (hits.length > 0) return hits.map((hit) => String(hit.id));
    }
    return [];
  }

  #ids(): string[] {
    return this.#index.search(MiniSearch.wildcard).map((hit) => String(hit.id));
  }
}
