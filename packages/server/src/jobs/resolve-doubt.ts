import { type ResolveDoubtNeeds, resolveDoubt } from '../app/orders/signed/resolve-doubt.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 1_000;

/** @param olderThanMs when an order that is in doubt cannot be on its way any more */
export const resolveDoubtJob = (needs: ResolveDoubtNeeds, olderThanMs: number): Job => ({
  name: 'resolve doubt',
  everyMs: EVERY_MS,
  run: () => resolveDoubt(needs, olderThanMs),
});
