import type { Job } from '../platform/scheduler.ts';

const EVERY_MS = 3_600_000;

export interface ThinPricesNeeds {
  readonly clock: { now(): number };
  readonly priceRetention: { thin(before: number): Promise<void> };
  /** Younger prices stay as they were recorded. */
  readonly detailMs: number;
}

export const thinPricesJob = ({ clock, priceRetention, detailMs }: ThinPricesNeeds): Job => ({
  name: 'thin prices',
  everyMs: EVERY_MS,
  run: () => priceRetention.thin(clock.now() - detailMs),
});
