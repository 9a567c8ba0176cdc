import { describe, expect, test } from 'vitest';
import { Random } from './random.ts';

describe('Random', () => {
  test('gives the same numbers for a seed on every machine', () => {
    const random = Random.seeded('golden', 'test');
    expect(Array.from({ length: 5 }, () => random.next())).toEqual([
      1173025074, 508365184, 2048916959, 2995899683, 2436939863,
    ]);
  });

  test('is xoshiro128**, by its published first numbers', () => {
    const random = new Random([1, 2, 3, 4]);
    expect(Array.from({ length: 4 }, () => random.next())).toEqual([11_520, 0, 5_927_040, 70_819_200]);
  });

  test('continues from its state', () => {
    const random = Random.seeded('a', 'test');
    random.next();
    const copy = new Random(random.state());
    expect(Array.from({ length: 9 }, () => copy.next())).toEqual(
      Array.from({ length: 9 }, () => random.next()),
    );
  });

  test('keeps streams of one seed apart', () => {
    const draw = (seed: string, purpose: string) => Random.seeded(seed, purpose).next();
    expect(new Set([draw('a', 'x'), draw('a', 'y'), draw('b', 'x'), draw('b', 'y')]).size).toBe(4);
  });

  test('draws every number below a bound about as often', () => {
    const random = Random.seeded('even', 'test');
    const counts = new Array<number>(7).fill(0);
    for (let i = 0; i < 70_000; i += 1) counts[random.below(7)]! += 1;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });

  test('refuses a bound for which it would never stop drawing', () => {
    const random = Random.seeded('bound', 'test');
    for (const bound of [0, -1, 2 ** 32 + 1, Number.NaN])
      expect(() => random.below(bound)).toThrow(RangeError);
    expect(random.below(2 ** 32)).toBeLessThan(2 ** 32);
  });
});
