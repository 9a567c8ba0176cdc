/** For tests: a catalogue whose markets a test may list, change and archive. */
import type { CatalogueReads } from '../src/doors/gamma/index.ts';
import type { ConditionId, MarketView } from '../src/index.ts';

export const START = Date.UTC(2026, 9, 1, 12);
export const DAY = 86_400_000;

/** The n-th market; its event holds it alone unless `change` says otherwise. */
export function catalogueMarket(nth: number, change: Partial<MarketView> = {}): MarketView {
  return {
    id: String(1000 + nth),
    conditionId: `0x${nth.toString(16).padStart(64, '0')}`,
    tokenIds: [`${nth}${'1'.repeat(75)}`, `${nth}${'2'.repeat(75)}`],
    slug: `will-thing-${nth}-happen`,
    question: `Will thing ${nth} happen?`,
    description: `Resolves YES when thing ${nth} happens.`,
    outcomes: ['Yes', 'No'],
    category: 'Politics',
    tags: [],
    eventId: String(9000 + nth),
    eventTitle: `Thing ${nth}`,
    version: 'v1',
    negRisk: false,
    tickSize: 100,
    minOrderSize: 5_000_000n,
    feeRate: 40_000n,
    feeExponent: 1,
    createdAt: START,
    endDate: START + 90 * DAY,
    updatedAt: START + DAY,
    status: 'open',
    bestBid: 4_700,
    bestAsk: 4_901,
    lastTrade: 4_800,
    volume: BigInt(nth) * 1_500_000n,
    volume24h: 1_000_000n,
    liquidity: 2_345_678_901n,
    ...change,
  };
}

export interface FakeCatalogue extends CatalogueReads {
  list(market: MarketView): void;
  change(conditionId: ConditionId, change: Partial<MarketView>): void;
  archive(conditionId: ConditionId): void;
}

export function fakeCatalogue(markets: readonly MarketView[]): FakeCatalogue {
  const listed = new Map(markets.map((market) => [market.conditionId, market]));
  const counters = { listings: 0, lives: 0, changes: 0 };
  return {
    catalogue: {
      get listings() {
        return counters.listings;
      },
      get lives() {
        return counters.lives;
      },
      get changes() {
        return counters.changes;
      },
      conditionIds: () => listed.keys(),
      life: (conditionId) => listed.get(conditionId),
      changedSince: () => undefined,
    },
    market: (conditionId) => listed.get(conditionId),
    marketByToken: (tokenId) => {
      const market = [...listed.values()].find(({ tokenIds }) => tokenIds.includes(tokenId));
      return market && { market, outcome: market.tokenIds[0] === tokenId ? 'YES' : 'NO' };
    },
    list: (market) => {
      listed.set(market.conditionId, market);
      counters.listings += 1;
    },
    change: (conditionId, change) => {
      listed.set(conditionId, { ...listed.get(conditionId)!, ...change });
      counters.changes += 1;
    },
    archive: (conditionId) => {
      listed.delete(conditionId);
      counters.listings += 1;
    },
  };
}
