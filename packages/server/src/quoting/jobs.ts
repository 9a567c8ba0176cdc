import type { Job } from '../platform/scheduler.ts';
import { type FollowNeeds, followChainOrders } from './follow.ts';

/** Long enough to tell a late agent that its quote has expired; quotes come by the second. */
const QUOTE_KEPT_MS = 3_600_000;

export interface QuotingJobsNeeds extends FollowNeeds {
  readonly quotes: FollowNeeds['quotes'] & { sweep(expiredBefore: number): Promise<void> };
}

export const quotingJobs = (needs: QuotingJobsNeeds): readonly Job[] => [
  { name: 'follow', everyMs: 300, run: () => followChainOrders(needs) },
  {
    name: 'sweep quotes',
    everyMs: 60_000,
    run: () => needs.quotes.sweep(needs.clock.now() - QUOTE_KEPT_MS),
  },
];
