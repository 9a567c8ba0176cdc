/** For tests: the reads of a paper exchange with two fixed markets and a third that is resolved. */

import type { DoorExchange } from '../src/doors/polymarket/requests.ts';
import type { BookView, ConditionId, MarketView, Outcome, TokenId } from '../src/index.ts';

const START = Date.UTC(2026, 9, 1);

function market(
  change: Partial<MarketView> & Pick<MarketView, 'id' | 'conditionId' | 'tokenIds'>,
): MarketView {
  return {
    slug: `market-${change.id}`,
    question: `Will ${change.id} happen?`,
    description: 'Resolves YES when it happens.',
    outcomes: ['Yes', 'No'],
    category: 'Politics',
    tags: [],
    eventId: '900',
    eventTitle: 'Things that happen',
    version: 'v1',
    negRisk: false,
    tickSize: 100,
    minOrderSize: 5_000_000n,
    feeRate: 40_000n,
    feeExponent: 1,
    createdAt: START,
    endDate: START + 90 * 86_400_000,
    updatedAt: START,
    status: 'open',
    bestBid: 4_700,
    bestAsk: 4_900,
    lastTrade: 4_800,
    volume: 0n,
    volume24h: 0n,
    liquidity: 0n,
    ...change,
  };
}

export const PLAIN = market({
  id: '1',
  conditionId: `0x${'1'.repeat(64)}`,
  tokenIds: [
    '10887229618305499305493883108279982562016544018965943301810854885492933346428',
    '89711174926330519158043401581181146613785179104141808554061413232025882707365',
  ],
});
export const FINE_NEG_RISK = market({
  id: '2',
  conditionId: `0x${'2'.repeat(64)}`,
  tokenIds: ['2001', '2002'],
  negRisk: true,
  tickSize: 10,
  feeRate: 0n,
});
export const RESOLVED = market({
  id: '3',
  conditionId: `0x${'3'.repeat(64)}`,
  tokenIds: ['3001', '3002'],
  status: 'resolved',
  payout: 'NO',
});

const YES_BOOK = {
  bids: [
    [4_700, 100_000_000n],
    [4_600, 250_500_000n],
  ],
  asks: [
    [4_900, 80_000_000n],
    [5_000, 300_000_000n],
    [5_500, 1_000_000_000n],
  ],
} as const;

function book(conditionId: ConditionId, outcome: Outcome): BookView {
  const mirrored = (levels: readonly (readonly [number, bigint])[]) =>
    levels.map(([price, size]) => [10_000 - price, size] as const);
  const yes = outcome === 'YES';
  return {
    conditionId,
    outcome,
    bids: yes ? YES_BOOK.bids : mirrored(YES_BOOK.asks),
    asks: yes ? YES_BOOK.asks : mirrored(YES_BOOK.bids),
    lastTrade: yes ? 4_800 : 5_200,
    lastTakerSide: yes ? 'SELL' : 'BUY',
    sequence: 7,
    changedAt: START + 1_234,
  };
}

const notFaked = (): never => {
  throw new Error('the fake exchange has markets and books only');
};

const FAKE_HISTORY = {
  trades: notFaked,
  trade: notFaked,
  tradesOfMatches: notFaked,
  moves: notFaked,
  market: notFaked,
  tradeId: notFaked,
  settlement: notFaked,
  tradesIn: notFaked,
  delays: { minedAfterMs: 1_000, confirmedAfterMs: 3_000 },
};

export function fakeExchange(): DoorExchange {
  const markets = [PLAIN, FINE_NEG_RISK, RESOLVED];
  return {
    market: (conditionId: ConditionId) => markets.find((entry) => entry.conditionId === conditionId),
    marketByToken: (tokenId: TokenId) => {
      const found = markets.find((entry) => entry.tokenIds.includes(tokenId));
      return found && { market: found, outcome: found.tokenIds[0] === tokenId ? 'YES' : 'NO' };
    },
    book: (conditionId, outcome) => book(conditionId, outcome),
    markets: () => markets,
    account: notFaked,
    available: notFaked,
    freeTokens: notFaked,
    openOrder: notFaked,
    openOrders: notFaked,
    orderRecord: notFaked,
    orderRecords: notFaked,
    postedOrders: notFaked,
    history: FAKE_HISTORY,
    prices: { locate: notFaked, read: notFaked },
    execute: notFaked,
  };
}
