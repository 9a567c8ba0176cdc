/** The faults of the doors of CLOB and relayer: hooks around its routes, which know nothing of them. Wire reference 2.5 and 2.14. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Faults } from './faults.ts';

const GEO_TEXT =
  'Trading restricted in your region, please refer to available regions - https://docs.polymarket.com/developers/CLOB/geoblock';
const DISABLED_TEXT = 'Trading is currently disabled. Check polymarket.com for updates';
const CANCEL_ONLY_TEXT =
  'Trading is currently cancel-only. New orders are not accepted, but cancels are allowed.';
const POST_ONLY_TEXT = 'post-only mode: only post-only orders and cancels are allowed';
const LIMITED_TEXT = 'Too Many Requests';

interface FaultAnswer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

type Trading = 'order' | 'cancel' | 'submit';

/** Kind of a request, by method and path below the mount; `null` for reads and keys. */
function tradingOf({ method, url }: FastifyRequest, mount: string): Trading | null {
  const [path = ''] = url.slice(mount.length).split('?', 1);
  if (method === 'POST' && path === '/submit') return 'submit';
  if (method === 'POST') return path === '/order' || path === '/orders' ? 'order' : null;
  if (method !== 'DELETE') return null;
  return ['/order', '/orders', '/cancel-all', '/cancel-market-orders'].includes(path) ? 'cancel' : null;
}

const TIMED_OUT: FaultAnswer = { status: 500, body: { error: 'order timed out' } };

const retryAfter = (ms: number | null): Record<string, string> =>
  ms === null ? {} : { 'retry-after': String(Math.max(1, Math.ceil(ms / 1_000))) };

/** Must be called after the door's guard: strangers stay bounded in every fault that the venue shows. */
export function injectFaults(door: FastifyInstance, mount: string, faults: Faults): void {
  const timesOutLate = new WeakSet<FastifyRequest>();

  door.addHook('onRequest', async (request, reply) => {
    if (!faults.isOn) return undefined;
    const waitMs = faults.latencyMs();
    if (waitMs > 0) await sleep(waitMs);
    const answer = beforeKeys(faults, tradingOf(request, mount));
    return answer === null ? undefined : send(reply, answer);
  });

  door.addHook('preHandler', async (request, reply) => {
    if (!faults.isOn || tradingOf(request, mount) !== 'order') return undefined;
    const { mode, leftMs } = faults.mode();
    if (mode === 'post_only' && !isPostOnly(request.body)) return send(reply, postOnly(leftMs));
    if (!faults.hits('timed_out', faults.plan.timedOutShare)) return undefined;
    if (faults.hits('timed_out_late', 0.5)) {
      timesOutLate.add(request);
      return undefined;
    }
    return send(reply, TIMED_OUT);
  });

  // After the handler: what was asked for has happened, and the answer does not say so.
  door.addHook('onSend', async (request, reply, payload) => {
    const trading = tradingOf(request, mount);
    if (!faults.isOn || trading === null || reply.statusCode !== 200) return payload;
    const { droppedShare, failedAfterShare, garbledShare } = faults.plan;
    if (faults.hits('dropped', droppedShare)) {
      request.raw.socket.destroy();
      return payload;
    }
    if (faults.hits('failed', failedAfterShare)) {
      reply.code(500);
      return JSON.stringify({ error: 'could not run the execution' });
    }
    if (timesOutLate.has(request)) {
      reply.code(TIMED_OUT.status);
      return JSON.stringify(TIMED_OUT.body);
    }
    if (faults.hits('garbled', garbledShare)) return String(payload).slice(0, -2);
    return payload;
  });
}

/** Refusals that come before the key is looked at. */
function beforeKeys(faults: Faults, trading: Trading | null): FaultAnswer | null {
  const { limitedShare, bareLimitedShare, unavailableShare } = faults.plan;
  if (faults.hits('unavailable', unavailableShare))
    return { status: 503, body: { error: 'Service is not ready' }, headers: retryAfter(1_000) };
  if (trading === null) return null;
  const { mode, leftMs } = faults.mode();
  if (mode === 'restarting') return { status: 425, headers: retryAfter(leftMs ?? 1_000) };
  if (mode === 'disabled') return { status: 503, body: { error: DISABLED_TEXT } };
  if (trading === 'order' && mode === 'geo_blocked') return { status: 403, body: { error: GEO_TEXT } };
  if (trading === 'order' && mode === 'cancel_only')
    return { status: 503, body: { error: CANCEL_ONLY_TEXT } };
  if (faults.hits('limited', limitedShare)) return limited(faults.now());
  if (faults.hits('bare', bareLimitedShare))
    return { status: 429, body: { error: LIMITED_TEXT }, headers: retryAfter(1_000) };
  return null;
}

const limited = (now: number): FaultAnswer => ({
  status: 429,
  body: { error: LIMITED_TEXT },
  headers: {
    ...retryAfter(1_000),
    'poly-ratelimit-remaining': '0',
    'poly-ratelimit-reset': String(Math.ceil(now / 1_000) + 1),
    'poly-ratelimit-tier': 'Standard',
  },
});

const postOnly = (leftMs: number | null): FaultAnswer => ({
  status: 503,
  body: {
    error: POST_ONLY_TEXT,
    code: 'post_only_mode',
    retry_after_seconds: Math.max(1, Math.ceil((leftMs ?? 60_000) / 1_000)),
  },
  headers: retryAfter(leftMs ?? 60_000),
});

/** Every order of the body is post-only. What is no JSON is left to the route. */
function isPostOnly(body: unknown): boolean {
  try {
    const given: unknown = JSON.parse(String(body ?? ''));
    const orders = Array.isArray(given) ? given : [given];
    return orders.every((order) => (order as { postOnly?: unknown } | null)?.postOnly === true);
  } catch {
    return true;
  }
}

function send(reply: FastifyReply, { status, body, headers = {} }: FaultAnswer): FastifyReply {
  reply.code(status).headers(headers);
  return body === undefined ? reply.send() : reply.send(body);
}
