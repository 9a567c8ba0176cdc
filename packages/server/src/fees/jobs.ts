import type { Job } from '../platform/scheduler.ts';
import { type FollowFeesNeeds, followFees } from './fee-fate.ts';

export const feeJobs = (needs: FollowFeesNeeds): readonly Job[] => [
  { name: 'follow fees', everyMs: 2_000, run: () => followFees(needs) },
];
