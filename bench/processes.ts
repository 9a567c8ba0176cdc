/**
 * Two processes of the service against one, on one database: does a second process add anything on this machine, and does
 * it cost anything? The connections are divided between the processes, as a balancer would. Both leave the embedded
 * database aside, which belongs to one service alone.
 */

import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import { socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { httpText, type Load, type LoadResult, runLoad } from './load.ts';
import { median, ms, type Report, type RowOptions, times, whole } from './report.ts';
import { type BenchService, newDataFolder, removeFolder, startService } from './service.ts';
import { type Desk, ENVIRONMENT, openDesk, requestsOf } from './traders.ts';

const AGENTS = 64;
const CONNECTIONS = 64;
const SECONDS = 2;
const ORDERS = 7_000;
const ROUNDS = { short: 3, full: 5 };
const KINDS = ['trades', 'reads'] as const;
type Kind = (typeof KINDS)[number];

interface Rounds {
  readonly perSecond: number[];
  readonly p99Ms: number[];
}

export async function benchProcesses({ full, rounds }: RowOptions): Promise<Report> {
  const folder = newDataFolder();
  const postgres = await startEmbeddedPostgres({ dataDir: folder });
  const env = {
    ...ENVIRONMENT,
    DATABASE_URL: socketUrl(postgres, postgres.database),
    MASTER_KEY: '0'.repeat(64),
  };
  const services: BenchService[] = [];
  try {
    for (let nth = 0; nth < 2; nth += 1) services.push(await startService({ dataDir: folder, env }));
    const leader = services[0] as BenchService;
    const desk = await openDesk(leader.url, AGENTS);
    const results = new Map<string, Rounds>();
    for (let round = 0; round <= (rounds ?? (full ? ROUNDS.full : ROUNDS.short)); round += 1)
      for (const kind of KINDS)
        for (const used of round % 2 === 0 ? [[leader], services] : [services, [leader]])
          await measure({ desk, kind, used, results, counts: round > 0 });
    return reportOf(results);
  } finally {
    for (const service of services.toReversed()) await service.stop();
    await postgres.stop();
    removeFolder(folder);
  }
}

interface Measurement {
  readonly desk: Desk;
  readonly kind: Kind;
  readonly used: readonly BenchService[];
  readonly results: Map<string, Rounds>;
  readonly counts: boolean;
}

const nameOf = (kind: Kind, processes: number): string =>
  `${kind}, ${processes} process${processes > 1 ? 'es' : ''}`;

async function measure({ desk, kind, used, results, counts }: Measurement): Promise<void> {
  const requests = kind === 'trades' ? await requestsOf(desk, ORDERS) : readsOf(desk);
  const wanted =
    kind === 'trades'
      ? { expectStatus: 201, expectText: '"success":true' }
      : { expectStatus: 200, expectText: '{', repeat: true };
  const loads = await Promise.all(
    used.map(({ port }, nth) => {
      const own = requests.filter((_, index) => index % used.length === nth);
      const load: Load = {
        port,
        connections: CONNECTIONS / used.length,
        seconds: SECONDS,
        requests: own,
        ...wanted,
      };
      return runLoad(load);
    }),
  );
  const faulty = loads.find(({ bad }) => bad > 0);
  if (faulty !== undefined)
    throw new Error(`${kind}: ${faulty.bad} bad answers, e.g.\n${faulty.examples[0]}`);
  if (!counts) return;
  const name = nameOf(kind, used.length);
  const kept = results.get(name) ?? { perSecond: [], p99Ms: [] };
  kept.perSecond.push(sum(loads, ({ perSecond }) => perSecond));
  kept.p99Ms.push(Math.max(...loads.map(({ p99Ms }) => p99Ms)));
  results.set(name, kept);
}

const sum = (loads: readonly LoadResult[], value: (load: LoadResult) => number): number =>
  loads.reduce((total, load) => total + value(load), 0);

/** Reads of several kinds in turn. */
const readsOf = ({ agents, markets }: Desk): string[] =>
  agents.flatMap(({ apiKey }, nth) =>
    [
      '/markets/briefing',
      '/markets/orders/open',
      `/markets/context/${markets[nth % markets.length]?.id}`,
    ].map((path) => httpText('GET', path, apiKey)),
  );

function reportOf(results: ReadonlyMap<string, Rounds>): Report {
  const rate = (kind: Kind, processes: number): number =>
    median(results.get(nameOf(kind, processes))?.perSecond ?? []);
  return {
    ratios: KINDS.map((kind) => [
      `processes: ${kind} of two ÷ one`,
      times(rate(kind, 2) / rate(kind, 1)),
      kind === 'reads' ? '≥ 1.5 with 4 cores, ≥ 1 with 2' : '≥ 1',
    ]),
    tables: [
      {
        head: ['several processes', 'answers/s', 'p99'],
        rows: [...results].map(([name, { perSecond, p99Ms }]) => [
          name,
          whole(median(perSecond)),
          ms(median(p99Ms)),
        ]),
      },
    ],
  };
}
