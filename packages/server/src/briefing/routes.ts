/** Reads that tell an agent where it stands: itself, its briefing, a market before a trade, prices. */
import { checkMarket, getBriefing, getMarketContext, getMe, getPricesHistory } from '@bellwether/contract';
import { createBriefingSender, marketExists, marketNamed, pricesHistory } from '../markets/index.ts';
import type { Bind } from '../platform/http/routes.ts';
import { briefing } from './briefing.ts';
import { marketContext } from './market-context.ts';
import { me } from './portfolio.ts';
import type { BriefingNeeds } from './standing.ts';

export function bindBriefing(bind: Bind, needs: BriefingNeeds): void {
  bind(checkMarket, async ({ query }) => ({
    exists: await marketExists(needs, marketNamed(query), query.venue),
  }));
  bind(getPricesHistory, ({ query }) => pricesHistory(needs, query));
  bind(getMe, ({ caller }) => me(needs, caller));
  bind(getMarketContext, ({ caller, params, query }) => marketContext(needs, caller, params.marketId, query));
  const send = createBriefingSender();
  bind(getBriefing, async ({ caller, query, reply }) => send(reply, await briefing(needs, caller, query)));
}
