/** How the service fares, for its operator. */
import { type Static, Type } from 'typebox';
import { Iso, Nullable } from '../fields.ts';
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

export type OperatorStatus = Static<typeof OperatorStatus>;
