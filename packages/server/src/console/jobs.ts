import type { Job } from '../platform/scheduler.ts';
import type { EquityRecorder } from './record-equity.ts';

/** Twenty wallets a second, at most. */
const EVERY_MS = 5_000;

/** @param leads one replica writes for all */
export const recordEquityJob = (recorder: EquityRecorder, leads: () => boolean): Job => ({
  name: 'record equity',
  everyMs: EVERY_MS,
  run: async () => {
    if (leads()) await recorder.run();
  },
});
