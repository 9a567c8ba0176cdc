import type { Job } from '../platform/scheduler.ts';
import { type FollowSetsNeeds, followSets } from './follow-sets.ts';
import { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt } from './resolve-doubt.ts';

/** @param isShared other replicas may be sending orders */
export const tradingJobs = (
  needs: ResolveDoubtNeeds & FollowSetsNeeds,
  isShared: boolean,
): readonly Job[] => [
  {
    name: 'resolve doubt',
    // Often, so that what a dead leader left is known within a second of the next one.
    everyMs: 250,
    run: () => resolveDoubt(needs, leftAloneMs(isShared)),
  },
  { name: 'follow sets', everyMs: 2_000, run: () => followSets(needs) },
];
