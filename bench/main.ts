/**
 * `npm run bench`: measures the service beside its peers, prints tables, stores them in last.md. README.md explains the rows.
 *
 *   npm run bench -- [--full] [--only ROW[,ROW…]] [--root CHECKOUT]… [--rounds N] [--share S]
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { readOptions, runOperation, usage } from '../scripts/operation.ts';
import { benchEngine } from './engine.ts';
import { benchEvents } from './events.ts';
import { benchExits } from './exits.ts';
import { benchGrowth } from './growth.ts';
import { benchLiveOrders } from './live-orders.ts';
import { benchOverload } from './overload.ts';
import { benchPauses } from './pauses.ts';
import { benchProcesses } from './processes.ts';
import { benchQuotedOrders } from './quoted-orders.ts';
import { benchReads } from './reads.ts';
import { megabytes, ms, type Report, type RowOptions, tableText, times, whole } from './report.ts';
import { benchSockets } from './sockets.ts';
import { benchStart } from './start.ts';
import { benchTrades } from './trades.ts';

interface Row {
  readonly run: (options: RowOptions) => Promise<Report>;
  readonly isFullOnly?: boolean;
}

async function engineReport(): Promise<Report> {
  const engine = await benchEngine();
  return {
    ratios: [
      ['engine ÷ nodejs-order-book', times(engine.timesPeer), '≥ 30'],
      ['engine alone, orders/s', whole(engine.ordersPerSecond), '≥ 1,000,000'],
    ],
    tables: [
      {
        head: ['matching engine, one thread', 'orders/s', 'open orders', 'heap', 'one snapshot'],
        rows: [
          [
            'service',
            whole(engine.ordersPerSecond),
            whole(engine.openOrders),
            megabytes(engine.heapBytes),
            `${megabytes(engine.snapshotBytes)} in ${ms(engine.snapshotMs)}`,
          ],
          ['nodejs-order-book', whole(engine.peerOrdersPerSecond), '', '', ''],
        ],
      },
    ],
  };
}

const ROWS: Readonly<Record<string, Row>> = {
  cold: { run: benchStart },
  trades: { run: benchTrades },
  engine: { run: engineReport },
  reads: { run: benchReads },
  quoted: { run: benchQuotedOrders },
  live: { run: benchLiveOrders },
  exits: { run: benchExits },
  pauses: { run: benchPauses },
  sockets: { run: benchSockets },
  events: { run: benchEvents },
  processes: { run: benchProcesses },
  overload: { run: benchOverload, isFullOnly: true },
  growth: { run: benchGrowth, isFullOnly: true },
};

const HOW =
  'npm run bench -- [--full] [--only ROW[,ROW…]] [--root CHECKOUT]… [--rounds N] [--share S]; bench/README.md explains the rows';

function readRun() {
  const { values } = readOptions(HOW, {
    options: {
      full: { type: 'boolean', default: false },
      only: { type: 'string' },
      root: { type: 'string', multiple: true, default: [] },
      rounds: { type: 'string' },
      share: { type: 'string', default: '1' },
    },
  });
  const rounds = values.rounds === undefined ? null : Number(values.rounds);
  if (rounds !== null && !(Number.isInteger(rounds) && rounds >= 1))
    throw usage('--rounds wants a whole number from 1', HOW);
  const share = Number(values.share);
  if (!(share > 0 && share <= 1)) throw usage('--share wants a number above 0, at most 1', HOW);
  const roots = values.root.map((root) => resolve(root));
  const named = values.only?.split(',');
  const unknown = named?.find((name) => !(name in ROWS));
  if (unknown !== undefined)
    throw usage(`There is no row "${unknown}"; the rows are ${Object.keys(ROWS).join(', ')}`, HOW);
  const rows = named ?? Object.keys(ROWS).filter((name) => values.full || ROWS[name]?.isFullOnly !== true);
  const options: RowOptions = { full: values.full, roots, rounds, share };
  return { rows, options, isWhole: named === undefined && roots.length === 0 };
}

const git = (...args: string[]): string => {
  try {
    return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
};

const about = (): string =>
  `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}, ` +
  `${availableParallelism()} CPUs (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ` +
  `load average before the first measurement ${(loadavg()[0] ?? 0).toFixed(1)}`;

await runOperation(async () => {
  const { rows, options, isWhole } = readRun();
  const header = about();
  const reports: Report[] = [];
  const faults: string[] = [];
  for (const name of rows) {
    const from = performance.now();
    const report = await (ROWS[name] as Row).run(options).catch((error: Error) => {
      faults.push(`${name}: ${error.stack}`);
    });
    if (report !== undefined) reports.push(report);
    console.error(`${name}: ${((performance.now() - from) / 1000).toFixed(0)} s`);
  }

  const ratios = { head: ['ratio', 'figure', 'goal'], rows: reports.flatMap((report) => report.ratios) };
  const tables = reports.flatMap((report) => report.tables);
  const text = [tableText(ratios), header, ...tables.map(tableText)].join('\n\n');
  console.log(`\n${text}`);
  if (isWhole && faults.length === 0)
    writeFileSync(join(import.meta.dirname, 'last.md'), `# The last run\n\n${text}\n`);
  for (const fault of faults) console.error(`\n${fault}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
});
