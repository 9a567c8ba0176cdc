/** Checks the venue's own figures, and that every affordable contract is included. */
import { MICRO } from '@bellwether/contract/decimals';
import type { Level } from '@bellwether/exchange';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { impactMillionths, priceBuy, priceExactly, priceSell, venueFee } from './pricing.ts';

describe('the fee', () => {
  test('of the captured buy: 948096 atoms for 11 contracts at 0.08', () => {
    const bought = priceBuy([[800, 500n * MICRO]], 948_096n);
    expect(bought).toMatchObject({ size: 11n * MICRO, cost: 880_000n, fee: 68_096n });
    expect(priceBuy([[800, 500n * MICRO]], 948_095n).size).toBe(10n * MICRO);
  });

  test('is rounded up to the cent once per order, not once per level', () => {
    const two = [
      { price: 5_000, size: MICRO },
      { price: 5_000, size: MICRO },
    ];
    // 0.07 · 2 · 0.25 = 0.035, up to 0.04; and 0.005.
    expect(venueFee(two)).toBe(45_000n);
  });

  test('of nothing is nothing', () => {
    expect(venueFee([])).toBe(0n);
  });
});

describe('pricing', () => {
  const book: readonly Level[] = [
    [4_000, 3n * MICRO],
    [4_100, 2n * MICRO + 500_000n],
    [9_000, 100n * MICRO],
  ];

  test('walks levels, whole contracts only, across fractional ones', () => {
    expect(priceExactly(book, 6n * MICRO)).toMatchObject({
      cost: 1_200_000n + 1_025_000n + 450_000n,
      best: 4_000,
      worst: 9_000,
    });
    expect(priceSell([[4_000, 2n * MICRO + 999_999n]], 50n * MICRO + 1n)).toMatchObject({
      size: 2n * MICRO,
      cost: 800_000n,
    });
  });

  test('buys the most contracts that the money allows', () => {
    const levels = fc.array(fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.bigInt(1n, 40n * MICRO)), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(levels, fc.bigInt(0n, 60n * MICRO), (given, amount) => {
        const asks = [...given].sort(([a], [b]) => a - b);
        const { size, cost, fee } = priceBuy(asks, amount);
        expect(size % MICRO).toBe(0n);
        expect(cost + fee <= amount).toBe(true);
        const more = priceExactly(asks, size + MICRO);
        if (more.size === size + MICRO) expect(more.cost + more.fee > amount).toBe(true);
      }),
    );
  });

  test('impact is the distance of the average from the best price', () => {
    expect(
      impactMillionths(
        priceExactly(
          [
            [4_000, MICRO],
            [5_000, MICRO],
          ],
          2n * MICRO,
        ),
      ),
    ).toBe(125_000n);
    expect(
      impactMillionths(
        priceSell(
          [
            [5_000, MICRO],
            [4_000, MICRO],
          ],
          2n * MICRO,
        ),
      ),
    ).toBe(100_000n);
    expect(impactMillionths(priceExactly([], MICRO))).toBe(0n);
  });
});
