import { describe, expect, test } from 'vitest';
import { concentration, exposure } from './portfolio.ts';

const leg = (conditionId: string, size: bigint, cost: bigint, wallet = 'a') => ({
  wallet,
  conditionId,
  size,
  cost,
});

describe('exposure', () => {
  test('of one outcome is its cost', () => expect(exposure([leg('m', 10n, 6n)])).toBe(6n));
  test('of a pair is its cost less the smaller leg, which is certain to be paid', () =>
    expect(exposure([leg('m', 10n, 6n), leg('m', 4n, 3n)])).toBe(5n));
  test('of a pair that cost less than it pays is 0, and does not reduce other exposure', () =>
    expect(exposure([leg('m', 10n, 4n), leg('m', 10n, 5n), leg('n', 1n, 1n)])).toBe(1n));
  test('legs on two accounts are not a pair', () =>
    expect(exposure([leg('m', 10n, 6n, 'a'), leg('m', 10n, 4n, 'b')])).toBe(10n));
  test('of nothing is nothing', () => expect(exposure([])).toBe(0n));
});

describe('concentration', () => {
  test('of the largest, in percent', () => expect(concentration([1n, 5n, 2n], 1)).toBe(62.5));
  test('of the largest three', () => expect(concentration([1n, 1n, 1n, 1n], 3)).toBe(75));
  test('of nothing is 0', () => expect(concentration([0n, 0n], 1)).toBe(0));
});
