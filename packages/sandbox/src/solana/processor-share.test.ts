import { expect, test } from 'vitest';
import { ProcessorShare } from './processor-share.ts';

test('a thread that works without a break may work a quarter of the time', () => {
  let [now, used, pauses] = [0, 0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  while (now < 10_000) {
    const pause = share.pauseMs();
    pauses += pause;
    now += pause > 0 ? pause : 3;
    used += pause > 0 ? 0 : 3;
  }
  expect(used / now).toBeGreaterThan(0.2);
  expect(used / now).toBeLessThan(0.26);
  expect(pauses).toBeGreaterThan(6_500);
});

test('a thread that works occasionally never pauses', () => {
  let [now, used] = [0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  for (let nth = 0; nth < 1_000; nth += 1) {
    expect(share.pauseMs()).toBe(0);
    now += 10;
    used += 2;
  }
});

test('a long idle time gives only a burst, and a long turn must be repaid', () => {
  let [now, used] = [0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  now += 3_600_000;
  expect(share.pauseMs()).toBe(0);
  now += 150;
  used += 150;
  // 50 held, 37.5 come back, 150 used: 62.5 too many.
  expect(share.pauseMs()).toBe(251);
  now += 251;
  expect(share.pauseMs()).toBe(0);
});
