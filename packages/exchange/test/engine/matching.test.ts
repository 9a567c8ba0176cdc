/** Matches computed by hand. */
import { parseMicro } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import { Desk, lines } from './desk.ts';

describe('one match of each kind', () => {
  test('COMPLEMENTARY: 40 × 0.36 = 14.4 changes hands', () => {
    const desk = new Desk();
    desk.place('ask', 'bob', ['SELL', 'YES', '40', 3600]);
    expect(lines(desk.place('buy', 'ann', ['BUY', 'YES', '40', 3600]))).toEqual([
      'buy accepted',
      'buy taker COMPLEMENTARY BUY YES 40000000 @ 3600 = 14400000 fee 0',
      'ask maker COMPLEMENTARY SELL YES 40000000 @ 3600 = 14400000 fee 0',
      'ask done filled filled 40000000 remaining 0 cost 14400000 fees 0',
      'buy done filled filled 40000000 remaining 0 cost 14400000 fees 0',
    ]);
    expect(desk.available('ann')).toBe(parseMicro('885.6'));
    expect(desk.available('bob')).toBe(parseMicro('914.4'));
    expect(desk.tokens('ann')).toEqual({
      yes: parseMicro('140'),
      no: parseMicro('100'),
      yesHeld: 0n,
      noHeld: 0n,
    });
    expect(desk.tokens('bob')).toEqual({
      yes: parseMicro('60'),
      no: parseMicro('100'),
      yesHeld: 0n,
      noHeld: 0n,
    });
  });

  test('MINT: 108 × 0.64 + 108 × 0.36 = 108 new sets, fee 108 × 0.07 × 0.36 × 0.64 = 1.741824', () => {
    const desk = new Desk({ feeRate: 70_000n });
    desk.place('no', 'bob', ['BUY', 'NO', '108', 6400]);
    expect(lines(desk.place('yes', 'ann', ['BUY', 'YES', '108', 4000]))).toEqual([
      'yes accepted',
      'yes taker MINT BUY YES 108000000 @ 3600 = 38880000 fee 1741824',
      'no maker MINT BUY NO 108000000 @ 6400 = 69120000 fee 0',
      'no done filled filled 108000000 remaining 0 cost 69120000 fees 0',
      'yes done filled filled 108000000 remaining 0 cost 38880000 fees 1741824',
    ]);
    expect(desk.available('ann')).toBe(parseMicro('859.378176'));
    expect(desk.available('bob')).toBe(parseMicro('830.88'));
    expect(desk.engine.fees()).toBe(1_741_824n);
    expect(desk.tokens('ann').yes).toBe(parseMicro('208'));
    expect(desk.tokens('bob').no).toBe(parseMicro('208'));
  });

  test('MERGE: 50 sets unwound, 0.30 to the maker and 0.70 to the taker, its fee out of the proceeds', () => {
    const desk = new Desk({ feeRate: 70_000n });
    desk.place('yes', 'bob', ['SELL', 'YES', '50', 3000]);
    // Fee 50 × 0.07 × 0.7 × 0.3 = 0.735.
    expect(lines(desk.place('no', 'ann', ['SELL', 'NO', '50', 6000]))).toEqual([
      'no accepted',
      'no taker MERGE SELL NO 50000000 @ 7000 = 35000000 fee 735000',
      'yes maker MERGE SELL YES 50000000 @ 3000 = 15000000 fee 0',
      'yes done filled filled 50000000 remaining 0 cost 15000000 fees 0',
      'no done filled filled 50000000 remaining 0 cost 35000000 fees 735000',
    ]);
    expect(desk.available('ann')).toBe(parseMicro('934.265'));
    expect(desk.available('bob')).toBe(parseMicro('915'));
  });
});

describe('price and time', () => {
  test('all improvement goes to the taker, best price first', () => {
    const desk = new Desk();
    desk.place('dear', 'bob', ['SELL', 'YES', '10', 5500]);
    desk.place('cheap', 'bob', ['SELL', 'YES', '10', 4500]);
    // 10 × 0.45 + 5 × 0.55 = 7.25 instead of 15 × 0.60 = 9.
    expect(lines(desk.place('buy', 'ann', ['BUY', 'YES', '15', 6000]))).toEqual([
      'buy accepted',
      'buy taker COMPLEMENTARY BUY YES 10000000 @ 4500 = 4500000 fee 0',
      'cheap maker COMPLEMENTARY SELL YES 10000000 @ 4500 = 4500000 fee 0',
      'cheap done filled filled 10000000 remaining 0 cost 4500000 fees 0',
      'buy taker COMPLEMENTARY BUY YES 5000000 @ 5500 = 2750000 fee 0',
      'dear maker COMPLEMENTARY SELL YES 5000000 @ 5500 = 2750000 fee 0',
      'buy done filled filled 15000000 remaining 0 cost 7250000 fees 0',
    ]);
    expect(desk.available('ann')).toBe(parseMicro('892.75'));
  });

  test('a mirrored order waits in the same line: BUY NO at 0.40, SELL YES at 0.60, BUY NO at 0.40', () => {
    const desk = new Desk();
    desk.place('first', 'bob', ['BUY', 'NO', '10', 4000]);
    desk.place('second', 'cyd', ['SELL', 'YES', '10', 6000]);
    desk.place('third', 'bob', ['BUY', 'NO', '10', 4000]);
    const makers = desk
      .place('buy', 'ann', ['BUY', 'YES', '25', 6000])
      .flatMap((event) => (event.kind === 'fill' && event.liquidity === 'maker' ? [event] : []))
      .map(({ orderId, matchKind, size }) => [orderId, matchKind, size]);
    expect(makers).toEqual([
      ['first', 'MINT', parseMicro('10')],
      ['second', 'COMPLEMENTARY', parseMicro('10')],
      ['third', 'MINT', parseMicro('5')],
    ]);
    expect(desk.engine.book('0xm', 'YES')).toMatchObject({
      bids: [],
      asks: [[6000, parseMicro('5')]],
      lastTrade: 6000,
      lastTakerSide: 'BUY',
    });
    expect(desk.engine.book('0xm', 'NO')).toMatchObject({
      bids: [[4000, parseMicro('5')]],
      asks: [],
      lastTrade: 4000,
      // In the book of NO, buying YES counts as selling NO.
      lastTakerSide: 'SELL',
    });
  });

  test('a partly filled order keeps its place', () => {
    const desk = new Desk();
    desk.place('first', 'bob', ['BUY', 'YES', '10', 5000]);
    desk.place('second', 'cyd', ['BUY', 'YES', '10', 5000]);
    desk.place('s1', 'ann', ['SELL', 'YES', '6', 5000]);
    const fills = lines(desk.place('s2', 'ann', ['SELL', 'YES', '6', 5000])).filter((line) =>
      line.includes('maker'),
    );
    expect(fills).toEqual([
      'first maker COMPLEMENTARY BUY YES 4000000 @ 5000 = 2000000 fee 0',
      'second maker COMPLEMENTARY BUY YES 2000000 @ 5000 = 1000000 fee 0',
    ]);
  });

  test('the rest of a GTC rests with a hold of its own cost only', () => {
    const desk = new Desk({ feeRate: 70_000n });
    desk.place('ask', 'bob', ['SELL', 'YES', '10', 5000]);
    desk.place('buy', 'ann', ['BUY', 'YES', '30', 6000]);
    // 5 for ten, fee 10 × 0.07 × 0.25 = 0.175; 20 × 0.60 held.
    expect(desk.engine.account('ann')).toMatchObject({
      available: parseMicro('882.825'),
      held: parseMicro('12'),
    });
    expect(desk.engine.openOrder('buy')).toEqual({
      orderId: 'buy',
      account: 'ann',
      conditionId: '0xm',
      outcome: 'YES',
      side: 'BUY',
      limit: 6000,
      size: parseMicro('30'),
      filled: parseMicro('10'),
      cost: parseMicro('5'),
      fees: parseMicro('0.175'),
      timeInForce: 'GTC',
      acceptedAt: 1_000,
    });
    expect(lines(desk.cancel('ann', 'buy'))).toEqual([
      'buy done canceled filled 10000000 remaining 20000000 cost 5000000 fees 175000',
    ]);
    expect(desk.engine.account('ann')).toMatchObject({ available: parseMicro('894.825'), held: 0n });
  });
});

describe('market BUY by budget', () => {
  test('a better price buys more than the size', () => {
    const desk = new Desk();
    desk.place('ask', 'bob', ['SELL', 'YES', '50', 4000]);
    expect(
      lines(desk.place('buy', 'ann', ['BUY', 'YES', '16.6666', 6000], { timeInForce: 'FOK', spend: '10' })),
    ).toEqual([
      'buy accepted',
      'buy taker COMPLEMENTARY BUY YES 25000002 @ 4000 = 10000000 fee 0',
      'ask maker COMPLEMENTARY SELL YES 25000002 @ 4000 = 10000000 fee 0',
      'buy done filled filled 25000002 remaining 0 cost 10000000 fees 0',
    ]);
  });

  test('the budget is spent to the last micro-unit also by MINT', () => {
    const desk = new Desk();
    desk.place('no', 'bob', ['BUY', 'NO', '50', 7000]);
    // 3333333 × 0.70 = 2333333.1 is the maker's, 999999.9 → 1000000 the taker's.
    expect(
      lines(desk.place('buy', 'ann', ['BUY', 'YES', '3.3333', 3000], { timeInForce: 'FAK', spend: '1' })),
    ).toEqual([
      'buy accepted',
      'buy taker MINT BUY YES 3333333 @ 3000 = 1000000 fee 0',
      'no maker MINT BUY NO 3333333 @ 7000 = 2333333 fee 0',
      'buy done filled filled 3333333 remaining 0 cost 1000000 fees 0',
    ]);
  });

  test('a FOK that received its size is filled, although the book ran out before the budget', () => {
    const desk = new Desk();
    desk.place('ask', 'bob', ['SELL', 'YES', '20', 4000]);
    const events = desk.place('buy', 'ann', ['BUY', 'YES', '20', 5000], { timeInForce: 'FOK', spend: '10' });
    expect(events.at(-1)).toMatchObject({ kind: 'order_done', reason: 'filled', cost: parseMicro('8') });
  });

  test('an FAK keeps its fills and its rest is killed', () => {
    const desk = new Desk();
    desk.place('ask', 'bob', ['SELL', 'YES', '5', 5000]);
    const events = desk.place('buy', 'ann', ['BUY', 'YES', '20', 5000], { timeInForce: 'FAK', spend: '10' });
    expect(lines(events).at(-1)).toBe(
      'buy done killed filled 5000000 remaining 15000000 cost 2500000 fees 0',
    );
    expect(desk.engine.account('ann')).toMatchObject({ available: parseMicro('897.5'), held: 0n });
  });
});

describe('rounding', () => {
  test('a limit BUY never costs more than size × limit: the micro-unit that MINT rounds up is paid in dust', () => {
    const desk = new Desk({ minOrderSize: 1n });
    desk.place('no', 'bob', ['BUY', 'NO', '3.000001', 5000]);
    // 3000001 × 0.5 = 1500000.5: the maker pays 1500000, the taker 1500001. The order may cost 2000000 in all, so
    // 499999 are left, which hold 999999 shares and not 999999 + 1: one micro-share less than 4 − 3.000001.
    desk.place('yes', 'ann', ['BUY', 'YES', '4', 5000]);
    expect(desk.engine.account('ann').held).toBe(499_999n);
    expect(desk.engine.book('0xm', 'YES')?.bids).toEqual([[5000, 999_999n]]);
    const [, fill] = desk.place('more', 'bob', ['BUY', 'NO', '2.000001', 5000]);
    expect(fill).toMatchObject({ kind: 'fill', size: 999_999n, cost: 500_000n });
    expect(desk.engine.account('ann')).toMatchObject({ available: parseMicro('898'), held: 0n });
  });

  test('a limit FOK whose money is used up by rounding is filled, with dust remaining', () => {
    const desk = new Desk({ minOrderSize: 1n, tickSize: 1 });
    desk.place('a', 'bob', ['BUY', 'NO', '0.000001', 9999]);
    desk.apply({ kind: 'deposit', account: 'bob', amount: parseMicro('30000') });
    desk.place('c', 'bob', ['BUY', 'NO', '20000', 9999]);
    // One micro-share costs a whole micro-unit at 0.0001, worth 0.01 shares.
    const events = desk.place('yes', 'ann', ['BUY', 'YES', '10000', 1], { timeInForce: 'FOK' });
    expect(lines(events).at(-1)).toBe('yes done filled filled 9999990001 remaining 9999 cost 1000000 fees 0');
  });

  test('the fee is rounded up to a micro-unit per fill and never exceeds the proceeds of a SELL', () => {
    const desk = new Desk({ feeRate: 70_000n, minOrderSize: 1n });
    desk.place('bid', 'bob', ['BUY', 'YES', '10', 100]);
    // 0.000001 × 0.07 × 0.01 × 0.99 is next to nothing: rounded up to 1, but the proceeds are floor(0.01) = 0.
    expect(
      lines(desk.place('sell', 'ann', ['SELL', 'YES', '0.000001', 100], { timeInForce: 'FAK' }))[1],
    ).toBe('sell taker COMPLEMENTARY SELL YES 1 @ 100 = 0 fee 0');
    // 0.000199 × 0.01 = 1.99 micro-units → 1; fee 0.14 → 1.
    expect(
      lines(desk.place('more', 'ann', ['SELL', 'YES', '0.000199', 100], { timeInForce: 'FAK' }))[1],
    ).toBe('more taker COMPLEMENTARY SELL YES 199 @ 100 = 1 fee 1');
  });
});

describe('self-trade prevention', () => {
  test('own orders on the way are cancelled in their turn, the others are taken', () => {
    const desk = new Desk();
    desk.place('mine', 'ann', ['BUY', 'NO', '10', 4500]);
    desk.place('theirs', 'bob', ['SELL', 'YES', '10', 5500]);
    desk.place('mine2', 'ann', ['SELL', 'YES', '10', 6000]);
    expect(lines(desk.place('buy', 'ann', ['BUY', 'YES', '10', 6000]))).toEqual([
      'buy accepted',
      'mine done self_trade filled 0 remaining 10000000 cost 0 fees 0',
      'buy taker COMPLEMENTARY BUY YES 10000000 @ 5500 = 5500000 fee 0',
      'theirs maker COMPLEMENTARY SELL YES 10000000 @ 5500 = 5500000 fee 0',
      'theirs done filled filled 10000000 remaining 0 cost 5500000 fees 0',
      'buy done filled filled 10000000 remaining 0 cost 5500000 fees 0',
    ]);
    expect(desk.engine.openOrder('mine2')).toBeDefined();
  });

  test('a refused order cancels nothing', () => {
    const desk = new Desk();
    desk.place('mine', 'ann', ['SELL', 'YES', '10', 5500]);
    desk.place('theirs', 'bob', ['SELL', 'YES', '10', 5500]);
    expect(desk.place('buy', 'ann', ['BUY', 'YES', '20', 6000], { timeInForce: 'FOK' })).toMatchObject([
      { reason: 'fok_not_filled' },
    ]);
    expect(desk.engine.openOrders('ann')).toHaveLength(1);
  });
});
