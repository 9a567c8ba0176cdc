/** How the service fares, for its operator. */
import { type Static, Type } from 'typebox';
import { Iso, Nullable, pageQuery } from '../fields.ts';
import { operation } from '../operation.ts';
import { VenueInfo } from './agents.ts';

export const OPERATOR_LIMITS = { routesShown: 20 } as const;

const Milliseconds = Nullable(
  Type.Number({ description: 'at most so long, by the bounds of buckets; null: longer than the largest' }),
);

export const OperatorStatus = Type.Object({
  timestamp: Iso,
  version: Type.String(),
  ready: Type.Boolean(),
  database: Type.String({ description: 'ready, or what is wrong' }),
  venues: Type.Array(
    Type.Object({
      ...VenueInfo.properties,
      counts: Type.Record(Type.String(), Type.Number(), {
        description: 'what the venue counts on this replica, such as refusals without a code',
      }),
    }),
  ),
  replicas: Type.Object({
    count: Type.Integer({ description: 'that are connected to the database, this one included' }),
    leader: Nullable(
      Type.Object({ replicaId: Type.String(), since: Iso }, { description: 'as it announced itself' }),
    ),
  }),
  orders: Type.Object({
    inDoubt: Type.Integer({ description: 'orders whose outcome is not known, of every replica' }),
    oldestInDoubtSeconds: Nullable(Type.Number()),
    tradesKeptAside: Type.Integer({
      description:
        'trades that a live venue says and no order can have, of every replica: GET /operator/kept-trades',
    }),
  }),
  queues: Type.Object(
    {
      webhookDeliveries: Type.Integer({ description: 'events that wait to be delivered' }),
      webhooksDisabled: Type.Integer({ description: 'switched off after repeated failure' }),
      marketsToRedeem: Type.Integer({
        description: 'resolved markets whose automatic redemptions are not done yet',
      }),
      skillsToReview: Type.Integer(),
    },
    { description: 'of every replica' },
  ),
  thisReplica: Type.Object(
    {
      replicaId: Type.String(),
      leads: Type.Boolean({ description: 'it keeps the paper exchange' }),
      startedAt: Iso,
      memoryMb: Type.Number({ description: 'resident' }),
      eventLoopPauseMs: Type.Object(
        { p50: Type.Number(), p99: Type.Number(), longest: Type.Number() },
        { description: 'how much later than due a timer ran' },
      ),
      requests: Type.Object({
        underWay: Type.Integer(),
        tradesUnderWay: Type.Integer(),
        tradesWaiting: Type.Integer({ description: 'in line for a slot' }),
        shed: Type.Integer({ description: 'turned away as overload since the start' }),
      }),
      openStreams: Type.Integer(),
      overSeconds: Type.Number({
        description: 'what `routes` and `eventLoopPauseMs` cover: the last one to two minutes',
      }),
      routes: Type.Array(
        Type.Object({
          route: Type.String(),
          perSecond: Type.Number(),
          failed: Type.Integer({ description: 'answers with a status of 500 and above' }),
          refused: Type.Integer({ description: 'answers with a status from 400 to 499' }),
          p50Ms: Milliseconds,
          p99Ms: Milliseconds,
        }),
        { description: `the busiest first, at most ${OPERATOR_LIMITS.routesShown}` },
      ),
    },
    { description: 'of the replica that answered: ask the others for theirs' },
  ),
});

export const getOperatorStatus = operation({
  id: 'getOperatorStatus',
  tag: 'operator',
  status: 200,
  method: 'GET',
  path: '/operator/status',
  summary: 'Venues, replicas, orders in doubt, latency, load and queues in one answer',
  permission: 'operator',
  rateClass: 'read',
  response: OperatorStatus,
  errors: [],
});

const Decimal = Type.String({ description: 'decimal text: it can be larger than any number of JSON' });

const KEPT_ORDERS_PER_PAGE = 200;

export const KeptTrade = Type.Object({
  venue: Type.String(),
  orderId: Type.String(),
  tradeId: Type.String({ description: "the venue's id" }),
  agentId: Type.String(),
  walletAddress: Type.String(),
  side: Type.String({ enum: ['BUY', 'SELL'] }),
  signed: Type.Object(
    { shares: Decimal, collateral: Decimal },
    { description: 'what the order signed: a BUY gives the collateral, a SELL the shares' },
  ),
  said: Type.Object(
    {
      status: Type.String({ description: 'of its settlement' }),
      size: Decimal,
      cost: Decimal,
      fee: Decimal,
      price: Type.Number(),
    },
    { description: 'what the venue said of the trade' },
  ),
  why: Type.String(),
  since: Iso,
});

export const KeptTrades = Type.Object({
  trades: Type.Array(KeptTrade, {
    description: 'those of `limit` orders, the oldest orders first; X-Total-Count counts the trades of all',
  }),
});

export const listKeptTrades = operation({
  id: 'listKeptTrades',
  tag: 'operator',
  status: 200,
  method: 'GET',
  path: '/operator/kept-trades',
  summary: 'Trades that a live venue says and no order can have: they count nothing until they are explained',
  permission: 'operator',
  rateClass: 'read',
  query: Type.Object(pageQuery(KEPT_ORDERS_PER_PAGE)),
  unknownFields: 'refuse',
  response: KeptTrades,
  errors: ['contradictory_filter'],
});

export const KeptTradeDecision = Type.Object({
  orderId: Type.String({ maxLength: 100 }),
  tradeId: Type.String({ maxLength: 200 }),
  decision: Type.Union([Type.Literal('release'), Type.Literal('discard')], {
    description:
      '`release`: it counts as the venue said it. `discard`: it never counts. Neither can be undone',
  }),
});

export const KeptTradeDecided = Type.Object({
  ...KeptTradeDecision.properties,
  decided: Type.Literal(true),
  orderStatus: Type.String({ description: 'the status of its order now' }),
});

export const decideKeptTrade = operation({
  id: 'decideKeptTrade',
  tag: 'operator',
  status: 200,
  method: 'POST',
  path: '/operator/kept-trades/decide',
  summary: 'Count a trade that is kept aside as the venue said it, or never',
  description:
    'Look first: the transaction of the trade on the chain, and the venue’s own page of the account, say what really changed hands. A trade that the venue corrects, or that fits because another one failed, counts by itself.',
  idempotent: true,
  permission: 'operator',
  rateClass: 'read',
  unknownFields: 'refuse',
  body: KeptTradeDecision,
  response: KeptTradeDecided,
  errors: ['kept_trade_not_found'],
});

export type KeptTrade = Static<typeof KeptTrade>;
export type KeptTrades = Static<typeof KeptTrades>;
export type KeptTradeDecision = Static<typeof KeptTradeDecision>;
export type KeptTradeDecided = Static<typeof KeptTradeDecided>;
export type OperatorStatus = Static<typeof OperatorStatus>;

// The answers of the probes. Probes are not operations: they need no key, have no rate limit and also answer at the root.

export const Liveness = Type.Object({ status: Type.Literal('ok') });

export const Readiness = Type.Object({
  status: Type.String({ description: 'ready, not ready, or draining: about to end' }),
  version: Type.String(),
  venues: Type.Array(VenueInfo),
  database: Type.String({ description: 'ready or unreachable' }),
});
