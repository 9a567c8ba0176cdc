import { expect, test } from 'vitest';
import { FeeSchedules } from '../../src/engine/fee-schedules.ts';
import { unitsOf } from '../../src/engine/units.ts';

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
