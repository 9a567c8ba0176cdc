import { type FollowFeesNeeds, followFees } from '../app/fees/fee-fate.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 2_000;

export const followFeesJob = (needs: FollowFeesNeeds): Job => ({
  name: 'follow fees',
  everyMs: EVERY_MS,
  run: () => followFees(needs),
});
