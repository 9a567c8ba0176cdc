import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 1_000;

export interface GatherStatisticsNeeds {
  readonly statistics: { gather(): Promise<unknown> };
}

export const gatherStatisticsJob = ({ statistics }: GatherStatisticsNeeds): Job => ({
  name: 'gather statistics',
  everyMs: EVERY_MS,
  run: () => statistics.gather(),
});
