/** Reading that tells an agent where it stands: briefing, price history, whether a market exists. */
import { checkMarket, getBriefing, getPricesHistory } from '@bellwether/contract';
import { briefing } from '../app/briefing.ts';
import type { Deps } from '../app/deps.ts';
import { marketExists, pricesHistory } from '../app/price-history.ts';
import type { Bind } from './routes.ts';

export function bindBriefing(bind: Bind, deps: Deps): void {
  bind(checkMarket, async ({ query }) => ({ exists: await marketExists(deps, query.marketId, query.venue) }));
  bind(getPricesHistory, ({ query }) => pricesHistory(deps, query));
  bind(getBriefing, ({ caller, query }) => briefing(deps, caller, query));
}
