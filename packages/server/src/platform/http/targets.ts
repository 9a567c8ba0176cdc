/**
 * Judges the address of a request before anything else reads it: a target of our own form, a Host that is ours,
 * and no page of a stranger behind it. A name of ours in a stranger's DNS, or a stranger's page in a browser next to
 * us, must not reach what is open to this machine.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from './addresses.ts';
import { ANSWER_HEADERS } from './answer-headers.ts';
import { MOVED, wantsHtml } from './pages.ts';
import { sendProblem } from './problem.ts';
import { REPLICA_PATHS } from './replicas.ts';

interface TargetOptions {
  readonly basePath: string;
  /** Its port is known once the service listens. */
  readonly publicUrl: () => string;
  /** Host names beside loopback and the public URL's, lower case and without a port. */
  readonly hosts: readonly string[];
  /** Origins whose pages may call us. */
  readonly origins: readonly string[];
}

type Judge = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | null;

/** One slash, and no backslash behind it: URL parsers read that as a second one. */
const ORIGIN_FORM = /^\/(?![/\\])/;
const NUL = '%00';
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i;
const PREFLIGHT_S = 600;
/** Headers that a page may send. Those that a proxy or a venue sets are none of them. */
const ALLOWED_HEADERS = 'authorization, content-type, idempotency-key, last-event-id, x-request-id';
const CLOSED_TO_PAGES =
  'Pages of other origins may call the operations of agents; this route is for the service’s own pages or for programs.';
/** Headers of an answer that a page may read, beyond what every page may. */
const EXPOSED = Object.keys(ANSWER_HEADERS)
  .filter((name) => name !== 'Set-Cookie')
  .join(', ')
  .toLowerCase();

export function guardTargets(app: FastifyInstance, options: TargetOptions): void {
  const judges: readonly Judge[] = [targetJudge(options), hostJudge(options), originJudge(options)];
  app.addHook('onRequest', (request, reply, done) => {
    for (const judge of judges) if (judge(request, reply) !== null) return;
    done();
  });
}

function targetJudge({ basePath }: TargetOptions): Judge {
  const doors = `${basePath}/paper/`;
  return (request, reply) => {
    if (!ORIGIN_FORM.test(request.url)) {
      return sendProblem(request, reply, 'invalid_target', {
        detail: 'The request target does not begin with a single "/".',
      });
    }
    // The doors refuse it in their own words.
    if (request.url.includes(NUL) && !request.url.startsWith(doors)) {
      return sendProblem(request, reply, 'invalid_request', {
        detail: 'The URL contains a NUL character (%00), which no parameter takes.',
      });
    }
    return null;
  };
}

/** The Host header's name, lower case. `null` when it is missing, malformed or there twice. */
function hostOf(request: FastifyRequest): string | null {
  let count = 0;
  const { rawHeaders } = request.raw;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count !== 1) return null;
  return HOST.exec(request.headers.host ?? '')?.[1]?.toLowerCase() ?? null;
}

function hostJudge({ basePath, publicUrl, hosts }: TargetOptions): Judge {
  const known = new Set([new URL(publicUrl()).hostname, ...hosts]);
  // Probes and replicas ask by address: the first say nothing that matters, the second prove who they are.
  const anyHost = new Set(
    ['', basePath].flatMap((prefix) =>
      ['/healthz', '/readyz', ...Object.values(REPLICA_PATHS)].map((path) => prefix + path),
    ),
  );
  return (request, reply) => {
    const host = hostOf(request);
    if (host === null) {
      return sendProblem(request, reply, 'invalid_target', {
        detail: 'The request needs exactly one Host header with a host name or address.',
      });
    }
    if (known.has(host) || isLoopbackHost(host)) return null;
    if (anyHost.has(request.url.split('?', 1)[0] as string)) return null;
    return (
      sendHome(request, reply, { basePath, publicUrl }) ?? sendProblem(request, reply, 'host_not_allowed')
    );
  };
}

/** A person who typed the address is sent where the pages are, once: a proxy that hides the host must not make a circle. */
function sendHome(
  request: FastifyRequest,
  reply: FastifyReply,
  { basePath, publicUrl }: Pick<TargetOptions, 'basePath' | 'publicUrl'>,
): FastifyReply | null {
  const [path = '', search = ''] = request.url.split('?');
  const query = new URLSearchParams(search);
  if (request.method !== 'GET' || !wantsHtml(request) || query.has(MOVED)) return null;
  query.set(MOVED, '1');
  const below = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : '/';
  return reply.redirect(`${publicUrl()}${below}?${query}`, 302);
}

/**
 * Where no page of another origin has business, allowed or not: what a person's session cookie or the operator's key opens,
 * and the doors of the paper venues, which tell agents apart by their own headers.
 */
const CLOSED = /^\/(owner|console|operator|internal|metrics|paper)(\/|$)/;
/** The one operation of the desk beside the doors. */
const FAUCET = '/paper/faucet';

/** The doors take no cookies, and some venue clients send an Origin: what a page cannot send unasked may pass. */
const DOORS = /^\/paper\//;

/**
 * Reads, and writes that a browser sends for a page of another origin only after a preflight, which nothing here answers; or
 * that have no body. Never the faucet; the Solana door refuses airdrops itself.
 */
function isOpenDoor(request: FastifyRequest, basePath: string): boolean {
  const { routeOptions, method, headers } = request;
  const route = routeOptions.url ?? '';
  const below = route.startsWith(`${basePath}/`) ? route.slice(basePath.length) : route;
  // A socket needs no preflight, and what it tells could be read by the page.
  if (!DOORS.test(below) || below === FAUCET || method === 'OPTIONS' || headers.upgrade !== undefined)
    return false;
  if (method === 'GET' || method === 'HEAD') return true;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return !hasBody || /^application\/json *(;|$)/i.test(headers['content-type'] ?? '');
}

/** The route that was found counts, however its path was spelt; where none was, the path. */
function isClosed({ routeOptions, url }: FastifyRequest, basePath: string): boolean {
  const path = url.split('?', 1)[0] as string;
  return [routeOptions.url ?? '', path].some((one) => {
    const below = one.startsWith(`${basePath}/`) ? one.slice(basePath.length) : one;
    return CLOSED.test(below) && below !== FAUCET;
  });
}

/**
 * Lets an allowed page read any answer: so this comes before everything that refuses. The key travels in
 * Authorization alone: no answer allows credentials, so a browser shows none that it sent cookies for.
 */
export function showToPages(app: FastifyInstance, { basePath, origins }: TargetOptions): void {
  if (origins.length === 0) return;
  const allowed = new Set(origins);
  app.addHook('onRequest', (request, reply, done) => {
    // Also for other callers: a cache must not give a page what it kept of them.
    reply.header('vary', 'Origin');
    const given = request.headers.origin;
    if (given !== undefined && allowed.has(given) && !isClosed(request, basePath))
      reply.header('access-control-allow-origin', given).header('access-control-expose-headers', EXPOSED);
    done();
  });
}

function originJudge({ basePath, publicUrl, origins }: TargetOptions): Judge {
  const allowed = new Set(origins);
  return (request, reply) => {
    const given = request.headers.origin;
    if (given === undefined) return null;
    // The Host is one of ours by now, so a page that was loaded from it is ours, too.
    const isOwn =
      given === new URL(publicUrl()).origin || given.replace(/^https?:\/\//, '') === request.headers.host;
    if (isOwn && !allowed.has(given)) return null;
    if (isOpenDoor(request, basePath)) return null;
    if (!allowed.has(given)) return sendProblem(request, reply, 'origin_not_allowed');
    if (!isClosed(request, basePath)) return answerPreflight(request, reply);
    return isOwn ? null : sendProblem(request, reply, 'origin_not_allowed', { detail: CLOSED_TO_PAGES });
  };
}

/** @returns `null` for any other request */
function answerPreflight({ headers, method }: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return null;
  return reply
    .header('access-control-allow-methods', 'GET, POST, DELETE')
    .header('access-control-allow-headers', ALLOWED_HEADERS)
    .header('access-control-max-age', PREFLIGHT_S)
    .code(204)
    .send();
}
