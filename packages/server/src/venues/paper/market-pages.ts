/**
 * Pages of searches, from results that are kept per question as lists of ids. An answer is as current as one that is
 * computed anew: each list is valid for one value of the catalogue's counter that covers what it was made from, and the
 * markets of the page are read at every call. Three steps, each from the list of the one before: the words (valid until
 * a market is listed or archived), the lives of the markets (until one ends), prices and volumes (until anything changes:
 * then only the markets that changed are looked at, and find their new places).
 */
import { setImmediate } from 'node:timers/promises';
import type { Catalogue, MarketView, PaperExchange } from '@bellwether/exchange';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import {
  arrange,
  comparing,
  type FoundMarkets,
  fitsLife,
  fitsPrice,
  isEverything,
  type MarketSearch,
  pageOf,
} from '../../domain/market-search.ts';
import { MarketWords } from './market-words.ts';

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
    return { markets: this.#views(pageOf(ids, search.page)), total: ids.length };
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
