/** The canonical bytes: equal states give equal bytes, and nothing else is accepted. */
import { parseMicro } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import { ByteReader, ByteWriter } from '../../src/engine/snapshot.ts';
import { Desk, lines, MARKET } from './desk.ts';

describe('snapshot', () => {
  test('does not depend on the path to a state', () => {
    const list = (conditionId: string) => ({ kind: 'list', market: { ...MARKET, conditionId } }) as const;
    const deposit = (account: string, amount: string) =>
      ({ kind: 'deposit', account, amount: parseMicro(amount) }) as const;
    const split = (account: string, amount: string) =>
      ({ kind: 'split', account, conditionId: '0xa', amount: parseMicro(amount) }) as const;
    const one = new Engine();
    const other = new Engine();
    for (const command of [
      list('0xa'),
      list('0xb'),
      deposit('ann', '10'),
      deposit('bob', '9'),
      split('ann', '4'),
    ])
      one.apply(command, 7);
    for (const command of [
      deposit('bob', '4'),
      list('0xb'),
      deposit('bob', '5'),
      deposit('ann', '10'),
      list('0xa'),
    ])
      other.apply(command, 7);
    other.apply(split('ann', '3'), 7);
    other.apply(split('ann', '1'), 7);
    expect(other.snapshot()).toEqual(one.snapshot());
  });

  test('leaves out accounts that hold nothing', () => {
    const desk = new Desk({ minOrderSize: 1n }, ['bob']);
    desk.apply({ kind: 'deposit', account: 'zoe', amount: parseMicro('2') });
    desk.place('ask', 'bob', ['SELL', 'YES', '4', 5000]);
    desk.place('buy', 'zoe', ['BUY', 'YES', '4', 5000]);
    desk.apply({ kind: 'resolve', conditionId: '0xm', payout: 'NO' });
    expect(Buffer.from(desk.engine.snapshot()).includes('zoe')).toBe(true);
    desk.apply({ kind: 'redeem', account: 'zoe', conditionId: '0xm' });
    expect(Buffer.from(desk.engine.snapshot()).includes('zoe')).toBe(false);
  });

  test.each(['HALF', '0.24', '0.000001', '0.999999'] as const)('keeps that a market pays %s', (payout) => {
    const desk = new Desk();
    desk.apply({ kind: 'resolve', conditionId: '0xm', payout });
    const again = Engine.restore(desk.engine.snapshot());
    expect(again.marketPayout('0xm')).toBe(payout);
    expect(again.snapshot()).toEqual(desk.engine.snapshot());
  });

  test('does not grow with history', () => {
    const desk = new Desk();
    const size = (): number => desk.engine.snapshot().length;
    const before = size();
    for (let index = 0; index < 300; index += 1) {
      desk.place(`sell-${index}`, 'ann', ['SELL', 'YES', '5', 5000], {
        timeInForce: 'GTD',
        expiresAt: 9_000,
      });
      desk.place(`buy-${index}`, 'bob', ['BUY', 'YES', '5', 5000]);
      desk.place(`back-${index}`, 'bob', ['SELL', 'YES', '5', 5000]);
      desk.place(`take-${index}`, 'ann', ['BUY', 'YES', '5', 5000], { timeInForce: 'FAK', spend: '2.5' });
      desk.place(`rest-${index}`, 'cyd', ['BUY', 'NO', '5', 4000]);
      desk.cancel('cyd', `rest-${index}`);
    }
    // A few bytes for larger counters.
    expect(size()).toBeLessThan(before + 16);
  });

  test('keeps time priority and everything that rests', () => {
    const desk = new Desk({ feeRate: 70_000n });
    desk.place('z', 'bob', ['BUY', 'NO', '10', 4000]);
    desk.place('y', 'cyd', ['SELL', 'YES', '10', 6000], { timeInForce: 'GTD', expiresAt: 5_000 });
    desk.place('x', 'bob', ['BUY', 'NO', '10', 4000]);
    desk.place('take', 'ann', ['BUY', 'YES', '5', 6000]);
    const bytes = desk.engine.snapshot();
    const restored = Engine.restore(bytes);
    expect(restored.snapshot()).toEqual(bytes);
    for (const account of ['ann', 'bob', 'cyd']) {
      expect(restored.account(account)).toEqual(desk.engine.account(account));
      expect(restored.openOrders(account)).toEqual(desk.engine.openOrders(account));
    }
    expect(restored.book('0xm', 'NO')).toEqual(desk.engine.book('0xm', 'NO'));
    expect(restored.volume('0xm')).toBe(parseMicro('3'));
    expect(restored.liquidity('0xm')).toBe(desk.engine.liquidity('0xm'));
    const next = {
      kind: 'place',
      order: { ...orderOf(restored, 'z'), orderId: 'n', account: 'ann', outcome: 'YES', limit: 6000 },
    } as const;
    expect(lines(restored.apply(next, 1_001))).toEqual(lines(desk.engine.apply(next, 1_001)));
    expect(lines(restored.apply({ kind: 'expire' }, 5_000))).toEqual(
      lines(desk.engine.apply({ kind: 'expire' }, 5_000)),
    );
    expect(restored.snapshot()).toEqual(desk.engine.snapshot());
  });

  test('reads version 1, without the taker’s side', () => {
    const desk = new Desk();
    desk.place('rest', 'bob', ['SELL', 'YES', '10', 6000]);
    desk.place('take', 'ann', ['BUY', 'NO', '5', 4000], { timeInForce: 'FAK', spend: '2' });
    desk.place('hit', 'ann', ['BUY', 'YES', '5', 6000]);
    const bytes = desk.engine.snapshot();
    expect(desk.engine.book('0xm', 'NO')).toMatchObject({ lastTrade: 4000, lastTakerSide: 'SELL' });
    expect(Engine.restore(bytes).book('0xm', 'NO')).toEqual(desk.engine.book('0xm', 'NO'));
    const older = Engine.restore(asOlderVersion(bytes));
    expect(older.book('0xm', 'YES')).toMatchObject({ lastTrade: 6000 });
    expect(older.book('0xm', 'YES')).not.toHaveProperty('lastTakerSide');
    expect(older.account('ann')).toEqual(desk.engine.account('ann'));
  });

  test('refuses bytes that are not a snapshot, truncated, too long, or inconsistent', () => {
    const desk = new Desk();
    desk.place('a', 'ann', ['BUY', 'YES', '10', 4000]);
    const bytes = desk.engine.snapshot();
    expect(() => Engine.restore(new Uint8Array())).toThrow(RangeError);
    expect(() => Engine.restore(new TextEncoder().encode('something else entirely'))).toThrow(RangeError);
    for (let length = 0; length < bytes.length; length += 1)
      expect(() => Engine.restore(bytes.slice(0, length))).toThrow();
    expect(() => Engine.restore(Uint8Array.from([...bytes, 0]))).toThrow(RangeError);
    const forged = bytes.slice();
    // The first account's balance: one more than was deposited.
    const at = Buffer.from(bytes).indexOf('ann') + 3;
    forged[at] = (forged[at] ?? 0) ^ 1;
    expect(() => Engine.restore(forged)).toThrow('conservation violated');
  });
});

/** Version 1 had one byte less for a market: the word behind the price of its last trade (6000 pips, two bytes). */
function asOlderVersion(bytes: Uint8Array): Uint8Array {
  const price = new ByteWriter();
  price.integer(6000);
  const at = Buffer.from(bytes).indexOf(price.bytes()) + price.bytes().length;
  const magic = new ByteWriter();
  magic.text('bellwether-engine');
  const older = Uint8Array.from([...bytes.slice(0, at), ...bytes.slice(at + 1)]);
  older[magic.bytes().length] = 1;
  return older;
}

const orderOf = (engine: Engine, id: string) => {
  const order = engine.openOrder(id);
  if (order === undefined) throw new Error(`no order ${id}`);
  return { ...order, side: 'BUY', size: parseMicro('12'), postOnly: false } as const;
};

describe('byte codec', () => {
  test('carries integers, amounts of any size, words and texts', () => {
    const integers = [
      0,
      1,
      127,
      128,
      16_383,
      16_384,
      2 ** 31 - 1,
      2 ** 31,
      2 ** 32 + 5,
      Number.MAX_SAFE_INTEGER,
    ];
    const amounts = [
      0n,
      127n,
      128n,
      2n ** 49n - 1n,
      2n ** 49n,
      2n ** 53n - 1n,
      2n ** 53n,
      2n ** 64n + 3n,
      10n ** 60n,
    ];
    const texts = ['', 'plain', 'größer', '💡', 'x'.repeat(100_000)];
    const out = new ByteWriter();
    for (const value of integers) out.integer(value);
    for (const value of amounts) out.amount(value);
    for (const value of texts) out.text(value);
    out.word(['a', 'b'], 'b');
    const input = new ByteReader(out.bytes());
    expect(integers.map(() => input.integer())).toEqual(integers);
    expect(amounts.map(() => input.amount())).toEqual(amounts);
    expect(texts.map(() => input.text())).toEqual(texts);
    expect(input.word(['a', 'b'])).toBe('b');
    expect(input.atEnd).toBe(true);
  });

  test('refuses values that it could not decode', () => {
    const out = new ByteWriter();
    expect(() => out.integer(-1)).toThrow(RangeError);
    expect(() => out.integer(1.5)).toThrow(RangeError);
    expect(() => out.amount(-1n)).toThrow(RangeError);
    expect(() => out.text('\ud800')).toThrow(RangeError);
    expect(() => out.word(['a'], 'b')).toThrow(RangeError);
  });
});
