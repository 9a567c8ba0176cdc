/** Has the paper exchange trade the live venue's markets. */
import type { MarketView } from '@bellwether/exchange';
import { createPooledSend } from '../../platform/outbound/pooled-send.ts';
import type { FollowedMarkets, FollowParts } from '../configured.ts';
import { createLivePaperMarkets, onLiveBooks, startLiveMirror } from '../paper/index.ts';
import { liveFeed } from './feed.ts';
import { createPublicMarkets, type PolymarketUrls } from './public-markets.ts';

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
