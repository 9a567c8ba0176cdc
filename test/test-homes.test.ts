/**
 * Where tests live: pure units beside their file, everything else, and all machinery, under a `test` folder; and no test
 * file above the maximum length.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
const MOST_LINES = 450;
/** Modules that a pure unit must not use: files, sockets, processes, timers. */
const IO = /^node:(fs|net|http|https|http2|tls|child_process|worker_threads|cluster|dgram|dns)\b/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

const packages = readdirSync(join(ROOT, 'packages')).map((name) => join(ROOT, 'packages', name));
const sources = packages
  .map((folder) => join(folder, 'src'))
  .filter((folder) => existsSync(folder))
  .flatMap(filesBelow);
const isTest = (path: string): boolean => path.endsWith('.test.ts');
const all = [...packages, join(ROOT, 'test')].flatMap(filesBelow);
const textOf = (path: string): string => readFileSync(path, 'utf8');
const named = (path: string): string => relative(ROOT, path);

const IMPORT = /(?:from\s+|import\s+|import\(\s*|new URL\(\s*)'([^']+)'/g;
const importsOf = (path: string): string[] =>
  [...textOf(path).matchAll(IMPORT)].map(([, specifier]) => specifier as string);
const filesImportedBy = (path: string): string[] =>
  importsOf(path)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolve(dirname(path), specifier));

describe('a test inside src', () => {
  const units = sources.filter(isTest);

  test.each(units.map((path) => [named(path), path]))('%s tests the file next to it', (_, path) => {
    expect(sources).toContain(path.replace(/\.test\.ts$/, '.ts'));
    const outside = filesImportedBy(path).filter((file) => !sources.includes(file));
    expect({ outside: outside.map(named) }).toEqual({ outside: [] });
    expect(importsOf(path).filter((specifier) => IO.test(specifier))).toEqual([]);
  });

  test('the list is not empty', () => {
    expect(units.length).toBeGreaterThan(10);
  });
});

test('no file of src is used only by tests', () => {
  const entries = new Set(
    packages.flatMap((folder) => {
      const { exports = {}, bin = {} } = JSON.parse(textOf(join(folder, 'package.json')));
      return [exports, bin]
        .flatMap((section) => JSON.stringify(section).match(/\.\/src\/[^"]+\.ts/g) ?? [])
        .map((file) => resolve(folder, file));
    }),
  );
  const scripts = textOf(join(ROOT, 'package.json'));
  for (const path of sources) if (scripts.includes(named(path))) entries.add(path);
  const users = [...sources.filter((path) => !isTest(path)), ...filesBelow(join(ROOT, 'scripts'))];
  const used = new Set(users.flatMap(filesImportedBy));
  const forTests = sources.filter((path) => !isTest(path) && !used.has(path) && !entries.has(path));
  expect(forTests.map(named)).toEqual([]);
});

test(`no test file has more than ${MOST_LINES} lines`, () => {
  const tests = all.filter(isTest);
  expect(tests.length).toBeGreaterThan(100);
  const long = tests
    .map((path) => ({ path: named(path), lines: textOf(path).split('\n').length - 1 }))
    .filter(({ lines }) => lines > MOST_LINES);
  expect(long).toEqual([]);
});
