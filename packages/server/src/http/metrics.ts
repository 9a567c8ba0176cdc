/**
 * `GET /metrics` for Prometheus: how the service and its process fare. Routes are named by their pattern, so that no
 * path and no key becomes a label. For the operator's key, or from this machine.
 */
import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { addressOf, isLocal } from './addresses.ts';
import { operatorFault } from './identify.ts';
import { sendProblem } from './problem.ts';
import type { Gate } from './routes.ts';

export interface MetricsSources {
  readonly gate: Gate;
  readonly venues: () => readonly {
    readonly id: string;
    status(): string;
    counts?(): Readonly<Record<string, number>>;
  }[];
  readonly ordersInDoubt: () => Promise<number>;
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export function bindMetrics(app: FastifyInstance, basePath: string, sources: MetricsSources): void {
  const { gate } = sources;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const duration = new Histogram({
    name: 'bellwether_http_request_duration_seconds',
    help: 'Time from request to answer',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  });
  const refusals = new Counter({
    name: 'bellwether_refusals_total',
    help: 'Answers with a 4xx or 5xx status, by route',
    labelNames: ['route', 'status'],
    registers: [registry],
  });
  new Gauge({
    name: 'bellwether_venue_ready',
    help: '1 while the venue takes orders',
    labelNames: ['venue'],
    registers: [registry],
    collect() {
      for (const venue of sources.venues()) this.set({ venue: venue.id }, venue.status() === 'ready' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'bellwether_venue_count',
    help: 'What a live venue counts: followed wallets, books and sockets, refusals without a code, contradictions, unreadable markets, doubted books',
    labelNames: ['venue', 'what'],
    registers: [registry],
    collect() {
      for (const venue of sources.venues())
        for (const [what, count] of Object.entries(venue.counts?.() ?? {}))
          this.set({ venue: venue.id, what }, count);
    },
  });
  new Gauge({
    name: 'bellwether_orders_in_doubt',
    help: 'Orders that no evidence has closed yet',
    registers: [registry],
    async collect() {
      this.set(await sources.ordersInDoubt());
    },
  });

  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const status = String(reply.statusCode);
    duration.observe({ method: request.method, route, status }, reply.elapsedTime / 1000);
    if (reply.statusCode >= 400) refusals.inc({ route, status });
  });

  app.get(`${basePath}/metrics`, { schema: { hide: true } }, async (request, reply) => {
    const fault = isLocal(request, gate.publicUrl())
      ? null
      : operatorFault(request.headers.authorization, gate.operatorKey);
    if (fault !== null) {
      const guesses =
        fault.failures === null ? null : await gate.rateLimits.draw(fault.failures, addressOf(request));
      if (guesses !== null && !guesses.allowed) {
        return sendProblem(request, reply, 'rate_limited', { retryAfterS: guesses.retryAfterS });
      }
      return sendProblem(
        request,
        reply,
        fault.code,
        fault.detail === undefined ? {} : { detail: fault.detail },
      );
    }
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}
