/** Reading that tells an agent where it stands: briefing, price history, whether a market exists. */
import { checkMarket, getBriefing, getPricesHistory } from '@bellwether/contract';
import { type BriefingNeeds, briefing } from '../app/briefing.ts';
import { marketExists, type PriceHistoryNeeds, pricesHistory } from '../app/price-history.ts';
import { createBriefingSender } from './market-bytes.ts';
import type { Bind } from './routes.ts';

export function bindBriefing(bind: Bind, needs: PriceHistoryNeeds & BriefingNeeds): void {
  bind(checkMarket, async ({ query }) => ({
    exists: await marketExists(needs, query.marketId, query.venue),
  }));
  bind(getPricesHistory, ({ query }) => pricesHistory(needs, query));
  const send = createBriefingSender();
  bind(getBriefing, async ({ caller, query, reply }) => send(reply, await briefing(needs, caller, query)));
}
