/** Reads of an owner's pages: all agents at once, one of them, a market. */

import {
  type cancelMarket,
  type cancelOrder,
  cancelOwnerAgentOrder,
  cancelOwnerAgentOrders,
  cancelOwnerOrders,
  enableOwnerAgentWebhook,
  enableWebhook,
  getClosedPositions,
  getCurrentPositions,
  type getOrder,
  getOwnerAgent,
  getOwnerAgentEquity,
  getOwnerAgentOrder,
  getOwnerAgentPortfolio,
  getOwnerEquity,
  getOwnerHome,
  getOwnerMarket,
  getOwnerPricesHistory,
  getPortfolio,
  type listFills,
  type listOpenOrders,
  type listOrders,
  listOwnerAgentClosedPositions,
  listOwnerAgentDecisions,
  listOwnerAgentFills,
  listOwnerAgentOpenOrders,
  listOwnerAgentOrders,
  listOwnerAgentPositions,
  listOwnerAgentWebhookDeliveries,
  listOwnerAgentWebhooks,
  listSafeguards,
  listWebhookDeliveries,
  listWebhooks,
  type Operation,
  pauseOwner,
} from '@bellwether/contract';
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import { portfolio } from '../briefing/index.ts';
import { sliceOf } from '../domain/market-search.ts';
import { pricesHistory } from '../markets/index.ts';
import * as orders from '../orders/index.ts';
import { ownedAgent, pauseAll } from '../owners/index.ts';
import { offsetPages, paginate, sendPage } from '../platform/http/page.ts';
import type { Bind, Input } from '../platform/http/routes.ts';
import { closedPositions, currentPositions, narrowed } from '../positions/index.ts';
import * as webhooks from '../webhooks/index.ts';
import { agentEquity, type ConsoleNeeds, ownerEquity } from './equity.ts';
import { agentDetail, decisions, ownerHome, ownerMarket, safeguardTable } from './home.ts';

const DEFAULT_DECISIONS = 50;

export function bindOwnerConsole(bind: Bind, needs: ConsoleNeeds): void {
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

// Reads and cancels that an agent's key and its owner's session open alike: one handler for both operations.

type AgentOperation = Operation & { readonly permission: 'agent' };
type OwnerOperation = Operation & { readonly permission: 'owner' };

/** A request for an agent, from either. */
type OwnedInput<O extends Operation> = Omit<Input<O>, 'caller' | 'owner'> & {
  readonly agent: Awaited<ReturnType<typeof ownedAgent>> | NonNullable<Input<AgentOperation>['caller']>;
};

const DEFAULT_PAGE = 50;

export function bindAgentReads(
  bind: Bind,
  needs: ConsoleNeeds & orders.OrderNeeds & webhooks.WebhookNeeds,
): void {
  const asAgent =
    <const O extends Operation>(
      handler: (asked: OwnedInput<O>) => Promise<Static<O['response']> | FastifyReply>,
    ) =>
    async ({ owner, ...rest }: Input<OwnerOperation>) => {
      const { agentId } = rest.params as { readonly agentId: string };
      const agent = await ownedAgent(needs, owner, agentId);
      return handler({ ...rest, agent } as unknown as OwnedInput<O>);
    };
  const both = <const O extends AgentOperation>(
    own: O,
    owners: OwnerOperation,
    handler: (asked: OwnedInput<O>) => Promise<Static<O['response']> | FastifyReply>,
  ): void => {
    bind(own, ({ caller, ...rest }) => handler({ ...rest, agent: caller } as unknown as OwnedInput<O>));
    bind(owners, asAgent(handler));
  };

  both(getCurrentPositions, listOwnerAgentPositions, async ({ agent, query, request, reply }) => {
    const { limit, offset = 0 } = query;
    const positions = narrowed(await currentPositions(needs, agent, query), query);
    paginate(request, reply, positions.length, offsetPages(offset, limit, positions.length));
    return [...sliceOf(positions, { offset, limit })];
  });
  both(getClosedPositions, listOwnerAgentClosedPositions, async ({ agent, query, request, reply }) => {
    const { limit = DEFAULT_PAGE, offset = 0, ...rest } = query;
    const page = await closedPositions(needs, agent, { ...rest, limit, offset });
    paginate(request, reply, page.total, offsetPages(offset, limit, page.total));
    return page.positions;
  });
  both(getPortfolio, getOwnerAgentPortfolio, ({ agent, query }) => portfolio(needs, agent, query));

  // The agent's own are bound with its other use cases of orders.
  bind(
    listOwnerAgentOpenOrders,
    asAgent<typeof listOpenOrders>(async ({ agent, query, request, reply }) =>
      sendPage(request, reply, query, await orders.listOpenOrders(needs, agent, query)),
    ),
  );
  bind(
    listOwnerAgentOrders,
    asAgent<typeof listOrders>(async ({ agent, query, request, reply }) =>
      sendPage(request, reply, query, await orders.listOrders(needs, agent, query)),
    ),
  );
  bind(
    listOwnerAgentFills,
    asAgent<typeof listFills>(async ({ agent, query, request, reply }) =>
      sendPage(request, reply, query, await orders.listFills(needs, agent, query)),
    ),
  );
  bind(
    getOwnerAgentOrder,
    asAgent<typeof getOrder>(({ agent, params }) => orders.getOrder(needs, agent, params.orderId)),
  );

  bind(
    cancelOwnerAgentOrder,
    asAgent<typeof cancelOrder>(({ agent, body }) => orders.cancelOrder(needs, agent, body.orderId)),
  );
  bind(
    cancelOwnerAgentOrders,
    asAgent<typeof cancelMarket>(({ agent, body }) => orders.cancelMarket(needs, agent, body)),
  );
  bind(cancelOwnerOrders, ({ owner }) => orders.cancelOfOwner(needs, owner));

  both(listWebhooks, listOwnerAgentWebhooks, ({ agent }) => webhooks.listWebhooks(needs, agent));
  both(enableWebhook, enableOwnerAgentWebhook, ({ agent, params }) =>
    webhooks.enableWebhook(needs, agent, params.id),
  );
  both(
    listWebhookDeliveries,
    listOwnerAgentWebhookDeliveries,
    async ({ agent, params, query, request, reply }) =>
      sendPage(request, reply, query, await webhooks.listWebhookDeliveries(needs, agent, params.id, query)),
  );
}
