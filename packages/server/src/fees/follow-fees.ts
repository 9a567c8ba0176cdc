import type { Job } from '../platform/scheduler.ts';
import { type FollowFeesNeeds, followFees } from './fee-fate.ts';

const EVERY_MS = 2_000;

export const followFeesJob = (needs: FollowFeesNeeds): Job => ({
  name: 'follow fees',
  everyMs: EVERY_MS,
  run: () => followFees(needs),
});
