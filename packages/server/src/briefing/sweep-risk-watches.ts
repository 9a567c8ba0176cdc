import type { Job } from '../platform/scheduler.ts';
import type { WatchRisksNeeds } from './watch-risks.ts';

const EVERY_MS = 3_600_000;

export const sweepRiskWatchesJob = ({
  riskWatches,
  clock,
}: Pick<WatchRisksNeeds, 'riskWatches' | 'clock'>): Job => ({
  name: 'sweep risk watches',
  everyMs: EVERY_MS,
  run: () => riskWatches.sweep(clock.now()),
});
