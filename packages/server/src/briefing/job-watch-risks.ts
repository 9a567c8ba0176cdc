import type { Job } from '../platform/scheduler.ts';
import { type WatchRisksNeeds, watchRisks } from './watch-risks.ts';

/** So soon a stream that was just opened gets the alerts that stand. */
const EVERY_MS = 10_000;
/** Between two looks at an agent; less than three turns, so that the third is not missed by a moment. */
const AGENT_EVERY_MS = 28_000;

export interface WatchRisksParts extends WatchRisksNeeds {
  /** The agents whose streams were open here since the last call. */
  readonly takeListeners: () => readonly string[];
  /** So long a stream may be resumed. */
  readonly retentionMs: number;
}

export const watchRisksJob = (parts: WatchRisksParts): Job => ({
  name: 'watch risks',
  everyMs: EVERY_MS,
  async run() {
    const { riskWatches, clock, takeListeners, retentionMs } = parts;
    await riskWatches.listen(takeListeners(), clock.now() + retentionMs);
    await watchRisks(parts, AGENT_EVERY_MS);
  },
});
