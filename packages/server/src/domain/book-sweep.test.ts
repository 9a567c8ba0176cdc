import { PIPS } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { takerFee } from './amounts.ts';
import {
  edgeAtBest,
  expectedProfit,
  highestWorthwhile,
  mayBring,
  saleMarket,
  sweep,
  sweepContracts,
} from './book-sweep.ts';
import { type Book, isCrossed, type Level, type MarketRecord, markPrice } from './market.ts';

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

const shares = (whole: number): bigint => BigInt(whole) * 1_000_000n;
const sale = (size: number, price: number) => ({
  shares: shares(size),
  money: (shares(size) * BigInt(price)) / 10_000n,
});
const bid = (price: number, size: number): Level => [price, shares(size)];

describe('what a SELL may bring', () => {
  test('is what the bids pay, however low its worst price is', () => {
    expect(mayBring(sale(102, 100), { bids: [bid(8_710, 1_000)], lastPrice: 8_700 })).toBe(88_842_000n);
  });

  test('is the signed amount where no bid is better', () => {
    const signed = sale(10, 5_000);
    expect(mayBring(signed, { bids: [bid(4_000, 100)], lastPrice: 4_500 })).toBe(signed.money);
    expect(mayBring({ shares: 3n, money: 1n }, { bids: [], lastPrice: 3_333 })).toBe(1n);
  });

  test('counts each share at the better of its bid and the signed price', () => {
    const bids = [bid(9_000, 10), bid(1_000, 90)];
    expect(mayBring(sale(100, 5_000), { bids, lastPrice: 9_000 })).toBe(shares(9) + shares(45));
  });

  test('counts what the depth does not cover at the higher of best bid and last price', () => {
    expect(mayBring(sale(100, 100), { bids: [bid(6_000, 10)], lastPrice: 8_000 })).toBe(
      shares(6) + shares(72),
    );
    expect(mayBring(sale(100, 100), { bids: [bid(6_000, 10)], lastPrice: 2_000 })).toBe(
      shares(6) + shares(54),
    );
  });

  test('counts at 1 where nothing was traded: the bid of an accomplice makes nothing cheap', () => {
    expect(mayBring(sale(100, 1), { bids: [], lastPrice: null })).toBe(shares(100));
    expect(mayBring(sale(100, 1), { bids: [bid(1, 1)], lastPrice: null })).toBe(shares(99) + 100n);
  });

  test('is never below the signed amount or what the book pays, and never above a collateral a share', () => {
    const level = fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.bigInt({ min: 1n, max: 10n ** 12n }));
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 12n }),
        fc.integer({ min: 1, max: 9_999 }),
        fc.array(level, { maxLength: 6 }),
        fc.option(fc.integer({ min: 1, max: 9_999 })),
        (size, price, levels, lastPrice) => {
          const bids = levels.toSorted(([a], [b]) => b - a);
          const money = (size * BigInt(price)) / 10_000n;
          const brings = mayBring({ shares: size, money }, { bids, lastPrice });
          let left = size;
          let paid = 0n;
          for (const [each, depth] of bids) {
            const taken = depth < left ? depth : left;
            paid += (taken * BigInt(each)) / 10_000n;
            left -= taken;
          }
          expect(brings >= money && brings >= paid).toBe(true);
          expect(brings <= size + BigInt(bids.length) + 2n).toBe(true);
        },
      ),
    );
  });
});

test('the last trade is in prices of the outcome that is sold', () => {
  expect(saleMarket({ lastTrade: 8_700 }, 'NO', null)).toEqual({ bids: [], lastPrice: PIPS - 8_700 });
  const book = {
    conditionId: 'c',
    outcome: 'NO',
    bids: [bid(1_200, 5)],
    asks: [],
    lastTrade: 1_250,
  } as const;
  expect(saleMarket({ lastTrade: 8_700 }, 'NO', { ...book, sequence: 1, changedAt: 0 })).toEqual({
    bids: book.bids,
    lastPrice: 1_250,
  });
});

test('the bids of a crossed book are not believed; its last trade is', () => {
  const book = { conditionId: 'c', outcome: 'YES', sequence: 1, changedAt: 0 } as const;
  const crossed = { ...book, bids: [bid(100, 5)], asks: [bid(100, 5)] };
  expect(saleMarket({ lastTrade: 8_700 }, 'YES', crossed)).toEqual({ bids: [], lastPrice: 8_700 });
  expect(saleMarket({}, 'YES', { ...crossed, lastTrade: 8_600 })).toEqual({ bids: [], lastPrice: 8_600 });
  expect(mayBring(sale(10, 1), saleMarket({}, 'YES', crossed))).toBe(shares(10));
});

const market = (known: Partial<MarketRecord>) => known as MarketRecord;

describe('the value of a share', () => {
  test('is the middle of the book, in prices of either outcome', () => {
    expect(markPrice(market({ bestBid: 4_000, bestAsk: 4_500 }), 'YES')).toBe(4_250);
    expect(markPrice(market({ bestBid: 4_000, bestAsk: 4_500 }), 'NO')).toBe(5_750);
    expect(markPrice(market({ bestAsk: 4_500, lastTrade: 3_000 }), 'YES')).toBe(3_000);
    expect(markPrice(market({ bestAsk: 4_500 }), 'YES')).toBe(4_500);
  });

  test.each([
    [9_000, 1_000],
    [3_000, 3_000],
  ])('is the last trade while the book is crossed: a bid of %i, an ask of %i', (bestBid, bestAsk) => {
    expect(markPrice(market({ bestBid, bestAsk, lastTrade: 2_000 }), 'YES')).toBe(2_000);
    expect(markPrice(market({ bestBid, bestAsk, lastTrade: 2_000 }), 'NO')).toBe(8_000);
    expect(markPrice(market({ bestBid, bestAsk }), 'YES')).toBe(Math.floor((bestBid + bestAsk) / 2));
    expect(isCrossed({ bids: [[bestBid, 1n]], asks: [[bestAsk, 1n]] })).toBe(true);
  });
});
