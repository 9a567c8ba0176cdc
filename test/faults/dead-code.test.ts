/** `npm run dead` finds a file that no other imports and an export that no other uses, with the settings of this repository. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

const ALIVE = {
  'package.json': JSON.stringify({ name: 'root', private: true, workspaces: ['packages/one'] }),
  'packages/one/package.json': JSON.stringify({
    name: '@bellwether/one',
    version: '0.1.0',
    type: 'module',
    exports: { '.': './src/index.ts' },
  }),
  'packages/one/src/index.ts': "export { used } from './used.ts';\n",
  'packages/one/src/used.ts': 'export const used = 1;\n',
  'packages/one/test/used.test.ts':
    "import { used } from '../src/index.ts';\nimport { staged } from './stage.ts';\nstaged(used);\n",
  'packages/one/test/stage.ts': 'export const staged = (value: number) => value;\n',
  'scripts/task.ts': "import { sum } from './task/sum.ts';\nsum();\n",
  'scripts/task/sum.ts': 'export const sum = () => 2;\n',
};

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bw-dead-'));
  copyFileSync(join(ROOT, 'knip.json'), join(folder, 'knip.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function look(files: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly found: string;
} {
  for (const [path, text] of Object.entries({ ...ALIVE, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const knip = join(ROOT, 'node_modules/knip/bin/knip.js');
  const { status, stdout } = spawnSync(process.execPath, [knip, '--no-config-hints', '--directory', folder], {
    encoding: 'utf8',
  });
  return { status, found: stdout };
}

test('nothing where everything is used', () => {
  expect(look({})).toEqual({ status: 0, found: '' });
});

test.each([
  [
    'a file of a package',
    { 'packages/one/src/dead.ts': 'export const dead = 1;\n' },
    'packages/one/src/dead.ts',
  ],
  ['a file beside the tests', { 'packages/one/test/dead.ts': 'export {};\n' }, 'packages/one/test/dead.ts'],
  ['a file of the scripts', { 'scripts/task/dead.ts': 'export {};\n' }, 'scripts/task/dead.ts'],
  [
    'an export',
    { 'packages/one/src/used.ts': 'export const used = 1;\nexport function deadExport() {}\n' },
    'deadExport',
  ],
  [
    'an export that only its own file uses',
    { 'packages/one/src/used.ts': 'export const deadExport = 1;\nexport const used = deadExport;\n' },
    'deadExport',
  ],
  [
    'a type',
    { 'packages/one/src/used.ts': 'export const used = 1;\nexport interface DeadType { readonly a: 1 }\n' },
    'DeadType',
  ],
])('%s that is dead', (_, files, name) => {
  const { status, found } = look(files);
  expect(found).toContain(name);
  expect(status).toBe(1);
});
