/** Market reads from the embedded exchange's memory. */
import type { MarketView, PaperExchange } from '@bellwether/exchange';
import type { MarketData } from '../../../ports/venue.ts';
import { MarketSearch } from './market-search.ts';

/** The search word for all markets, as in the venue's own search box. */
const EVERYTHING = '*';

export function createPaperMarketData(exchange: PaperExchange): MarketData {
  const search = new MarketSearch();
  const aliases = new Map<string, string>();

  const byAlias = (id: string): MarketView | undefined => {
    const known = aliases.get(id);
    if (known !== undefined) return exchange.market(known);
    for (const market of exchange.markets()) {
      aliases.set(market.id, market.conditionId);
      aliases.set(market.slug, market.conditionId);
    }
    const found = aliases.get(id);
    return found === undefined ? undefined : exchange.market(found);
  };

  return {
    announcesResolutions: true,
    canBeId: () => true,
    async find(id) {
      return exchange.market(id) ?? exchange.marketByToken(id)?.market ?? byAlias(id) ?? null;
    },
    async findAll(conditionIds) {
      return conditionIds.map((id) => exchange.market(id)).filter((market) => market !== undefined);
    },
    async listedAfter(after, limit) {
      const found: MarketView[] = [];
      let latest = 0;
      for (const market of exchange.markets()) {
        latest = Math.max(latest, market.createdAt);
        if (market.createdAt > after && market.status === 'open') found.push(market);
      }
      found.sort((a, b) => b.createdAt - a.createdAt || Number(b.id) - Number(a.id));
      return { markets: found.slice(0, limit), latest };
    },
    async byToken(tokenId) {
      return exchange.marketByToken(tokenId) ?? null;
    },
    async search(words) {
      if (words.trim() === EVERYTHING) return [...exchange.markets()];
      search.follow(exchange.markets());
      return search
        .find(words)
        .map((id) => exchange.market(id))
        .filter((market) => market !== undefined);
    },
    async book(conditionId, outcome, depth) {
      return exchange.book(conditionId, outcome, depth) ?? null;
    },
  };
}
