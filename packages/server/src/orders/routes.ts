/** Reads and cancels of orders that were placed, on every venue. */

import {
  ALL_VENUES,
  getLeaderboard,
  getRiskSettings,
  listAgentTrades,
  listTradesByStrategy,
  resetRiskSettings,
  updateRiskSettings,
} from '@bellwether/contract';
import { type AgentNeeds, readSettings, resetSettings, updateSettings } from '../agents/index.ts';
import { sendPage } from '../platform/http/page.ts';
import { type Bind, bindUseCases } from '../platform/http/routes.ts';
import { cancelAll, cancelMarket, cancelOrder } from './cancel-orders.ts';
import { getOrder, listFills, listOpenOrders, listOrders, type OrderNeeds } from './read-orders.ts';
import * as journal from './trades-journal.ts';

export function bindOrders(bind: Bind, needs: OrderNeeds): void {
  bindUseCases(bind, {
    listOpenOrders: ({ caller, query }) => listOpenOrders(needs, caller, query),
    listOrders: ({ caller, query }) => listOrders(needs, caller, query),
    listFills: ({ caller, query }) => listFills(needs, caller, query),
    getOrder: ({ caller, params }) => getOrder(needs, caller, params.orderId),
    cancelOrder: ({ caller, body }) => cancelOrder(needs, caller, body.orderId),
    cancelMarket: ({ caller, body }) => cancelMarket(needs, caller, body),
    cancelAll: ({ caller }) => cancelAll(needs, caller),
  });
}

const DEFAULT_TRADES = 50;
const DEFAULT_ENTRIES = 20;

export function bindJournal(bind: Bind, needs: OrderNeeds & AgentNeeds): void {
  bind(listAgentTrades, async ({ caller, query, request, reply }) => {
    const page = await journal.agentTrades(needs, caller, query);
    const { limit = DEFAULT_TRADES, offset = 0, venue = ALL_VENUES } = query;
    return { total: page.total, limit, offset, venue, trades: sendPage(request, reply, query, page) };
  });
  bind(listTradesByStrategy, ({ caller }) => journal.tradesByStrategy(needs, caller));
  bind(getLeaderboard, ({ query }) => journal.leaderboard(needs, query.limit ?? DEFAULT_ENTRIES));

  bind(getRiskSettings, ({ caller }) => readSettings(needs, caller));
  bind(updateRiskSettings, ({ caller, body }) => updateSettings(needs, caller, body));
  bind(resetRiskSettings, ({ caller }) => resetSettings(needs, caller));
}
