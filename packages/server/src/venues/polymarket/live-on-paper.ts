/** Has the paper exchange trade the live venue's markets. */

import type { Pips } from '@bellwether/contract/decimals';
import type { MarketView } from '@bellwether/exchange';
import type { Book, MarketRecord } from '../../domain/market.ts';
import { createPooledSend } from '../../platform/outbound/http.ts';
import type { FollowedMarkets, FollowParts } from '../configured.ts';
import { createLivePaperMarkets, onLiveBooks, startLiveMirror } from '../paper/index.ts';
import type { MarketData } from '../venue.ts';
import type { LiveBooks, TokenBook, TradeSeen } from './books.ts';
import { createPublicMarkets, type PolymarketUrls } from './public-markets.ts';
import { microOf, pipsOf } from './translate-market.ts';

export async function followLive(urls: PolymarketUrls, parts: FollowParts): Promise<FollowedMarkets> {
  const { exchange, venue, clock, log } = parts;
  const pooled = createPooledSend();
  const open = createPublicMarkets({
    ...{ name: 'the live venue', urls, send: pooled.send, clock, log },
    // As the exchange's journal has it since an earlier release.
    keepsOrder: (conditionId, first) =>
      exchange.market(conditionId as MarketView['conditionId'])?.tokenIds[0] === first,
  });
  const { markets: live, books } = open;
  const mirror = await startLiveMirror({ exchange, feed: liveFeed(live, books), log });
  const calls = onLiveBooks(venue, { mirror });
  return {
    venue: { ...calls, status: () => (venue.status() === 'ready' ? open.status() : venue.status()) },
    markets: createLivePaperMarkets({ exchange, live, mirror }),
    async stopFeed() {
      await mirror.stop();
      await books.close();
      pooled.close();
    },
  };
}

// The live venue's books and trades in the form that paper orders on them need: of YES, in the desk's units.

const ALL_LEVELS = Number.POSITIVE_INFINITY;

interface Trade {
  readonly side: 'BUY' | 'SELL';
  readonly price: Pips;
  readonly size: bigint;
}

interface Listener {
  readonly onBook: () => void;
  readonly onTrade: (trade: Trade) => void;
}

export function liveFeed(markets: MarketData, books: LiveBooks) {
  const yesOf = ({ tokenIds }: MarketRecord): string => tokenIds[0];
  const view = (book: TokenBook | null, market: MarketRecord): Book | null =>
    book === null ? null : book.view(market, 'YES', ALL_LEVELS);
  return {
    markets,
    isKnown: (market: MarketRecord) => books.known(yesOf(market)) !== null,
    known: (market: MarketRecord) => view(books.known(yesOf(market)), market),
    ask: async (market: MarketRecord) => view(await books.book(yesOf(market)), market),
    follow: (market: MarketRecord, { onBook, onTrade }: Listener) =>
      books.follow(yesOf(market), {
        onBook,
        onTrade: (seen) => {
          const trade = tradeOf(seen);
          if (trade !== null) onTrade(trade);
        },
      }),
  };
}

/** A trade that cannot be read moves no queue. */
function tradeOf({ price, size, side }: TradeSeen): Trade | null {
  const pips = pipsOf(price);
  const amount = microOf(typeof size === 'string' || typeof size === 'number' ? size : null);
  const isSide = side === 'BUY' || side === 'SELL';
  return pips === null || pips <= 0 || pips >= 10_000 || amount === 0n || !isSide
    ? null
    : { side, price: pips, size: amount };
}
