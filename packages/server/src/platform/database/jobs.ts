import type { Job } from '../scheduler.ts';

export interface DatabaseJobsNeeds {
  readonly clock: { now(): number };
  readonly idempotencyKeys: { sweep(at: number): Promise<unknown> };
  readonly statistics: { gather(): Promise<unknown> };
  readonly timelines: { tell(): Promise<unknown> };
}

export const databaseJobs = ({
  clock,
  idempotencyKeys,
  statistics,
  timelines,
}: DatabaseJobsNeeds): readonly Job[] => [
  { name: 'sweep', everyMs: 3_600_000, run: () => idempotencyKeys.sweep(clock.now()) },
  { name: 'tell timelines', everyMs: 5_000, run: () => timelines.tell() },
  { name: 'gather statistics', everyMs: 1_000, run: () => statistics.gather() },
];
