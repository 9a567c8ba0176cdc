import type { Job } from '../platform/scheduler.ts';
import { type CategoryNeeds, learnCategories } from './categories.ts';

export const statementJobs = (needs: CategoryNeeds): readonly Job[] => [
  { name: 'learn categories', everyMs: 20_000, run: () => learnCategories(needs) },
];
