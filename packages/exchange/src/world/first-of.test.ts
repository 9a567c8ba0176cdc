import fc from 'fast-check';
import { expect, test } from 'vitest';
import { firstOf } from './first-of.ts';

test('the first items are those of a stable sort', () => {
  const items = fc.array(fc.record({ rank: fc.integer({ min: 0, max: 9 }), name: fc.string() }));
  const byRank = (a: { readonly rank: number }, b: { readonly rank: number }): number => a.rank - b.rank;
  fc.assert(
    fc.property(items, fc.nat(20), (all, count) => {
      expect(firstOf(all, count, byRank)).toEqual(all.toSorted(byRank).slice(0, count));
    }),
  );
});
