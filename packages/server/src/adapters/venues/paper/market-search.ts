/** Finds markets by words: ranked, forgiving of a typing error, over question, event, category and rules. */
import type { MarketView } from '@bellwether/exchange';
import MiniSearch from 'minisearch';

interface Entry {
  readonly id: string;
  readonly question: string;
  readonly eventTitle: string;
  readonly category: string;
  readonly description: string;
  readonly slug: string;
}

const FUZZY_FROM_CHARS = 4;
const FUZZINESS = 0.2;

export class MarketSearch {
  readonly #index = new MiniSearch<Entry>({
    fields: ['question', 'eventTitle', 'category', 'description', 'slug'],
    idField: 'id',
    searchOptions: {
      boost: { question: 4, eventTitle: 2, category: 2, slug: 1, description: 0.5 },
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length >= FUZZY_FROM_CHARS ? FUZZINESS : false),
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

  /** Condition ids, best first: markets that have every word, else those that have any. */
  find(words: string): readonly string[] {
    const all = this.#index.search(words, { combineWith: 'AND' });
    const hits = all.length > 0 ? all : this.#index.search(words, { combineWith: 'OR' });
    return hits.map((hit) => String(hit.id));
  }

  #ids(): string[] {
    return this.#index.search(MiniSearch.wildcard).map((hit) => String(hit.id));
  }
}
