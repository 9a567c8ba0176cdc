/**
 * The longest pause of the service's main thread: at rest, under trades, under searches that answer with 500
 * markets, and with --full also for a snapshot among the trades and when a market is resolved that many hold and many have orders in.
 */
import { join } from 'node:path';
import { type BellwetherClient, buildLimitOrder, buildMarketOrder, type Market } from '@bellwether/sdk';
import { askOnce, httpText, runLoad } from './load.ts';
import { median, ms, type Report, type RowOptions, whole } from './report.ts';
import { newDataFolder, type Pause, removeFolder, startService } from './service.ts';
import { type BenchAgent, type Desk, ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const ROOT = join(import.meta.dirname, '..');
const AGENTS = 200;
const CONNECTIONS = 64;
const REST_MS = 3_000;
/** The longer one has more commands than there are between two snapshots. */
const TRADES = { short: { seconds: 10, orders: 12_000 }, full: { seconds: 60, orders: 24_000 } };
const MARKETS = { short: 1_000, full: 10_000 };
const FOUNDING_TIMEOUT_MS = 300_000;
const SEARCHES = 40;
const RESTING_OF_EACH = 10;
const AT_ONCE = 32;
/** The short market lasts two minutes; enough of it must be left to trade in. */
const LEAST_LEFT_MS = 60_000;
const LONGEST_LIFE_MS = 150_000;
const RESOLVED_WITHIN_MS = 300_000;
const LOOK_EVERY_MS = 500;

interface Phase {
  readonly what: string;
  readonly pause: Pause;
}

export async function benchPauses({ full, roots }: RowOptions): Promise<Report> {
  const phases: Phase[] = [];
  for (const root of [ROOT, ...roots]) phases.push(...(await phasesOf(root, full)));
  const own = phases.slice(0, phases.length / (1 + roots.length));
  const longest = Math.max(...own.map(({ pause }) => pause.processorMs));
  return {
    ratios: [['longest pause of the main thread, by its processor time', ms(longest), '≤ 20 ms']],
    tables: [
      {
        head: ['longest pause of the main thread', 'by the clock', 'by its processor time'],
        rows: phases.map(({ what, pause }) => [what, ms(pause.clockMs), ms(pause.processorMs)]),
      },
    ],
  };
}

async function phasesOf(root: string, full: boolean): Promise<Phase[]> {
  const dataDir = newDataFolder();
  const markets = full ? MARKETS.full : MARKETS.short;
  const service = await startService({
    ...{ dataDir, root, nodeArgs: ['--import', join(import.meta.dirname, 'wide-world.ts')] },
    env: { ...ENVIRONMENT, BENCH_ROOT: root, BENCH_MARKETS: String(markets) },
    readyTimeoutMs: FOUNDING_TIMEOUT_MS,
  });
  const phases: Phase[] = [];
  const phase = async (work: () => Promise<string>): Promise<void> => {
    await service.longestPause();
    phases.push({ what: await work(), pause: await service.longestPause() });
  };
  try {
    const desk = await openDesk(service.url, AGENTS);
    await phase(async () => {
      await new Promise((resolve) => setTimeout(resolve, REST_MS));
      return `at rest, ${whole(markets)} markets`;
    });
    await phase(() => trade(service.port, desk, full ? TRADES.full : TRADES.short));
    await phase(() => search(service.port, desk));
    if (full) {
      const market = await prepareResolution(service.url, desk);
      await phase(() => awaitResolution(desk, market));
    }
    return phases;
  } finally {
    await service.stop();
    removeFolder(dataDir);
  }
}

async function trade(
  port: number,
  desk: Desk,
  { seconds, orders }: { readonly seconds: number; readonly orders: number },
): Promise<string> {
  const { answers, bad, examples } = await runLoad({
    ...{ port, connections: CONNECTIONS, seconds, requests: await requestsOf(desk, orders) },
    ...{ expectStatus: 201, expectText: '"success":true' },
  });
  if (bad > 0) throw new Error(`${bad} bad answers, e.g.\n${examples[0]}`);
  return `${whole(answers)} trades over ${CONNECTIONS} connections`;
}

async function search(port: number, desk: Desk): Promise<string> {
  const words = desk.markets.flatMap(({ question }) => question.match(/[a-z]{4,}/gi) ?? []);
  const took: number[] = [];
  for (let nth = 0; nth < SEARCHES; nth += 1) {
    const q = nth % 2 === 0 ? '*' : words[nth % words.length];
    const request = httpText('GET', `/markets?q=${q}&limit=500`, desk.visitorKey);
    const { answer, tookMs } = await askOnce(port, request);
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(answer.slice(0, 900));
    took.push(tookMs);
  }
  return `searches for 500, one after another (p50 ${ms(median(took))})`;
}

/** @returns the market of two minutes, once every agent holds it and has orders in it */
async function prepareResolution(url: string, { visitor, agents }: Desk): Promise<Market> {
  const market = await shortMarket(visitor);
  const left = [...agents];
  const work = async () => {
    for (let agent = left.pop(); agent !== undefined; agent = left.pop()) await takePart(agent, market);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { status } = await visitor.getMarket(market.id);
  if (status !== 'active') throw new Error(`${url}: the market ended before every agent had traded in it`);
  return market;
}

async function takePart({ client, signer }: BenchAgent, market: Market): Promise<void> {
  const order = { signer, market, outcome: 'YES', side: 'BUY' } as const;
  const top = 1 - Number(market.tickSize);
  await client.placeTrade(await buildMarketOrder({ ...order, amount: 1, worstPrice: top }));
  for (let nth = 0; nth < RESTING_OF_EACH; nth += 1) {
    const terms = { price: market.tickSize, size: 5, postOnly: true };
    await client.placeTrade(await buildLimitOrder({ ...order, ...terms }));
  }
}

async function shortMarket(visitor: BellwetherClient): Promise<Market> {
  const until = performance.now() + RESOLVED_WITHIN_MS;
  while (performance.now() < until) {
    const markets = await visitor.listMarkets({
      q: '*',
      category: 'Crypto',
      order: 'endDate',
      ascending: true,
      limit: 50,
    });
    const found = markets.find(({ endDate, status }) => {
      const leftMs = Date.parse(endDate) - Date.now();
      return status === 'active' && leftMs > LEAST_LEFT_MS && leftMs < LONGEST_LIFE_MS;
    });
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  throw new Error('no market of two minutes is listed');
}

async function awaitResolution({ visitor, agents }: Desk, market: Market): Promise<string> {
  const until = performance.now() + RESOLVED_WITHIN_MS;
  while ((await visitor.getMarket(market.id)).status !== 'resolved') {
    if (performance.now() > until) throw new Error('the market is not resolved');
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  const orders = agents.length * RESTING_OF_EACH;
  return `the end of a market that ${agents.length} hold, with ${whole(orders)} orders in it`;
}
