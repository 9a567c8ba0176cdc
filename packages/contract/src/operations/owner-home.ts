/** All agents of an owner at a glance, and what holds for all of them. */
import { type Static, Type } from 'typebox';
import { Iso, Nullable } from '../fields.ts';
import { operation } from '../operation.ts';
import { RiskAlert } from './briefing.ts';
import { OwnerAgent } from './owners.ts';
import { CancelMarketResponse } from './trading.ts';

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

const shared = { tag: 'owners', permission: 'owner', status: 200 } as const;

export const getOwnerHome = operation({
  ...shared,
  id: 'getOwnerHome',
  method: 'GET',
  path: '/owner/home',
  summary: 'All agents of the signed-in owner: equity, results, exposure, what is open, in doubt or at risk',
  rateClass: 'search',
  response: OwnerHome,
  errors: [],
});

export const getOwnerEquity = operation({
  ...shared,
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
  ...shared,
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
  ...shared,
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
  ...shared,
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
