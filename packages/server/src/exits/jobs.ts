import type { Job } from '../platform/scheduler.ts';
import { type ReviewExitsNeeds, reviewExits } from './review-exits.ts';
import { createExitWatch, type WatchExitsNeeds } from './watch-exits.ts';

export const exitJobs = (needs: WatchExitsNeeds & ReviewExitsNeeds): readonly Job[] => [
  { name: 'watch exits', everyMs: 500, run: createExitWatch(needs) },
  { name: 'review exits', everyMs: 2_000, run: () => reviewExits(needs) },
];
