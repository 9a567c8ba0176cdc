import { expect, test } from 'vitest';
import { shrink } from './shrink.ts';

const numbers = (count: number): number[] => [...Array(count).keys()];
const has = (some: readonly number[], ...wanted: number[]): boolean =>
  wanted.every((one) => some.includes(one));

test('leaves exactly what is needed for the failure, in its order', async () => {
  const found = await shrink(numbers(300), async (some) => has(some, 17, 18, 250));
  expect(found).toEqual([17, 18, 250]);
});

test('keeps what fails only in pairs', async () => {
  const pairs = async (some: readonly number[]) => has(some, 3) && some.length % 2 === 0;
  const found = await shrink(numbers(64), pairs);
  expect(await pairs(found)).toBe(true);
  expect(found.length).toBeLessThan(64);
});

test('leaves nothing when nothing is needed', async () => {
  expect(await shrink(numbers(7), async () => true)).toEqual([]);
});

test('gives the best so far when the time is over', async () => {
  let tries = 0;
  const fails = async (some: readonly number[]) => {
    tries += 1;
    return has(some, 0);
  };
  const found = await shrink(numbers(100), fails, () => tries >= 2);
  expect(tries).toBe(2);
  expect(found).toContain(0);
  expect(found.length).toBeLessThan(100);
});
