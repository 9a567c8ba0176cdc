import { describe, expect, test } from 'vitest';
import { isCrossed, type MarketRecord, markPrice } from './market.ts';

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
