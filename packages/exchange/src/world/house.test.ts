/** The ladder's invariants, for every possible probability, tick, pressure and inventory. */
import { MICRO, PIPS } from '@bellwether/contract/decimals';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bounds } from './events.ts';
import { ladder } from './house.ts';

const terms = fc.constantFrom(1000, 100, 10, 1).chain((tickSize) => {
  const [low, high] = bounds(tickSize);
  const pressure = fc.integer({ min: 0, max: PIPS / tickSize });
  return fc.record({
    tickSize: fc.constant(tickSize),
    probability: fc.oneof(fc.integer({ min: low, max: high }), fc.constantFrom(low, low + 1, high - 1, high)),
    pressure: fc.record({ bid: pressure, ask: pressure }),
    inventory: fc.bigInt({ min: -1_000_000n * MICRO, max: 1_000_000n * MICRO }),
  });
});

test('prices are honest, on the grid, in range, best first and distinct', () => {
  fc.assert(
    fc.property(terms, (given) => {
      const rungs = ladder(given);
      for (const side of ['bid', 'ask'] as const) {
        const prices = rungs.filter((rung) => rung.side === side).map((rung) => rung.price);
        expect(prices.length).toBeGreaterThan(0);
        const outwards = [...new Set(prices)].sort((a, b) => (side === 'bid' ? b - a : a - b));
        expect(prices).toEqual(outwards);
        for (const price of prices) {
          expect(price % given.tickSize).toBe(0);
          expect(price).toBeGreaterThanOrEqual(given.tickSize);
          expect(price).toBeLessThanOrEqual(PIPS - given.tickSize);
          if (side === 'bid') expect(price * 100).toBeLessThanOrEqual(given.probability);
          else expect(price * 100).toBeGreaterThanOrEqual(given.probability);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test('half of a side, the worst half, still fills an order of 50 collateral in either outcome', () => {
  fc.assert(
    fc.property(terms, (given) => {
      const rungs = ladder(given);
      for (const side of ['bid', 'ask'] as const) {
        const own = rungs.filter((rung) => rung.side === side);
        let gone = own.reduce((sum, rung) => sum + rung.size, 0n) / 2n;
        let yes = 0n;
        let no = 0n;
        for (const { price, size } of own) {
          const taken = gone < size ? gone : size;
          gone -= taken;
          yes += (size - taken) * BigInt(price);
          no += (size - taken) * BigInt(PIPS - price);
        }
        expect(yes).toBeGreaterThanOrEqual(50n * MICRO * BigInt(PIPS));
        expect(no).toBeGreaterThanOrEqual(50n * MICRO * BigInt(PIPS));
      }
    }),
    { numRuns: 2_000 },
  );
});
