/** Messages between replicas: calls to the one that leads the paper exchange, its doors' requests, and what each knows of the database. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Sql } from '../database/connection.ts';
import type { ReplicaWatch } from '../database/replica-watch.ts';
import { addressOf } from './addresses.ts';
import { sendProblem } from './problem.ts';

export interface ReplicaDoor {
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  /** Judges a call's proof before its body is read; a proof holds once. */
  readonly accepts: (proof: string | undefined, call: { method: string; path: string }) => boolean;
  readonly matches: (proof: string, body: string) => boolean;
  /** `null`: this replica has given the lead away, and has not looked at the call. */
  readonly answer: (text: string) => Promise<string | null>;
  /** Exchanges what is known of the database's timelines. */
  readonly exchangeTimelines: (text: string) => Promise<string>;
  /** With its base path. `null`: this replica serves its doors itself. */
  readonly leaderUrl: () => string | null;
  /** Resolves at once, unless the lead is being handed over. @throws Error when too many wait for that */
  readonly leadKnown: () => Promise<void>;
  /** The exchange stays open here until then. */
  readonly keepOpen: (until: Promise<unknown>) => void;
}

const CALL_BYTES = 1_048_576;
/** Nothing was done with the call, so its sender may send it to the next leader. Not 421: `fetch` repeats those itself. */
const NOT_LED_HERE = 410;
const REPLICA_HEADER = 'x-bellwether-replica';
/** Whose request a follower sends on. */
const CALLER_HEADER = 'x-bellwether-caller';

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined;

/** Whether it claims to be a replica's; nothing that matters may follow from it. */
export const isFromReplica = ({ headers }: FastifyRequest): boolean => headers[REPLICA_HEADER] !== undefined;

/** Text that a follower signs for a door's request: its caller is part of it. */
const signedDoorPath = (path: string, caller: string): string => `${path} for ${caller}`;

/** The address behind a door's request that a follower has sent on; `null` when no replica vouches for one. */
export function vouchedAddress(
  { accepts }: Pick<ReplicaDoor, 'accepts'>,
  basePath: string,
): (request: FastifyRequest) => string | null {
  return ({ headers, method, url }) => {
    const caller = textOf(headers[CALLER_HEADER]);
    if (caller === undefined) return null;
    const path = signedDoorPath(url.slice(basePath.length), caller);
    return accepts(textOf(headers[REPLICA_HEADER]), { method, path }) ? caller : null;
  };
}

/** Not part of the API, and a 404 to callers that are no replica. */
export const REPLICA_PATHS = { exchange: '/internal/exchange', timeline: '/internal/timeline' } as const;

export async function bindReplicas(
  app: FastifyInstance,
  basePath: string,
  { accepts, matches, answer, exchangeTimelines }: ReplicaDoor,
): Promise<void> {
  const answers = { [REPLICA_PATHS.exchange]: answer, [REPLICA_PATHS.timeline]: exchangeTimelines };
  await app.register(
    async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser(
        'text/plain',
        { parseAs: 'string', bodyLimit: CALL_BYTES },
        (_request, body, done) => done(null, body),
      );
      for (const [url, answerOf] of Object.entries(answers))
        scope.route({
          method: 'POST',
          url,
          schema: { hide: true },
          onRequest: async (request, reply) => {
            const { headers, method, url: target } = request;
            const isReplica = accepts(textOf(headers[REPLICA_HEADER]), {
              method,
              path: target.slice(basePath.length),
            });
            if (isReplica) return undefined;
            reply.callNotFound();
            return reply;
          },
          preHandler: async (request, reply) => {
            const isItsBody = matches(
              textOf(request.headers[REPLICA_HEADER]) ?? '',
              String(request.body ?? ''),
            );
            if (isItsBody) return undefined;
            reply.callNotFound();
            return reply;
          },
          handler: async (request, reply) => {
            const text = await answerOf(request.body as string);
            return text === null ? reply.code(NOT_LED_HERE).send('') : reply.type('text/plain').send(text);
          },
        });
    },
    { prefix: basePath },
  );
}

const FORWARD_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 8 * 1_048_576;
/** Headers that doors and their clients' libraries read; cookies, keys of the desk and words of proxies are none of them. */
const FORWARDED_HEADERS = new Set([
  'accept',
  'content-type',
  'origin',
  'poly_address',
  'poly_signature',
  'poly_timestamp',
  'poly_nonce',
  'poly_api_key',
  'poly_passphrase',
  'poly_readonly_api_key',
  'solana-client',
  'user-agent',
  'x-api-key',
  'x-request-id',
]);

/** Headers that doors send to their clients beside the answer. */
const ANSWERED_HEADERS = [
  'cache-control',
  'deprecation',
  'poly-ratelimit-remaining',
  'poly-ratelimit-reset',
  'poly-ratelimit-tier',
  'poly-ratelimit-warning',
  'retry-after',
  'sunset',
  'warning',
];

/**
 * The door's own part of a target: a path that lies under the mount however it is read. `null` when any reader could
 * take it for another place.
 */
function pathUnder(mount: string, target: string): string | null {
  const { pathname, search } = new URL(target, 'http://door');
  const isUnder = pathname === mount || pathname.startsWith(`${mount}/`);
  // Escapes are resolved once by us and perhaps once more by what stands before the leader.
  const isPlain = !/%(2e|2f|5c|25)|[\\;]|\/\.{1,2}(\/|$)|\/\//i.test(pathname);
  return isUnder && isPlain && target.startsWith('/') && !target.startsWith('//') ? pathname + search : null;
}

/** Doors differ in whether they read bodies as text or as JSON. */
const bodyOf = (body: unknown): string =>
  typeof body === 'string' ? body : JSON.stringify(body ?? '').replace(/^""$/, '');

async function readBounded(response: Response, mostBytes = MAX_ANSWER_BYTES): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    // Leaving the loop cancels the rest.
    if (bytes > mostBytes) throw new Error('the replica’s answer is too large');
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Sends a door's request on to the replica that leads, and its answer back. Nothing but that door of that replica can
 * be reached: the address is the leader's own, the path is under the door, and no redirect is followed.
 * @param mounts paths of the doors, below the base path
 */
export const forwardToLeader =
  (
    { leaderUrl, leadKnown, keepOpen, sign }: Omit<ReplicaDoor, 'accepts' | 'matches' | 'answer'>,
    basePath: string,
    mounts: readonly string[],
  ) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    try {
      await leadKnown();
    } catch (error) {
      return sayNotLed(request, reply, error);
    }
    const leader = leaderUrl();
    if (leader === null) {
      keepOpen(new Promise((resolve) => reply.raw.once('close', resolve)));
      return undefined;
    }
    const inside = mounts
      .map((mount) => pathUnder(basePath + mount, request.url))
      .find((path) => path !== null);
    if (inside === undefined || inside === null) {
      reply.callNotFound();
      return reply;
    }
    const path = inside.slice(basePath.length);
    const { method } = request;
    const body = bodyOf(request.body);
    const caller = addressOf(request);
    const passed = Object.entries(request.headers).filter(([name]) => FORWARDED_HEADERS.has(name));
    try {
      const response = await fetch(leader.replace(/\/+$/, '') + path, {
        method,
        headers: [
          ...passed.map(([name, value]): [string, string] => [name, String(value)]),
          [CALLER_HEADER, caller],
          [REPLICA_HEADER, sign({ method, path: signedDoorPath(path, caller), body })],
        ],
        ...(body === '' ? {} : { body }),
        redirect: 'error',
        signal: AbortSignal.timeout(FORWARD_TIMEOUT_MS),
      });
      const text = await readBounded(response);
      for (const name of ANSWERED_HEADERS) {
        const value = response.headers.get(name);
        if (value !== null) reply.header(name, value);
      }
      return reply
        .code(response.status)
        .type(response.headers.get('content-type') ?? 'application/json')
        .send(text);
    } catch (error) {
      return sayNotLed(request, reply, error);
    }
  };

function sayNotLed(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
  request.log.warn({ err: error }, 'a door’s request could not be sent on');
  return sendProblem(request, reply, 'service_unavailable', {
    detail: 'The replica that leads the venue does not answer.',
    retryAfterS: 1,
  });
}

/** Where the leader serves a socket of a door, and the headers that say whose it is. */
interface SocketTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** @returns `null` when this replica serves its doors itself. @param mount path of the door, below the base path */
export function socketAtLeader(
  { leaderUrl, sign }: Pick<ReplicaDoor, 'leaderUrl' | 'sign'>,
  { basePath, mount }: { readonly basePath: string; readonly mount: string },
  request: FastifyRequest,
): SocketTarget | null {
  const leader = leaderUrl();
  const inside = pathUnder(basePath + mount, request.url);
  if (leader === null || inside === null) return null;
  const path = inside.slice(basePath.length);
  const caller = addressOf(request);
  const proof = sign({ method: 'GET', path: signedDoorPath(path, caller), body: '' });
  return {
    url: leader.replace(/\/+$/, '').replace(/^http/, 'ws') + path,
    headers: { [CALLER_HEADER]: caller, [REPLICA_HEADER]: proof },
  };
}

// What replicas tell each other of a database of several hosts: the latest timeline of PostgreSQL that each has seen. A replica that reaches only a
// primary which was replaced, and still answers, learns of its successor from those that use it (docs/decisions/database.md).

export interface Timelines {
  /** Makes this replica known to the others, at its address, and exchanges timelines with each of them. */
  tell(): Promise<void>;
  /** Answers another replica that tells its own. */
  answer(text: string): Promise<string>;
}

const PATH = REPLICA_PATHS.timeline;
const ANSWER_WITHIN_MS = 2_000;
/** A timeline, or another service's page that says that it knows no such route. */
const MAX_TIMELINE_BYTES = 64 * 1024;

export function createTimelines({
  sql,
  others,
  sign,
  log,
}: {
  readonly sql: Sql;
  readonly others: Pick<ReplicaWatch, 'introduce' | 'addresses'>;
  /** Proves to another replica that a call is a replica's. */
  readonly sign: (call: { method: string; path: string; body: string }) => string;
  readonly log: { error(context: object, message: string): void };
}): Timelines {
  const hear = (told: string, from: string): void => {
    if (sql.hearTimeline(told))
      log.error(
        { from, timeline: told },
        'another replica uses a database that was promoted: connections to earlier ones are given up',
      );
  };

  const ask = async (url: string): Promise<void> => {
    const body = sql.timeline();
    const response = await fetch(url + PATH, {
      method: 'POST',
      headers: {
        [REPLICA_HEADER]: sign({ method: 'POST', path: PATH, body }),
        'content-type': 'text/plain',
      },
      body,
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await readBounded(response, MAX_TIMELINE_BYTES);
    if (response.ok) hear(text, url);
  };

  return {
    async tell() {
      if (sql.timeline() === '') return;
      // One that does not answer, or a database that does not, keeps nothing from the others.
      await Promise.allSettled([others.introduce(), ...others.addresses().map(ask)]);
    },
    async answer(text) {
      hear(text, 'a replica that asked');
      return sql.timeline();
    },
  };
}
