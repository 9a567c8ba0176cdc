import { expect, test } from 'vitest';
import { outcomeWords } from '../src/parts/figures.tsx';

test('a side has the venue’s name of it in quotes, cut, where that says more', () => {
  expect(outcomeWords('YES', 'FaZe')).toBe('YES “FaZe”');
  expect(outcomeWords('NO', ' Down ')).toBe('NO “Down”');
  expect(outcomeWords('YES', 'No')).toBe('YES “No”');
  expect(outcomeWords('YES', '🎲'.repeat(10_000))).toBe(`YES “${'🎲'.repeat(100)}…”`);
  for (const name of ['Yes', ' YES ', '', null, undefined]) expect(outcomeWords('YES', name)).toBe('YES');
  expect(outcomeWords('BOTH', null)).toBe('BOTH');
});
