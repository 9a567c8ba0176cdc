/** The streams: what happens to an agent, and the books that it follows. */
import { events, watchMarket } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refusal } from '../app/refusal.ts';
import type { EventCursors } from '../app/streams/event-cursor.ts';
import type { EventFeed, FeedClient } from '../app/streams/event-feed.ts';
import type { OpenStreams } from '../app/streams/open-streams.ts';
import type { VenueWatch } from '../app/streams/venue-watch.ts';
import type { WatchedBooks } from '../app/streams/watched-books.ts';
import { EventStream } from './event-stream.ts';
import type { Bind } from './routes.ts';

export interface Streams {
  readonly open: OpenStreams;
  readonly feed: EventFeed;
  readonly cursors: EventCursors;
  readonly venues: VenueWatch;
  readonly books: WatchedBooks;
}

type Logged = Parameters<FeedClient['deliver']>[0][number];

export function bindStreams(bind: Bind, streams: Streams): void {
  bind(events, async ({ caller, query, request, reply }) => {
    const header = request.headers['last-event-id'];
    const cursor = typeof header === 'string' && header !== '' ? header : query.after;
    const after = cursor === undefined ? null : streams.cursors.decode(caller.agentId, cursor);
    streams.open.check(caller.agentId);
    if (after !== null && !(await streams.feed.reaches(after))) throw refusal('event_cursor_gone');
    const stream = begin(streams, request, reply);
    if (stream === null) return reply;
    let lastId = cursor;
    const follow = () => {
      const unfollow = streams.venues.follow((state) => {
        stream.send([
          { event: 'venue', data: JSON.stringify(state), ...(lastId === undefined ? {} : { id: lastId }) },
        ]);
      });
      stream.onClose(unfollow);
    };
    const { agentId } = stream;
    const client: FeedClient = {
      agentId,
      get isClosed() {
        return stream.isClosed;
      },
      get isCongested() {
        return stream.isCongested;
      },
      deliver(logged) {
        stream.send(
          logged.map((event) => {
            lastId = streams.cursors.encode(agentId, event.position);
            return { event: event.type, id: lastId, data: envelope(event) };
          }),
        );
      },
      reached(position, isFirst) {
        lastId = streams.cursors.encode(agentId, position);
        stream.send([
          { event: isFirst ? 'ready' : 'cursor', id: lastId, data: isFirst ? '{"resumed":false}' : '{}' },
        ]);
        if (isFirst) follow();
      },
      drained: () => stream.drained(),
      end: (reason) => stream.end(reason),
    };
    if (cursor !== undefined) {
      stream.send([{ event: 'ready', id: cursor, data: '{"resumed":true}' }]);
      follow();
    }
    stream.onClose(streams.feed.subscribe(client, after));
    return reply;
  });

  bind(watchMarket, async ({ query, caller, request, reply }) => {
    streams.open.check(caller.agentId);
    const tokens = await streams.books.find(query.tokens);
    const stream = begin(streams, request, reply);
    if (stream === null) return reply;
    const unfollow = streams.books.follow(tokens, {
      get waitingBytes() {
        return stream.waitingBytes;
      },
      send: (event, data) => stream.send([{ event, data }]),
      end: (reason) => stream.end(reason),
    });
    stream.onClose(unfollow);
    return reply;
  });
}

/** @returns `null` when the request was answered otherwise: its deadline had passed, or it asks for the headers only */
function begin({ open }: Streams, request: FastifyRequest, reply: FastifyReply): EventStream | null {
  if (reply.sent || request.raw.destroyed) return null;
  if (request.method === 'HEAD') {
    reply.type('text/event-stream; charset=utf-8').send();
    return null;
  }
  const stream = new EventStream(request, reply);
  stream.onClose(open.add(stream));
  stream.begin(request, reply);
  return stream;
}

/** The record that webhooks send, without a time of sending. */
const envelope = ({ id, type, at, agentId, data }: Logged): string =>
  `{"id":"${id}","type":"${type}","createdAt":"${new Date(at).toISOString()}","agentId":"${agentId}","data":${data}}`;
