import type { Job } from '../platform/scheduler.ts';

export interface MarketJobsNeeds {
  readonly clock: { now(): number };
  readonly priceRetention: { thin(before: number): Promise<void> };
  /** Younger prices stay as they were recorded. */
  readonly detailMs: number;
}

export const marketJobs = ({ clock, priceRetention, detailMs }: MarketJobsNeeds): readonly Job[] => [
  { name: 'thin prices', everyMs: 3_600_000, run: () => priceRetention.thin(clock.now() - detailMs) },
];
