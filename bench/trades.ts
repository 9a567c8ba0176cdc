/**
 * Trades beside the peers: the service, the naive limit (peers/limit.ts) and what people write (peers/express.ts), each in
 * a process of its own with a PostgreSQL of its own, take the same signed bodies in turns. Half of the orders rest, a
 * quarter buy at once, a quarter sell. The service makes every check and every answer is durable, as always.
 *
 * First as fast as each program answers, which gives its peak; then by the clock at half of its own peak, each order timed
 * from the moment at which it was due, so that queueing is not hidden.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type LoadResult, runLoad } from './load.ts';
import { type OpenLoadResult, runOpenLoad } from './open-load.ts';
import { type Processor, used } from './processor.ts';
import { median, ms, type Ratio, type Report, type RowOptions, times, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type Desk, ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const AGENTS = 200;
const ROUNDS = { short: 5, full: 7 };
const ANSWER = { expectStatus: 201, expectText: '"success":true' };
const PEERS = [
  ['limit', 'bench/peers/limit.ts'],
  ['Express', 'bench/peers/express.ts'],
] as const;
const OPEN_SECONDS = 4;

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
  what: `64 connections, ${AGENTS} agents`,
  ...{ agents: AGENTS, connections: 64, seconds: 4, orders: 12_000 },
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
  /** Whose orders it takes: its own, or for a peer those of the service. */
  readonly desk: Desk;
  readonly rounds: Map<Way, Round[]>;
  readonly open: OpenLoadResult[];
}

export async function benchTrades({ full, roots, rounds = null }: RowOptions): Promise<Report> {
  const count = rounds ?? (full ? ROUNDS.full : ROUNDS.short);
  const subjects: Subject[] = [];
  try {
    const own = await openService('service', {});
    subjects.push(own);
    for (const root of roots) subjects.push(await openService(basename(root), { root }));
    for (const [name, main] of PEERS) subjects.push(await openPeer(name, main, own.desk));
    // Round 0 warms up and does not count.
    for (let round = 0; round <= count; round += 1)
      for (const way of WAYS) await measureAll(inTurn(subjects.filter(way.isFor), round), way, round);
    for (let round = 0; round < count; round += 1) await measureOpen(inTurn(subjects, round), round);
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
  const service = await openService('service', { nodeArgs });
  try {
    for (const round of [0, 1]) await measureAll([service], MANY, round);
    return service.rounds.get(MANY)?.[0] as Round;
  } finally {
    await service.program.stop();
    removeFolder(service.folder);
  }
}

async function openService(
  name: string,
  given: { readonly root?: string; readonly nodeArgs?: readonly string[] },
): Promise<Subject> {
  const folder = newDataFolder();
  const program = await startService({ ...given, dataDir: folder, env: ENVIRONMENT });
  const desk = await openDesk(program.url, AGENTS);
  return { name, isService: true, program, folder, desk, rounds: new Map(), open: [] };
}

async function openPeer(name: string, main: string, desk: Desk): Promise<Subject> {
  const folder = newDataFolder();
  const program = await startService({ dataDir: folder, main, env: { NODE_ENV: 'production' } });
  return { name, isService: false, program, folder, desk, rounds: new Map(), open: [] };
}

/** Each is the first in turn: what a program left undone (a checkpoint, garbage) costs the next one. */
function inTurn(subjects: readonly Subject[], round: number): readonly Subject[] {
  const first = round % subjects.length;
  return [...subjects.slice(first), ...subjects.slice(0, first)];
}

/** New orders of each desk, signed while nothing is measured. */
async function sign(
  subjects: readonly Subject[],
  way: Way,
  round: number,
): Promise<ReadonlyMap<Desk, readonly string[]>> {
  const signed = new Map<Desk, readonly string[]>();
  for (const desk of new Set(subjects.map((subject) => subject.desk))) {
    // Another agent in each round, when there is only one.
    const first = (round * way.agents) % desk.agents.length;
    const agents = desk.agents.slice(first, first + way.agents);
    signed.set(desk, await requestsOf({ ...desk, agents }, way.orders));
  }
  return signed;
}

async function measureAll(subjects: readonly Subject[], way: Way, round: number): Promise<void> {
  const signed = await sign(subjects, way, round);
  const { connections, seconds } = way;
  for (const { name, program, desk, rounds } of subjects) {
    const from = program.processor();
    const requests = signed.get(desk) ?? [];
    const load = await runLoad({ port: program.port, connections, seconds, requests, ...ANSWER });
    if (load.bad > 0)
      throw new Error(`${name}, ${way.what}: ${load.bad} bad answers, e.g.\n${load.examples[0]}`);
    if (round > 0)
      rounds.set(way, [...(rounds.get(way) ?? []), { load, used: used(from, program.processor()) }]);
  }
}

/** At half of each program's own peak. */
async function measureOpen(subjects: readonly Subject[], round: number): Promise<void> {
  const half = (subject: Subject): number => rateOf(subject, MANY) / 2;
  const orders = Math.ceil(Math.max(...subjects.map(half)) * OPEN_SECONDS) + 1;
  const signed = await sign(subjects, { ...MANY, orders }, round);
  for (const subject of subjects) {
    const { name, program, folder, desk } = subject;
    const file = join(folder, 'orders.jsonl');
    writeFileSync(file, (signed.get(desk) ?? []).map((text) => JSON.stringify(text)).join('\n'));
    const perSecond = half(subject);
    const load = await runOpenLoad({ port: program.port, perSecond, seconds: OPEN_SECONDS, file });
    if (load.bad > 0) throw new Error(`${name}, by the clock: ${load.bad} bad, e.g.\n${load.examples[0]}`);
    subject.open.push(load);
  }
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

const OPEN_HEAD = [
  'trades by the clock, at half the peak',
  'offered/s',
  'p50',
  'p99',
  'lowest–highest p99',
  'turned away/s',
  'sent late by at most',
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

function openRowOf({ name, open }: Subject): string[] {
  const middle = (value: (load: OpenLoadResult) => number): number => median(open.map(value));
  const p99s = open.map(({ p99Ms }) => p99Ms);
  return [
    name,
    whole(middle(({ offeredPerSecond }) => offeredPerSecond)),
    ms(middle(({ p50Ms }) => p50Ms)),
    ms(median(p99s)),
    `${ms(Math.min(...p99s))}–${ms(Math.max(...p99s))}`,
    whole(middle(({ shedPerSecond }) => shedPerSecond)),
    ms(middle(({ lateMs }) => lateMs)),
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
  const openP99 = ({ open }: Subject): number => median(open.map(({ p99Ms }) => p99Ms));
  const p99Of = (subject: Subject): number => medianOf(subject, MANY, ({ load }) => load.p99Ms);
  const ratios = services.flatMap((service): Ratio[] => [
    against('limit', limit, service, '≥ 1.0'),
    against('Express', express, service, '≥ 6'),
    [
      `latency at half the peak: p99 of ${service.name} ÷ limit`,
      times(openP99(service) / openP99(limit)),
      '≤ 1.5',
    ],
    [
      `latency as fast as answered: p99 of ${service.name} ÷ limit`,
      times(p99Of(service) / p99Of(limit)),
      '≤ 1.5',
    ],
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
  const open = { head: OPEN_HEAD, rows: subjects.map(openRowOf) };
  return { ratios: [...ratios, ...others], tables: [{ head: HEAD, rows }, open] };
}
