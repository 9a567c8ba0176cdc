/** What replicas say to each other: calls to the one that leads the paper exchange, and its doors' requests. */
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface ReplicaDoor {
  /** Shared by all replicas of one database. */
  readonly token: string;
  readonly answer: (text: string) => Promise<string>;
  /** `null`: this replica serves its doors itself. */
  readonly leaderUrl: () => string | null;
}

const CALL_BYTES = 1_048_576;
const FORWARD_TIMEOUT_MS = 10_000;
/** Headers that belong to one connection, or that the next one sets for itself. */
const HOP_BY_HOP = new Set([
  'connection',
  'content-length',
  'host',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

const sameText = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** `POST /internal/exchange`: not part of the API, and a 404 to whoever is no replica. */
export async function bindReplicas(
  app: FastifyInstance,
  basePath: string,
  { token, answer }: ReplicaDoor,
): Promise<void> {
  await app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        'text/plain',
        { parseAs: 'string', bodyLimit: CALL_BYTES },
        (_request, body, done) => done(null, body),
      );
      scope.route({
        method: 'POST',
        url: '/internal/exchange',
        schema: { hide: true },
        onRequest: async (request, reply) =>
          sameText(request.headers.authorization ?? '', `Bearer ${token}`) ? undefined : reply.callNotFound(),
        handler: async (request, reply) =>
          reply.type('text/plain').send(await answer(request.body as string)),
      });
    },
    { prefix: basePath },
  );
}

/** Doors differ in whether they read bodies as text or as JSON. */
function bodyOf(body: unknown): { readonly body?: string } {
  if (body === undefined || body === null || body === '') return {};
  return { body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** Tell the leader whose request it is, so that who asks through a follower draws from a bucket of their own. */
const REPLICA_HEADER = 'x-bellwether-replica';
const CLIENT_HEADER = 'x-bellwether-client';

/** The address of whoever asked the replica that sends this request on; `null` when no replica does. */
export function sentByReplica(
  { headers }: FastifyRequest,
  { token }: Pick<ReplicaDoor, 'token'>,
): string | null {
  const [proof, client] = [headers[REPLICA_HEADER], headers[CLIENT_HEADER]];
  return typeof proof === 'string' && typeof client === 'string' && sameText(proof, token) ? client : null;
}

/** Sends a door's request on to the replica that leads, and its answer back, as they are. */
export const forwardToLeader =
  ({ leaderUrl, token }: ReplicaDoor) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const leader = leaderUrl();
    if (leader === null) return undefined;
    const headers = Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.has(name));
    const response = await fetch(new URL(request.url, leader), {
      method: request.method,
      headers: {
        ...Object.fromEntries(headers.map(([name, value]) => [name, String(value)])),
        [REPLICA_HEADER]: token,
        [CLIENT_HEADER]: request.ip,
      },
      ...bodyOf(request.body),
      signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
    });
    const retryAfter = response.headers.get('retry-after');
    if (retryAfter !== null) reply.header('retry-after', retryAfter);
    return reply
      .code(response.status)
      .type(response.headers.get('content-type') ?? 'application/json')
      .send(await response.text());
  };
