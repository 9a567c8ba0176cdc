/** Reads of an owner's pages: all agents at once, one of them, a market. */
import {
  getOwnerAgent,
  getOwnerAgentEquity,
  getOwnerEquity,
  getOwnerHome,
  getOwnerMarket,
  getOwnerPricesHistory,
  listOwnerAgentDecisions,
  listSafeguards,
  pauseOwner,
} from '@bellwether/contract';
import { type PriceHistoryNeeds, pricesHistory } from '../markets/index.ts';
import type { JournalNeeds } from '../orders/index.ts';
import { type OwnedAgentNeeds, ownedAgent, pauseAll } from '../owners/index.ts';
import { sendPage } from '../platform/http/pagination.ts';
import type { Bind } from '../platform/http/routes.ts';
import { type AgentDetailNeeds, agentDetail } from './agents.ts';
import { decisions } from './decisions.ts';
import { type AgentEquityNeeds, agentEquity, ownerEquity } from './equity.ts';
import { type OwnerHomeNeeds, ownerHome } from './home.ts';
import { type OwnerMarketNeeds, ownerMarket } from './markets.ts';
import { safeguardTable } from './safeguard-table.ts';

export type OwnerConsoleNeeds = OwnerHomeNeeds &
  AgentDetailNeeds &
  AgentEquityNeeds &
  OwnerMarketNeeds &
  OwnedAgentNeeds &
  PriceHistoryNeeds &
  JournalNeeds;

const DEFAULT_DECISIONS = 50;

export function bindOwnerConsole(bind: Bind, needs: OwnerConsoleNeeds): void {
  bind(getOwnerHome, ({ owner }) => ownerHome(needs, owner));
  bind(getOwnerEquity, ({ owner, query }) => ownerEquity(needs, owner, query.interval));
  bind(pauseOwner, ({ owner, body }) => pauseAll(needs, owner, body.paused));
  bind(listSafeguards, async () => safeguardTable());

  bind(getOwnerAgent, ({ owner, params }) => agentDetail(needs, owner, params.agentId));
  bind(getOwnerAgentEquity, ({ owner, params, query }) =>
    agentEquity(needs, owner, params.agentId, query.interval),
  );
  bind(listOwnerAgentDecisions, async ({ owner, params, query, request, reply }) => {
    const agent = await ownedAgent(needs, owner, params.agentId);
    const page = await decisions(needs, agent, query);
    const { limit = DEFAULT_DECISIONS, offset = 0 } = query;
    return { total: page.total, limit, offset, decisions: sendPage(request, reply, query, page) };
  });

  bind(getOwnerMarket, ({ owner, params, query }) => ownerMarket(needs, owner, params.marketId, query.venue));
  bind(getOwnerPricesHistory, ({ query }) => pricesHistory(needs, query));
}
