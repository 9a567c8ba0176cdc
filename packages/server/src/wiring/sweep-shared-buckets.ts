import type { RateLimits } from '../platform/http/rate-limits.ts';
import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 3_600_000;

export const sweepSharedBucketsJob = (rateLimits: Pick<RateLimits, 'sweepBank'>): Job => ({
  name: 'sweep buckets',
  everyMs: EVERY_MS,
  run: rateLimits.sweepBank,
});
