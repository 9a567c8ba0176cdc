import type { Job } from '../platform/scheduler.ts';
import { createEquityRecorder, type RecordEquityNeeds } from './record-equity.ts';

/** @param leads one replica writes for all */
export const consoleJobs = (needs: RecordEquityNeeds, leads: () => boolean): readonly Job[] => {
  const recorder = createEquityRecorder(needs);
  return [
    {
      name: 'record equity',
      // Twenty wallets a second, at most.
      everyMs: 5_000,
      run: async () => {
        if (leads()) await recorder.run();
      },
    },
  ];
};
