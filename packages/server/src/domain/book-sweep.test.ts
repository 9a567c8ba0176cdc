import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgeAtBest, expectedProfit, highestWorthwhile, sweep, sweepContracts } from './book-sweep.ts';
import { takerFee } from './fees.ts';
import type { Book, Level } from './market.ts';

const M = 1_000_000n;
const FREE = { feeRate: 0n, feeExponent: 1 };
const FEES = { feeRate: 70_000n, feeExponent: 1 };
const book = (asks: readonly Level[], bids: readonly Level[] = []): Book => ({
  conditionId: '0x1',
  outcome: 'YES',
  asks,
  bids,
  sequence: 1,
  changedAt: 0,
});
const buy = (amount: bigint) => ({ side: 'BUY', outcome: 'YES', amount }) as const;
const sell = (amount: bigint) => ({ side: 'SELL', outcome: 'YES', amount }) as const;

const pips = fc.integer({ min: 1, max: 9_999 });
const ladder = fc.array(fc.tuple(pips, fc.bigInt({ min: 1n, max: 500n * M })), {
  minLength: 1,
  maxLength: 6,
});

test('rounding never makes an average better than the best price', () => {
  fc.assert(
    fc.property(ladder, fc.bigInt({ min: 1n, max: 1_000n * M }), fc.boolean(), (levels, amount, buying) => {
      const sorted = levels.toSorted(([a], [b]) => (buying ? a - b : b - a));
      const on = buying ? book(sorted) : book([], sorted);
      for (const take of [sweep, sweepContracts]) {
        const { shares, cost, best } = take(FREE, on, buying ? buy(amount) : sell(amount));
        if (shares === 0n || best === null) continue;
        const atBest = shares * BigInt(best);
        if (buying) expect(cost * 10_000n).toBeGreaterThanOrEqual(atBest);
        else expect(cost * 10_000n).toBeLessThanOrEqual(atBest);
      }
    }),
  );
});

describe('sweep', () => {
  test('a BUY spends its collateral level by level', () => {
    const found = sweep(
      FREE,
      book([
        [4_000, 10n * M],
        [5_000, 100n * M],
      ]),
      buy(14n * M),
    );
    // 10 at 0.4 cost 4; the other 10 collateral buy 20 at 0.5.
    expect(found).toMatchObject({
      shares: 30n * M,
      cost: 14n * M,
      fee: 0n,
      best: 4_000,
      worst: 5_000,
      complete: true,
    });
  });

  test('a SELL gives its shares level by level; the fee is separate', () => {
    const found = sweep(
      FEES,
      book(
        [],
        [
          [6_000, 10n * M],
          [5_000, 5n * M],
        ],
      ),
      sell(12n * M),
    );
    expect(found).toMatchObject({ shares: 12n * M, cost: 7n * M, best: 6_000, worst: 5_000, complete: true });
    expect(found.fee).toBe(takerFee(FEES, 10n * M, 6_000) + takerFee(FEES, 2n * M, 5_000));
  });

  test('a thin book is incomplete, an empty one gives nothing', () => {
    expect(sweep(FREE, book([[4_000, 10n * M]]), buy(14n * M))).toMatchObject({
      shares: 10n * M,
      complete: false,
    });
    expect(sweep(FREE, book([]), buy(M))).toMatchObject({
      shares: 0n,
      best: null,
      worst: null,
      complete: false,
    });
  });

  test('never spends or sells more than the amount, for any book', () => {
    const levels = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.bigInt({ min: 1n, max: 10n ** 9n })),
      {
        maxLength: 8,
      },
    );
    fc.assert(
      fc.property(levels, fc.bigInt({ min: 1n, max: 10n ** 10n }), (given, amount) => {
        const up = given.toSorted((a, b) => a[0] - b[0]);
        const bought = sweep(FEES, book(up), buy(amount));
        expect(bought.cost).toBeLessThanOrEqual(amount);
        const sold = sweep(FEES, book([], up.toReversed()), sell(amount));
        expect(sold.shares).toBeLessThanOrEqual(amount);
        expect(sold.fee).toBeLessThanOrEqual(sold.cost);
      }),
    );
  });
});

describe('whole contracts', () => {
  test('the amount includes the fee, and a rest too small for another contract is not spent', () => {
    // At 0.6 a contract costs 0.6168 with its fee of 7 %.
    const asks = book([
      [6_000, 10n * M],
      [7_000, 10n * M],
    ]);
    expect(sweepContracts(FEES, asks, buy(6_167_999n))).toMatchObject({ shares: 9n * M, complete: true });
    expect(sweepContracts(FEES, asks, buy(6_168_000n))).toMatchObject({
      shares: 10n * M,
      cost: 6n * M,
      fee: 168_000n,
      worst: 6_000,
      complete: true,
    });
    expect(sweepContracts(FEES, asks, buy(8n * M))).toMatchObject({ shares: 12n * M, worst: 7_000 });
    expect(sweepContracts(FEES, asks, buy(100n * M))).toMatchObject({ shares: 20n * M, complete: false });
    expect(sweepContracts(FEES, asks, buy(616_799n))).toMatchObject({ shares: 0n, complete: false });
  });

  test('a SELL gives whole contracts', () => {
    const bids = book(
      [],
      [
        [6_000, 1_500_000n],
        [5_000, 9n * M],
      ],
    );
    expect(sweepContracts(FREE, bids, sell(3_900_000n))).toMatchObject({
      shares: 3n * M,
      cost: 1_600_000n,
      complete: true,
    });
    expect(sweepContracts(FREE, bids, sell(999_999n))).toMatchObject({ shares: 0n, complete: false });
  });

  test('never spends more than the amount, and never leaves enough for one more contract', () => {
    const levels = fc.array(
      fc.tuple(fc.integer({ min: 100, max: 9_900 }), fc.bigInt({ min: 1n, max: 300n * M })),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(levels, fc.bigInt({ min: 1n, max: 500n * M }), (given, amount) => {
        const asks = given.toSorted((a, b) => a[0] - b[0]);
        const { shares, cost, fee, complete } = sweepContracts(FEES, book(asks), buy(amount));
        expect(shares % M).toBe(0n);
        expect(cost + fee).toBeLessThanOrEqual(amount);
        if (!complete) return;
        // The cheapest price that still has a whole contract.
        let taken = shares;
        const next = asks.find(([, size]) => {
          const whole = size - (size % M);
          if (taken < whole) return true;
          taken -= whole;
          return false;
        })?.[0];
        if (next === undefined) return;
        expect(amount - cost - fee).toBeLessThan(BigInt(next) * 100n + takerFee(FEES, M, next));
      }),
    );
  });
});

describe('edge', () => {
  test('a BUY gains probability less price and fee; a SELL the other way round', () => {
    const one = book([[4_000, M]], [[3_500, M]]);
    const fee = takerFee(FEES, M, 4_000);
    expect(edgeAtBest(FEES, one, 'BUY', 600_000n)).toBe(200_000n - fee);
    expect(edgeAtBest(FEES, one, 'SELL', 600_000n)).toBe(-250_000n - takerFee(FEES, M, 3_500));
    expect(edgeAtBest(FEES, book([]), 'BUY', 600_000n)).toBeNull();
    expect(expectedProfit(sweep(FREE, one, buy(400_000n)), 600_000n)).toBe(200_000n);
  });

  test('the highest worthwhile price is the last one that does not lose', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 10, 100, 1_000),
        fc.bigInt({ min: 0n, max: M }),
        fc.bigInt({ min: 0n, max: 100_000n }),
        (tickSize, probability, feeRate) => {
          const terms = { feeRate, feeExponent: 1, tickSize };
          const worth = (price: number) => BigInt(price) * 100n + takerFee(terms, M, price) <= probability;
          const best = highestWorthwhile(terms, probability);
          expect(best % tickSize).toBe(0);
          if (best > 0) expect(worth(best)).toBe(true);
          if (best + tickSize < 10_000) expect(worth(best + tickSize)).toBe(false);
        },
      ),
    );
  });
});
