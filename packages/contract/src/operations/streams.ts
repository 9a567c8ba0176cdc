import { type TSchema, Type } from 'typebox';
import {
  CURRENT_STREAM_EVENTS,
  MARKET_STREAM_EVENTS,
  RECORDED_STREAM_EVENTS,
  RecordedEvent,
  STREAM_LIMITS,
} from '../events.ts';
import { operation } from '../operation.ts';

/** As a client reads it: the fields of a server-sent event, with `data` parsed. */
const serverSent = (type: string, description: string, data: TSchema, hasId: boolean) =>
  Type.Object(
    {
      ...(hasId ? { id: Type.String({ description: 'the cursor: resumes right after this event' }) } : {}),
      event: Type.Literal(type),
      data,
    },
    { description },
  );

const recorded = Object.entries(RECORDED_STREAM_EVENTS).map(([type, { description, data }]) =>
  serverSent(
    type,
    description,
    Type.Object({ ...RecordedEvent.properties, type: Type.Literal(type), data }),
    true,
  ),
);
const current = Object.entries(CURRENT_STREAM_EVENTS).map(([type, { description, data }]) =>
  serverSent(type, description, data, true),
);
const market = Object.entries(MARKET_STREAM_EVENTS).map(([type, { description, data }]) =>
  serverSent(type, description, data, false),
);

const { heartbeatSeconds, streamsPerAgent, tokensPerStream } = STREAM_LIMITS;
const common = {
  tag: 'events',
  permission: 'agent',
  rateClass: 'read',
  produces: 'text/event-stream',
  status: 200,
} as const;
const KEPT_OPEN = `Server-sent events; the key travels in Authorization alone. A comment at least every ${heartbeatSeconds} seconds: a client that reads nothing for three times as long should reconnect. At most ${streamsPerAgent} streams of an agent are open on one replica.`;

export const events = operation({
  id: 'events',
  method: 'GET',
  path: '/events',
  summary: 'Stream of everything that happens to this agent, resumable without gap or repeat',
  description: `${KEPT_OPEN} Each event's id is a cursor: send the last one as Last-Event-ID or after, to any replica, for at least FACTS_RETENTION_DAYS (seven unless configured). A recorded event is sent once, in the order of the log. A revoked key ends its streams within two seconds.`,
  query: Type.Object({
    after: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: STREAM_LIMITS.cursorChars,
        description: 'the id of the last event that was read; the header Last-Event-ID goes first',
      }),
    ),
  }),
  response: Type.Union([...recorded, ...current]),
  errors: ['event_cursor_invalid', 'event_cursor_gone', 'stream_limit_reached'],
  ...common,
});

export const watchMarket = operation({
  id: 'watchMarket',
  method: 'GET',
  path: '/markets/stream',
  summary: 'Stream of the books of some outcome tokens: a snapshot, then what changes',
  description: `${KEPT_OPEN} Changes are gathered for a moment and sent as one delta. It has no cursor: after a reconnection every book is sent whole.`,
  query: Type.Object({
    tokens: Type.String({
      minLength: 1,
      maxLength: 101 * tokensPerStream,
      description: `token ids, separated by commas, at most ${tokensPerStream}`,
    }),
  }),
  response: Type.Union(market),
  errors: ['market_not_found', 'stream_limit_reached'],
  ...common,
});
