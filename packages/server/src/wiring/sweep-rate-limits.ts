import type { RateLimits } from '../platform/http/rate-limits.ts';
import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 1_000;

export const sweepRateLimitsJob = (rateLimits: Pick<RateLimits, 'sweep'>): Job => ({
  name: 'rate limits',
  everyMs: EVERY_MS,
  run: rateLimits.sweep,
});
