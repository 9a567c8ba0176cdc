/** `npm run bench`: measures, prints one table, stores it in last.md. README.md explains the rows. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { benchEngine, type EngineBench } from './engine.ts';
import { benchStart, type StartBench } from './start.ts';
import { benchTrades, type Row, type TradeBench } from './trades.ts';

const TRADE_SECONDS = 10;
const MEGABYTE = 1_000_000;

type Line = readonly [what: string, figure: string, note: string];

const whole = (value: number): string => Math.round(value).toLocaleString('en');
const ms = (value: number): string => `${value.toFixed(1)} ms`;
const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(0)} MB`;

const startLines = ({ firstMs, secondMs, runs }: StartBench): Line[] => [
  [
    'npm start to ready, first start',
    `${(firstMs / 1000).toFixed(2)} s`,
    `median of ${runs}; makes the database`,
  ],
  ['npm start to ready, later starts', `${(secondMs / 1000).toFixed(2)} s`, `median of ${runs}`],
];

const loadLine = ({ what, load, cpuMs }: Row): Line => [
  what,
  `${whole(load.perSecond)}/s`,
  `p50 ${ms(load.p50Ms)}, p99 ${ms(load.p99Ms)}; ${whole(load.answers)} answers, ${load.bad} bad; ` +
    `${(cpuMs / load.answers).toFixed(2)} ms of the service's processor each`,
];

const memoryLines = ({ before, after, trades }: TradeBench): Line[] => [
  ['service before the load', megabytes(before.rss), `resident; heap ${megabytes(before.heapUsed)}`],
  [
    `service after ${whole(trades)} trades`,
    megabytes(after.rss),
    `resident; heap ${megabytes(after.heapUsed)}`,
  ],
];

const engineLines = (engine: EngineBench): Line[] => [
  [
    'engine alone, one thread',
    `${whole(engine.ordersPerSecond)}/s`,
    `median of ${engine.runs.length} runs; nodejs-order-book ${whole(engine.peerOrdersPerSecond)}/s with the same ` +
      `orders, ${engine.timesPeer.toFixed(1)} times`,
  ],
  [
    `engine after ${whole(engine.commands)} orders`,
    megabytes(engine.heapBytes),
    `heap; ${whole(engine.openOrders)} open, snapshot ${megabytes(engine.snapshotBytes)} in ${ms(engine.snapshotMs)}`,
  ],
];

function table(lines: readonly Line[]): string {
  const rows: Line[] = [['measured', 'figure', 'note'], ...lines];
  const width = (column: 0 | 1 | 2) => Math.max(...rows.map((row) => row[column].length));
  const widths = [width(0), width(1), width(2)] as const;
  const text = (row: Line) =>
    `| ${row[0].padEnd(widths[0])} | ${row[1].padStart(widths[1])} | ${row[2].padEnd(widths[2])} |`;
  const rule = `|-${'-'.repeat(widths[0])}-|-${'-'.repeat(widths[1])}:|-${'-'.repeat(widths[2])}-|`;
  const [head, ...body] = rows.map(text);
  return [head, rule, ...body].join('\n');
}

const git = (...args: string[]): string => {
  try {
    return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
};

const busy = (loadavg()[0] ?? 0).toFixed(1);
console.log('Measuring; this takes about three minutes.');
const start = await benchStart();
const trades = await benchTrades({ seconds: TRADE_SECONDS });
const engine = await benchEngine();
const lines = [
  ...startLines(start),
  ...trades.rows.map(loadLine),
  ...memoryLines(trades),
  ...engineLines(engine),
];
const about =
  `${new Date().toISOString().slice(0, 10)}, commit ${git('rev-parse', '--short', 'HEAD')}, ` +
  `${availableParallelism()} CPUs (${cpus()[0]?.model ?? 'unknown'}), Node ${process.version}, ` +
  `load average before the first measurement ${busy}`;
const text = table(lines);
console.log(`\n${about}\n\n${text}`);
writeFileSync(join(import.meta.dirname, 'last.md'), `# The last table\n\n${about}\n\n${text}\n`);

const wrong = trades.rows.filter(({ load }) => load.bad > 0);
for (const { what, load } of wrong)
  console.error(`\n${what}: ${load.bad} bad answers, e.g.\n${load.examples[0]}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
