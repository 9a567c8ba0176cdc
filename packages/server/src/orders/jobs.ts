import type { Job } from '../platform/scheduler.ts';
import { type CancelLateNeeds, cancelLate } from './cancel-orders.ts';

export const orderJobs = (needs: CancelLateNeeds): readonly Job[] => [
  { name: 'cancel late orders', everyMs: 250, run: () => cancelLate(needs) },
];
