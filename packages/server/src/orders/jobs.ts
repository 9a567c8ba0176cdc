import { createFairLine } from '../platform/fair-line.ts';
import type { Job, JobLog } from '../platform/scheduler.ts';
import { type CancelLateNeeds, cancelLate, cancelSilent } from './cancel-orders.ts';

export function orderJobs(needs: CancelLateNeeds, log: JobLog): readonly Job[] {
  const onFailed = (error: unknown): void => log.error({ err: error }, 'late orders could not be canceled');
  const line = createFairLine({ atOnce: 64, ofLane: 1, mostWaiting: 200, onFailed });
  return [
    { name: 'watch for silence', everyMs: 1_000, run: () => cancelSilent(needs) },
    { name: 'cancel late orders', everyMs: 250, run: () => cancelLate(needs, line), line },
  ];
}
