import type { Job } from '../platform/scheduler.ts';
import { type FollowRedemptionsNeeds, followRedemptions } from './follow-redemptions.ts';
import { type ResolveMarketsNeeds, resolveMarkets } from './resolve-markets.ts';

const EVERY_MS = 15_000;

export const resolveMarketsJob = (needs: ResolveMarketsNeeds & FollowRedemptionsNeeds): Job => ({
  name: 'resolve markets',
  everyMs: EVERY_MS,
  async run() {
    // One venue that does not say how markets ended must not keep redemptions from being recorded.
    const turns = await Promise.allSettled([resolveMarkets(needs), followRedemptions(needs)]);
    const failures = turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : []));
    if (failures.length > 0) throw new AggregateError(failures, 'resolutions were not followed to their end');
  },
});
