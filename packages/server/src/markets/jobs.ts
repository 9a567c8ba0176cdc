import type { Job } from '../platform/scheduler.ts';
import type { Venues } from '../venues/venue.ts';
import type { StoredNames } from './stored-names.ts';

export interface MarketJobsNeeds {
  readonly clock: { now(): number };
  readonly venues: Venues;
  readonly storedNames: Pick<StoredNames, 'name'>;
  readonly priceRetention: { thin(before: number): Promise<void> };
  /** Younger prices stay as they were recorded. */
  readonly detailMs: number;
}

export const marketJobs = ({
  clock,
  venues,
  storedNames,
  priceRetention,
  detailMs,
}: MarketJobsNeeds): readonly Job[] => [
  { name: 'name outcomes', everyMs: 15_000, run: () => storedNames.name(venues) },
  { name: 'thin prices', everyMs: 3_600_000, run: () => priceRetention.thin(clock.now() - detailMs) },
];
