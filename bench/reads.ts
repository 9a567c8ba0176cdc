/**
 * Costs of reads: briefing, search among many markets, context, open orders, positions; each over 64 connections.
 *
 *   node bench/reads.ts [--root <checkout>]... [--seconds 4] [--rounds 3] [--markets 10000] [--agents 200]
 *     [--only <read>]... [--profile <folder>]
 *
 * Each checkout runs as a separate service on its own embedded PostgreSQL, and the reads alternate between them, so that
 * all see the same machine. Agents registered, traded and left orders through the public interface; the house moves the
 * prices meanwhile, as always. Medians of the rounds.
 */
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BellwetherClient, buildLimitOrder, type Market } from '@bellwether/sdk';
import { httpText, runLoad } from './load.ts';
import { used } from './processor.ts';
import { median, ms, type Report, type RowOptions, type Table, tableText, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type BenchAgent, ENVIRONMENT, newAgents } from './traders.ts';

const READS = ['briefing', 'search', 'context', 'open orders', 'positions'] as const;
type Read = (typeof READS)[number];

interface Extent {
  readonly roots: readonly string[];
  readonly seconds: number;
  readonly rounds: number;
  readonly markets: number;
  readonly agents: number;
  readonly only: readonly Read[];
  /** For the service's process. */
  readonly nodeArgs: readonly string[];
}

interface Row {
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
const GOAL_PER_SECOND = 6_000;
const CONNECTIONS = 64;
const HELD_MARKETS = 4;
const OPEN_ORDERS = 3;
const QUERIES = 1_000;
/** Requests prepared for each read, repeated in turn. */
const PREPARED = 20_000;
const PAGE = 500;
/** A world of ten thousand markets takes half a minute on an idle machine. */
const FOUNDING_TIMEOUT_MS = 300_000;
const SPREAD = { lowest: 0.2, highest: 0.8 };
/** One in so many queries sorts, filters by price, or names a category. */
const SORTED_ONE_IN = 5;
const NARROWED_ONE_IN = 10;

interface Stage {
  readonly root: string;
  readonly service: BenchService;
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
    if (i % NARROWED_ONE_IN === 1) query.set('minPrice', '0.2');
    if (i % NARROWED_ONE_IN === 2) query.set('category', category);
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

async function stage(root: string, extent: Extent): Promise<Stage> {
  const dataDir = newDataFolder();
  const service = await startService({
    dataDir,
    root,
    nodeArgs: [...extent.nodeArgs, '--import', join(import.meta.dirname, 'wide-world.ts')],
    env: { ...ENVIRONMENT, BENCH_ROOT: root, BENCH_MARKETS: String(extent.markets) },
    readyTimeoutMs: FOUNDING_TIMEOUT_MS,
  });
  const end = async (): Promise<void> => {
    await service.stop();
    removeFolder(dataDir);
  };
  try {
    return { root, service, end, requests: requestsOf(await setScene(service, extent.agents)) };
  } catch (error) {
    await end();
    throw error;
  }
}

async function setScene(service: BenchService, count: number): Promise<Scene> {
  const visitor = await new BellwetherClient({ baseUrl: service.url }).registerAgent({ name: 'Visitor' });
  const client = new BellwetherClient({ baseUrl: service.url, apiKey: visitor.apiKeyCode });
  const markets = await allMarkets(client);
  const liquid = markets.filter(
    ({ tickSize, bestBid, bestAsk }) =>
      tickSize === '0.01' && Number(bestBid) >= SPREAD.lowest && Number(bestAsk) <= SPREAD.highest,
  );
  const agents = await newAgents(service.url, count, liquid.slice(0, HELD_MARKETS));
  for (const agent of agents) await restingOrders(agent, liquid);
  const { nextCursor } = await client.getBriefing({});
  return { markets, liquid, agents, cursor: nextCursor };
}
interface Scene {
  readonly markets: readonly Market[];
  readonly liquid: readonly Market[];
  readonly agents: readonly BenchAgent[];
  readonly cursor: string;
}

function requestsOf({ markets, liquid, agents, cursor }: Scene): Stage['requests'] {
  const prepared = (path: (turn: number) => string): string[] =>
    Array.from({ length: PREPARED }, (_, turn) =>
      httpText('GET', path(turn), agents[turn % agents.length]?.apiKey ?? ''),
    );
  const asked = byZipf(searches(markets), PREPARED);
  const looked = liquid.slice(0, PAGE);
  return {
    // Every second one is the usual heartbeat, which continues from a cursor.
    briefing: prepared((turn) => `/markets/briefing${turn % 2 === 0 ? '' : `?since=${cursor}`}`),
    search: prepared((turn) => asked[turn] as string),
    context: prepared((turn) => `/markets/context/${looked[turn % looked.length]?.id}`),
    'open orders': prepared(() => '/markets/orders/open'),
    positions: prepared(() => '/markets/current-positions'),
  };
}

async function measure({ root, service, requests }: Stage, read: Read, seconds: number): Promise<Row> {
  const from = service.processor();
  const { answers, perSecond, p50Ms, p99Ms, bad, examples } = await runLoad({
    port: service.port,
    connections: CONNECTIONS,
    seconds,
    requests: requests[read],
    repeat: true,
    expectStatus: 200,
    expectText: read === 'search' ? '[' : '"',
  });
  if (bad > 0) console.error(`${nameOf(root)}, ${read}: ${bad} bad answers, e.g.\n${examples[0]}`);
  const { programMs, postgresMs } = used(from, service.processor());
  return {
    ...{ root, read, perSecond, p50Ms, p99Ms, bad },
    serviceUs: (programMs * 1_000) / answers,
    databaseUs: (postgresMs * 1_000) / answers,
  };
}

function medians(rows: readonly Row[]): Row {
  const [first] = rows as readonly [Row];
  const of = (name: Exclude<keyof Row, 'root' | 'read'>) => median(rows.map((row) => row[name]));
  return {
    ...first,
    perSecond: of('perSecond'),
    p50Ms: of('p50Ms'),
    p99Ms: of('p99Ms'),
    bad: rows.reduce((sum, { bad }) => sum + bad, 0),
    serviceUs: of('serviceUs'),
    databaseUs: of('databaseUs'),
  };
}

async function run(extent: Extent): Promise<Row[]> {
  const stages: Stage[] = [];
  try {
    for (const root of extent.roots) stages.push(await stage(root, extent));
    const rows: Row[] = [];
    for (const read of extent.only) {
      for (const one of stages) await measure(one, read, 1);
      for (let round = 0; round < extent.rounds; round += 1)
        for (const one of stages) rows.push(await measure(one, read, extent.seconds));
    }
    return extent.only.flatMap((read) =>
      extent.roots.map((root) => medians(rows.filter((row) => row.read === read && row.root === root))),
    );
  } finally {
    for (const one of stages) await one.end();
  }
}

const nameOf = (root: string): string =>
  root === HERE ? 'this one' : join(basename(dirname(root)), basename(root));

const tableOf = (rows: readonly Row[]): Table => ({
  head: [
    'reads, 64 connections',
    'checkout',
    '/s',
    'p50',
    'p99',
    'bad',
    'service, µs each',
    'PostgreSQL, µs each',
  ],
  rows: rows.map(({ root, read, perSecond, p50Ms, p99Ms, bad, serviceUs, databaseUs }) => [
    read,
    nameOf(root),
    whole(perSecond),
    ms(p50Ms),
    ms(p99Ms),
    whole(bad),
    whole(serviceUs),
    whole(databaseUs),
  ]),
});

const SHORT = { seconds: 2, rounds: 3, markets: 2_000, agents: 50, only: READS, nodeArgs: [] };
const FULL = { ...SHORT, seconds: 5, rounds: 5, markets: 10_000, agents: 200 };

/** The row of `npm run bench`. */
export async function benchReads({ full, roots, rounds }: RowOptions): Promise<Report> {
  const extent = full ? FULL : SHORT;
  const rows = await run({
    ...extent,
    roots: [HERE, ...roots.map((root) => resolve(root))],
    ...(rounds === null ? {} : { rounds }),
  });
  const own = rows.filter(({ root }) => root === HERE);
  const wrong = own.find(({ bad }) => bad > 0);
  if (wrong !== undefined) throw new Error(`${wrong.read}: ${wrong.bad} bad answers`);
  return {
    ratios: own.map(({ read, perSecond }) => [
      `${read}, answers/s`,
      whole(perSecond),
      `≥ ${whole(GOAL_PER_SECOND)}`,
    ]),
    tables: [tableOf(rows)],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      root: { type: 'string', multiple: true, default: [HERE] },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '3' },
      markets: { type: 'string', default: '10000' },
      agents: { type: 'string', default: '200' },
      only: { type: 'string', multiple: true, default: [...READS] },
      profile: { type: 'string' },
    },
  });
  const rows = await run({
    roots: values.root.map((root) => resolve(root)),
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    markets: Number(values.markets),
    agents: Number(values.agents),
    only: READS.filter((read) => values.only.includes(read)),
    nodeArgs: values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(values.profile)}`],
  });
  console.log(tableText(tableOf(rows)));
}
