import type { Clock } from '../../packages/server/src/platform/clock.ts';
import type { Job } from '../../packages/server/src/platform/scheduler.ts';

export interface Ledger {
  /** When the house counted its money last; `null`: never. */
  countedAt: number | null;
}

export const houseJobs = (ledger: Ledger, clock: Clock): readonly Job[] => [
  {
    name: 'count the house',
    everyMs: 20,
    async run() {
      ledger.countedAt = clock.now();
    },
  },
];
