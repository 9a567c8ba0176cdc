import type { Job } from '../scheduler.ts';

export interface DatabaseJobsNeeds {
  readonly clock: { now(): number };
  readonly idempotencyKeys: { sweep(at: number): Promise<unknown> };
  readonly statistics: { gather(): Promise<unknown> };
}

export const databaseJobs = ({ clock, idempotencyKeys, statistics }: DatabaseJobsNeeds): readonly Job[] => [
  { name: 'sweep', everyMs: 3_600_000, run: () => idempotencyKeys.sweep(clock.now()) },
  { name: 'gather statistics', everyMs: 1_000, run: () => statistics.gather() },
];
