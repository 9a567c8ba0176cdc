/**
 * Token buckets, one per caller and class of route. A bucket is full again after a while and then forgotten, so memory
 * follows the callers of the last moments, not of all time.
 *
 * Alone, a process keeps its buckets in memory. While other replicas are alive the buckets are in the database, and
 * each replica leases tokens from them in slices: a slice is drawn from without asking anybody, and what is left of it
 * after a moment goes back. Together the replicas never give out more than one bucket holds.
 */

import type { FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { BucketPolicy, TokenBank } from '../database/replica-watch.ts';
import type { Job } from '../scheduler.ts';
import { addressOf } from './addresses.ts';

export interface Draw {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again. */
  readonly resetS: number;
  /** Seconds until as many tokens are there; 0 when allowed. */
  readonly retryAfterS: number;
}

export interface RateLimits {
  policy(rateClass: string): BucketPolicy | null;
  /** Takes as many tokens, all or none; `null` when the class is not limited. */
  draw(rateClass: string, who: string, count?: number): Draw | null | Promise<Draw>;
  /** Forgets full buckets and gives lapsed slices back. */
  sweep(): Promise<void>;
  /** Forgets the buckets in the database that are full again by now, of every class. */
  sweepBank(): Promise<void>;
}

interface RateLimitOptions {
  /** `null`: no limits at all. */
  readonly policies: Readonly<Record<string, BucketPolicy>> | null;
  readonly clock: Clock;
  readonly bank: TokenBank;
}

interface Bucket {
  readonly policy: BucketPolicy;
  /** Name for all buckets, in the bank. */
  readonly name: string;
  /** Alone: what the bucket holds. Among replicas: what is left of the leased slice. */
  tokens: number;
  at: number;
  leased: boolean;
  /** Among replicas: what the bank had left at the last lease. */
  banked: number;
  leasing: Promise<void> | null;
}

const MS = 1000;
/** Refilled in many small steps a token is a little less than one; a caller who waited as long as the answer said must not be refused. */
const ALMOST = 1e-9;
const SLICE_LAPSES_MS = 1_000;
/** A slice is a small part of a bucket, so that little lies idle at a replica that is not asked. */
const SLICES_PER_BURST = 8;

const sliceOf = ({ perSecond, burst }: BucketPolicy): number =>
  Math.max(1, Math.min(Math.floor(burst / SLICES_PER_BURST), Math.ceil(perSecond / 4)));

export function createRateLimits({ policies, clock, bank }: RateLimitOptions): RateLimits {
  /** By class of route, then by caller: a name made of both would be built and hashed for every request. */
  const buckets = new Map<string, Map<string, Bucket>>(
    Object.keys(policies ?? {}).map((rateClass) => [rateClass, new Map()]),
  );

  const bucketOf = (rateClass: string, who: string, policy: BucketPolicy): Bucket => {
    const ofClass = buckets.get(rateClass) as Map<string, Bucket>;
    let bucket = ofClass.get(who);
    if (bucket === undefined) {
      const name = `${rateClass} ${who}`;
      bucket = {
        policy,
        name,
        tokens: policy.burst,
        at: clock.now(),
        leased: false,
        banked: 0,
        leasing: null,
      };
      ofClass.set(who, bucket);
    }
    return bucket;
  };

  const fullAfterS = Math.max(
    0,
    ...Object.values(policies ?? {}).map(({ burst, perSecond }) => burst / perSecond),
  );

  return {
    sweepBank: () => bank.sweep(Math.ceil(fullAfterS)),
    policy: (rateClass) => policies?.[rateClass] ?? null,
    draw(rateClass, who, count = 1) {
      const policy = policies?.[rateClass];
      if (policy === undefined) return null;
      const bucket = bucketOf(rateClass, who, policy);
      return bank.isShared() ? drawLeased(bucket, count, { clock, bank }) : drawAlone(bucket, count, clock);
    },
    async sweep() {
      const now = clock.now();
      const back: Promise<unknown>[] = [];
      for (const ofClass of buckets.values()) {
        for (const [who, bucket] of ofClass) {
          if (bucket.leasing !== null) continue;
          if (!bucket.leased) {
            if (bucket.tokens + ((now - bucket.at) / MS) * bucket.policy.perSecond >= bucket.policy.burst)
              ofClass.delete(who);
          } else if (now - bucket.at > SLICE_LAPSES_MS) {
            ofClass.delete(who);
            if (bucket.tokens > 0) back.push(bank.lease(bucket.name, bucket.policy, -bucket.tokens));
          }
        }
      }
      await Promise.all(back);
    },
  };
}

function answer(bucket: Bucket, count: number, allowed: boolean, held: number): Draw {
  const { perSecond, burst } = bucket.policy;
  return {
    allowed,
    remaining: Math.max(0, Math.floor(held)),
    resetS: Math.max(0, Math.ceil((burst - held) / perSecond)),
    retryAfterS: allowed ? 0 : Math.max(1, Math.ceil((count - held) / perSecond)),
  };
}

function drawAlone(bucket: Bucket, count: number, clock: Clock): Draw {
  const now = clock.now();
  const { perSecond, burst } = bucket.policy;
  // The other replicas are gone: what was left in the shared bucket is this one's alone.
  if (bucket.leased) bucket.tokens += bucket.banked;
  bucket.leased = false;
  bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / MS) * perSecond);
  bucket.at = now;
  const allowed = bucket.tokens >= count - ALMOST;
  if (allowed) bucket.tokens = Math.max(0, bucket.tokens - count);
  return answer(bucket, count, allowed, bucket.tokens);
}

type Shared = Pick<RateLimitOptions, 'clock' | 'bank'>;

async function drawLeased(bucket: Bucket, count: number, shared: Shared): Promise<Draw> {
  const { bank } = shared;
  if (!bucket.leased) {
    // Tokens that this process gave out while it was alone are gone from the shared bucket, too.
    const spent = Math.floor(bucket.policy.burst - bucket.tokens);
    bucket.leased = true;
    bucket.tokens = 0;
    if (spent > 0) {
      bucket.leasing = bank
        .lease(bucket.name, bucket.policy, spent)
        .then(() => {})
        .finally(() => {
          bucket.leasing = null;
        });
    }
  }
  for (let attempt = 0; ; attempt++) {
    if (bucket.leasing !== null) await bucket.leasing;
    if (bucket.tokens >= count) {
      bucket.tokens -= count;
      return answer(bucket, count, true, bucket.tokens + bucket.banked);
    }
    // Tokens that were leased in vain stay in the slice, for a smaller draw or to go back when it lapses.
    const held = bucket.tokens + bucket.banked;
    if (attempt > 0 && held < count) return answer(bucket, count, false, held);
    bucket.leasing ??= lease(bucket, count - bucket.tokens, shared);
  }
}

async function lease(bucket: Bucket, missing: number, { clock, bank }: Shared): Promise<void> {
  try {
    const want = Math.max(sliceOf(bucket.policy), missing);
    const { granted, remaining } = await bank.lease(bucket.name, bucket.policy, want);
    bucket.tokens += granted;
    bucket.banked = remaining;
    bucket.at = clock.now();
  } finally {
    bucket.leasing = null;
  }
}

export type { BucketPolicy };

// The buckets of the paper doors: one for an address, whichever replica it asks.

const RATE_CLASS = 'door';

export function createDoorGuard(rateLimits: RateLimits) {
  /** @returns seconds to wait; 0: go on */
  const draw = async (request: FastifyRequest, tokens: number): Promise<number> => {
    // More than a bucket holds would never be there.
    const wanted = Math.min(Math.ceil(tokens), rateLimits.policy(RATE_CLASS)?.burst ?? 0);
    if (wanted <= 0) return 0;
    const answer = await rateLimits.draw(RATE_CLASS, addressOf(request), wanted);
    return answer === null || answer.allowed ? 0 : answer.retryAfterS;
  };
  return {
    // The replica that took the request has drawn for it.
    admit: async (request: FastifyRequest) => (request.vouchedAddress === null ? draw(request, 1) : 0),
    charge: draw,
    sourceOf: addressOf,
  };
}

export const rateLimitJobs = (rateLimits: Pick<RateLimits, 'sweep' | 'sweepBank'>): readonly Job[] => [
  { name: 'rate limits', everyMs: 1_000, run: rateLimits.sweep },
  { name: 'sweep buckets', everyMs: 3_600_000, run: rateLimits.sweepBank },
];
