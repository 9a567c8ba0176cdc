/** From `npm start` to the banner: the first start creates the database, the second finds it. */
import { newDataFolder, removeFolder, startService } from './service.ts';

const RUNS = 5;

export interface StartBench {
  readonly firstMs: number;
  readonly secondMs: number;
  readonly runs: number;
}

export async function benchStart(): Promise<StartBench> {
  const first: number[] = [];
  const second: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const dataDir = newDataFolder();
    try {
      for (const times of [first, second]) {
        const service = await startService({ dataDir, via: 'npm' });
        times.push(service.readyMs);
        await service.stop();
      }
    } finally {
      removeFolder(dataDir);
    }
  }
  return { firstMs: median(first), secondMs: median(second), runs: RUNS };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
