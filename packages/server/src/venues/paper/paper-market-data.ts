/** Market reads from the embedded exchange's memory. */
import type { Catalogue, MarketView, PaperExchange } from '@bellwether/exchange';
import type { Book } from '../../domain/market.ts';
import type { MarketData } from '../venue.ts';
import { MarketPages } from './market-pages.ts';

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
