import type { Job } from '../platform/scheduler.ts';
import { type WatchRisksNeeds, watchRisks } from './watch-risks.ts';

/** Between two looks at an agent; less than three turns, so that the third is not missed by a moment. */
const AGENT_EVERY_MS = 28_000;

export interface BriefingJobsNeeds extends WatchRisksNeeds {
  /** The agents whose streams were open here since the last call. */
  readonly takeListeners: () => readonly string[];
  /** So long a stream may be resumed. */
  readonly retentionMs: number;
}

export const briefingJobs = (needs: BriefingJobsNeeds): readonly Job[] => {
  const { riskWatches, clock, takeListeners, retentionMs } = needs;
  return [
    {
      name: 'watch risks',
      // So soon a stream that was just opened gets the alerts that stand.
      everyMs: 10_000,
      async run() {
        await riskWatches.listen(takeListeners(), clock.now() + retentionMs);
        await watchRisks(needs, AGENT_EVERY_MS);
      },
    },
    { name: 'sweep risk watches', everyMs: 3_600_000, run: () => riskWatches.sweep(clock.now()) },
  ];
};
