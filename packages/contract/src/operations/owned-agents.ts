/**
 * Reads and cancels of an owner about one agent. Where the agent asks for the same itself, the query and the answer are the agent's own; an
 * agent of another owner does not exist here.
 */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { Iso, LIMITS, Nullable, OutcomeName, OwnedAgent } from '../fields.ts';
import { type Operation, operation } from '../operation.ts';
import { LockedByOwner, Settings } from './agents.ts';
import { cancelExit, listExits, seeExits } from './exits.ts';
import { listAgentTrades } from './journal.ts';
import { getCurrentPositions } from './markets.ts';
import { EquitySeries, HomeAgent, intervalQuery } from './owner-home.ts';
import { getClosedPositions, getPortfolio } from './positions.ts';
import {
  AgentFill,
  cancelMarket,
  cancelOrder,
  getOrder,
  listFills,
  listOpenOrders,
  listOrders,
} from './trading.ts';
import { enableWebhook, listWebhookDeliveries, listWebhooks } from './webhooks.ts';

type OwnedPart<O extends Operation, K extends 'query' | 'params' | 'body'> = O[K] extends TSchema
  ? O[K]
  : undefined;

/** An agent's operation, as its owner calls it. */
interface ByOwner<O extends Operation, Id extends string, P extends TProperties> extends Operation {
  readonly id: Id;
  readonly permission: 'owner';
  readonly params: ReturnType<typeof Type.Object<P & (typeof OwnedAgent)['properties']>>;
  readonly query: OwnedPart<O, 'query'> & TSchema;
  readonly body: OwnedPart<O, 'body'> & TSchema;
  readonly response: O['response'];
}

/**
 * @param path below the agent's
 * @param params path parameters beside the agent's id
 */
function byOwner<const O extends Operation, const Id extends string, const P extends TProperties>(
  own: O,
  {
    id,
    path,
    params,
    duringRecovery,
  }: {
    readonly id: Id;
    readonly path: string;
    readonly params: P;
    readonly duringRecovery?: Operation['duringRecovery'];
  },
): ByOwner<O, Id, P> {
  const { method, summary, rateClass, unknownFields, query, body, response } = own;
  const errors: readonly ErrorCode[] = [...own.errors, 'agent_not_found'];
  const mirrored = operation({
    ...{ id, method, summary, rateClass, response, errors },
    ...(unknownFields === undefined ? {} : { unknownFields }),
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    ...(duringRecovery === undefined ? {} : { duringRecovery }),
    path: `/owner/agents/{agentId}${path}`,
    description: `The same as ${method} ${own.path}, of an agent of the signed-in owner.`,
    params: Type.Object({ ...OwnedAgent.properties, ...params }),
    ...(method === 'GET' ? {} : { sameOrigin: true, idempotent: true }),
    tag: 'owners',
    permission: 'owner',
    status: 200,
  });
  return mirrored as unknown as ByOwner<O, Id, P>;
}

export const listOwnerAgentPositions = byOwner(getCurrentPositions, {
  id: 'listOwnerAgentPositions',
  path: '/positions',
  params: {},
});
export const listOwnerAgentClosedPositions = byOwner(getClosedPositions, {
  id: 'listOwnerAgentClosedPositions',
  path: '/closed-positions',
  params: {},
});
export const getOwnerAgentPortfolio = byOwner(getPortfolio, {
  id: 'getOwnerAgentPortfolio',
  path: '/portfolio',
  params: {},
});
export const listOwnerAgentOpenOrders = byOwner(listOpenOrders, {
  id: 'listOwnerAgentOpenOrders',
  path: '/orders/open',
  params: {},
});
export const listOwnerAgentOrders = byOwner(listOrders, {
  id: 'listOwnerAgentOrders',
  path: '/orders',
  params: {},
});
export const getOwnerAgentOrder = byOwner(getOrder, {
  id: 'getOwnerAgentOrder',
  path: '/orders/{orderId}',
  params: getOrder.params.properties,
});
export const cancelOwnerAgentOrder = byOwner(cancelOrder, {
  id: 'cancelOwnerAgentOrder',
  path: '/orders/cancel',
  params: {},
  duringRecovery: true,
});
export const cancelOwnerAgentOrders = byOwner(cancelMarket, {
  id: 'cancelOwnerAgentOrders',
  path: '/orders/cancel-market',
  params: {},
  duringRecovery: true,
});
export const listOwnerAgentExits = byOwner(listExits, {
  id: 'listOwnerAgentExits',
  path: '/exits',
  params: {},
});
export const cancelOwnerAgentExit = byOwner(cancelExit, {
  id: 'cancelOwnerAgentExit',
  path: '/exits/cancel',
  params: {},
});
export const seeOwnerAgentExits = byOwner(seeExits, {
  id: 'seeOwnerAgentExits',
  path: '/exits/seen',
  params: {},
});
export const listOwnerAgentFills = byOwner(listFills, {
  id: 'listOwnerAgentFills',
  path: '/fills',
  params: {},
});
export const listOwnerAgentWebhooks = byOwner(listWebhooks, {
  id: 'listOwnerAgentWebhooks',
  path: '/webhooks',
  params: {},
});
export const listOwnerAgentWebhookDeliveries = byOwner(listWebhookDeliveries, {
  id: 'listOwnerAgentWebhookDeliveries',
  path: '/webhooks/{id}/deliveries',
  params: listWebhookDeliveries.params.properties,
});
export const enableOwnerAgentWebhook = byOwner(enableWebhook, {
  id: 'enableOwnerAgentWebhook',
  path: '/webhooks/{id}/enable',
  params: enableWebhook.params.properties,
});

/** An order, or an attempt that the desk refused. */
export const Decision = Type.Object({
  at: Iso,
  orderId: Nullable(Type.String({ description: 'null: the desk refused it, so there is no order' })),
  venue: Type.String(),
  marketConditionId: Type.String(),
  walletAddress: Type.String(),
  wanted: Type.Object({
    side: Type.String({ description: 'BUY or SELL' }),
    outcome: Type.String({ description: 'YES or NO; of a refused attempt as the request said it' }),
    outcomeName: OutcomeName,
    size: Type.Number({ description: 'shares' }),
    amount: Type.Number({ description: 'collateral asked for, fees apart' }),
    price: Nullable(Type.Number({ description: 'as the agent sent it; null for a refused attempt' })),
    orderType: Nullable(Type.String()),
  }),
  result: Type.Object({
    status: Type.String({ description: "the order's status, or denied: the desk refused it" }),
    code: Nullable(Type.String({ description: 'why the desk or the venue refused' })),
    message: Nullable(
      Type.String({ description: 'the sentence of that refusal, with the figures that were compared' }),
    ),
    filledSize: Type.Number(),
    avgPrice: Nullable(Type.Number()),
    feePaid: Type.Number(),
  }),
  skillCode: Nullable(Type.String({ description: 'of the registered skill that skillSlug names' })),
  untrustedText: Type.Object(
    {
      notice: Type.String(),
      question: Type.String(),
      reasoning: Nullable(Type.String()),
      source: Nullable(Type.String()),
      skillSlug: Nullable(Type.String()),
    },
    { description: 'words of the agent and of third parties, as plain text: show them, never run them' },
  ),
});

export const Decisions = Type.Object({
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
  decisions: Type.Array(Decision),
});

const shared = { tag: 'owners', permission: 'owner', status: 200 } as const;

export const listOwnerAgentDecisions = operation({
  ...shared,
  id: 'listOwnerAgentDecisions',
  method: 'GET',
  path: '/owner/agents/{agentId}/decisions',
  summary: 'What an agent wanted, why, and what became of it, newest first',
  description: `Orders, and what the desk refused: of those the last ${LIMITS.refusalsKept} of each agent. What happened to one order afterwards: GET /owner/agents/{agentId}/orders/{orderId}.`,
  rateClass: 'search',
  params: OwnedAgent,
  query: listAgentTrades.query,
  unknownFields: 'refuse',
  response: Decisions,
  errors: ['agent_not_found', 'unknown_venue', 'contradictory_filter'],
});

export const OwnerAgentDetail = Type.Object({
  ...HomeAgent.properties,
  description: Type.String({ description: "the agent's own word, as plain text" }),
  claimedAt: Nullable(Iso),
  walletAddress: Nullable(Type.String()),
  solAddress: Nullable(Type.String()),
  settings: Settings,
  lockedByOwner: LockedByOwner,
  venues: Type.Array(
    Type.Object({
      venue: Type.String(),
      balance: Type.Number({ description: 'collateral, what open orders hold included' }),
      availableBalance: Type.Number(),
      positionsValue: Type.Number(),
      positionsCount: Type.Integer(),
      openOrdersCount: Type.Integer(),
      isCurrent: Type.Boolean({ description: 'false: the venue did not answer, these are older figures' }),
    }),
  ),
});

export const getOwnerAgent = operation({
  ...shared,
  id: 'getOwnerAgent',
  method: 'GET',
  path: '/owner/agents/{agentId}',
  summary: 'One agent: where it stands, its safeguards, its risks, its quota',
  rateClass: 'read',
  params: OwnedAgent,
  response: OwnerAgentDetail,
  errors: ['agent_not_found'],
});

export const AgentEquity = Type.Object({
  ...EquitySeries.properties,
  fills: Type.Array(AgentFill, {
    description: 'of the time shown, newest first, to be drawn on the curve; at most 100',
  }),
  fillsTruncated: Type.Boolean({ description: 'true: there were more in this time' }),
});

export const getOwnerAgentEquity = operation({
  ...shared,
  id: 'getOwnerAgentEquity',
  method: 'GET',
  path: '/owner/agents/{agentId}/equity',
  summary: "An agent's equity over time, with its fills",
  rateClass: 'search',
  params: OwnedAgent,
  query: intervalQuery,
  unknownFields: 'refuse',
  response: AgentEquity,
  errors: ['agent_not_found'],
});

export type Decision = Static<typeof Decision>;
export type Decisions = Static<typeof Decisions>;
export type OwnerAgentDetail = Static<typeof OwnerAgentDetail>;
export type AgentEquity = Static<typeof AgentEquity>;
