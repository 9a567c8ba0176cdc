/** The installed Node binary is the pinned one; any other prevents the start. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'bw-node-'));
const binary = join(folder, 'node_modules', 'node', 'bin', 'node');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { PINNED } = (await import(join(ROOT, 'scripts', 'node-binary.mjs'))) as {
  readonly PINNED: Readonly<Record<string, string>>;
};

const check = (root: string) => {
  const run = spawnSync(process.execPath, [join(root, 'scripts', 'check-node.mjs')], { encoding: 'utf8' });
  return { status: run.status, said: run.stderr };
};

test.runIf(process.platform === 'linux')('the binary of this install passes', () => {
  expect(existsSync(join(ROOT, 'node_modules', 'node', 'bin', 'node'))).toBe(true);
  for (let turn = 0; turn < 2; turn += 1) expect(check(ROOT)).toMatchObject({ status: 0, said: '' });
});

test.runIf(process.platform === 'linux')(
  'another binary stops the start with a message, also after a previous check',
  () => {
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
    mkdirSync(join(folder, 'node_modules', 'node', 'bin'), { recursive: true });
    writeFileSync(binary, 'something else');
    for (let turn = 0; turn < 2; turn += 1) {
      const { status, said } = check(folder);
      expect(status).toBe(1);
      expect(said).toContain('is not the one that Bellwether was made with');
      expect(said).toContain(binary);
    }
    // The second check did not read the binary again: it believes what the first has written down.
    const memory = join(folder, 'node_modules', '.cache', 'bellwether', 'node-binary.json');
    const known = JSON.parse(readFileSync(memory, 'utf8'));
    const digest = PINNED[`${process.platform}-${process.arch}`];
    writeFileSync(memory, JSON.stringify({ ...known, digest }));
    expect(check(folder).status).toBe(0);
    // Unless the file has changed since.
    writeFileSync(binary, 'something else again');
    expect(check(folder).status).toBe(1);
  },
);

test('without an installed binary the check passes', () => {
  rmSync(binary, { force: true });
  cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
  expect(check(folder).status).toBe(0);
});
