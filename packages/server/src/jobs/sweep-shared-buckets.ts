import type { RateLimits } from '../app/rate-limits.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 3_600_000;

export const sweepSharedBucketsJob = (rateLimits: Pick<RateLimits, 'sweepBank'>): Job => ({
  name: 'sweep buckets',
  everyMs: EVERY_MS,
  run: rateLimits.sweepBank,
});
