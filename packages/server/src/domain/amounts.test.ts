import { expect, test } from 'vitest';
import { averagePrice, fillOf, legsOf, pollPause } from './amounts.ts';

test('an average price is rounded against the agent, and always fits', () => {
  expect(averagePrice('BUY', 3_000_000n, 1_000_000n)).toBe(3334);
  expect(averagePrice('SELL', 3_000_000n, 1_000_000n)).toBe(3333);
  expect(averagePrice('BUY', 1n, 10n ** 18n)).toBe(2_147_483_647);
});

test('a BUY pays its fee on top of the cost, a SELL out of the proceeds', () => {
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
  // An impossible fee is limited to the collateral paid.
  expect(fillOf('BUY', { inAmount: 3n, outAmount: 150n, fee: 4n })).toEqual({
    size: 150n,
    cost: 0n,
    fee: 3n,
  });
});

test('polling is frequent at first and becomes rarer', () => {
  expect([0, 1_000, 8_000, 40_000, 599_000, 601_000].map(pollPause)).toEqual([
    500, 500, 1_000, 5_000, 5_000, 60_000,
  ]);
});
