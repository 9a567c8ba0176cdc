/** The streams: what happens to an agent, or to all agents of an owner, and the books that they follow. */
import { events, ownerEvents, ownerWatchMarket, STREAM_LIMITS, watchMarket } from '@bellwether/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Owner } from '../domain/records.ts';
import { sessionTokens } from '../platform/http/identify.ts';
import type { Bind } from '../platform/http/routes.ts';
import { refusal } from '../platform/refusal.ts';
import type { EventCursors, EventFeed, FeedClient } from './event-feed.ts';
import { EventStream, nameOf, type OpenStreams, type Reader } from './open-streams.ts';
import type { VenueWatch, WatchedBooks } from './watched-books.ts';

export interface Streams {
  readonly open: OpenStreams;
  readonly feed: EventFeed;
  readonly cursors: EventCursors;
  readonly venues: VenueWatch;
  readonly books: WatchedBooks;
  /** An owner's agents, and a session as the check of open streams knows it; `null` when it has just ended. */
  readonly ownerReads: (
    owner: Owner,
    token: string,
  ) => Promise<{
    readonly reader: Reader & { readonly kind: 'owner' };
    readonly agentIds: readonly string[];
  } | null>;
  readonly publicUrl: () => string;
}

type Logged = Parameters<FeedClient['deliver']>[0][number];

/** A request for a stream. */
interface StreamRequest {
  readonly reader: Reader;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function bindStreams(bind: Bind, streams: Streams): void {
  const ownerOf = async (owner: Owner, request: FastifyRequest) => {
    streams.open.check({ kind: 'owner', userId: owner.userId });
    for (const token of sessionTokens(request, streams.publicUrl())) {
      const found = await streams.ownerReads(owner, token);
      if (found !== null) return found;
    }
    throw refusal('owner_session_required');
  };
  const agentReader = ({ agentId, keyId }: { agentId: string; keyId: bigint }): Reader => ({
    kind: 'agent',
    agentId,
    keyId,
  });

  bind(events, ({ caller, query, request, reply }) =>
    sendEvents(streams, { reader: agentReader(caller), request, reply }, [caller.agentId], query.after),
  );
  bind(ownerEvents, async ({ owner, query, request, reply }) => {
    const { reader, agentIds } = await ownerOf(owner, request);
    return sendEvents(
      streams,
      { reader, request, reply },
      agentIds.slice(0, STREAM_LIMITS.agentsPerStream),
      query.after,
    );
  });
  bind(watchMarket, ({ caller, query, request, reply }) =>
    sendBooks(streams, { reader: agentReader(caller), request, reply }, query.tokens),
  );
  bind(ownerWatchMarket, async ({ owner, query, request, reply }) => {
    const { reader } = await ownerOf(owner, request);
    return sendBooks(streams, { reader: { ...reader, agents: null }, request, reply }, query.tokens);
  });
}

/** @throws Refusal event_cursor_invalid, event_cursor_gone, stream_limit_reached, overloaded */
async function sendEvents(
  streams: Streams,
  asked: StreamRequest,
  agentIds: readonly string[],
  queried: string | undefined,
): Promise<FastifyReply> {
  const { reader, request, reply } = asked;
  const name = nameOf(reader);
  const header = request.headers['last-event-id'];
  const cursor = typeof header === 'string' && header !== '' ? header : queried;
  const after = cursor === undefined ? null : streams.cursors.decode(name, cursor);
  streams.open.check(reader);
  if (after !== null && !(await streams.feed.reaches(after))) throw refusal('event_cursor_gone');
  const stream = begin(streams, asked);
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
  const client: FeedClient = {
    agentIds,
    get isClosed() {
      return stream.isClosed;
    },
    get isCongested() {
      return stream.isCongested;
    },
    deliver(logged) {
      stream.send(
        logged.map((event) => {
          lastId = streams.cursors.encode(name, event.position);
          return { event: event.type, id: lastId, data: envelope(event) };
        }),
      );
    },
    reached(position, isFirst) {
      lastId = streams.cursors.encode(name, position);
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
}

/** @throws Refusal market_not_found, stream_limit_reached, overloaded */
async function sendBooks(streams: Streams, asked: StreamRequest, tokenList: string): Promise<FastifyReply> {
  const { reader, reply } = asked;
  streams.open.check(reader);
  const tokens = await streams.books.find(tokenList);
  const stream = begin(streams, asked);
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
}

/** @returns `null` when the request was answered otherwise: its deadline had passed, or it asks for the headers only */
function begin({ open }: Streams, { reader, request, reply }: StreamRequest): EventStream | null {
  if (reply.sent || request.raw.destroyed) return null;
  if (request.method === 'HEAD') {
    reply.type('text/event-stream; charset=utf-8').send();
    return null;
  }
  const stream = new EventStream(reader, request, reply);
  stream.onClose(open.add(stream));
  stream.begin(request, reply);
  return stream;
}

/** The record that webhooks send, without a time of sending. */
const envelope = ({ id, type, at, agentId, data }: Logged): string =>
  `{"id":"${id}","type":"${type}","createdAt":"${new Date(at).toISOString()}","agentId":"${agentId}","data":${data}}`;
