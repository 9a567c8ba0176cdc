import type { Job } from '../platform/scheduler.ts';

export interface OwnerJobsNeeds {
  readonly clock: { now(): number };
  readonly owners: { sweep(at: number): Promise<unknown> };
}

export const ownerJobs = ({ clock, owners }: OwnerJobsNeeds): readonly Job[] => [
  { name: 'sweep sessions', everyMs: 3_600_000, run: () => owners.sweep(clock.now()) },
];
