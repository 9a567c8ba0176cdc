import { PIPS } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isCrossed, type Level, type MarketRecord, markPrice } from './market.ts';
import { mayBring, saleMarket } from './sale-worth.ts';

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
