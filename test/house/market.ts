import type { MarketRecord } from '../../packages/server/src/domain/market.ts';

const M = 1_000_000n;
const DAY_MS = 24 * 3_600_000;

/** The only market of the house. */
export const houseMarket = (): MarketRecord => ({
  id: 'house-1',
  conditionId: `0x${'7'.repeat(64)}`,
  tokenIds: ['700000000000000001', '700000000000000002'],
  outcomes: ['Yes', 'No'],
  slug: 'house-one',
  question: 'Will the house win?',
  description: 'It does.',
  category: 'test',
  eventId: 'house',
  eventTitle: 'The house',
  negRisk: false,
  tickSize: 100,
  minOrderSize: 5n * M,
  feeRate: 0n,
  feeExponent: 1,
  createdAt: Date.now() + 60_000,
  endDate: Date.now() + 30 * DAY_MS,
  updatedAt: Date.now(),
  status: 'open',
  bestBid: 4_800,
  bestAsk: 5_000,
  volume: 0n,
  volume24h: 0n,
  liquidity: 1_000n * M,
});
