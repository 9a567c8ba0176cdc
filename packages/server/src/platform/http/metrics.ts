/**
 * `GET /metrics` for Prometheus: how the service and its process fare. Routes are named by their pattern, so that no
 * path and no key becomes a label. For the operator's key, or from this machine. What alerts and panels are made of these
 * is in scripts/ops/.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { OPERATOR_LIMITS, type OperatorStatus } from '@bellwether/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestTrace, Tracer } from '../tracing.ts';
import { addressOf, isLocal } from './addresses.ts';
import { operatorFault } from './identify.ts';
import type { Gatekeeper } from './load-control.ts';
import { sendProblem } from './problem.ts';
import type { Gate } from './routes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The code of the problem that was answered. */
    problemCode: string | null;
  }
  interface FastifyInstance {
    /** A venue refused an order, which is an answer and no problem. */
    countVenueRefusal: (trading: 'signed orders' | 'quotes', code: string) => void;
  }
}

/** Counts the answer to a trade when it is the venue's refusal. */
export function noteRefusal(
  { server }: Pick<FastifyRequest, 'server'>,
  trading: 'signed orders' | 'quotes',
  { success, errorCode }: { readonly success?: boolean; readonly errorCode?: string },
): void {
  if (success === false && errorCode !== undefined) server.countVenueRefusal(trading, errorCode);
}

interface MetricsSources {
  readonly gate: Gate & { readonly gatekeeper: Pick<Gatekeeper, 'state' | 'shed'> };
  readonly venues: () => readonly {
    readonly id: string;
    status(): string;
    counts?(): Readonly<Record<string, number>>;
  }[];
  /** When each of them was placed, in epoch milliseconds. */
  readonly ordersInDoubt: () => Promise<readonly number[]>;
  readonly queues: () => Promise<Readonly<Record<string, number>>>;
  readonly streams: () => number;
  /** Whether this process leads the paper exchange. */
  readonly leads: () => boolean;
  readonly now: () => number;
}

/** Reports of parts of the service, as things happen. */
export interface Meters {
  readonly registry: Registry;
  /** A commit of the paper exchange's journal, with the orders in it. */
  readonly committed: (ms: number) => void;
  readonly jobEnded: (job: string, ms: number, succeeded: boolean) => void;
  /** An attempt to call an external service had no usable answer. */
  readonly callFailed: (service: string, reason: string) => void;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** @param now epoch milliseconds */
export function createMeters(now: () => number): Meters {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const commits = new Histogram({
    name: 'bellwether_commit_duration_seconds',
    help: "Time that a group of orders takes to become durable with the paper exchange's journal",
    buckets: SECONDS,
    registers,
  });
  const labelNames = ['job'];
  const turns = new Gauge({
    name: 'bellwether_job_turn_seconds',
    help: "How long a job's last turn took",
    labelNames,
    registers,
  });
  const succeeded = new Gauge({
    name: 'bellwether_job_last_success_timestamp_seconds',
    help: 'When a job last did its turn without an error',
    labelNames,
    registers,
  });
  const failures = new Counter({
    name: 'bellwether_job_failures_total',
    help: 'Turns of a job that ended with an error',
    labelNames,
    registers,
  });
  const calls = new Counter({
    name: 'bellwether_external_call_failures_total',
    help: 'Attempts to call an external service (venue, chain, signing provider) without a usable answer, by reason',
    labelNames: ['service', 'reason'],
    registers,
  });
  return {
    registry,
    callFailed: (service, reason) => calls.inc({ service, reason }),
    committed: (ms) => commits.observe(ms / 1000),
    jobEnded(job, ms, isDone) {
      turns.set({ job }, ms / 1000);
      if (isDone) succeeded.set({ job }, now() / 1000);
      failures.inc({ job }, isDone ? 0 : 1);
    },
  };
}

export function bindMetrics(
  app: FastifyInstance,
  basePath: string,
  { registry }: Meters,
  sources: MetricsSources,
): void {
  countRequests(app, registry);
  readVenues(registry, sources);
  readQueues(registry, sources);
  app.get(`${basePath}/metrics`, { schema: { hide: true } }, async (request, reply) =>
    (await mayRead(sources.gate, request, reply))
      ? reply.type(registry.contentType).send(await registry.metrics())
      : reply,
  );
}

function countRequests(app: FastifyInstance, registry: Registry): void {
  const registers = [registry];
  const duration = new Histogram({
    name: 'bellwether_http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers,
  });
  const refusals = new Counter({
    name: 'bellwether_refusals_total',
    help: 'Answers with a 4xx or 5xx status, by route and error code',
    labelNames: ['route', 'status', 'code'],
    registers,
  });
  const byVenue = new Counter({
    name: 'bellwether_venue_refusals_total',
    help: 'Orders that a venue refused, by how one trades there and the reason',
    labelNames: ['trading', 'code'],
    registers,
  });
  app.decorateRequest('problemCode', null);
  app.decorate('countVenueRefusal', (trading, code) => byVenue.inc({ trading, code }));
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const status = String(reply.statusCode);
    duration.observe({ method: request.method, route, status }, reply.elapsedTime / 1000);
    if (reply.statusCode >= 400) refusals.inc({ route, status, code: request.problemCode ?? 'none' });
  });
}

function readVenues(registry: Registry, { venues, ordersInDoubt, leads, now }: MetricsSources): void {
  const registers = [registry];
  new Gauge({
    name: 'bellwether_venue_ready',
    help: '1 while the venue takes orders',
    labelNames: ['venue'],
    registers,
    collect() {
      for (const venue of venues()) this.set({ venue: venue.id }, venue.status() === 'ready' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bellwether_venue_count',
    help: 'What a live venue counts: followed wallets, books and sockets, refusals without a code, contradictions, unreadable markets, doubted books, quotas',
    labelNames: ['venue', 'what'],
    registers,
    collect() {
      for (const venue of venues())
        for (const [what, count] of Object.entries(venue.counts?.() ?? {}))
          this.set({ venue: venue.id, what }, count);
    },
  });
  new Gauge({
    name: 'bellwether_oldest_doubt_seconds',
    help: 'Age of the oldest order that no evidence has closed yet; 0 without one',
    registers,
    async collect() {
      const placedAt = await ordersInDoubt();
      this.set(placedAt.length === 0 ? 0 : Math.max(0, now() - Math.min(...placedAt)) / 1000);
    },
  });
  new Gauge({
    name: 'bellwether_orders_in_doubt',
    help: 'Orders that no evidence has closed yet',
    registers,
    async collect() {
      this.set((await ordersInDoubt()).length);
    },
  });
  new Gauge({
    name: 'bellwether_exchange_leads',
    help: '1 while this process leads the paper exchange',
    registers,
    collect() {
      this.set(leads() ? 1 : 0);
    },
  });
}

function readQueues(registry: Registry, { gate, queues, streams }: MetricsSources): void {
  const registers = [registry];
  new Counter({
    name: 'bellwether_shed_total',
    help: 'Requests that were turned away because more came than can be done',
    registers,
    collect() {
      this.reset();
      this.inc(gate.gatekeeper.shed);
    },
  });
  new Gauge({
    name: 'bellwether_in_flight',
    help: 'Requests and trades under way, trades that wait for a slot, and open streams',
    labelNames: ['what'],
    registers,
    collect() {
      const { requests, trades, waiting } = gate.gatekeeper.state;
      for (const [what, count] of Object.entries({ requests, trades, waiting, streams: streams() }))
        this.set({ what }, count);
    },
  });
  new Gauge({
    name: 'bellwether_queue_depth',
    help: 'What waits in the database to be done; counted to ten thousand',
    labelNames: ['queue'],
    registers,
    async collect() {
      for (const [queue, count] of Object.entries(await queues())) this.set({ queue }, count);
    },
  });
}

/** Answers with the reason where not. */
async function mayRead(gate: Gate, request: FastifyRequest, reply: FastifyReply): Promise<boolean> {
  const fault = isLocal(request, gate.publicUrl())
    ? null
    : operatorFault(request.headers.authorization, gate.operatorKey);
  if (fault === null) return true;
  const guesses =
    fault.failures === null ? null : await gate.rateLimits.draw(fault.failures, addressOf(request));
  if (guesses !== null && !guesses.allowed)
    sendProblem(request, reply, 'rate_limited', { retryAfterS: guesses.retryAfterS });
  else sendProblem(request, reply, fault.code, fault.detail === undefined ? {} : { detail: fault.detail });
  return false;
}

// How requests fared in the last one to two minutes, by route, and how late timers ran: what a person wants to see. Metrics count
// since the start, for programs that keep what they read.

const WINDOW_MS = 60_000;
const LOOK_EVERY_MS = 20;
const NS_PER_MS = 1e6;
/** Upper bounds of the buckets, in milliseconds. */
const BOUNDS = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 10_000] as const;

type Seen = Pick<OperatorStatus['thisReplica'], 'eventLoopPauseMs' | 'overSeconds' | 'routes'>;

interface Route {
  count: number;
  failed: number;
  refused: number;
  /** The last bucket is beyond all bounds. */
  readonly buckets: number[];
}

const newRoute = (): Route => ({
  count: 0,
  failed: 0,
  refused: 0,
  buckets: Array<number>(BOUNDS.length + 1).fill(0),
});

interface Window {
  readonly since: number;
  readonly routes: Map<string, Route>;
  readonly pauses: ReturnType<typeof monitorEventLoopDelay>;
}

function newWindow(): Window {
  const pauses = monitorEventLoopDelay({ resolution: LOOK_EVERY_MS });
  pauses.enable();
  return { since: performance.now(), routes: new Map(), pauses };
}

/** Follows what is answered from now on. @returns what was seen */
export function watchRequests(app: FastifyInstance): () => Seen {
  let current = newWindow();
  let before: Window | null = null;
  const turn = (): void => {
    if (performance.now() - current.since < WINDOW_MS) return;
    before?.pauses.disable();
    before = current;
    current = newWindow();
  };
  app.addHook('onResponse', (request, reply, done) => {
    // The time of a stream says nothing.
    if (request.routeOptions.config?.operation?.produces === undefined)
      note(current.routes, request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime);
    done();
  });
  const timer = setInterval(turn, WINDOW_MS / 10);
  timer.unref();
  app.addHook('onClose', async () => {
    clearInterval(timer);
    current.pauses.disable();
    before?.pauses.disable();
  });
  return () => seenIn(before === null ? [current] : [before, current]);
}

function note(routes: Map<string, Route>, url: string, status: number, elapsedMs: number): void {
  let route = routes.get(url);
  if (route === undefined) {
    route = newRoute();
    routes.set(url, route);
  }
  route.count += 1;
  if (status >= 500) route.failed += 1;
  else if (status >= 400) route.refused += 1;
  let bucket = 0;
  while (bucket < BOUNDS.length && elapsedMs > (BOUNDS[bucket] as number)) bucket += 1;
  route.buckets[bucket] = (route.buckets[bucket] as number) + 1;
}

function seenIn(windows: readonly Window[]): Seen {
  const [first] = windows as [Window];
  const overMs = Math.max(1, performance.now() - first.since);
  const sums = new Map<string, Route>();
  for (const [url, route] of windows.flatMap(({ routes }) => [...routes])) {
    const sum = sums.get(url) ?? newRoute();
    sums.set(url, {
      count: sum.count + route.count,
      failed: sum.failed + route.failed,
      refused: sum.refused + route.refused,
      buckets: sum.buckets.map((count, i) => count + (route.buckets[i] as number)),
    });
  }
  const pauses = windows.map(({ pauses: seen }) => seen);
  const longest = (of: (seen: Window['pauses']) => number): number =>
    Math.max(0, ...pauses.map((seen) => round(of(seen) / NS_PER_MS - LOOK_EVERY_MS)));
  return {
    overSeconds: round(overMs / 1_000),
    eventLoopPauseMs: {
      p50: longest((seen) => seen.percentile(50)),
      p99: longest((seen) => seen.percentile(99)),
      longest: longest((seen) => seen.max),
    },
    routes: [...sums]
      .sort(([, a], [, b]) => b.count - a.count)
      .slice(0, OPERATOR_LIMITS.routesShown)
      .map(([route, { count, failed, refused, buckets }]) => ({
        route,
        perSecond: round(count / (overMs / 1_000)),
        failed,
        refused,
        p50Ms: percentile(buckets, count, 0.5),
        p99Ms: percentile(buckets, count, 0.99),
      })),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

/** The bound of the bucket in which the share is reached; `null` beyond all bounds. */
function percentile(buckets: readonly number[], count: number, share: number): number | null {
  let seen = 0;
  const bucket = buckets.findIndex((inBucket) => {
    seen += inBucket;
    return seen >= count * share;
  });
  return BOUNDS[bucket] ?? null;
}

// One trace for each request, while traces are exported; otherwise nothing here is called.

declare module 'fastify' {
  interface FastifyRequest {
    /** Only while traces are exported. */
    trace?: RequestTrace;
  }
}

/** Must come before every other hook: what they do belongs to the request's time. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { traceparent } = request.headers;
    const trace = tracer.begin({
      method: request.method,
      // Paths hold claim codes and ids of keys.
      route: request.routeOptions.url ?? 'none',
      requestId: request.id,
      traceparent: typeof traceparent === 'string' ? traceparent : undefined,
    });
    request.trace = trace;
    // Not every answer goes through the framework's hooks, and a caller may leave before there is one.
    reply.raw.once('close', () =>
      trace.end({
        status: reply.raw.writableFinished ? reply.raw.statusCode : null,
        problemCode: request.problemCode,
      }),
    );
    done();
  });
}
