import { expect, test } from 'vitest';
import { timeLeft } from './time-left.ts';

test.each([
  [-1, 'less than a minute'],
  [59_999, 'less than a minute'],
  [60_000, 'a minute'],
  [150_000, '3 minutes'],
  [3_600_000, 'an hour'],
  [12_600_000, '3.5 hours'],
])('%d ms are %s', (ms, words) => expect(timeLeft(ms)).toBe(words));
