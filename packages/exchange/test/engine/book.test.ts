/** Compares the book and the queue with sorted arrays, over the whole range of prices and times. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Engine } from '../../src/engine/engine.ts';
import { BookSide } from '../../src/engine/market.ts';
import { MARKET, order } from './desk.ts';

const TICKS = 10_000;

/** Few enough indexes that they come and go, near and across the edges of the bitmap's words. */
const index = fc.oneof(
  fc.constantFrom(1, 30, 31, 32, 33, 63, 64, 65, 95, 96, 5_000, 9_983, 9_984, 9_998, 9_999),
  fc.integer({ min: 1, max: TICKS - 1 }),
);

test('a side returns its best level and the next ones', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.array(fc.tuple(fc.boolean(), index), { maxLength: 60 }), (bids, steps) => {
      const side = new BookSide(bids, TICKS);
      let levels: number[] = [];
      for (const [add, at] of steps) {
        if (add === levels.includes(at)) continue;
        if (add) side.add(at);
        else side.remove(at);
        levels = add ? [...levels, at] : levels.filter((level) => level !== at);
        levels.sort((a, b) => (bids ? b - a : a - b));
        const walked: number[] = [];
        for (let next = side.best; next !== -1 && walked.length <= TICKS; next = side.worseThan(next))
          walked.push(next);
        expect(walked).toEqual(levels);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('orders become due by time, then id, also after removals from the queue', () => {
  const times = fc.array(fc.tuple(fc.integer({ min: 2, max: 40 }), fc.boolean()), { maxLength: 120 });
  fc.assert(
    fc.property(times, (given) => {
      const engine = new Engine();
      engine.apply({ kind: 'list', market: MARKET }, 1);
      engine.apply({ kind: 'deposit', account: 'ann', amount: 1_000_000_000_000n }, 1);
      // Ids that do not sort as they arrive.
      const orders = given.map(([expiresAt, stays], number) => {
        return { orderId: `o${(number * 7919) % 1_000}`, expiresAt, stays };
      });
      for (const { orderId, expiresAt } of orders) {
        const words = ['BUY', 'YES', '5', 5_000] as const;
        engine.apply(
          { kind: 'place', order: order(orderId, 'ann', words, { timeInForce: 'GTD', expiresAt }) },
          1,
        );
      }
      const leaving = orders.filter(({ stays }) => !stays).map(({ orderId }) => orderId);
      engine.apply({ kind: 'cancel', account: 'ann', orderIds: leaving }, 1);
      const staying = orders.filter(({ stays }) => stays);
      staying.sort((a, b) => a.expiresAt - b.expiresAt || (a.orderId < b.orderId ? -1 : 1));
      let due: string[] = [];
      for (let now = 3; now <= 42; now += 3) {
        const events = engine.apply({ kind: 'expire' }, now);
        due = [...due, ...events.map((event) => (event.kind === 'order_done' ? event.orderId : event.kind))];
        expect(due).toEqual(
          staying.filter(({ expiresAt }) => expiresAt <= now).map(({ orderId }) => orderId),
        );
      }
      engine.checkConservation();
    }),
    { numRuns: 300 },
  );
});
