/**
 * Token buckets, one per caller and class of route. A bucket is full again after a while and then forgotten, so memory
 * follows the callers of the last moments, not of all time.
 */
import type { Clock } from '../ports/clock.ts';

export interface BucketPolicy {
  readonly perSecond: number;
  readonly burst: number;
}

export interface Draw {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetS: number;
  /** Seconds until a token is there; 0 when allowed. */
  readonly retryAfterS: number;
}

export interface RateLimits {
  policy(rateClass: string): BucketPolicy | null;
  /** Takes a token. */
  draw(rateClass: string, who: string): Draw | null;
}

interface Bucket {
  tokens: number;
  at: number;
}

const SWEEP_ABOVE = 20_000;
const MS = 1000;

export function createRateLimits(
  policies: Readonly<Record<string, BucketPolicy>> | null,
  clock: Clock,
): RateLimits {
  const buckets = new Map<string, Bucket>();

  const refill = (bucket: Bucket, policy: BucketPolicy, now: number): void => {
    bucket.tokens = Math.min(policy.burst, bucket.tokens + ((now - bucket.at) / MS) * policy.perSecond);
    bucket.at = now;
  };

  const sweep = (now: number): void => {
    for (const [name, bucket] of buckets) {
      const policy = policies?.[name.slice(0, name.indexOf(' '))];
      if (policy === undefined || bucket.tokens + ((now - bucket.at) / MS) * policy.perSecond >= policy.burst)
        buckets.delete(name);
    }
  };

  return {
    policy: (rateClass) => policies?.[rateClass] ?? null,
    draw(rateClass, who) {
      const policy = policies?.[rateClass];
      if (policy === undefined) return null;
      const now = clock.now();
      const name = `${rateClass} ${who}`;
      let bucket = buckets.get(name);
      if (bucket === undefined) {
        if (buckets.size >= SWEEP_ABOVE) sweep(now);
        bucket = { tokens: policy.burst, at: now };
        buckets.set(name, bucket);
      }
      refill(bucket, policy, now);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      return {
        allowed,
        remaining: Math.floor(bucket.tokens),
        resetS: Math.ceil((policy.burst - bucket.tokens) / policy.perSecond),
        retryAfterS: allowed ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / policy.perSecond)),
      };
    },
  };
}
