/**
 * `node bench/overload.ts [seconds]`: how the service behaves at twice its capacity. First the peak: enough
 * connections that there is always work. Then an open loop: orders are sent by the clock, at a multiple of the peak,
 * whether the earlier ones are answered or not, and each is measured from the moment at which it was due. So a service
 * that falls behind cannot hide it by keeping the load generator waiting. Default: 90 seconds.
 */
import { createWriteStream } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { askOnce, runLoad } from './load.ts';
import { type OpenLoadResult, runOpenLoad } from './open-load.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const AGENTS = 64;
const CONNECTIONS = 64;
const PEAK_SECONDS = 10;
const PEAK_ORDERS_PER_SECOND = 3_000;
const TIMES_PEAK = 2;
/** More new orders than the service accepts at the peak; those turned away are sent again. */
const SPARE = 1.25;
const SIGN_AT_ONCE = 5_000;
const SAMPLE_EVERY_MS = 10_000;
const LONGEST_SECONDS = 1_200;
const AFTER_MS = 4_000;
const PROBE_EVERY_MS = 50;
const NORMAL_FACTOR = 3;
const MANY_SECONDS = 90;
const MEGABYTE = 1_000_000;

const seconds = Number(process.argv[2] ?? 60);
if (!(seconds >= 5 && seconds <= LONGEST_SECONDS))
  throw new Error(`usage: node bench/overload.ts [seconds, 5 to ${LONGEST_SECONDS}]`);

async function peakOf(service: BenchService, requests: readonly string[]): Promise<number> {
  const { perSecond, bad, examples } = await runLoad({
    port: service.port,
    connections: CONNECTIONS,
    seconds: PEAK_SECONDS,
    requests,
    expectStatus: 201,
    expectText: '"success":true',
  });
  if (bad > 0) throw new Error(`${bad} bad answers at the peak, e.g.\n${examples[0]}`);
  return perSecond;
}

/** Milliseconds per order, sent one after another; a request that is not accepted took for ever. */
async function alone(service: BenchService, requests: readonly string[]): Promise<number[]> {
  const took: number[] = [];
  for (const request of requests) {
    const { answer, tookMs } = await askOnce(service.port, request);
    took.push(answer.startsWith('HTTP/1.1 201 ') ? tookMs : Number.POSITIVE_INFINITY);
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
  return took;
}

/** All values of a short run; the range of a long one. */
const secondsOf = (counts: readonly number[]): string =>
  counts.length <= MANY_SECONDS ? counts.join(' ') : `${Math.min(...counts)} to ${Math.max(...counts)}`;

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

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

async function measure(service: BenchService): Promise<void> {
  const desk = await openDesk(service.url, AGENTS);
  const prepare = (count: number) => requestsOf(desk, count);

  const calmMs = median(await alone(service, await prepare(40)));
  const peak = await peakOf(service, await prepare(PEAK_ORDERS_PER_SECOND * PEAK_SECONDS));
  const file = join(dataDir, 'orders.jsonl');
  await writeOrders(file, Math.ceil(peak * seconds * SPARE), prepare);
  // Signed before the run: signing during it would take processor time from the service.
  const later = await prepare(Math.ceil(AFTER_MS / PROBE_EVERY_MS / 2));
  const before = await service.memory();
  const samples: number[] = [];
  const sampling = setInterval(() => samples.push(service.rss()), SAMPLE_EVERY_MS);
  const total = await runOpenLoad({ port: service.port, perSecond: TIMES_PEAK * peak, seconds, file });
  clearInterval(sampling);
  const endedAt = performance.now();
  const probes = await alone(service, later);
  const normal = probes.findIndex((_, at) =>
    probes.slice(at, at + 3).every((ms) => ms < Math.max(NORMAL_FACTOR * calmMs, 50)),
  );
  const spent = probes
    .slice(0, Math.max(0, normal))
    .reduce((sum, ms) => sum + Math.min(ms, AFTER_MS) + PROBE_EVERY_MS, 0);
  const recoveryMs = normal < 0 ? performance.now() - endedAt : spent;
  const after = await service.memory();

  print({ peak, calmMs, recoveryMs, total, rss: [before.rss, ...samples, after.rss] });
  process.exitCode = total.bad > 0 ? 1 : 0;
}

interface Measured {
  readonly peak: number;
  readonly calmMs: number;
  readonly recoveryMs: number;
  readonly total: OpenLoadResult;
  readonly rss: readonly number[];
}

function print({ peak, calmMs, recoveryMs, total, rss }: Measured): void {
  const whole = (value: number): string => String(Math.round(value));
  const share = whole((total.acceptedPerSecond / peak) * 100);
  const example = total.bad > 0 ? `, e.g. ${total.examples[0]}` : '';
  const rows: (readonly [string, string])[] = [
    ['peak', `${whole(peak)} trades/s (${CONNECTIONS} connections, each waits for its answer)`],
    [
      'offered',
      `${whole(total.offeredPerSecond)}/s for ${whole(total.seconds)} s, up to ${total.connections} connections, sent at most ${whole(total.lateMs)} ms late`,
    ],
    ['accepted', `${whole(total.acceptedPerSecond)}/s: ${share} % of the peak`],
    [
      'accepted, from when due',
      `p50 ${whole(total.p50Ms)} ms, p99 ${whole(total.p99Ms)} ms, longest ${whole(total.maxMs)} ms`,
    ],
    [
      'turned away (503)',
      `${whole(total.shedPerSecond)}/s; p50 ${whole(total.shedP50Ms)} ms, p99 ${whole(total.shedP99Ms)} ms`,
    ],
    ['anything else', `${total.bad}${example}`],
    ['accepted by second', secondsOf(total.bySecond)],
    ['resident memory', `${rss.map((bytes) => whole(bytes / MEGABYTE)).join(' → ')} MB`],
    ['back to normal', `${whole(recoveryMs)} ms after the load (one order alone: ${whole(calmMs)} ms)`],
  ];
  for (const [what, figure] of rows) console.log(`| ${what.padEnd(24)} | ${figure} |`);
}

console.log(`Measuring; load average before ${(loadavg()[0] ?? 0).toFixed(1)}.`);
const dataDir = newDataFolder();
const service = await startService({ dataDir, env: ENVIRONMENT });
try {
  await measure(service);
} finally {
  await service.stop();
  removeFolder(dataDir);
}
