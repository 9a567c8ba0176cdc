/** Trades and reads per second through the whole service, with full durability and every check made. */
import { BellwetherClient } from '@bellwether/sdk';
import { httpText, type Load, type LoadResult, runLoad } from './load.ts';
import { type BenchService, type Memory, newDataFolder, removeFolder, startService } from './service.ts';
import { type BenchAgent, liquidMarkets, newAgents, prepareOrders } from './traders.ts';

const AGENTS = 64;
const CONNECTIONS = 64;
/** Orders signed for each second: more than the service is expected to take. */
const ORDERS_PER_SECOND = { one: 1_200, many: 6_000 };
const READ_SECONDS = 5;

export interface Row {
  readonly what: string;
  readonly load: LoadResult;
  /** Processor time of the service over the whole row. */
  readonly cpuMs: number;
}

export interface TradeBench {
  readonly rows: readonly Row[];
  readonly before: Memory;
  readonly after: Memory;
  readonly trades: number;
}

export interface TradeOptions {
  readonly seconds: number;
  readonly nodeArgs?: readonly string[];
  /** Only the row at 64 connections with many agents: for profiles. */
  readonly short?: boolean;
}

export const ENVIRONMENT = {
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'warn',
  PAPER_FAUCET_PER_DAY: '1000000000',
};

export async function benchTrades(options: TradeOptions): Promise<TradeBench> {
  const dataDir = newDataFolder();
  const service = await startService({
    dataDir,
    env: ENVIRONMENT,
    ...(options.nodeArgs === undefined ? {} : { nodeArgs: options.nodeArgs }),
  });
  try {
    return await measure(service, options);
  } finally {
    await service.stop();
    removeFolder(dataDir);
  }
}

async function measure(service: BenchService, { seconds, short }: TradeOptions): Promise<TradeBench> {
  const visitor = await new BellwetherClient({ baseUrl: service.url }).registerAgent({ name: 'Visitor' });
  const markets = await liquidMarkets(
    new BellwetherClient({ baseUrl: service.url, apiKey: visitor.apiKeyCode }),
  );
  if (markets.length < 10) throw new Error('the world has too few liquid markets');
  const agents = await newAgents(service.url, AGENTS, markets.slice(0, 40));
  const before = await service.memory();

  const measured = async (what: string, load: Load): Promise<Row> => {
    const from = await service.cpuMs();
    const result = await runLoad(load);
    return { what, load: result, cpuMs: (await service.cpuMs()) - from };
  };
  const trade = async (what: string, connections: number, by: readonly BenchAgent[]): Promise<Row> => {
    const perSecond = connections === 1 ? ORDERS_PER_SECOND.one : ORDERS_PER_SECOND.many;
    const orders = await prepareOrders(by, markets.slice(0, 40), perSecond * seconds);
    return measured(what, {
      port: service.port,
      connections,
      seconds,
      requests: orders.map(({ apiKey, body }) => httpText('POST', '/markets/trade', apiKey, body)),
      expectStatus: 201,
      expectText: '"success":true',
    });
  };
  const read = (what: string, paths: readonly string[]): Promise<Row> =>
    measured(what, {
      port: service.port,
      connections: CONNECTIONS,
      seconds: READ_SECONDS,
      requests: paths.map((path) => httpText('GET', path, visitor.apiKeyCode)),
      repeat: true,
      expectStatus: 200,
      expectText: '{',
    });

  const rows: Row[] = [];
  if (short !== true) rows.push(await trade(`trades, 1 connection, ${AGENTS} agents`, 1, agents));
  rows.push(await trade(`trades, ${CONNECTIONS} connections, ${AGENTS} agents`, CONNECTIONS, agents));
  if (short !== true) {
    rows.push(await trade(`trades, ${CONNECTIONS} connections, 1 agent`, CONNECTIONS, agents.slice(0, 1)));
    rows.push(
      await read(
        'GET /markets?q=…&limit=20',
        markets.map(({ category }) => `/markets?q=${encodeURIComponent(category)}&limit=20`),
      ),
    );
    rows.push(
      await read(
        'GET /markets/context/{id}',
        markets.map(({ id }) => `/markets/context/${id}`),
      ),
    );
  }
  const after = await service.memory();
  const trades = rows
    .filter(({ what }) => what.startsWith('trades'))
    .reduce((sum, { load }) => sum + load.answers, 0);
  return { rows, before, after, trades };
}
