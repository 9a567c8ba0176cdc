/**
 * What a signed-in owner's pages read and do: all agents at a glance and what holds for all of them, one agent, a
 * market, and the streams of both.
 */
import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import type { ErrorCode } from '../errors.ts';
import { STREAM_LIMITS } from '../events.ts';
import { Iso, LIMITS, Nullable, OutcomeName, OwnedAgent } from '../fields.ts';
import { type Operation, operation } from '../operation.ts';
import { LockedByOwner, Settings } from './agents.ts';
import { RiskAlert } from './briefing.ts';
import { cancelExit, seeExits } from './exits.ts';
import { listAgentTrades } from './journal.ts';
import {
  getCurrentPositions,
  getMarketContext,
  getPricesHistory,
  Market,
  OrderBook,
  Position,
} from './markets.ts';
import { OwnerAgent } from './owners.ts';
import { getClosedPositions, getPortfolio } from './positions.ts';
import { events, watchMarket } from './streams.ts';
import {
  AgentFill,
  CancelMarketResponse,
  cancelMarket,
  cancelOrder,
  getOrder,
  listFills,
  listOpenOrders,
  listOrders,
  Order,
} from './trading.ts';
import { enableWebhook, listWebhookDeliveries, listWebhooks } from './webhooks.ts';

export const OWNER_LIMITS = {
  /** The most agents of the home; GET /owner/agents lists all. */
  agentsShown: 100,
  marketsShown: 50,
  daysShown: 30,
  /** Values of the small curve beside each agent. */
  recentPoints: 48,
} as const;

export type EquityInterval = '1d' | '1w' | '1m' | '1y';

export const intervalQuery = Type.Object({
  interval: Type.Optional(
    Type.Union([Type.Literal('1d'), Type.Literal('1w'), Type.Literal('1m'), Type.Literal('1y')], {
      default: '1d',
      description: 'back from now: a day, a week, 30 days, 365 days',
    }),
  ),
});

export const EquityPoint = Type.Object({
  t: Type.Integer({ description: 'epoch seconds' }),
  equity: Type.Number({ description: 'collateral and what is held, at the prices of that time' }),
  netDeposits: Type.Number({
    description: 'what was paid in less what was taken out until then; equity less this is the profit',
  }),
});

export const EquitySeries = Type.Object({
  from: Iso,
  to: Iso,
  stepSeconds: Type.Integer({ description: 'points are at least so far apart' }),
  points: Type.Array(EquityPoint, {
    description:
      'oldest first. Equity is recorded when it has changed, so it stayed as it was until the next point; the last point is that of now',
  }),
});

export const DayResult = Type.Object({
  day: Type.String({ description: 'UTC, as 2026-11-22' }),
  realizedPnl: Type.Number({ description: 'of what was sold, redeemed or lost on this day, before fees' }),
  fees: Type.Number(),
  net: Type.Number({ description: 'after fees' }),
});

export const OwnerAlert = Type.Object(
  {
    ...RiskAlert.properties,
    marketTitle: Type.Optional(
      Type.String({ description: "the market's question, written by third parties, as plain text" }),
    ),
  },
  { description: 'as the agent reads it in its briefing, with the market by name' },
);

const quotaOf = (unit: string) =>
  Type.Object({
    used: Type.Number({ description: unit }),
    limit: Nullable(Type.Number({ description: 'null: the caps are switched off' })),
  });

export const HomeAgent = Type.Object({
  agentId: Type.String(),
  name: Type.String({ description: "the agent's own word, as plain text" }),
  status: Type.String({ description: 'active (called within 5 minutes), idle (24 hours) or offline' }),
  lastCalledAt: Iso,
  tradingPaused: Type.Boolean(),
  pausedBy: Nullable(
    Type.Union([Type.Literal('owner'), Type.Literal('agent')], {
      description: 'owner: its key cannot resume; null: it may trade',
    }),
  ),
  equity: Type.Number({ description: 'collateral and positions on the wallets within its reach' }),
  availableBalance: Type.Number({ description: 'collateral that a new order can use' }),
  positionsValue: Type.Number({ description: 'what is held, at current prices' }),
  unrealizedPnl: Type.Number(),
  positionsCount: Type.Integer(),
  isCurrent: Type.Boolean({ description: 'false: a venue did not answer, and older figures are counted' }),
  openOrdersCount: Type.Integer({ description: 'those in doubt included' }),
  ordersInDoubt: Type.Object({
    count: Type.Integer({ description: 'orders whose outcome is not known yet' }),
    orderIds: Type.Array(Type.String(), { description: 'some of them' }),
  }),
  alerts: Type.Array(OwnerAlert),
  exits: Type.Object({
    suspended: Type.Integer({ description: 'guarded exits that protect nothing until they are resumed' }),
    toSuspend: Type.Integer({ description: "exits that the owner's pause would suspend" }),
    toSend: Type.Integer({ description: "exits that the owner's pause would send, one of each group" }),
  }),
  recentEquity: Type.Array(Type.Number(), {
    description: `equity of the last 24 hours, oldest first, ${OWNER_LIMITS.recentPoints} values at equal distances, the last one of now; empty: nothing was ever held`,
  }),
  quota: Type.Object({
    trades: quotaOf('trades on this UTC day'),
    amount: quotaOf('collateral reserved or spent on this UTC day'),
    realizedToday: Type.Number({ description: 'P&L of the UTC day, after fees' }),
    resetsAt: Iso,
  }),
  days: Type.Array(DayResult, {
    description: `profit and loss of the last ${OWNER_LIMITS.daysShown} UTC days, oldest first`,
  }),
});

const exposed = {
  value: Type.Number({ description: 'at current prices' }),
  exposure: Type.Number({ description: 'what would be lost if every held outcome lost' }),
  positionsCount: Type.Integer(),
};

export const OwnerHome = Type.Object({
  timestamp: Iso,
  agentsTotal: Type.Integer(),
  agents: Type.Array(HomeAgent, {
    description: `the latest claimed first, at most ${OWNER_LIMITS.agentsShown}; the figures beside them count all`,
  }),
  allPaused: Type.Boolean({ description: 'the owner has paused every agent' }),
  equity: Type.Number({ description: 'of all wallets, each counted once' }),
  unrealizedPnl: Type.Number({ description: 'of all wallets, each counted once' }),
  isCurrent: Type.Boolean({ description: 'false: a venue did not answer, and older figures are counted' }),
  days: Type.Array(DayResult, {
    description: `profit and loss of all agents in the last ${OWNER_LIMITS.daysShown} UTC days, oldest first`,
  }),
  exposure: Type.Object({
    total: Type.Number({ description: 'what would be lost if every held outcome lost' }),
    byVenue: Type.Array(Type.Object({ venue: Type.String(), ...exposed })),
    byMarket: Type.Array(
      Type.Object({
        venue: Type.String(),
        marketId: Type.String(),
        marketConditionId: Type.String(),
        title: Type.String({ description: 'written by third parties, as plain text' }),
        ...exposed,
      }),
      { description: `the largest first, at most ${OWNER_LIMITS.marketsShown}` },
    ),
  }),
});

const ofOwner = { tag: 'owners', permission: 'owner', status: 200 } as const;

export const getOwnerHome = operation({
  ...ofOwner,
  id: 'getOwnerHome',
  method: 'GET',
  path: '/owner/home',
  summary: 'All agents of the signed-in owner: equity, results, exposure, what is open, in doubt or at risk',
  rateClass: 'search',
  response: OwnerHome,
  errors: [],
});

export const getOwnerEquity = operation({
  ...ofOwner,
  id: 'getOwnerEquity',
  method: 'GET',
  path: '/owner/equity',
  summary: 'Equity of all agents over time, each wallet counted once',
  rateClass: 'search',
  query: intervalQuery,
  unknownFields: 'refuse',
  response: EquitySeries,
  errors: [],
});

export const pauseOwner = operation({
  ...ofOwner,
  id: 'pauseOwner',
  method: 'POST',
  path: '/owner/pause',
  summary: 'Pause every agent of the signed-in owner, or resume every one',
  description:
    'All of them or none, and from the next trade on. Cancels and redeems always go through. An agent that is claimed later is not paused by it.',
  idempotent: true,
  sameOrigin: true,
  unknownFields: 'refuse',
  rateClass: 'exit',
  duringRecovery: { when: 'paused' },
  body: Type.Object({ paused: Type.Boolean() }),
  response: Type.Array(OwnerAgent),
  errors: ['service_unavailable'],
});

export const cancelOwnerOrders = operation({
  ...ofOwner,
  id: 'cancelOwnerOrders',
  method: 'POST',
  path: '/owner/orders/cancel',
  summary: 'Cancel every open order of every agent of the signed-in owner',
  description:
    'A pause lets what rests go on resting, and it may fill: this takes it off the books, on every venue. Trading that is not paused goes on. An order in doubt is asked for at its venue, too.',
  idempotent: true,
  sameOrigin: true,
  unknownFields: 'refuse',
  rateClass: 'exit',
  duringRecovery: true,
  body: Type.Object({}),
  response: CancelMarketResponse,
  errors: ['service_unavailable'],
});

export const SafeguardRow = Type.Object({
  name: Type.String({ description: 'the field of POST /owner/agents/{agentId}/safeguards' }),
  kind: Type.Union([Type.Literal('cap'), Type.Literal('switch')], {
    description: 'cap: a figure; switch: true or false',
  }),
  unit: Nullable(Type.Union([Type.Literal('count'), Type.Literal('collateral')])),
  range: Nullable(
    Type.Object({
      minimum: Type.Number(),
      exclusiveMinimum: Type.Boolean({ description: 'true: the minimum itself is refused' }),
      maximum: Type.Number(),
      decimals: Type.Integer({ description: 'digits after the point' }),
    }),
  ),
  default: Type.Union([Type.Number(), Type.Boolean(), Type.Null()], {
    description: "a new agent's value; null: no limit",
  }),
  isOptional: Type.Boolean({ description: 'null switches it off; "none" cannot be locked' }),
  lockable: Type.Boolean(),
  label: Type.String(),
  explanation: Type.String(),
  denial: Nullable(Type.String({ description: 'the error code of a trade that it refuses' })),
  bindsExits: Type.Boolean({ description: 'true: it applies to selling held tokens, too' }),
});

export const listSafeguards = operation({
  ...ofOwner,
  id: 'listSafeguards',
  method: 'GET',
  path: '/owner/safeguards',
  summary: 'The table of safeguards: what an owner may set and lock, in which range, and what it means',
  rateClass: 'read',
  response: Type.Array(SafeguardRow),
  errors: [],
});

export type EquityPoint = Static<typeof EquityPoint>;
export type EquitySeries = Static<typeof EquitySeries>;
export type DayResult = Static<typeof DayResult>;
export type OwnerAlert = Static<typeof OwnerAlert>;
export type HomeAgent = Static<typeof HomeAgent>;
export type OwnerHome = Static<typeof OwnerHome>;
export type SafeguardRow = Static<typeof SafeguardRow>;

// Reads and cancels of an owner about one agent. Where the agent asks for the same itself, the query and the answer are the agent's own; an
// agent of another owner does not exist here.

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

export const listOwnerAgentDecisions = operation({
  ...ofOwner,
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
  ...ofOwner,
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
  trades: Type.Array(Type.Object({ t: EquityPoint.properties.t, side: AgentFill.properties.side }), {
    description: 'of the time shown, newest first, to be drawn on the curve; at most 100',
  }),
  tradesTruncated: Type.Boolean({ description: 'true: there were more in this time' }),
});

export const getOwnerAgentEquity = operation({
  ...ofOwner,
  id: 'getOwnerAgentEquity',
  method: 'GET',
  path: '/owner/agents/{agentId}/equity',
  summary: "An agent's equity over time, with its trades",
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

// A market as an owner looks at it: prices, depth, and what the owner's agents have in it.

const whose = OwnedAgent.properties;

export const OwnerMarket = Type.Object({
  market: Market,
  books: Type.Object(
    { yes: Nullable(OrderBook), no: Nullable(OrderBook) },
    { description: 'null once the market has ended' },
  ),
  orders: Type.Array(Type.Object({ ...Order.properties, ...whose }), {
    description: "open orders of the owner's agents, newest first; at most 100",
  }),
  fills: Type.Array(Type.Object({ ...AgentFill.properties, ...whose }), {
    description: "fills of the owner's agents, newest first; at most 100",
  }),
  positions: Type.Array(
    Type.Object({
      ...Position.properties,
      agentIds: Type.Array(Type.String(), {
        description: 'agents of the owner that may use the wallet, its own first',
      }),
    }),
    { description: "on the owner's wallets" },
  ),
  untrustedText: getMarketContext.response.properties.untrustedText,
});

const ofOwnerMarket = { tag: 'owners', permission: 'owner', rateClass: 'search', status: 200 } as const;

export const getOwnerMarket = operation({
  ...ofOwnerMarket,
  id: 'getOwnerMarket',
  method: 'GET',
  path: '/owner/markets/{marketId}',
  summary: 'A market with its depth, and the orders, fills and positions that the owner’s agents have in it',
  description: 'Its title and rules are written by strangers: show them as text.',
  params: getMarketContext.params,
  query: Type.Pick(getMarketContext.query, ['venue']),
  unknownFields: 'refuse',
  response: OwnerMarket,
  errors: ['unknown_venue', 'market_not_found', 'service_unavailable'],
});

export const getOwnerPricesHistory = operation({
  ...ofOwnerMarket,
  id: 'getOwnerPricesHistory',
  method: 'GET',
  path: '/owner/markets/prices-history',
  summary: getPricesHistory.summary,
  description: `The same as GET ${getPricesHistory.path}, for a signed-in owner.`,
  query: getPricesHistory.query,
  response: getPricesHistory.response,
  errors: getPricesHistory.errors,
});

export type OwnerMarket = Static<typeof OwnerMarket>;

// The streams of a signed-in owner's pages.

const { agentsPerStream, heartbeatSeconds, streamsPerOwner } = STREAM_LIMITS;
const ofOwnerStream = {
  tag: 'owners',
  permission: 'owner',
  rateClass: 'read',
  produces: 'text/event-stream',
  status: 200,
} as const;
const KEPT_OPEN = `Server-sent events for the service's own pages, by their session cookie. A comment at least every ${heartbeatSeconds} seconds; at most ${streamsPerOwner} streams of an owner are open on one replica. A stream ends within two seconds after its session ends.`;

export const ownerEvents = operation({
  ...ofOwnerStream,
  id: 'ownerEvents',
  method: 'GET',
  path: '/owner/events',
  summary: 'Stream of everything that happens to any agent of the signed-in owner',
  description: `${KEPT_OPEN} It also ends when the owner claims an agent, and when a recovery begins or is undone: opened again with the last id, it goes on with the events of all, at most of the ${agentsPerStream} claimed last. Otherwise as GET ${events.path}; every recorded event names its agentId.`,
  query: events.query,
  response: events.response,
  errors: events.errors,
});

export const ownerWatchMarket = operation({
  ...ofOwnerStream,
  id: 'ownerWatchMarket',
  method: 'GET',
  path: '/owner/markets/stream',
  summary: watchMarket.summary,
  description: `${KEPT_OPEN} Otherwise as GET ${watchMarket.path}.`,
  query: watchMarket.query,
  response: watchMarket.response,
  errors: watchMarket.errors,
});
