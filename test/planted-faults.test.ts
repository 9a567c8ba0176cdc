/** Planted faults that would no longer be planted prove nothing: each patch fits the code, and names nets that exist. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { applyPatch, plantedFaults, ROOT, readHead } from './mutants/planted-faults.ts';

const faults = plantedFaults();

test('there are at least twenty-five', () => {
  expect(faults.length).toBeGreaterThanOrEqual(25);
});

test.each(faults)('$name fits the code, and its nets are there', (fault) => {
  expect(() => applyPatch(fault, ROOT, '--check')).not.toThrow();
  const files = fault.nets.flatMap(({ kind, words }) => (kind === 'tests' ? words : []));
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

const DIFF = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n';

test.each([
  ['no diff', 'It costs money.\nnet: tests a.test.ts\n', 'no unified diff'],
  ['no sentence', `net: tests a.test.ts\n\n${DIFF}`, 'does not say'],
  ['no net', `It costs money.\n\n${DIFF}`, 'must name its nets'],
  ['a net of no known kind', `It costs money.\nnet: magic a\n\n${DIFF}`, 'must name its nets'],
  [
    'four lines',
    `It costs money.\nnet: tests a.test.ts\n\n${DIFF}${'+more\n'.repeat(3)}`,
    'more than 3 lines',
  ],
])('a patch with %s is refused', (_, text, why) => {
  expect(() => readHead('one.patch', text)).toThrow(why);
});

test('a patch that fits no longer asks to be ported', () => {
  const [fault] = faults as [(typeof faults)[number]];
  expect(() => applyPatch(fault, ROOT, '--check', '--reverse')).toThrow('ports its planted faults');
});
