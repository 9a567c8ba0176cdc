import type { EngineEvent, Entry, MarketFacts } from '@bellwether/exchange';
import { describe, expect, test } from 'vitest';
import { isTerminal } from '../../domain/lifecycle.ts';
import { toEvidence } from './translate.ts';

const VENUE = 'polymarket';

const CONDITION = '0xc';
const WALLET = `0x${'a'.repeat(40)}`;

const facts = (payout?: MarketFacts['payout']): MarketFacts => ({
  id: '7',
  conditionId: CONDITION,
  tokenIds: ['11', '22'],
  slug: 'will-it',
  question: 'Will it?',
  outcomes: ['Yes', 'No'],
  endDate: 5_000,
  ...(payout === undefined ? {} : { payout }),
});

const entry = (events: readonly EngineEvent[], market = facts()): Entry => ({
  seq: 3,
  at: 9_000,
  command: { kind: 'step' },
  events,
  markets: new Map([[CONDITION, market]]),
});

const redeemed = (yes: bigint, no: bigint, payout: bigint): EngineEvent => ({
  kind: 'redeemed',
  account: WALLET,
  conditionId: CONDITION,
  yes,
  no,
  payout,
});
const legs = (event: EngineEvent, market: MarketFacts) =>
  toEvidence([entry([event], market)], VENUE).fills.map(({ tokenId, side, size, cost }) => ({
    tokenId,
    side,
    size,
    cost,
  }));

describe('redemption', () => {
  test('pays the winner and burns the loser, also when both are held alike', () => {
    expect(legs(redeemed(8n, 8n, 8n), facts('NO'))).toEqual([
      { tokenId: '11', side: 'SELL', size: 8n, cost: 0n },
      { tokenId: '22', side: 'SELL', size: 8n, cost: 8n },
    ]);
    expect(legs(redeemed(8n, 0n, 8n), facts('YES'))).toEqual([
      { tokenId: '11', side: 'SELL', size: 8n, cost: 8n },
    ]);
    expect(legs(redeemed(0n, 5n, 0n), facts('YES'))).toEqual([
      { tokenId: '22', side: 'SELL', size: 5n, cost: 0n },
    ]);
  });

  test('HALF rounds each outcome separately, and nothing is lost between them', () => {
    for (const [yes, no] of [
      [7n, 5n],
      [6n, 6n],
      [1n, 1n],
      [3n, 0n],
      [0n, 9n],
      [2n, 1_000_001n],
    ] as const) {
      const made = legs(redeemed(yes, no, yes / 2n + no / 2n), facts('HALF'));
      expect(made.find(({ tokenId }) => tokenId === '11')?.cost ?? 0n).toBe(yes / 2n);
      expect(made.find(({ tokenId }) => tokenId === '22')?.cost ?? 0n).toBe(no / 2n);
    }
    const parts = legs(redeemed(100n, 10n, 24n + 7n), facts('0.24'));
    expect(parts.map(({ cost }) => cost)).toEqual([24n, 7n]);
  });

  test('of no tokens gives no evidence', () => {
    expect(toEvidence([entry([redeemed(0n, 0n, 0n)], facts('YES'))], VENUE)).toMatchObject({
      fills: [],
      markets: [],
    });
  });
});

describe('markets', () => {
  test('are recorded once with their first fill, from the entry alone', () => {
    const split = { kind: 'split', account: WALLET, conditionId: CONDITION, amount: 5n } as const;
    expect(toEvidence([entry([split]), entry([split])], VENUE).markets).toEqual([
      {
        conditionId: CONDITION,
        marketId: '7',
        slug: 'will-it',
        venue: VENUE,
        outcomes: ['Yes', 'No'],
        question: 'Will it?',
        endDate: 5_000,
      },
    ]);
  });

  test.each(['house:x', 'dflow:lp'])(
    'are not named when only %s moved, an account of the exchange itself',
    (account) => {
      const split = { kind: 'split', account, conditionId: CONDITION, amount: 5n } as const;
      const done = {
        kind: 'order_done',
        reason: 'filled',
        orderId: 'dflow:1',
        account,
        conditionId: CONDITION,
      } as const;
      const amounts = { filled: 5n, remaining: 0n, cost: 2n, fees: 0n };
      expect(toEvidence([entry([split, { ...done, ...amounts }])], VENUE)).toMatchObject({
        fills: [],
        markets: [],
        outcomes: [],
      });
    },
  );

  test('report their resolution, for all accounts that traded them', () => {
    const event = { kind: 'market_resolved', conditionId: CONDITION, payout: 'HALF' } as const;
    expect(toEvidence([entry([event])], VENUE).resolutions).toEqual([
      { conditionId: CONDITION, payout: 'HALF', at: 9_000 },
    ]);
  });
});

describe('ends of orders', () => {
  const done = (reason: Extract<EngineEvent, { kind: 'order_done' }>['reason']) =>
    toEvidence(
      [
        entry([
          {
            ...{ kind: 'order_done', reason, orderId: '0x1', account: WALLET, conditionId: CONDITION },
            ...{ filled: 0n, remaining: 5n, cost: 0n, fees: 0n },
          } as EngineEvent,
        ]),
      ],
      VENUE,
    ).outcomes[0];

  test.each([
    ['expired', 'expired'],
    ['canceled', 'canceled'],
    ['self_trade', 'canceled'],
    ['market_closed', 'market_resolved'],
    ['market_resolved', 'market_resolved'],
  ] as const)('%s becomes %s', (reason, status) => {
    expect(done(reason)).toMatchObject({ status });
    expect(isTerminal(status)).toBe(true);
  });
});
