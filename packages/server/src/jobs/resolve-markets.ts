import { type ResolveMarketsNeeds, resolveMarkets } from '../app/resolve-markets.ts';
import type { Job } from './jobs.ts';

const EVERY_MS = 15_000;

export const resolveMarketsJob = (needs: ResolveMarketsNeeds): Job => ({
  name: 'resolve markets',
  everyMs: EVERY_MS,
  run: () => resolveMarkets(needs),
});
