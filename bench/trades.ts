/**
 * Trades beside the peers: the service, the naive limit (peers/limit.ts) and what people write (peers/express.ts), each in
 * a process of its own with a PostgreSQL of its own, take the same signed bodies in turns. Half of the orders rest, a
 * quarter buy at once, a quarter sell. The service makes every check and every answer is durable, as always.
 */
import { basename } from 'node:path';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { httpText, type LoadResult, runLoad } from './load.ts';
import { type Processor, used } from './processor.ts';
import { median, ms, type Ratio, type Report, type RowOptions, times, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type BenchAgent, liquidMarkets, newAgents, type Prepared, prepareOrders } from './traders.ts';

export const ENVIRONMENT = {
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'warn',
  PAPER_FAUCET_PER_DAY: '1000000000',
};

const MARKETS = 20;
const ROUNDS = { short: 3, full: 7 };
const ANSWER = { expectStatus: 201, expectText: '"success":true' };
const PEERS = [
  ['limit', 'bench/peers/limit.ts'],
  ['Express', 'bench/peers/express.ts'],
] as const;

/** One way to load a program. A round ends after `seconds`, or earlier when all its orders were sent. */
interface Way {
  readonly what: string;
  readonly agents: number;
  readonly connections: number;
  readonly seconds: number;
  readonly orders: number;
  readonly isFor: (subject: Subject) => boolean;
}

const MANY: Way = {
  what: '64 connections, 200 agents',
  ...{ agents: 200, connections: 64, seconds: 4, orders: 12_000 },
  isFor: () => true,
};
const ONE_AGENT: Way = {
  what: '64 connections, 1 agent',
  ...{ agents: 1, connections: 64, seconds: 3, orders: 6_000 },
  isFor: ({ isService }) => isService,
};
const ONE_CONNECTION: Way = {
  what: '1 connection',
  ...{ agents: 64, connections: 1, seconds: 2, orders: 2_000 },
  isFor: ({ name }) => name !== 'Express',
};
const WAYS = [MANY, ONE_AGENT, ONE_CONNECTION];

export interface Round {
  readonly load: LoadResult;
  readonly used: Processor;
}

interface Subject {
  readonly name: string;
  readonly isService: boolean;
  readonly program: BenchService;
  readonly folder: string;
  readonly rounds: Map<Way, Round[]>;
  /** The orders of each round. */
  readonly orders: ReadonlyMap<Way, readonly string[][]>;
}

/** Round 0 warms up and does not count. */
export async function benchTrades({ full, roots, rounds = null }: RowOptions): Promise<Report> {
  const count = rounds ?? (full ? ROUNDS.full : ROUNDS.short);
  const subjects: Subject[] = [];
  try {
    subjects.push(await openService('service', {}, count));
    for (const root of roots) subjects.push(await openService(basename(root), { root }, count));
    const { orders } = subjects[0] as Subject;
    for (const [name, main] of PEERS) subjects.push(await openPeer(name, main, orders));
    for (let round = 0; round <= count; round += 1) {
      // Each program is the first in turn: what a program left undone (a checkpoint, garbage) costs the next one.
      const turn = round % subjects.length;
      for (const way of WAYS)
        for (const subject of [...subjects.slice(turn), ...subjects.slice(0, turn)])
          if (way.isFor(subject)) await measure(subject, way, round);
    }
    return reportOf(subjects);
  } finally {
    for (const { program, folder } of subjects) {
      await program.stop();
      removeFolder(folder);
    }
  }
}

/** The service alone under the first of these loads, for a profile. */
export async function tradesAlone(nodeArgs: readonly string[]): Promise<Round> {
  const service = await openService('service', { nodeArgs }, 1);
  try {
    for (const round of [0, 1]) await measure(service, MANY, round);
    return service.rounds.get(MANY)?.[0] as Round;
  } finally {
    await service.program.stop();
    removeFolder(service.folder);
  }
}

async function openService(
  name: string,
  given: { readonly root?: string; readonly nodeArgs?: readonly string[] },
  rounds: number,
): Promise<Subject> {
  const folder = newDataFolder();
  const program = await startService({ ...given, dataDir: folder, env: ENVIRONMENT });
  const visitor = await new BellwetherClient({ baseUrl: program.url }).registerAgent({ name: 'Visitor' });
  const client = new BellwetherClient({ baseUrl: program.url, apiKey: visitor.apiKeyCode });
  const markets = (await liquidMarkets(client)).slice(0, MARKETS);
  if (markets.length < MARKETS) throw new Error('the world has too few liquid markets');
  const agents = await newAgents(program.url, MANY.agents, markets);
  const orders = new Map<Way, string[][]>();
  for (const way of WAYS) orders.set(way, await ordersOf(way, { agents, markets, rounds }));
  return { name, isService: true, program, folder, orders, rounds: new Map() };
}

async function ordersOf(
  way: Way,
  given: {
    readonly agents: readonly BenchAgent[];
    readonly markets: readonly Market[];
    readonly rounds: number;
  },
): Promise<string[][]> {
  const textOf = ({ apiKey, body }: Prepared) => httpText('POST', '/markets/trade', apiKey, body);
  const orders: string[][] = [];
  for (let round = 0; round <= given.rounds; round += 1) {
    // Another one in each round, when there is only one.
    const agents = Array.from(
      { length: way.agents },
      (_, index) => given.agents[(round * way.agents + index) % given.agents.length] as BenchAgent,
    );
    orders.push((await prepareOrders(agents, given.markets, way.orders)).map(textOf));
  }
  return orders;
}

async function openPeer(name: string, main: string, orders: Subject['orders']): Promise<Subject> {
  const folder = newDataFolder();
  const program = await startService({ dataDir: folder, main, env: { NODE_ENV: 'production' } });
  return { name, isService: false, program, folder, orders, rounds: new Map() };
}

async function measure(subject: Subject, way: Way, round: number): Promise<void> {
  const { program, orders, rounds } = subject;
  const { connections, seconds } = way;
  const from = program.processor();
  const load = await runLoad({
    ...{ port: program.port, connections, seconds, ...ANSWER },
    requests: orders.get(way)?.[round] ?? [],
  });
  if (load.bad > 0)
    throw new Error(`${subject.name}, ${way.what}: ${load.bad} bad answers, e.g.\n${load.examples[0]}`);
  if (round === 0) return;
  rounds.set(way, [...(rounds.get(way) ?? []), { load, used: used(from, program.processor()) }]);
}

const HEAD = [
  'trades',
  'trades/s',
  'lowest–highest',
  'p50',
  'p99',
  'µs of its processor',
  'of its PostgreSQL',
  'of the load generator',
  'turned away',
];

const medianOf = ({ rounds }: Subject, way: Way, value: (round: Round) => number): number =>
  median((rounds.get(way) ?? []).map(value));
const rateOf = (subject: Subject, way: Way): number => medianOf(subject, way, ({ load }) => load.perSecond);

function rowOf(subject: Subject, way: Way): string[] {
  const rates = (subject.rounds.get(way) ?? []).map(({ load }) => load.perSecond);
  const each = (value: (round: Round) => number): string =>
    whole(medianOf(subject, way, (round) => (value(round) * 1000) / round.load.answers));
  return [
    `${subject.name}, ${way.what}`,
    whole(rateOf(subject, way)),
    `${whole(Math.min(...rates))}–${whole(Math.max(...rates))}`,
    ms(medianOf(subject, way, ({ load }) => load.p50Ms)),
    ms(medianOf(subject, way, ({ load }) => load.p99Ms)),
    each(({ used: { programMs } }) => programMs),
    each(({ used: { postgresMs } }) => postgresMs),
    each(({ load }) => load.ownMs),
    whole(medianOf(subject, way, ({ load }) => load.shed)),
  ];
}

function reportOf(subjects: readonly Subject[]): Report {
  const of = (name: string) => subjects.find((subject) => subject.name === name) as Subject;
  const [limit, express] = [of('limit'), of('Express')];
  const services = subjects.filter(({ isService }) => isService);
  const against = (name: string, peer: Subject, service: Subject, goal: string): Ratio => [
    `trades: ${service.name} ÷ ${name}`,
    times(rateOf(service, MANY) / rateOf(peer, MANY)),
    goal,
  ];
  const ratios = services.flatMap((service): Ratio[] => [
    against('limit', limit, service, '≥ 1.0'),
    against('Express', express, service, '≥ 6'),
    [
      `trades: one agent ÷ many agents, ${service.name}`,
      times(rateOf(service, ONE_AGENT) / rateOf(service, MANY)),
      '≥ 0.5',
    ],
    [
      `trades: p50 at one connection, ${service.name}`,
      ms(medianOf(service, ONE_CONNECTION, ({ load }) => load.p50Ms)),
      '≤ 3 ms',
    ],
  ]);
  const own = services[0] as Subject;
  const others = services
    .slice(1)
    .map((other): Ratio => against(other.name, other, own, 'this checkout ÷ the other'));
  const rows = WAYS.flatMap((way) => subjects.filter(way.isFor).map((subject) => rowOf(subject, way)));
  return { ratios: [...ratios, ...others], table: { head: HEAD, rows }, faults: [] };
}
