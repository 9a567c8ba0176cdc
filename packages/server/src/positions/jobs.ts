import type { Job } from '../platform/scheduler.ts';
import { type AutoRedeemNeeds, autoRedeem } from './auto-redeem.ts';
import { type FollowRedemptionsNeeds, followRedemptions } from './follow-redemptions.ts';
import { type ResolveMarketsNeeds, resolveMarkets } from './resolve-markets.ts';

type PositionJobsNeeds = AutoRedeemNeeds & ResolveMarketsNeeds & FollowRedemptionsNeeds;

export const positionJobs = (needs: PositionJobsNeeds): readonly Job[] => [
  { name: 'redeem', everyMs: 1_000, run: () => autoRedeem(needs) },
  {
    name: 'resolve markets',
    everyMs: 15_000,
    async run() {
      // One venue that does not say how markets ended must not keep redemptions from being recorded.
      const turns = await Promise.allSettled([resolveMarkets(needs), followRedemptions(needs)]);
      const failures = turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : []));
      if (failures.length > 0)
        throw new AggregateError(failures, 'resolutions were not followed to their end');
    },
  },
];
