/** The streams of a signed-in owner's pages. */
import { operation } from '../operation.ts';
import { STREAM_LIMITS } from '../stream-events.ts';
import { events, watchMarket } from './streams.ts';

const { agentsPerStream, heartbeatSeconds, streamsPerOwner } = STREAM_LIMITS;
const common = {
  tag: 'owners',
  permission: 'owner',
  rateClass: 'read',
  produces: 'text/event-stream',
  status: 200,
} as const;
const KEPT_OPEN = `Server-sent events for the service's own pages, by their session cookie. A comment at least every ${heartbeatSeconds} seconds; at most ${streamsPerOwner} streams of an owner are open on one replica. A stream ends within two seconds after its session ends.`;

export const ownerEvents = operation({
  ...common,
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
  ...common,
  id: 'ownerWatchMarket',
  method: 'GET',
  path: '/owner/markets/stream',
  summary: watchMarket.summary,
  description: `${KEPT_OPEN} Otherwise as GET ${watchMarket.path}.`,
  query: watchMarket.query,
  response: watchMarket.response,
  errors: watchMarket.errors,
});
