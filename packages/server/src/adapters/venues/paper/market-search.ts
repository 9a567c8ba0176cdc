/**
 * Finds markets by words: ranked, over question, event, category and rules.
 *
 * In prose: first whoever has every word, whole or as a beginning. Only when there is none, the words are taken to
 * hold typing errors: one edit in a short word, two in a longer one (two letters that changed places are two edits);
 * then two edits everywhere. Only when that finds nothing either, a market may lack some of the words.
 */
import type { MarketView } from '@bellwether/exchange';
import MiniSearch, { type SearchOptions } from 'minisearch';

interface Entry {
  readonly id: string;
  readonly question: string;
  readonly eventTitle: string;
  readonly category: string;
  readonly description: string;
  readonly slug: string;
}

/** Shorter words must be right: an edit makes them another word. */
const FUZZY_FROM_CHARS = 4;
const LONG_FROM_CHARS = 6;

const edits = (short: number, long: number) => (term: string) =>
  term.length < FUZZY_FROM_CHARS ? false : term.length < LONG_FROM_CHARS ? short : long;

const STAGES: readonly SearchOptions[] = [
  { combineWith: 'AND' },
  { combineWith: 'AND', fuzzy: edits(1, 2) },
  { combineWith: 'AND', fuzzy: edits(2, 2) },
  { combineWith: 'OR', fuzzy: edits(1, 2) },
];

/** Lower case, without accents. */
const plain = (term: string): string => term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export class MarketSearch {
  readonly #index = new MiniSearch<Entry>({
    fields: ['question', 'eventTitle', 'category', 'description', 'slug'],
    idField: 'id',
    processTerm: plain,
    searchOptions: {
      boost: { question: 4, eventTitle: 2, category: 2, slug: 1, description: 0.5 },
      prefix: (term) => term.length > 1,
      weights: { fuzzy: 0.3, prefix: 0.6 },
    },
  });

  /** Texts never change, so only what was listed or archived since is touched. */
  follow(markets: Iterable<MarketView>): void {
    const seen = new Set<string>();
    for (const market of markets) {
      seen.add(market.conditionId);
      if (!this.#index.has(market.conditionId)) this.#index.add({ ...market, id: market.conditionId });
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
