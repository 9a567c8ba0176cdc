/** The lock file installs with every Node and npm that `engines` names, from any registry, and what it installs is enough. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
/** The last of Node 20, the oldest that may install. */
const OLDEST_NODE = '20.20.2';

interface Entry {
  readonly version: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly engines?: { readonly node?: string };
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
const packages = lock.packages as Readonly<Record<string, Entry>>;
const semver: { satisfies(version: string, range: string): boolean } = createRequire(import.meta.url)(
  'semver',
);

test('npm 10 finds the optional peers that npm 11 leaves out of it', () => {
  // npm 11 drops these entries when it writes the file; without them `npm ci` of npm 10 refuses it. Put them back from the last commit.
  const needed = {
    'node_modules/@solana/web3.js/node_modules/typescript': '5.9.3',
    'node_modules/jayson/node_modules/utf-8-validate': '5.0.10',
  };
  for (const [path, version] of Object.entries(needed))
    expect([path, packages[path]?.version]).toEqual([path, version]);
});

test('no entry says where it was downloaded from', () => {
  const found = Object.entries(packages).filter(
    ([, { resolved, link }]) => resolved !== undefined && link !== true,
  );
  // npm install --omit-lockfile-registry-resolved
  expect(found.map(([path]) => path)).toEqual([]);
});

/** Programs for those who work on Bellwether: they come with the development packages. */
const OF_DEVELOPERS =
  /^(test|simulate|audit|types$|lint$|dead$|format$|check$|gate$|bench$|build$|pictures$)/;
const IMPORTS = [
  /^(?:import|export)\s+(?!type\s)(?:[^;'"]*?\sfrom\s+)?['"]([^'"]+)['"]/gm,
  /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  /\bnew URL\(\s*['"](\.[^'"]+\.m?[jt]sx?)['"],\s*import\.meta\.url/g,
];

/** Development packages that a program needs, with the file that imports each. */
function developmentPackagesOf(program: string): string[] {
  const found = new Set<string>();
  const files = new Set([join(ROOT, program)]);
  for (const file of files) {
    const source = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '');
    for (const [, to = ''] of IMPORTS.flatMap((pattern) => [...source.matchAll(pattern)])) {
      const [scope = '', second = '', ...rest] = to.split('/');
      const name = scope.startsWith('@') ? `${scope}/${second}` : scope;
      if (to.startsWith('.')) {
        if (!to.endsWith('.json')) files.add(join(dirname(file), to));
      } else if (scope === '@bellwether') {
        const folder = join(ROOT, 'packages', second);
        const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
        files.add(join(folder, exports[['.', ...rest].join('/')]));
      } else if (!to.startsWith('node:')) {
        const [pkg] = relative(ROOT, file).split('/src/');
        const installed = packages[`${pkg}/node_modules/${name}`] ?? packages[`node_modules/${name}`];
        if (installed === undefined || installed.dev === true)
          found.add(`${name} for ${relative(ROOT, file)}`);
      }
    }
  }
  return [...found];
}

test('what a person starts needs no development package', () => {
  const scripts = Object.entries<string>(
    JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts,
  );
  const programs = scripts
    .filter(([name]) => !OF_DEVELOPERS.test(name))
    .map(([name, command]) => [name, /exec node (\S+\.ts)$/.exec(command)?.[1] ?? ''] as const);
  expect(programs.length).toBeGreaterThan(10);
  for (const [name, program] of [...programs, ['cli', 'packages/cli/src/main.ts'] as const])
    expect([name, developmentPackagesOf(program)]).toEqual([name, []]);
  expect(developmentPackagesOf('scripts/pictures.ts')).toEqual(['playwright-core for scripts/pictures.ts']);
});

test('npm on Node 20 has nothing to say of what a person installs', () => {
  const needs = Object.entries(packages).flatMap(([path, { dev, engines }]) =>
    dev === true || engines?.node === undefined || semver.satisfies(OLDEST_NODE, engines.node) ? [] : [path],
  );
  expect(needs).toEqual([]);
});
