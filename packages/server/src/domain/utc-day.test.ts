import { expect, test } from 'vitest';
import { utcDay } from './utc-day.ts';

test('a day ends with its last millisecond, also when days are asked for in turns', () => {
  const midnight = Date.UTC(2026, 10, 23);
  for (let turn = 0; turn < 2; turn += 1) {
    expect(utcDay(midnight - 1)).toBe('2026-11-22');
    expect(utcDay(midnight)).toBe('2026-11-23');
  }
  expect(utcDay(0)).toBe('1970-01-01');
  expect(utcDay(-1)).toBe('1969-12-31');
  expect(() => utcDay(Number.NaN)).toThrow(RangeError);
});
