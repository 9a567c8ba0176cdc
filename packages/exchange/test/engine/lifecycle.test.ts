/** Time, the end of a market, sets, and archiving. */
import { parseMicro } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import { Desk, lines, MARKET } from './desk.ts';

const conditionId = MARKET.conditionId;

describe('time', () => {
  test('never runs backwards, and is whole', () => {
    const engine = new Engine();
    engine.apply({ kind: 'expire' }, 5);
    expect(() => engine.apply({ kind: 'expire' }, 4)).toThrow(RangeError);
    expect(() => engine.apply({ kind: 'expire' }, 5.5)).toThrow(RangeError);
    expect(() => engine.apply({ kind: 'expire' }, Number.NaN)).toThrow(RangeError);
    expect(engine.now()).toBe(5);
  });

  test('an order is due at its time, not before; ties go by order id', () => {
    const desk = new Desk();
    for (const id of ['c', 'a', 'b'])
      desk.place(id, 'ann', ['BUY', 'YES', '10', 5000], {
        timeInForce: 'GTD',
        expiresAt: id === 'b' ? 1_005 : 1_010,
      });
    desk.now = 1_004;
    expect(desk.apply({ kind: 'expire' })).toEqual([]);
    desk.now = 1_010;
    expect(lines(desk.apply({ kind: 'expire' }))).toEqual(
      ['b', 'a', 'c'].map((id) => `${id} done expired filled 0 remaining 10000000 cost 0 fees 0`),
    );
    expect(desk.available('ann')).toBe(parseMicro('900'));
  });

  test('an order that is due is gone before any command looks', () => {
    const desk = new Desk();
    desk.place('bid', 'bob', ['BUY', 'YES', '10', 5000], { timeInForce: 'GTD', expiresAt: 1_001 });
    desk.now = 1_001;
    expect(desk.place('sell', 'ann', ['SELL', 'YES', '10', 5000], { timeInForce: 'FAK' })).toMatchObject([
      { kind: 'order_done', orderId: 'bid', reason: 'expired' },
      { kind: 'order_rejected', orderId: 'sell', reason: 'fak_no_match' },
    ]);
    desk.place('bid', 'bob', ['BUY', 'YES', '10', 5000], { timeInForce: 'GTD', expiresAt: 1_002 });
    desk.now = 1_002;
    expect(desk.cancel('bob', 'bid')).toMatchObject([
      { kind: 'order_done', reason: 'expired' },
      { kind: 'cancel_refused', reason: 'order_not_found' },
    ]);
  });
});

describe('cancel', () => {
  test('is for the owner only, and says what it did not find', () => {
    const desk = new Desk();
    desk.place('a', 'ann', ['BUY', 'YES', '10', 5000]);
    expect(desk.cancel('bob', 'a')).toEqual([
      { kind: 'cancel_refused', orderId: 'a', reason: 'order_not_found' },
    ]);
    expect(lines(desk.cancel('ann', 'a', 'a', 'b'))).toEqual([
      'a done canceled filled 0 remaining 10000000 cost 0 fees 0',
      'cancel_refused',
      'cancel_refused',
    ]);
  });
});

describe('the end of a market', () => {
  test('close cancels resting orders: bids from the best, asks from the best, each by age', () => {
    const desk = new Desk();
    desk.place('bid1', 'ann', ['BUY', 'YES', '10', 4000]);
    desk.place('ask2', 'bob', ['SELL', 'YES', '10', 7000]);
    desk.place('bid0', 'bob', ['SELL', 'NO', '10', 5500]);
    desk.place('ask1', 'ann', ['BUY', 'NO', '10', 4000]);
    desk.place('bid2', 'bob', ['BUY', 'YES', '10', 4000]);
    expect(
      desk.apply({ kind: 'close', conditionId }).map((e) => ('orderId' in e ? e.orderId : e.kind)),
    ).toEqual(['market_closed', 'bid0', 'bid1', 'bid2', 'ask1', 'ask2']);
    expect(desk.engine.book(conditionId, 'YES')).toMatchObject({ bids: [], asks: [], sequence: 10 });
    expect(desk.engine.marketStatus(conditionId)).toBe('closed');
    expect(desk.available('ann')).toBe(parseMicro('900'));
    expect(desk.apply({ kind: 'close', conditionId })).toEqual([
      { kind: 'refused', command: 'close', reason: 'market_closed' },
    ]);
  });

  test('resolve closes what is open and happens once', () => {
    const desk = new Desk();
    desk.place('bid', 'ann', ['BUY', 'YES', '10', 4000]);
    expect(desk.apply({ kind: 'resolve', conditionId, payout: 'NO' })).toMatchObject([
      { kind: 'market_closed' },
      { kind: 'order_done', orderId: 'bid', reason: 'market_resolved' },
      { kind: 'market_resolved', payout: 'NO' },
    ]);
    expect(desk.engine.marketPayout(conditionId)).toBe('NO');
    expect(desk.apply({ kind: 'resolve', conditionId, payout: 'YES' })).toMatchObject([
      { reason: 'market_resolved' },
    ]);
    expect(desk.apply({ kind: 'close', conditionId })).toMatchObject([{ reason: 'market_resolved' }]);
  });

  test('redeem pays the winner, and nothing the second time', () => {
    const desk = new Desk();
    desk.place('no', 'bob', ['BUY', 'NO', '50', 5000]);
    desk.place('yes', 'ann', ['BUY', 'YES', '50', 5000]);
    expect(desk.apply({ kind: 'redeem', account: 'ann', conditionId })).toMatchObject([
      { reason: 'market_not_resolved' },
    ]);
    desk.apply({ kind: 'resolve', conditionId, payout: 'YES' });
    const amount = (text: string) => parseMicro(text);
    const redeem = (account: string) => desk.apply({ kind: 'redeem', account, conditionId });
    const common = { kind: 'redeemed', conditionId };
    expect(redeem('ann')).toEqual([
      { ...common, account: 'ann', yes: amount('150'), no: amount('100'), payout: amount('150') },
    ]);
    expect(redeem('ann')).toEqual([{ ...common, account: 'ann', yes: 0n, no: 0n, payout: 0n }]);
    expect(redeem('bob')).toMatchObject([{ yes: amount('100'), no: amount('150'), payout: amount('100') }]);
    expect(redeem('eve')).toEqual([{ ...common, account: 'eve', yes: 0n, no: 0n, payout: 0n }]);
    expect(desk.available('bob')).toBe(amount('975'));
  });

  test.each([
    ['0.24', 24_720_000n + 76_000_000n],
    ['0.75', 77_250_000n + 25_000_000n],
    ['0.333333', 34_333_299n + 66_666_700n],
  ] as const)('%s pays that part for YES, and for NO the rest of one', (payout, expected) => {
    const desk = new Desk({ minOrderSize: 1n });
    desk.place('no', 'bob', ['BUY', 'NO', '3', 5000]);
    desk.place('yes', 'ann', ['BUY', 'YES', '3', 6000]);
    desk.apply({ kind: 'resolve', conditionId, payout });
    expect(desk.apply({ kind: 'redeem', account: 'ann', conditionId })).toMatchObject([
      { yes: 103_000_000n, no: 100_000_000n, payout: expected },
    ]);
  });

  test('HALF pays floor(half) of each outcome; the odd micro-units end as fees', () => {
    const desk = new Desk({ minOrderSize: 1n });
    desk.place('no', 'bob', ['BUY', 'NO', '3.000001', 5000]);
    desk.place('yes', 'ann', ['BUY', 'YES', '3.000001', 6000]);
    desk.apply({ kind: 'resolve', conditionId, payout: 'HALF' });
    const payouts = ['ann', 'bob', 'cyd'].map(
      (account) => desk.apply({ kind: 'redeem', account, conditionId })[0],
    );
    expect(payouts).toMatchObject([
      { yes: 103_000_001n, no: 100_000_000n, payout: 101_500_000n },
      { yes: 100_000_000n, no: 103_000_001n, payout: 101_500_000n },
      { payout: 100_000_000n },
    ]);
    expect(desk.engine.fees()).toBe(1n);
    expect(desk.engine.archive(conditionId)).toBe(true);
  });

  test('a market is archived when it is resolved and no account holds its tokens', () => {
    const desk = new Desk({}, ['ann']);
    expect(desk.engine.archive('0xnone')).toBe(false);
    expect(desk.engine.archive(conditionId)).toBe(false);
    desk.apply({ kind: 'resolve', conditionId, payout: 'YES' });
    expect(desk.engine.archive(conditionId)).toBe(false);
    desk.apply({ kind: 'redeem', account: 'ann', conditionId });
    expect(desk.engine.archive(conditionId)).toBe(true);
    expect(desk.engine.marketStatus(conditionId)).toBeUndefined();
    expect(desk.engine.book(conditionId, 'YES')).toBeUndefined();
    desk.engine.checkConservation();
  });
});

describe('sets', () => {
  const sets = (kind: 'split' | 'merge', amount: bigint, account = 'ann', id = conditionId) =>
    ({ kind, account, conditionId: id, amount }) as const;
  const refused = (command: 'split' | 'merge', reason: string) => [{ kind: 'refused', command, reason }];

  test('are made and unwound at one collateral each', () => {
    const desk = new Desk();
    expect(desk.apply(sets('split', 7n))).toEqual([
      { kind: 'split', account: 'ann', conditionId, amount: 7n },
    ]);
    expect(desk.apply(sets('merge', 9n))).toEqual([
      { kind: 'merged', account: 'ann', conditionId, amount: 9n },
    ]);
    expect(desk.available('ann')).toBe(900_000_002n);
    expect(desk.tokens('ann')).toMatchObject({ yes: 99_999_998n, no: 99_999_998n });
  });

  test('are refused by name', () => {
    const desk = new Desk();
    desk.place('sell', 'ann', ['SELL', 'NO', '10', 5000]);
    expect(desk.apply(sets('split', 1n, 'ann', '0xnone'))).toEqual(refused('split', 'market_not_found'));
    expect(desk.apply(sets('split', 0n))).toEqual(refused('split', 'amount_not_positive'));
    expect(desk.apply(sets('merge', -1n))).toEqual(refused('merge', 'amount_not_positive'));
    expect(desk.apply(sets('split', parseMicro('900.000001')))).toEqual(
      refused('split', 'insufficient_balance'),
    );
    expect(desk.apply(sets('merge', parseMicro('90.000001')))).toEqual(
      refused('merge', 'insufficient_balance'),
    );
    expect(desk.apply(sets('split', 1n, 'eve'))).toEqual(refused('split', 'insufficient_balance'));
    desk.apply({ kind: 'close', conditionId });
    expect(desk.apply(sets('split', 1n))).toEqual(refused('split', 'market_closed'));
    expect(desk.apply(sets('merge', 1n))).toMatchObject([{ kind: 'merged' }]);
    desk.apply({ kind: 'resolve', conditionId, payout: 'YES' });
    expect(desk.apply(sets('merge', 1n))).toEqual(refused('merge', 'market_resolved'));
  });

  test('under an order id say so in their events, and are refused like an order', () => {
    const desk = new Desk();
    const named = (kind: 'split' | 'merge', amount: bigint, account = 'ann', id = conditionId) => ({
      ...sets(kind, amount, account, id),
      orderId: 'one',
    });
    const rejected = (reason: string, id = conditionId) => [
      { kind: 'order_rejected', orderId: 'one', account: 'ann', conditionId: id, reason },
    ];
    expect(desk.apply(named('split', 7n))).toEqual([
      { kind: 'split', account: 'ann', conditionId, amount: 7n, orderId: 'one', yesPrice: 5_000 },
    ]);
    desk.place('bid', 'ann', ['BUY', 'YES', '10', 2_000]);
    desk.place('ask', 'bob', ['SELL', 'YES', '10', 3_000]);
    expect(desk.apply(named('merge', 7n))).toEqual([
      { kind: 'merged', account: 'ann', conditionId, amount: 7n, orderId: 'one', yesPrice: 2_500 },
    ]);
    expect(desk.apply(named('split', 1n, 'ann', '0xnone'))).toEqual(rejected('market_not_found', '0xnone'));
    expect(desk.apply(named('merge', 0n))).toEqual(rejected('amount_below_minimum'));
    expect(desk.apply(named('merge', parseMicro('100.000001')))).toEqual(rejected('insufficient_balance'));
    desk.apply({ kind: 'resolve', conditionId, payout: 'YES' });
    expect(desk.apply(named('split', 1n))).toEqual(rejected('market_closed'));
    expect(desk.apply(named('merge', 1n))).toEqual(rejected('market_closed'));
  });

  test('deposits and listings are refused by name', () => {
    const desk = new Desk();
    expect(desk.apply({ kind: 'deposit', account: 'ann', amount: 0n })).toEqual([
      { kind: 'refused', command: 'deposit', reason: 'amount_not_positive' },
    ]);
    expect(desk.apply({ kind: 'list', market: MARKET })).toEqual([
      { kind: 'refused', command: 'list', reason: 'market_exists' },
    ]);
    const impossible = { ...MARKET, conditionId: '0xother', tickSize: 30 };
    expect(() => desk.apply({ kind: 'list', market: impossible })).toThrow(RangeError);
    expect(() => desk.apply({ kind: 'redeem', account: 'ann', conditionId: '0xother' })).not.toThrow();
  });
});
