import type { DeskWatch } from '../platform/database/desk-watch.ts';
import { createFairLine } from '../platform/fair-line.ts';
import type { Job, JobLog } from '../platform/scheduler.ts';
import { type CancelLateNeeds, cancelLate, cancelSilent } from './cancel-orders.ts';

interface OrderJobsNeeds extends CancelLateNeeds {
  readonly deskWatch: Pick<DeskWatch, 'turn'>;
}

export function orderJobs(needs: OrderJobsNeeds, log: JobLog): readonly Job[] {
  const onFailed = (error: unknown): void => log.error({ err: error }, 'late orders could not be canceled');
  const line = createFairLine({ atOnce: 64, ofLane: 1, mostWaiting: 200, onFailed });
  return [
    {
      name: 'keep watch',
      everyMs: 1_000,
      async run() {
        if (await needs.deskWatch.turn()) await cancelSilent(needs);
      },
    },
    { name: 'cancel late orders', everyMs: 250, run: () => cancelLate(needs, line), line },
  ];
}
