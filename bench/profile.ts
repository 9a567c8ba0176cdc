/** Where the service's time goes under load: runs it with Node's profiler and prints the functions with most self time. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tradesAlone } from './trades.ts';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 40;
/** Microseconds: the busiest window of this length is analysed, without the start and the preparations. */
const WINDOW_US = 3_000_000;
/** Runs once for every trade: the window with most calls is the one under load. */
const MARKER = 'ecdsaRecover';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node bench/profile.ts <folder>');
const { load, used } = await tradesAlone(['--cpu-prof', `--cpu-prof-dir=${resolve(folder)}`]);
console.log(
  `${Math.round(load.perSecond)} trades/s, ${(used.programMs / load.answers).toFixed(2)} ms of processor each, profiled`,
);
const newest = readdirSync(folder)
  // Named by time, process, thread and number; the main thread is 0.
  .filter((name) => /\.0\.\d+\.cpuprofile$/.test(name))
  .sort()
  .at(-1);
if (newest === undefined) throw new Error('the service left no profile');
print(JSON.parse(readFileSync(join(folder, newest), 'utf8')));

function print({ nodes, samples, timeDeltas }: Profile): void {
  const names = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      `${functionName || '(anonymous)'} ${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`,
    ]),
  );
  const times: number[] = [];
  for (const delta of timeDeltas) times.push((times.at(-1) ?? 0) + delta);
  const from = busiest(times.filter((_, index) => names.get(samples[index] ?? -1)?.startsWith(MARKER)));
  const self = new Map<string, number>();
  let total = 0;
  for (const [index, id] of samples.entries()) {
    const at = times[index] ?? 0;
    if (at < from || at > from + WINDOW_US) continue;
    const name = names.get(id) ?? 'unknown';
    const delta = timeDeltas[index] ?? 0;
    self.set(name, (self.get(name) ?? 0) + delta);
    total += delta;
  }
  for (const [name, time] of [...self].sort((a, b) => b[1] - a[1]).slice(0, SHOWN))
    console.log(`${((time / total) * 100).toFixed(1).padStart(6)} %  ${name}`);
}

/** The start of the window with most marks. */
function busiest(marks: readonly number[]): number {
  let best = { count: 0, from: 0 };
  for (let last = 0, first = 0; last < marks.length; last++) {
    while ((marks[last] ?? 0) - (marks[first] ?? 0) > WINDOW_US) first += 1;
    if (last - first > best.count) best = { count: last - first, from: marks[first] ?? 0 };
  }
  return best.from;
}
