/**
 * How requests fared in the last one to two minutes, by route, and how late timers ran: what a person wants to see. Metrics count
 * since the start, for programs that keep what they read.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { OPERATOR_LIMITS, type OperatorStatus } from '@bellwether/contract';
import type { FastifyInstance } from 'fastify';

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
