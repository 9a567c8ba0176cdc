import { type ResolveDoubtNeeds, resolveDoubt } from '../app/orders/signed/resolve-doubt.ts';
import { SUBMIT_WITHIN_MS } from '../app/orders/signed/trade-answers.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 1_000;
/** Later than any order can still arrive at a venue that this process keeps, or at one that only it asks. */
const AFTER_MS = 5_000;
/** With room for clocks that differ between replicas. */
const AFTER_SHARED_MS = 12_000;
/**
 * The leader refuses an order after its deadline by the clock that it also looks up orders by. So what a leader left that
 * died is known soon after the next one leads.
 */
const AFTER_AT_LEADER_MS = SUBMIT_WITHIN_MS + 500;

export interface DoubtIsOf {
  /** Other replicas may be sending orders. */
  readonly isShared: boolean;
  /** Whether this process keeps the venue of signed orders now. */
  readonly keepsVenue: () => boolean;
}

export const leftAloneMs = ({ isShared, keepsVenue }: DoubtIsOf): number => {
  if (!isShared) return AFTER_MS;
  return keepsVenue() ? AFTER_AT_LEADER_MS : AFTER_SHARED_MS;
};

export const resolveDoubtJob = (needs: ResolveDoubtNeeds, of: DoubtIsOf): Job => ({
  name: 'resolve doubt',
  everyMs: EVERY_MS,
  run: () => resolveDoubt(needs, leftAloneMs(of)),
});
