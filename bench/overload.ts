/**
 * The service at twice its capacity. First a burst of orders at once on an idle service, then the peak: enough connections that there
 * is always work. Then an open loop: orders are sent by the clock, at twice the peak, whether the earlier ones are answered or not, and
 * each is timed from the moment at which it was due. So a service that falls behind cannot hide it by keeping the load generator waiting.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { askOnce, httpText, type LoadResult, runLoad } from './load.ts';
import { type OpenLoadResult, runOpenLoad } from './open-load.ts';
import { median, megabytes, ms, type Report, type RowOptions, times, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type Desk, ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const ROOT = join(import.meta.dirname, '..');
const AGENTS = 64;
const CONNECTIONS = 64;
const BURST = 200;
const PEAK_SECONDS = 10;
const PEAK_ORDERS_PER_SECOND = 3_000;
const TIMES_PEAK = 2;
const SECONDS = { short: 20, full: 60 };
/** More new orders than the service accepts at the peak; those turned away are sent again. */
const SPARE = 1.25;
const SIGN_AT_ONCE = 5_000;
const AFTER_MS = 4_000;
const PROBE_EVERY_MS = 50;
/** Each costs the orders beside it a few milliseconds; they are here to see whether they pass. */
const EXITS_EVERY_MS = 500;
const NORMAL_FACTOR = 3;

interface Measured {
  readonly root: string;
  readonly burst: { readonly turnedAway: number; readonly lastMs: number };
  readonly peak: LoadResult;
  readonly twice: OpenLoadResult;
  /** Cancels and pauses meanwhile, each over a new connection. */
  readonly exits: { readonly failed: number; readonly slowestMs: number };
  readonly rss: readonly [before: number, after: number];
  readonly recoveryMs: number;
}

export async function benchOverload({ full, roots }: RowOptions): Promise<Report> {
  const measured: Measured[] = [];
  for (const root of [ROOT, ...roots]) measured.push(await measureIn(root, full));
  const ratios = measured.flatMap(({ root, burst, peak, twice, exits }): Report['ratios'] => {
    const where = root === ROOT ? '' : `, ${root}`;
    return [
      [`accepted at twice the peak ÷ peak${where}`, times(twice.acceptedPerSecond / peak.perSecond), '≥ 0.9'],
      [`p99 at twice the peak ÷ p99 at the peak${where}`, times(twice.p99Ms / peak.p99Ms), '≤ 4'],
      [`cancels and pauses that failed at twice the peak${where}`, whole(exits.failed), '0'],
      [`turned away of ${BURST} orders at once on an idle service${where}`, whole(burst.turnedAway), '0'],
    ];
  });
  const rows = measured.map(({ root, burst, peak, twice, exits, rss, recoveryMs }) => [
    root === ROOT ? 'service' : root,
    `last after ${ms(burst.lastMs)}`,
    `${whole(peak.perSecond)}/s, p99 ${ms(peak.p99Ms)}`,
    `${whole(twice.acceptedPerSecond)}/s, p50 ${ms(twice.p50Ms)}, p99 ${ms(twice.p99Ms)}`,
    `${whole(twice.shedPerSecond)}/s, p99 ${ms(twice.shedP99Ms)}`,
    `slowest ${ms(exits.slowestMs)}`,
    rss.map(megabytes).join(' → '),
    ms(recoveryMs),
  ]);
  const head = [
    `${BURST} at once`,
    'peak',
    'accepted at twice the peak',
    'turned away',
    'cancels and pauses',
    'memory',
    'back to normal',
  ];
  return { ratios, tables: [{ head: ['overload', ...head], rows }] };
}

async function measureIn(root: string, full: boolean): Promise<Measured> {
  const dataDir = newDataFolder();
  const service = await startService({ dataDir, root, env: ENVIRONMENT });
  try {
    const desk = await openDesk(service.url, AGENTS);
    const prepare = (count: number) => requestsOf(desk, count);
    const calmMs = median(await alone(service, await prepare(40)));
    const burst = await burstOf(service, await prepare(BURST));
    const peak = await peakOf(service, await prepare(PEAK_ORDERS_PER_SECOND * PEAK_SECONDS));
    const seconds = full ? SECONDS.full : SECONDS.short;
    const file = join(dataDir, 'orders.jsonl');
    await writeOrders(file, Math.ceil(peak.perSecond * seconds * SPARE), prepare);
    // Signed before the run: signing during it would take processor time from the service.
    const later = await prepare(Math.ceil(AFTER_MS / PROBE_EVERY_MS / 2));
    const before = service.rss();
    const perSecond = TIMES_PEAK * peak.perSecond;
    const load = runOpenLoad({ port: service.port, perSecond, seconds, file });
    const [twice, exits] = await Promise.all([load, exitsDuring(load, service, desk)]);
    if (twice.bad > 0)
      throw new Error(`${twice.bad} bad answers at twice the peak, e.g.\n${twice.examples[0]}`);
    const recoveryMs = recoveryOf(await alone(service, later), calmMs);
    return { root, burst, peak, twice, exits, rss: [before, service.rss()], recoveryMs };
  } finally {
    await service.stop();
    removeFolder(dataDir);
  }
}

async function burstOf({ port }: BenchService, requests: readonly string[]): Promise<Measured['burst']> {
  const answers = await Promise.all(requests.map((request) => askOnce(port, request)));
  const taken = answers.filter(({ answer }) => answer.startsWith('HTTP/1.1 201 '));
  const lastMs = Math.max(...taken.map(({ tookMs }) => tookMs));
  return { turnedAway: answers.length - taken.length, lastMs };
}

async function exitsDuring(
  load: Promise<unknown>,
  { port }: BenchService,
  desk: Desk,
): Promise<Measured['exits']> {
  const [agent] = desk.agents;
  const [market] = desk.markets;
  if (agent === undefined || market === undefined) throw new Error('there is no agent or no market');
  const cancel = JSON.stringify({ marketConditionId: market.conditionId });
  const requests = [
    httpText('POST', '/markets/orders/cancel-market', agent.apiKey, cancel),
    httpText('POST', '/agents/settings', desk.visitorKey, '{"tradingPaused":true}'),
  ];
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  void load.then(end, end);
  let failed = 0;
  let slowestMs = 0;
  while (!isOver) {
    for (const request of requests) {
      const { answer, tookMs } = await askOnce(port, request);
      if (!answer.startsWith('HTTP/1.1 200 ')) failed += 1;
      slowestMs = Math.max(slowestMs, tookMs);
    }
    await new Promise((resolve) => setTimeout(resolve, EXITS_EVERY_MS));
  }
  return { failed, slowestMs };
}

async function peakOf({ port }: BenchService, requests: readonly string[]): Promise<LoadResult> {
  const load = { port, connections: CONNECTIONS, seconds: PEAK_SECONDS, requests };
  const peak = await runLoad({ ...load, expectStatus: 201, expectText: '"success":true' });
  if (peak.bad > 0) throw new Error(`${peak.bad} bad answers at the peak, e.g.\n${peak.examples[0]}`);
  return peak;
}

/** Milliseconds for each order, sent one after another; a request that is not accepted took for ever. */
async function alone({ port }: BenchService, requests: readonly string[]): Promise<number[]> {
  const took: number[] = [];
  for (const request of requests) {
    const { answer, tookMs } = await askOnce(port, request);
    took.push(answer.startsWith('HTTP/1.1 201 ') ? tookMs : Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  return took;
}

/** Milliseconds until three orders in a row took about as long as on an idle service. */
function recoveryOf(probes: readonly number[], calmMs: number): number {
  const isNormal = (took: number): boolean => took < Math.max(NORMAL_FACTOR * calmMs, 50);
  const at = probes.findIndex((_, index) => probes.slice(index, index + 3).every(isNormal));
  if (at < 0) return Number.POSITIVE_INFINITY;
  return probes.slice(0, at).reduce((sum, took) => sum + Math.min(took, AFTER_MS) + PROBE_EVERY_MS, 0);
}

async function writeOrders(
  file: string,
  count: number,
  prepare: (count: number) => Promise<string[]>,
): Promise<void> {
  const stream = createWriteStream(file);
  for (let left = count; left > 0; left -= SIGN_AT_ONCE) {
    const orders = await prepare(Math.min(SIGN_AT_ONCE, left));
    stream.write(orders.map((order) => `${JSON.stringify(order)}\n`).join(''));
  }
  stream.end();
  await finished(stream);
}
