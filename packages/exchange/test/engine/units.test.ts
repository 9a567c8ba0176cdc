/** Compares the engine's arithmetic on doubles with the same on bigints, on ordinary and on extreme values. */
import { MICRO } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addTo,
  affordable,
  changeMicro,
  checked,
  clampedUnits,
  covers,
  FeeSchedules,
  FeeShare,
  floorCost,
  MOST_UNITS,
  microAt,
  minus,
  plus,
  setMicro,
  takeFrom,
  type Units,
  unitsOf,
} from '../../src/engine/amounts.ts';
import type { NewOrder } from '../../src/engine/commands.ts';
import { Engine } from '../../src/engine/engine.ts';
import { Rows } from '../../src/engine/rows.ts';
import { MARKET, order } from './desk.ts';

const MOST = BigInt(MOST_UNITS);
const RUNS = { numRuns: 20_000 };

/** Near the powers at which a double's arithmetic changes, near the limit, and anywhere. */
const units: fc.Arbitrary<Units> = fc
  .oneof(
    fc.bigInt({ min: 0n, max: 200_000_000n }),
    fc.bigInt({ min: 0n, max: MOST }),
    fc.bigInt({ min: 0n, max: 20_000n }).map((less) => MOST - less),
    fc
      .tuple(fc.integer({ min: 20, max: 52 }), fc.bigInt({ min: -3n, max: 3n }))
      .map(([power, by]) => 2n ** BigInt(power) + by),
    fc
      .tuple(fc.bigInt({ min: 1n, max: MOST / 10_000n }), fc.bigInt({ min: -1n, max: 1n }))
      .map(([whole, by]) => whole * 10_000n + by),
  )
  .map(unitsOf);
const price = fc.integer({ min: 1, max: 9_999 });

describe('arithmetic', () => {
  test('the cost of a fill', () => {
    fc.assert(
      fc.property(units, price, (size, pips) => {
        expect(BigInt(floorCost(size, pips))).toBe((BigInt(size) * BigInt(pips)) / 10_000n);
      }),
      RUNS,
    );
  });

  test('the size that a budget buys, where it is less than the limit', () => {
    fc.assert(
      fc.property(units, price, (budget, pips) => {
        const plain = ((BigInt(budget) + 1n) * 10_000n - 1n) / BigInt(pips);
        const mint = (BigInt(budget) * 10_000n) / BigInt(pips);
        expect(BigInt(affordable('COMPLEMENTARY', budget, pips))).toBe(plain < MOST ? plain : MOST);
        expect(BigInt(affordable('MINT', budget, pips))).toBe(mint < MOST ? mint : MOST);
      }),
      RUNS,
    );
  });

  test('the fee, at every rate and exponent: rounded up, and never more than the size', () => {
    const rate = fc.oneof(fc.constantFrom(0n, 1n, 40_000n, 70_000n, 1_000_000n), fc.bigInt(0n, 1_000_000n));
    fc.assert(
      fc.property(units, price, rate, fc.integer({ min: 0, max: 4 }), (size, pips, feeRate, exponent) => {
        const top = feeRate * (BigInt(pips) * BigInt(10_000 - pips)) ** BigInt(exponent);
        const bottom = MICRO * 100_000_000n ** BigInt(exponent);
        const fee = new FeeShare(feeRate, exponent, pips).of(size);
        expect(BigInt(fee)).toBe((BigInt(size) * top + bottom - 1n) / bottom);
        expect(fee).toBeLessThanOrEqual(size);
      }),
      RUNS,
    );
  });

  test('a sum that is not exact, or below zero, is found', () => {
    expect(plus(unitsOf(MOST - 1n), unitsOf(1n))).toBe(MOST_UNITS);
    expect(() => plus(MOST_UNITS, unitsOf(1n))).toThrow('engine bug');
    expect(() => plus(MOST_UNITS, MOST_UNITS)).toThrow('engine bug');
    expect(() => minus(unitsOf(1n), unitsOf(2n))).toThrow('engine bug');
    expect(() => checked(Number.NaN, 'it')).toThrow('engine bug: it');
    expect(() => unitsOf(MOST + 1n)).toThrow(RangeError);
    expect(() => unitsOf(-1n)).toThrow(RangeError);
    expect(clampedUnits(2n ** 200n)).toBe(MOST_UNITS);
  });

  test('cells add and subtract beyond 2^53 as bigints do', () => {
    const change = fc.tuple(fc.boolean(), units);
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 90n }),
        fc.array(change),
        units,
        (start, changes, asked) => {
          const cells = new Float64Array(4);
          setMicro(cells, 2, start, 'it');
          let expected = start;
          for (const [adds, amount] of changes) {
            const next = adds ? expected + BigInt(amount) : expected - BigInt(amount);
            if (adds) addTo(cells, 2, amount);
            else if (next >= 0n) takeFrom(cells, 2, amount, 'it');
            else expect(() => takeFrom(cells, 2, amount, 'it')).toThrow('engine bug: it');
            if (next >= 0n) expected = next;
            expect(microAt(cells, 2)).toBe(expected);
          }
          expect(covers(cells, 2, asked)).toBe(expected >= BigInt(asked));
          changeMicro(cells, 2, -expected, 'it');
          expect([...cells]).toEqual([0, 0, 0, 0]);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe('amounts beyond 2^53 micro-units', () => {
  const RICH = 2n ** 60n;
  const huge = (orderId: string, words: Parameters<typeof order>[2], terms: Partial<NewOrder>): NewOrder => ({
    ...order(orderId, 'ann', words),
    ...terms,
  });

  function rich(): Engine {
    const engine = new Engine();
    engine.apply({ kind: 'list', market: MARKET }, 1);
    for (const account of ['ann', 'bob']) {
      engine.apply({ kind: 'deposit', account, amount: 3n * RICH }, 1);
      engine.apply({ kind: 'split', account, conditionId: '0xm', amount: RICH }, 1);
    }
    return engine;
  }

  test('deposits, full sets, balances and redemptions are exact at any size', () => {
    const engine = rich();
    engine.apply({ kind: 'merge', account: 'ann', conditionId: '0xm', amount: RICH - 5n }, 2);
    expect(engine.account('ann').available).toBe(3n * RICH - 5n);
    expect(engine.account('ann').tokens.get('0xm')).toEqual({ yes: 5n, no: 5n, yesHeld: 0n, noHeld: 0n });
    engine.apply({ kind: 'resolve', conditionId: '0xm', payout: 'YES' }, 3);
    expect(engine.apply({ kind: 'redeem', account: 'bob', conditionId: '0xm' }, 4)).toMatchObject([
      { kind: 'redeemed', yes: RICH, no: RICH, payout: RICH },
    ]);
    expect(engine.account('bob').available).toBe(3n * RICH);
    engine.checkConservation();
    expect(Engine.restore(engine.snapshot()).snapshot()).toEqual(engine.snapshot());
  });

  test('orders of the largest size trade and rest, and their sums go beyond', () => {
    const engine = rich();
    const size = MOST;
    for (const id of ['one', 'two', 'three'])
      engine.apply({ kind: 'place', order: { ...order(id, 'bob', ['SELL', 'YES', '5', 5000]), size } }, 2);
    expect(engine.book('0xm', 'YES')?.asks).toEqual([[5000, 3n * MOST]]);
    engine.checkConservation();
    for (const id of ['four', 'five'])
      engine.apply({ kind: 'place', order: { ...order(id, 'ann', ['BUY', 'YES', '5', 5000]), size } }, 3);
    expect(engine.volume('0xm')).toBe(2n * (MOST / 2n));
    expect(engine.account('ann').tokens.get('0xm')?.yes).toBe(RICH + 2n * MOST);
    engine.checkConservation();
    expect(Engine.restore(engine.snapshot()).snapshot()).toEqual(engine.snapshot());
  });

  test.each<[string, NewOrder, object]>([
    [
      'a SELL without the tokens',
      huge('a', ['SELL', 'YES', '5', 5000], { account: 'zoe', size: RICH }),
      { reason: 'insufficient_balance', needed: RICH, available: 0n },
    ],
    [
      'a BUY without the money',
      huge('b', ['BUY', 'YES', '5', 5000], { size: 16n * RICH }),
      { reason: 'insufficient_balance', needed: 8n * RICH, available: 2n * RICH },
    ],
    [
      'another market',
      huge('c', ['BUY', 'YES', '5', 5000], { conditionId: '0xn', size: RICH }),
      { reason: 'market_not_found' },
    ],
    [
      'a price off the grid',
      huge('d', ['BUY', 'YES', '5', 5050], { size: RICH }),
      { reason: 'price_off_tick_grid' },
    ],
    [
      'a BUY that the account could pay',
      huge('e', ['BUY', 'YES', '5', 5000], { size: MOST + 1n }),
      { reason: 'size_above_maximum' },
    ],
    [
      'a SELL that the account could deliver',
      huge('f', ['SELL', 'NO', '5', 5000], { size: MOST + 1n }),
      { reason: 'size_above_maximum' },
    ],
    [
      'a market BUY of more money',
      huge('g', ['BUY', 'YES', '5', 5000], { timeInForce: 'FAK', spend: MOST + 1n }),
      { reason: 'size_above_maximum' },
    ],
  ])('an order beyond is refused for its first fault: %s', (_, placed, refusal) => {
    const engine = rich();
    const before = engine.snapshot();
    expect(engine.apply({ kind: 'place', order: placed }, 1)).toEqual([
      expect.objectContaining({ kind: 'order_rejected', orderId: placed.orderId, ...refusal }),
    ]);
    expect(engine.snapshot()).toEqual(before);
  });
});

const TERMS = { feeRate: 40_000n, feeExponent: 1, tickSize: 100 } as const;
const SIZE = unitsOf(1_000_000n);

test('markets share a schedule only when all their terms are equal', () => {
  const schedules = new FeeSchedules();
  const schedule = schedules.of(TERMS);
  expect(schedules.of({ ...TERMS })).toBe(schedule);
  // One share at 0.50: rate × (0.5 × 0.5)^exponent.
  expect(schedule.at(50).of(SIZE)).toBe(10_000);
  expect(
    schedules
      .of({ ...TERMS, feeRate: 20_000n })
      .at(50)
      .of(SIZE),
  ).toBe(5_000);
  expect(
    schedules
      .of({ ...TERMS, feeExponent: 2 })
      .at(50)
      .of(SIZE),
  ).toBe(2_500);
  expect(
    schedules
      .of({ ...TERMS, tickSize: 10 })
      .at(500)
      .of(SIZE),
  ).toBe(10_000);
  expect(schedule.at(50).of(SIZE)).toBe(10_000);
});

test('rows keep their integers and doubles when the table grows', () => {
  const rows = new Rows(3, 2);
  for (let row = 0; row < 100; row += 1) {
    rows.reserve(row);
    rows.ints[6 * row] = -row;
    rows.ints[6 * row + 1] = row;
    rows.doubles[3 * row + 1] = row / 2;
    rows.doubles[3 * row + 2] = 2 ** 52 + row;
  }
  for (let row = 0; row < 100; row += 1) {
    expect([...rows.ints.slice(6 * row, 6 * row + 2)]).toEqual([0 - row, row]);
    expect([...rows.doubles.slice(3 * row + 1, 3 * row + 3)]).toEqual([row / 2, 2 ** 52 + row]);
  }
});
