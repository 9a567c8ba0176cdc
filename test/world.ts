/** A manual clock, and helpers that bring markets to their end. */
import type { Payout } from '@bellwether/contract/positions';
import type { Market } from '@bellwether/sdk';
import { openMarkets, type TestService, type Trader } from './harness.ts';

export interface ManualClock {
  now(): number;
  advance(ms: number): void;
  /** Forward only. */
  moveTo(at: number): void;
}

const HOUR_MS = 3_600_000;
/**
 * Ten in the morning, UTC, the next time it is. What a safeguard counts of a day is counted anew at midnight: a test that
 * began at the hour of its run would meet midnight by chance.
 */
const nextMorning = () =>
  Math.ceil((Date.now() - 10 * HOUR_MS) / (24 * HOUR_MS)) * 24 * HOUR_MS + 10 * HOUR_MS;

/** @param start the time of this machine, where a client that reads it takes part */
export function manualClock(start = nextMorning()): ManualClock {
  let time = start;
  return {
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
    moveTo: (at) => {
      time = Math.max(time, at);
    },
  };
}

/** Runs as every clock does, and can be moved forward. */
export function movingClock(): ManualClock {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  return {
    now,
    advance: (ms) => {
      ahead += ms;
    },
    moveTo: (at) => {
      ahead += Math.max(0, at - now());
    },
  };
}

const RESOLVE_AFTER_MS = 61_000;
const ARCHIVE_AFTER_MS = 24 * HOUR_MS + 1_000;
const MAX_STEPS = 60;

/** Moves the clock to the market's end and the world past it, until the outcome is final. */
export async function resolveMarket(
  service: TestService,
  clock: ManualClock,
  conditionId: string,
): Promise<Payout> {
  for (let i = 0; i < MAX_STEPS; i += 1) {
    const market = service.exchange.market(conditionId);
    if (market === undefined) throw new Error('the market is archived');
    if (market.payout !== undefined) return market.payout;
    if (market.status === 'open') clock.moveTo(market.endDate + 1);
    else clock.advance(RESOLVE_AFTER_MS);
    await service.exchange.step();
  }
  throw new Error('the market was not resolved');
}

/** Steps the world until it has forgotten the market; any holder of its tokens prevents that. */
export async function archiveMarket(
  service: TestService,
  clock: ManualClock,
  conditionId: string,
): Promise<void> {
  for (let i = 0; i < MAX_STEPS && service.exchange.market(conditionId) !== undefined; i += 1) {
    clock.advance(ARCHIVE_AFTER_MS);
    await service.exchange.step();
  }
  if (service.exchange.market(conditionId) !== undefined) throw new Error('the market was not archived');
}

/** Open markets with cents as ticks, the first to end first. */
export const endingMarkets = async (trader: Pick<Trader, 'client'>): Promise<Market[]> =>
  (await openMarkets(trader.client)).sort((a, b) => Date.parse(a.endDate) - Date.parse(b.endDate));

/** A JSON amount as exact micro-units. */
export const micro = (value: number): bigint => BigInt(Math.round(value * 1e6));
