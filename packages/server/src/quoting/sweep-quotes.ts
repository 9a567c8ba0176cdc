import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 60_000;
/** Long enough to tell a late agent that its quote has expired; quotes come by the second. */
const KEPT_MS = 3_600_000;

export interface SweepQuotesNeeds {
  readonly clock: { now(): number };
  readonly quotes: { sweep(expiredBefore: number): Promise<void> };
}

export const sweepQuotesJob = ({ clock, quotes }: SweepQuotesNeeds): Job => ({
  name: 'sweep quotes',
  everyMs: EVERY_MS,
  run: () => quotes.sweep(clock.now() - KEPT_MS),
});
