import { divide } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { highestTakerFee, takerFee } from '../src/domain/amounts.ts';

const shares = fc.bigInt({ min: 1n, max: 10n ** 15n });
const price = fc.integer({ min: 1, max: 9_999 });

test('the venue’s own example: 108 shares at 0.36, rate 0.07', () => {
  expect(takerFee({ feeRate: 70_000n, feeExponent: 1 }, 108_000_000n, 3_600)).toBe(1_741_824n);
});

test.for([
  [0n, 1, 108_000_000n, 3_600, 0n],
  [70_000n, 1, 1n, 5_000, 1n],
  [40_000n, 1, 100_000_000n, 5_000, 1_000_000n],
  [250_000n, 2, 100_000_000n, 5_000, 1_562_500n],
  [250_000n, 2, 100_000_000n, 1_000, 202_500n],
] as const)(
  'rate %s, exponent %s, %s micro-shares at %s pips: %s',
  ([feeRate, feeExponent, size, at, fee]) => {
    expect(takerFee({ feeRate, feeExponent }, size, at)).toBe(fee);
  },
);

test('is rounded up by less than a micro-unit, equally for both outcomes', () => {
  fc.assert(
    fc.property(
      shares,
      price,
      fc.constantFrom(1, 2),
      fc.bigInt({ min: 1n, max: 10n ** 6n }),
      (size, at, feeExponent, feeRate) => {
        const fee = takerFee({ feeRate, feeExponent }, size, at);
        const scale = 10n ** 6n * 10n ** BigInt(8 * feeExponent);
        const exact = size * feeRate * (BigInt(at) * BigInt(10_000 - at)) ** BigInt(feeExponent);
        expect(fee * scale).toBeGreaterThanOrEqual(exact);
        expect((fee - 1n) * scale).toBeLessThan(exact);
        expect(takerFee({ feeRate, feeExponent }, size, 10_000 - at)).toBe(fee);
      },
    ),
  );
});

test('no fill at the limit or better costs more than the highest fee of the order', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('BUY', 'SELL'),
      fc.boolean(),
      fc.integer({ min: 1, max: 99 }),
      fc.integer({ min: 0, max: 98 }),
      fc.bigInt({ min: 1_000_000n, max: 10n ** 12n }),
      fc.constantFrom(1, 2, 3),
      (side, atOnce, limitCents, better, amount, feeExponent) => {
        const terms = { feeRate: 70_000n, feeExponent, tickSize: 100 };
        const limit = limitCents * 100;
        const at =
          side === 'BUY' ? Math.max(1, limitCents - better) * 100 : Math.min(99, limitCents + better) * 100;
        const spends = side === 'BUY' && atOnce ? amount : undefined;
        const order = { side, shares: amount, ...(spends === undefined ? {} : { spends }) } as const;
        const filled = spends === undefined ? amount : divide(spends * 10_000n, BigInt(at), 'floor');
        expect(takerFee(terms, filled, at)).toBeLessThanOrEqual(highestTakerFee(terms, order, limit));
      },
    ),
  );
});
