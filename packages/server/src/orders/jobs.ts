import type { Job } from '../platform/scheduler.ts';
import { type CancelLateNeeds, cancelLate, cancelSilent } from './cancel-orders.ts';

export const orderJobs = (needs: CancelLateNeeds): readonly Job[] => [
  { name: 'watch for silence', everyMs: 1_000, run: () => cancelSilent(needs) },
  { name: 'cancel late orders', everyMs: 250, run: () => cancelLate(needs) },
];
