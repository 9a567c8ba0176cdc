import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 3_600_000;

export interface SweepSessionsNeeds {
  readonly clock: { now(): number };
  readonly owners: { sweep(at: number): Promise<unknown> };
}

export const sweepSessionsJob = ({ clock, owners }: SweepSessionsNeeds): Job => ({
  name: 'sweep sessions',
  everyMs: EVERY_MS,
  run: () => owners.sweep(clock.now()),
});
