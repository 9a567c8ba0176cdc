/**
 * A service with a million past orders, a hundred thousand agents and a hundred thousand resting orders beside an empty one,
 * in turns: what do trades and lists cost, how much memory does it take, how long is a restart? Both are asked by new
 * agents with equal histories, so that their answers are equally long.
 */
import { buildLimitOrder, buildMarketOrder, type Market } from '@bellwether/sdk';
import { type Growth, growDatabase } from './grow-database.ts';
import { httpText, runLoad } from './load.ts';
import { median, megabytes, ms, type Report, type RowOptions, times, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type BenchAgent, type Desk, ENVIRONMENT, newAgents, openDesk, requestsOf } from './traders.ts';

const EXTENT = { agents: 100_000, resting: 100_000 };
/** Agents whose rows the service made; the others are copies. */
const ORIGINALS = 200;
/** Markets in which each of them buys, sells, and cancels an order; it also buys in one more. Ten past orders each. */
const MARKETS_OF_EACH = 3;
const RESTERS = 200;
const AGENTS = 200;
const CONNECTIONS = 64;
const SECONDS = 3;
const ORDERS = 9_000;
const ROUNDS = 3;
const AT_ONCE = 32;
const LISTS = ['/markets/orders', '/markets/orders/open', '/markets/fills', '/markets/current-positions'];

interface Subject {
  readonly name: string;
  readonly service: BenchService;
  readonly desk: Desk;
  readonly p99Ms: Map<string, number[]>;
}

export async function benchGrowth({ rounds, share = 1 }: RowOptions): Promise<Report> {
  const folders = { empty: newDataFolder(), grown: newDataFolder() };
  const open: BenchService[] = [];
  const start = async (dataDir: string): Promise<BenchService> => {
    const service = await startService({ dataDir, env: ENVIRONMENT });
    open.push(service);
    return service;
  };
  try {
    const first = await start(folders.grown);
    await makeOriginals(first.url);
    await first.stop();
    const growth = await growDatabase(folders.grown, Math.round((EXTENT.agents * share) / ORIGINALS) - 1);
    const second = await start(folders.grown);
    await rest(second, Math.round(EXTENT.resting * share));
    await second.stop();
    const grown = await start(folders.grown);
    const empty = await start(folders.empty);
    const subjects = [await subjectOf('empty', empty), await subjectOf('grown', grown)];
    for (let round = 0; round <= (rounds ?? ROUNDS); round += 1)
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed())
        await measure(subject, round > 0);
    return reportOf(subjects, growth);
  } finally {
    for (const service of open) await service.stop();
    for (const folder of Object.values(folders)) removeFolder(folder);
  }
}

async function marketsOf(url: string): Promise<readonly Market[]> {
  return (await openDesk(url, 0)).markets;
}

/** In turns, so that the service is busy and never overloaded. */
async function each<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function makeOriginals(url: string): Promise<void> {
  const markets = await marketsOf(url);
  const agents = await newAgents(url, ORIGINALS, markets.slice(0, MARKETS_OF_EACH + 1));
  await each(agents, async ({ client, signer }) => {
    for (const market of markets.slice(0, MARKETS_OF_EACH)) {
      const order = { signer, market, outcome: 'YES' } as const;
      await client.placeTrade(
        await buildMarketOrder({ ...order, side: 'SELL', shares: 1, worstPrice: 0.02 }),
      );
      const resting = { ...order, side: 'BUY', price: '0.01', size: 5, postOnly: true } as const;
      const placed = await client.placeTrade(await buildLimitOrder(resting));
      await client.cancelOrder(placed.orderId);
    }
  });
}

async function rest(service: BenchService, count: number): Promise<void> {
  const markets = await marketsOf(service.url);
  const agents = await newAgents(service.url, RESTERS, []);
  const requests: string[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const { signer, apiKey } = agents[nth % agents.length] as BenchAgent;
    const market = markets[nth % markets.length] as Market;
    const terms = { signer, market, outcome: 'YES', side: 'BUY', price: '0.01', size: 5 } as const;
    const body = JSON.stringify(await buildLimitOrder({ ...terms, postOnly: true }));
    requests.push(httpText('POST', '/markets/trade', apiKey, body));
  }
  const { answers, bad, examples } = await runLoad({
    ...{ port: service.port, connections: CONNECTIONS, seconds: count, requests },
    ...{ expectStatus: 201, expectText: '"success":true' },
  });
  if (answers !== count) throw new Error(`${bad} resting orders were refused, e.g.\n${examples[0]}`);
}

const subjectOf = async (name: string, service: BenchService): Promise<Subject> => ({
  ...{ name, service, p99Ms: new Map() },
  desk: await openDesk(service.url, AGENTS),
});

async function measure({ name, service, desk, p99Ms }: Subject, counts: boolean): Promise<void> {
  const asked = LISTS.map((path) => ({
    what: path,
    requests: desk.agents.map(({ apiKey }) => httpText('GET', path, apiKey)),
    ...{ repeat: true, expectStatus: 200, expectText: '{' },
  }));
  const traded = {
    ...{ what: 'trades', requests: await requestsOf(desk, ORDERS), repeat: false },
    ...{ expectStatus: 201, expectText: '"success":true' },
  };
  for (const { what, ...load } of [traded, ...asked]) {
    const result = await runLoad({ port: service.port, connections: CONNECTIONS, seconds: SECONDS, ...load });
    if (result.bad > 0)
      throw new Error(`${name}, ${what}: ${result.bad} bad answers, e.g.\n${result.examples[0]}`);
    if (counts) p99Ms.set(what, [...(p99Ms.get(what) ?? []), result.p99Ms]);
  }
}

async function reportOf(subjects: readonly Subject[], growth: Growth): Promise<Report> {
  const [empty, grown] = subjects as [Subject, Subject];
  const p99 = ({ p99Ms }: Subject, what: string): number => median(p99Ms.get(what) ?? []);
  const ratio = (what: string): number => p99(grown, what) / p99(empty, what);
  const whats = ['trades', ...LISTS];
  const { rss } = await grown.service.memory();
  return {
    ratios: [
      ['growth: p99 of trades, grown ÷ empty', times(ratio('trades')), '≤ 1.3'],
      ['growth: p99 of the slowest list, grown ÷ empty', times(Math.max(...LISTS.map(ratio))), '≤ 1.3'],
      ['growth: restart to ready', `${(grown.service.readyMs / 1000).toFixed(2)} s`, '≤ 5 s'],
      ['growth: the service resident', megabytes(rss), '≤ 600 MB'],
      [
        'growth: bytes per order on disk',
        whole(growth.tables.reduce((sum, { bytesPerOrder }) => sum + bytesPerOrder, 0)),
        'half of 3,200',
      ],
    ],
    tables: [
      {
        head: [`growth, ${whole(growth.orders)} past orders, ${whole(growth.agents)} agents`, ...whats],
        rows: subjects.map((subject) => [
          `${subject.name}, p99`,
          ...whats.map((what) => ms(p99(subject, what))),
        ]),
      },
      {
        head: ['table with orders, grown', 'bytes per order'],
        rows: growth.tables.map(({ name, bytesPerOrder }) => [name, whole(bytesPerOrder)]),
      },
    ],
  };
}
