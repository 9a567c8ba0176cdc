import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 3_600_000;

export interface SweepIdempotencyKeysNeeds {
  readonly clock: { now(): number };
  readonly idempotencyKeys: { sweep(at: number): Promise<unknown> };
}

export const sweepIdempotencyKeysJob = ({ clock, idempotencyKeys }: SweepIdempotencyKeysNeeds): Job => ({
  name: 'sweep',
  everyMs: EVERY_MS,
  run: () => idempotencyKeys.sweep(clock.now()),
});
