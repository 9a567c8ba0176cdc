import { createFairLine } from '../platform/fair-line.ts';
import type { Job, JobLog } from '../platform/scheduler.ts';
import { type ReviewExitsNeeds, reviewExits } from './review-exits.ts';
import { createExitWatch, type WatchExitsNeeds } from './watch-exits.ts';

/** More at once would fill the desk's line of trades. A slow venue keeps one owner's exits in their lane. */
const SENT_AT_ONCE = { atOnce: 192, ofLane: 48, mostWaiting: 1_000, apartMs: 15 };

export function exitJobs(needs: WatchExitsNeeds & ReviewExitsNeeds, log: JobLog): readonly Job[] {
  const onFailed = (error: unknown): void => log.error({ err: error }, 'an exit could not be sent');
  const line = createFairLine({ ...SENT_AT_ONCE, onFailed });
  return [
    { name: 'watch exits', everyMs: 500, run: createExitWatch(needs, line), line },
    { name: 'review exits', everyMs: 2_000, run: () => reviewExits(needs) },
  ];
}
