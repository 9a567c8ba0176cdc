import { expect, test } from 'vitest';
import { ProcessorShare } from './processor-share.ts';

test('a thread that works without end is let work half of the time', () => {
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
  expect(used / now).toBeGreaterThan(0.4);
  expect(used / now).toBeLessThan(0.51);
  expect(pauses).toBeGreaterThan(4_000);
});

test('one that works now and then never pauses', () => {
  let [now, used] = [0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  for (let nth = 0; nth < 1_000; nth += 1) {
    expect(share.pauseMs()).toBe(0);
    now += 10;
    used += 4;
  }
});

test('after a long rest only a burst is there, and a long turn is paid back', () => {
  let [now, used] = [0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  now += 3_600_000;
  expect(share.pauseMs()).toBe(0);
  now += 150;
  used += 150;
  // 50 held, 75 come back, 150 used: 25 too many.
  expect(share.pauseMs()).toBe(51);
  now += 51;
  expect(share.pauseMs()).toBe(0);
});
