import type { Job, JobLog } from '../platform/scheduler.ts';
import { type FollowSetsNeeds, followSets } from './follow-sets.ts';
import { askAboutDoubt, doubtLine, leftAloneMs, type ResolveDoubtNeeds } from './resolve-doubt.ts';

/** @param isShared other replicas may be sending orders */
export function tradingJobs(
  needs: ResolveDoubtNeeds & FollowSetsNeeds,
  isShared: boolean,
  log: JobLog,
): readonly Job[] {
  const line = doubtLine((error) => log.error({ err: error }, 'an order in doubt could not be asked about'));
  const olderThanMs = leftAloneMs(isShared);
  return [
    // Often, so that what a dead leader left is known within a second of the next one.
    { name: 'resolve doubt', everyMs: 250, run: () => askAboutDoubt(needs, { olderThanMs, line }), line },
    { name: 'follow sets', everyMs: 2_000, run: () => followSets(needs) },
  ];
}
