/** SECURITY.md names only tests that exist, and a row for each of the ten threats. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const ROWS = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| API\d/.test(line));
const NAMED = ROWS.flatMap((row) =>
  [...row.matchAll(/`([\w./-]+\.test\.ts)` “([^”]+)”/g)].map(
    ([, file = '', title = '']) => [file, title] as const,
  ),
);

describe('SECURITY.md', () => {
  test('has each of the ten threats, with a test', () => {
    expect(ROWS.map((row) => /^\| API(\d+)/.exec(row)?.[1])).toEqual(
      Array.from({ length: 10 }, (_, n) => String(n + 1)),
    );
    for (const row of ROWS) expect(row).toMatch(/`[\w./-]+\.test\.ts` “[^”]+”/);
  });

  test.each(NAMED)('%s has the test “%s”', (file, title) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll("\\'", "'");
    expect([`'${title}'`, `"${title}"`].some((quoted) => text.includes(quoted))).toBe(true);
  });
});
