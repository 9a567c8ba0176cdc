/**
 * Where tests live: pure units beside their file, everything else, and all machinery, under a `test` folder; and that a
 * source file is deep: one of few lines is a paragraph of another file.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');
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

/** What a file of so few lines says is a paragraph of another file. */
const FEW_LINES = 60;
/** Public names, routes and settings of a folder, and where a program begins, stand by themselves. */
const BY_THEMSELVES = /\/(index|routes|settings|main)\.tsx?$/;
/** Entries of packages, what is loaded late or runs in a process of its own, and what many folders share. This list only shrinks. */
const SHORT = [
  'packages/contract/src/canonical-json.ts',
  'packages/contract/src/quote-errors.ts',
  'packages/contract/src/recovery-code.ts',
  'packages/protocol/src/keccak.ts',
  'packages/sandbox/src/paths.ts',
  'packages/sandbox/src/solana/exact-json.ts',
  'packages/server/src/console/build-console.ts',
  'packages/server/src/domain/bounded-cache.ts',
  'packages/server/src/domain/denial.ts',
  'packages/server/src/domain/unavailable.ts',
  'packages/server/src/domain/untrusted-text.ts',
  'packages/server/src/fees/signing-provider.ts',
  'packages/server/src/platform/clock.ts',
  'packages/server/src/platform/refusal.ts',
  'packages/server/src/platform/secrets.ts',
  'packages/server/src/platform/tracing.ts',
  'packages/server/src/wiring/venue-registry.ts',
];

test(`no further source file has fewer than ${FEW_LINES} lines`, () => {
  const short = sources
    .filter((path) => !isTest(path) && !BY_THEMSELVES.test(path))
    .filter((path) => textOf(path).split('\n').length <= FEW_LINES)
    .map(named)
    .sort();
  expect(short).toEqual(SHORT);
});
