import type { Job } from '../platform/scheduler.ts';
import { type ResolveDoubtNeeds, resolveDoubt } from './resolve-doubt.ts';

/** Often, so that what a dead leader left is known within a second of the next one. */
const EVERY_MS = 250;
/** Later than any order can still arrive at a venue that only this process asks. */
const AFTER_MS = 5_000;
/** With room for clocks that differ between replicas. */
const AFTER_SHARED_MS = 12_000;

/** @param isShared other replicas may be sending orders */
export const leftAloneMs = (isShared: boolean): number => (isShared ? AFTER_SHARED_MS : AFTER_MS);

export const resolveDoubtJob = (needs: ResolveDoubtNeeds, isShared: boolean): Job => ({
  name: 'resolve doubt',
  everyMs: EVERY_MS,
  run: () => resolveDoubt(needs, leftAloneMs(isShared)),
});
