import type { Clock } from '../platform/clock.ts';
import type { Job } from '../platform/scheduler.ts';
import type { FactLog } from './fact-log.ts';

const BATCH = 5_000;
/** A stop waits for a turn, so it ends; the next one goes on. Many times what a busy service logs between two turns. */
const BATCHES_PER_TURN = 200;

export interface StreamJobsNeeds {
  readonly factLog: FactLog;
  readonly clock: Clock;
  readonly retentionMs: number;
}

/**
 * Keeps the log of facts as long as it is configured, and no longer: in batches that hold up nothing else.
 *
 * @returns how many were deleted
 */
export async function forgetFacts({ factLog, clock, retentionMs }: StreamJobsNeeds): Promise<number> {
  const horizon = clock.now() - retentionMs;
  let total = 0;
  for (let batch = 0; batch < BATCHES_PER_TURN; batch += 1) {
    const count = await factLog.forget(horizon, BATCH);
    total += count;
    if (count === 0) break;
  }
  return total;
}

export const streamJobs = (needs: StreamJobsNeeds): readonly Job[] => [
  { name: 'forget facts', everyMs: 300_000, run: () => forgetFacts(needs) },
];
