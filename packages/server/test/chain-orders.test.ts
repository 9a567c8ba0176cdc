import { expect, test } from 'vitest';
import {
  averagePrice,
  chainWord,
  fillOf,
  legsOf,
  pollPause,
  statusNumber,
  statusWord,
} from '../src/domain/chain-orders.ts';
import { ORDER_STATUSES } from '../src/domain/orders/lifecycle.ts';

test('every status reads in the venue’s words', () => {
  expect(Object.fromEntries(ORDER_STATUSES.map((status) => [status, chainWord(status, null)]))).toEqual({
    submitting: 'submitted',
    unknown: 'submitted',
    live: 'open',
    delayed: 'open',
    unmatched: 'open',
    partially_filled: 'open',
    matched: 'partially_filled',
    filled: 'filled',
    canceled: 'canceled',
    expired: 'expired',
    rejected: 'failed',
    market_resolved: 'open',
  });
  expect(chainWord('rejected', 'reverted')).toBe('reverted');
  expect(chainWord('rejected', 'not_landed')).toBe('expired');
  expect(chainWord('rejected', 'refused_by_chain')).toBe('failed');
});

test('numbers of the records, and signed orders in their own words', () => {
  const number = (status: (typeof ORDER_STATUSES)[number], errorCode: string | null = null) =>
    statusNumber({ kind: 'quoted', status, errorCode });
  expect([number('submitting'), number('delayed'), number('partially_filled')]).toEqual([1, 1, 1]);
  expect([number('filled'), number('matched')]).toEqual([2, 2]);
  expect([number('canceled'), number('rejected', 'not_landed'), number('rejected', 'reverted')]).toEqual([
    3, 3, 3,
  ]);
  expect(number('rejected', 'transaction_failed')).toBe(5);
  const signed = { kind: 'signed', status: 'partially_filled', errorCode: null } as const;
  expect([statusWord(signed), statusNumber(signed)]).toEqual(['partially_filled', 1]);
});

test('an average price is rounded against whoever would like it better, and always fits', () => {
  expect(averagePrice('BUY', 3_000_000n, 1_000_000n)).toBe(3334);
  expect(averagePrice('SELL', 3_000_000n, 1_000_000n)).toBe(3333);
  expect(averagePrice('BUY', 1n, 10n ** 18n)).toBe(2_147_483_647);
});

test('a fee is on top of what a BUY cost, and out of what a SELL brought', () => {
  expect(legsOf('BUY', { inAmount: 5n, outAmount: 7n })).toEqual({ contracts: 7n, collateral: 5n });
  expect(legsOf('SELL', { inAmount: 5n, outAmount: 7n })).toEqual({ contracts: 5n, collateral: 7n });
  expect(fillOf('BUY', { inAmount: 100n, outAmount: 150n, fee: 4n })).toEqual({
    size: 150n,
    cost: 96n,
    fee: 4n,
  });
  expect(fillOf('SELL', { inAmount: 150n, outAmount: 96n, fee: 4n })).toEqual({
    size: 150n,
    cost: 100n,
    fee: 4n,
  });
  // A fee that cannot be is cut to what was paid.
  expect(fillOf('BUY', { inAmount: 3n, outAmount: 150n, fee: 4n })).toEqual({
    size: 150n,
    cost: 0n,
    fee: 3n,
  });
});

test('the venue is asked often at first, and ever more seldom', () => {
  expect([0, 1_000, 8_000, 40_000, 599_000, 601_000].map(pollPause)).toEqual([
    500, 500, 1_000, 5_000, 5_000, 60_000,
  ]);
});
