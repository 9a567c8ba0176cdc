/**
 * What reads cost: briefing, search among many markets, context, open orders, positions; each over 64 connections.
 *
 *   node bench/reads.ts [--root <checkout>]... [--seconds 4] [--rounds 3] [--markets 10000] [--agents 200] [--only <name>]
 *
 * Each checkout runs as a separate service on its own embedded PostgreSQL, and the reads alternate between them, so that
 * all see the same machine. Agents registered, traded and left orders through the public interface. Per read: answers
 * per second, latency, and processor time per answer of the service and of PostgreSQL; medians of the rounds.
 */
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BellwetherClient, buildLimitOrder, type Market } from '@bellwether/sdk';
import { httpText, type LoadResult, runLoad } from './load.ts';
import { databaseClock } from './processor-time.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type BenchAgent, newAgents } from './traders.ts';
import { ENVIRONMENT } from './trades.ts';

export const READS = ['briefing', 'search', 'context', 'open orders', 'positions'] as const;
export type Read = (typeof READS)[number];

export interface ReadOptions {
  /** Checkouts of the repository; this one when empty. */
  readonly roots: readonly string[];
  readonly seconds: number;
  readonly rounds: number;
  readonly markets: number;
  readonly agents: number;
  readonly only: readonly Read[];
  /** For the service's process. */
  readonly nodeArgs?: readonly string[];
}

export interface ReadRow {
  readonly root: string;
  readonly read: Read;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bad: number;
  /** Processor microseconds per answer. */
  readonly serviceUs: number;
  readonly databaseUs: number;
}

const HERE = join(import.meta.dirname, '..');
const CONNECTIONS = 64;
const HELD_MARKETS = 4;
const OPEN_ORDERS = 3;
const QUERIES = 1_000;
/** Requests prepared for each read, repeated in turn. */
const PREPARED = 20_000;
const PAGE = 500;
/** A world of ten thousand markets takes half a minute on an idle machine. */
const FOUNDING_TIMEOUT_MS = 300_000;
const PAPER_SPREAD = { lowest: 0.2, highest: 0.8 };
/** One in so many queries sorts, filters by price, or names a category. */
const SORTED_ONE_IN = 5;
const PRICED_ONE_IN = 10;

interface Stage {
  readonly root: string;
  readonly service: BenchService;
  readonly databaseMs: () => number;
  readonly requests: Readonly<Record<Read, readonly string[]>>;
  end(): Promise<void>;
}

/** The same numbers in every run. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

async function allMarkets(client: BellwetherClient): Promise<Market[]> {
  const found: Market[] = [];
  for (let page = 1; ; page += 1) {
    const some = await client.listMarkets({ q: '*', limit: PAGE, page });
    found.push(...some);
    if (some.length < PAGE) return found;
  }
}

/** Searches as agents write them: a word or two of a title, some sorted, some within a range of prices. */
function searches(markets: readonly Market[]): string[] {
  const random = draws(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const paths = new Set<string>();
  for (let i = 0; paths.size < QUERIES; i += 1) {
    const { question, category } = pick(markets);
    const words = question.split(/[^\p{L}]+/u).filter((word) => word.length > 3);
    const query = new URLSearchParams({ q: i % 2 === 0 ? pick(words) : `${pick(words)} ${pick(words)}` });
    query.set('limit', '20');
    if (i % SORTED_ONE_IN === 0) query.set('order', i % 2 === 0 ? 'volume24hr' : 'liquidity');
    if (i % PRICED_ONE_IN === 1) query.set('minPrice', '0.2');
    if (i % PRICED_ONE_IN === 2) query.set('category', category);
    paths.add(`/markets?${query}`);
  }
  return [...paths];
}

/** By Zipf: the second most frequent is asked half as often as the first, and so on. */
function byZipf<T>(items: readonly T[], count: number): T[] {
  const random = draws(11);
  const sums: number[] = [];
  for (const [rank] of items.entries()) sums.push((sums.at(-1) ?? 0) + 1 / (rank + 1));
  const total = sums.at(-1) ?? 1;
  return Array.from({ length: count }, () => {
    const at = random() * total;
    return items[sums.findIndex((sum) => sum >= at)] as T;
  });
}

async function restingOrders({ client, signer }: BenchAgent, markets: readonly Market[]): Promise<void> {
  for (const market of markets.slice(0, OPEN_ORDERS)) {
    const terms = { signer, market, outcome: 'YES', side: 'BUY', price: '0.01', size: 5 } as const;
    await client.placeTrade(await buildLimitOrder({ ...terms, postOnly: true }));
  }
}

async function stage(root: string, options: ReadOptions): Promise<Stage> {
  const dataDir = newDataFolder();
  const service = await startService({
    dataDir,
    root,
    nodeArgs: [...(options.nodeArgs ?? []), '--import', join(import.meta.dirname, 'wide-world.ts')],
    env: { ...ENVIRONMENT, BENCH_ROOT: root, BENCH_MARKETS: String(options.markets) },
    readyTimeoutMs: FOUNDING_TIMEOUT_MS,
  });
  const visitor = await new BellwetherClient({ baseUrl: service.url }).registerAgent({ name: 'Visitor' });
  const client = new BellwetherClient({ baseUrl: service.url, apiKey: visitor.apiKeyCode });
  const markets = await allMarkets(client);
  const liquid = markets.filter(
    ({ tickSize, bestBid, bestAsk }) =>
      tickSize === '0.01' &&
      Number(bestBid) >= PAPER_SPREAD.lowest &&
      Number(bestAsk) <= PAPER_SPREAD.highest,
  );
  const agents = await newAgents(service.url, options.agents, liquid.slice(0, HELD_MARKETS));
  for (const agent of agents) await restingOrders(agent, liquid);
  const prepared = (path: (turn: number) => string): string[] =>
    Array.from({ length: PREPARED }, (_, turn) =>
      httpText('GET', path(turn), agents[turn % agents.length]?.apiKey ?? ''),
    );
  const asked = byZipf(searches(markets), PREPARED);
  const { nextCursor } = await client.getBriefing({});
  return {
    root,
    service,
    databaseMs: databaseClock(dataDir),
    requests: {
      // Every second one is the usual heartbeat, which continues from a cursor.
      briefing: prepared((turn) => `/markets/briefing${turn % 2 === 0 ? '' : `?since=${nextCursor}`}`),
      search: prepared((turn) => asked[turn] as string),
      context: prepared((turn) => `/markets/context/${liquid[turn % Math.min(liquid.length, 500)]?.id}`),
      'open orders': prepared(() => '/markets/orders/open'),
      positions: prepared(() => '/markets/positions/current'),
    },
    async end() {
      await service.stop();
      removeFolder(dataDir);
    },
  };
}

async function measure({ root, service, databaseMs, requests }: Stage, read: Read, seconds: number) {
  const [service0, database0] = [await service.cpuMs(), databaseMs()];
  const result: LoadResult = await runLoad({
    port: service.port,
    connections: CONNECTIONS,
    seconds,
    requests: requests[read],
    repeat: true,
    expectStatus: 200,
    expectText: '{',
  });
  const { answers, perSecond, p50Ms, p99Ms, bad, examples } = result;
  if (bad > 0) console.error(`${read}: ${bad} bad answers, e.g.\n${examples[0]}`);
  const serviceUs = (((await service.cpuMs()) - service0) * 1_000) / answers;
  const databaseUs = ((databaseMs() - database0) * 1_000) / answers;
  return { root, read, perSecond, p50Ms, p99Ms, bad, serviceUs, databaseUs };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

function summed(rows: readonly ReadRow[]): ReadRow {
  const [first] = rows as readonly [ReadRow];
  const of = (name: 'perSecond' | 'p50Ms' | 'p99Ms' | 'serviceUs' | 'databaseUs') =>
    median(rows.map((row) => row[name]));
  return {
    ...first,
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    serviceUs: of('serviceUs'),
    databaseUs: of('databaseUs'),
    bad: rows.reduce((sum, { bad }) => sum + bad, 0),
  };
}

export async function benchReads(options: ReadOptions): Promise<ReadRow[]> {
  const roots = options.roots.length === 0 ? [HERE] : options.roots;
  const stages: Stage[] = [];
  try {
    for (const root of roots) stages.push(await stage(root, options));
    const rows: ReadRow[] = [];
    for (const read of options.only) {
      for (const one of stages) await measure(one, read, 1);
      for (let round = 0; round < options.rounds; round += 1)
        for (const one of stages) rows.push(await measure(one, read, options.seconds));
    }
    return options.only.flatMap((read) =>
      roots.map((root) => summed(rows.filter((row) => row.read === read && row.root === root))),
    );
  } finally {
    for (const one of stages) await one.end();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      root: { type: 'string', multiple: true, default: [] },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      markets: { type: 'string', default: '10000' },
      agents: { type: 'string', default: '200' },
      only: { type: 'string', multiple: true, default: [...READS] },
      profile: { type: 'string' },
    },
  });
  const rows = await benchReads({
    roots: values.root.map((root) => resolve(root)),
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    markets: Number(values.markets),
    agents: Number(values.agents),
    only: READS.filter((read) => values.only.includes(read)),
    ...(values.profile === undefined
      ? {}
      : { nodeArgs: ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`] }),
  });
  for (const { root, read, perSecond, p50Ms, p99Ms, serviceUs, databaseUs, bad } of rows)
    console.log(
      `${read.padEnd(12)} ${dirname(root) === '/' ? root : root.split('/').slice(-2).join('/')}: ` +
        `${Math.round(perSecond)}/s, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ` +
        `${Math.round(serviceUs)} µs of the service and ${Math.round(databaseUs)} µs of PostgreSQL each` +
        (bad > 0 ? `; ${bad} BAD` : ''),
    );
  if (rows.some(({ bad }) => bad > 0)) process.exitCode = 1;
}
