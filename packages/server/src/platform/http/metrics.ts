/**
 * `GET /metrics` for Prometheus: how the service and its process fare. Routes are named by their pattern, so that no
 * path and no key becomes a label. For the operator's key, or from this machine. What alerts and panels are made of these
 * is in scripts/ops/.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { addressOf, isLocal } from './addresses.ts';
import { operatorFault } from './identify.ts';
import type { Admission } from './load-control.ts';
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

export interface MetricsSources {
  readonly gate: Gate & { readonly admission: Pick<Admission, 'state' | 'shed'> };
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
      this.inc(gate.admission.shed);
    },
  });
  new Gauge({
    name: 'bellwether_in_flight',
    help: 'Requests and trades under way, trades that wait for a slot, and open streams',
    labelNames: ['what'],
    registers,
    collect() {
      const { requests, trades, waiting } = gate.admission.state;
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
