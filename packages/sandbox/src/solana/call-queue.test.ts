import { expect, test } from 'vitest';
import { ProcessorShare } from './call-queue.ts';

test('a thread that works without a break may work a tenth of the time', () => {
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
  expect(used / now).toBeGreaterThan(0.08);
  expect(used / now).toBeLessThan(0.11);
  expect(pauses).toBeGreaterThan(8_500);
});

test('a thread that works occasionally never pauses', () => {
  let [now, used] = [0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  for (let nth = 0; nth < 1_000; nth += 1) {
    expect(share.pauseMs()).toBe(0);
    now += 25;
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
  now += 100;
  used += 100;
  // 25 held, 10 come back, 100 used: 65 too many.
  expect(share.pauseMs()).toBe(651);
  now += 651;
  expect(share.pauseMs()).toBe(0);
  // However much was used, the pause is bounded.
  now += 60_000;
  used += 60_000;
  expect(share.pauseMs()).toBe(1_001);
});

test('what the desk’s calls take does not count', () => {
  let [now, used] = [0, 0];
  const share = new ProcessorShare(
    () => now,
    () => used,
  );
  for (let nth = 0; nth < 1_000; nth += 1) {
    share.exempt(() => {
      now += 8;
      used += 8;
    });
    now += 2;
    used += 0.5;
    expect(share.pauseMs()).toBe(0);
  }
});
