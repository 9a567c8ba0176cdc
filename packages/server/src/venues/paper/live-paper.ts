/**
 * The paper venue on live markets: reads are the live venue's, and orders, positions and outcomes the paper exchange's. Of
 * a market that is traded here the book is the exchange's: the live one without what paper orders took, and with them.
 */
import type { JournalledExchange } from '@bellwether/exchange';
import type { MarketRecord } from '../../domain/market.ts';
import type { MarketData } from '../venue.ts';
import type { LiveMirror } from './live-mirror.ts';
import type { ExchangeCalls } from './paper-venue.ts';

export interface LivePaperOptions {
  readonly exchange: Pick<JournalledExchange, 'market' | 'book'>;
  readonly live: MarketData;
  readonly mirror: Pick<LiveMirror, 'ready'>;
}

/** An order's check asks for the balance last: then the live book is brought, so that the order meets the newest one. */
export const onLiveBooks = (
  calls: ExchangeCalls,
  { mirror }: Pick<LivePaperOptions, 'mirror'>,
): ExchangeCalls => ({
  ...calls,
  async balance(funder, market) {
    if (market !== undefined) await mirror.ready(market.conditionId);
    return calls.balance(funder, market);
  },
});

export function createLivePaperMarkets({ exchange, live, mirror }: LivePaperOptions): MarketData {
  /** A market ends here when the exchange has paid out, not before. */
  const shown = (market: MarketRecord): MarketRecord => {
    const ours = exchange.market(market.conditionId);
    if (ours?.payout !== undefined) return { ...market, status: 'resolved', payout: ours.payout };
    if (ours === undefined || market.status !== 'resolved') return market;
    const { payout: _, ...unpaid } = market;
    return { ...unpaid, status: 'closed' };
  };
  const shownOrNull = (market: MarketRecord | null) => (market === null ? null : shown(market));
  return {
    announcesResolutions: true,
    canBeId: live.canBeId,
    find: async (id) => shownOrNull(await live.find(id)),
    findAll: async (conditionIds) => (await live.findAll(conditionIds)).map(shown),
    async listedAfter(after, limit) {
      const { markets, latest } = await live.listedAfter(after, limit);
      return { markets: markets.map(shown), latest };
    },
    async byToken(tokenId) {
      const found = await live.byToken(tokenId);
      return found === null ? null : { ...found, market: shown(found.market) };
    },
    async search(search) {
      const { markets, total } = await live.search(search);
      return { markets: markets.map(shown), total };
    },
    async book(conditionId, outcome, depth) {
      const ours = exchange.market(conditionId);
      if (ours === undefined) return live.book(conditionId, outcome, depth);
      if (ours.status !== 'open') return null;
      await mirror.ready(conditionId);
      return exchange.book(conditionId, outcome, depth) ?? null;
    },
  };
}
