import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { SeenOrders } from './seen-orders.ts';

const digest = (number: number): string => `0x${createHash('sha256').update(String(number)).digest('hex')}`;

test('knows every id that was added, and takes few others for known', () => {
  const seen = new SeenOrders();
  for (let i = 0; i < 100_000; i += 1) seen.add(digest(i));
  let missed = 0;
  for (let i = 0; i < 100_000; i += 1) if (!seen.mayHave(digest(i))) missed += 1;
  expect(missed).toBe(0);
  let mistaken = 0;
  for (let i = 100_000; i < 200_000; i += 1) if (seen.mayHave(digest(i))) mistaken += 1;
  expect(mistaken).toBeLessThan(20);
});

test('grows by layers without forgetting', () => {
  const seen = new SeenOrders();
  const counter = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
  for (let i = 0; i < 1_200_000; i += 1) seen.add(counter(i));
  for (let i = 0; i < 1_200_000; i += 1_000) expect(seen.mayHave(counter(i))).toBe(true);
  let mistaken = 0;
  for (let i = 2_000_000; i < 2_100_000; i += 1) if (seen.mayHave(counter(i))) mistaken += 1;
  expect(mistaken).toBeLessThan(500);
});
