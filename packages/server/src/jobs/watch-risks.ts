import { type WatchRisksNeeds, watchRisks } from '../app/watch-risks.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 30_000;

export const watchRisksJob = (needs: WatchRisksNeeds): Job => ({
  name: 'watch risks',
  everyMs: EVERY_MS,
  run: () => watchRisks(needs),
});
