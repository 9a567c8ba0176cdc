import { getMarket, getOrderBook, getVenueSigning, listMarkets, listVenues } from '@bellwether/contract';
import { paginate } from '../platform/http/page.ts';
import type { Bind } from '../platform/http/routes.ts';
import type { HasVenues } from '../venues/asking.ts';
import * as markets from './markets.ts';
import { createMarketSender } from './shown-markets.ts';
import * as guides from './venue-guides.ts';

export function bindMarkets(bind: Bind, needs: HasVenues): void {
  const sendMarkets = createMarketSender();
  bind(listMarkets, async ({ query, request, reply }) => {
    const { found, silent, total, limit, page } = await markets.searchMarkets(needs, query);
    const pageCount = limit === 0 ? 0 : Math.ceil(total / limit);
    paginate(request, reply, total, {
      name: 'page',
      // From beyond the end, back to the last page that there is.
      previous: page > 1 && pageCount > 0 ? Math.min(page - 1, pageCount) : null,
      next: page < pageCount ? page + 1 : null,
    });
    if (silent.length > 0) reply.header('x-venues-silent', silent.join(', '));
    return sendMarkets(reply, found);
  });
  bind(getOrderBook, ({ params, query }) => markets.getOrderBook(needs, params.tokenId, query.venue));
  bind(getMarket, ({ params, query }) => markets.getMarket(needs, params.id, query.venue));
}

export function bindVenues(bind: Bind, needs: Parameters<typeof guides.listVenues>[0]): void {
  bind(listVenues, async () => guides.listVenues(needs));
  bind(getVenueSigning, async ({ params }) => guides.venueSigning(needs, params.id));
}
