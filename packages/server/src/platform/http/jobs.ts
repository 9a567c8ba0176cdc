import type { Job } from '../scheduler.ts';
import type { RateLimits } from './rate-limits.ts';

export const rateLimitJobs = (rateLimits: Pick<RateLimits, 'sweep' | 'sweepBank'>): readonly Job[] => [
  { name: 'rate limits', everyMs: 1_000, run: rateLimits.sweep },
  { name: 'sweep buckets', everyMs: 3_600_000, run: rateLimits.sweepBank },
];
