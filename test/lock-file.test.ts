/** The lock file installs with every npm that `engines` names, from any registry. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'));
const packages = lock.packages as Readonly<
  Record<string, { readonly version: string; readonly resolved?: string; readonly link?: boolean }>
>;

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
