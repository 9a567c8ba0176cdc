/**
 * From `npm start` to the banner: the first start creates the database and compiles the code, as after an install; later ones
 * find both.
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { median, type Report, type RowOptions } from './report.ts';
import { newDataFolder, removeFolder, startService } from './service.ts';

const RUNS = { short: 3, full: 7 };
const HERE = join(import.meta.dirname, '..');
const COMPILED = join('node_modules', '.cache', 'bellwether');

export async function benchStart({ full, roots, rounds }: RowOptions): Promise<Report> {
  const runs = rounds ?? (full ? RUNS.full : RUNS.short);
  const subjects = [undefined, ...roots].map((root) => ({
    root,
    first: [] as number[],
    later: [] as number[],
  }));
  for (let run = 0; run < runs; run += 1) {
    for (const { root, first, later } of subjects) {
      const dataDir = newDataFolder();
      rmSync(join(root ?? HERE, COMPILED), { recursive: true, force: true });
      try {
        for (const taken of [first, later]) {
          const service = await startService({
            ...{ dataDir, via: 'npm' },
            ...(root === undefined ? {} : { root }),
          });
          taken.push(service.readyMs);
          await service.stop();
        }
      } finally {
        removeFolder(dataDir);
      }
    }
  }
  const seconds = (taken: readonly number[]): string => `${(median(taken) / 1000).toFixed(2)} s`;
  const own = subjects[0] as (typeof subjects)[number];
  return {
    ratios: [
      ['npm start to ready, first start', seconds(own.first), '≤ 2 s'],
      ['npm start to ready, later starts', seconds(own.later), '≤ 1 s'],
    ],
    tables: [
      {
        head: [`npm start to ready, median of ${runs}`, 'first start', 'later starts'],
        rows: subjects.map(({ root, first, later }) => [
          root === undefined ? 'this checkout' : basename(root),
          seconds(first),
          seconds(later),
        ]),
      },
    ],
  };
}
