/** Twenty fixed seeds of `npm run simulate`, and each plan that was kept of a fault; long runs are started by hand (CONTRIBUTING.md). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterFile } from '../setup/clean-up.ts';

const FOLDER = join(import.meta.dirname, '..', 'simulation');
const PLANS = join(FOLDER, 'plans');
const FINGERPRINT = /^seed (\d+) .*; ([0-9a-f]{8}); /gm;

async function simulate(...args: string[]): Promise<{ readonly status: number; readonly text: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bw-s-'));
  afterFile('databases', () => rmSync(folder, { recursive: true, force: true }));
  const child = spawn(process.execPath, [join(FOLDER, 'main.ts'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder },
  });
  afterFile('processes', () => child.kill('SIGTERM'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const [status] = await once(child, 'close');
  return { status: status as number, text };
}

const fingerprints = (text: string) =>
  new Map([...text.matchAll(FINGERPRINT)].map(([, seed, one]) => [seed, one]));

test('twenty seeds keep every promise, and a seed gives the same run alone', async () => {
  const all = await simulate('--worlds', '20', '--seed', '1', '--steps', '15');
  expect(all.status, all.text).toBe(0);
  expect(all.text).toContain('20 worlds');
  // A desk that logs nothing but fatal errors is silent under faults.
  expect(all.text).not.toContain('"level"');
  const seen = fingerprints(all.text);
  expect(seen.size).toBe(20);
  // One on paper and one live.
  const again = await simulate('--worlds', '2', '--seed', '12', '--steps', '15');
  expect([...fingerprints(again.text)]).toEqual([...seen].slice(11, 13));
  // A minute and a half on two idle cores, all of it computing: beside the other files it may take ten times as long.
}, 1_200_000);

test.each(readdirSync(PLANS))('what %s did once it does no more', async (plan) => {
  const { status, text } = await simulate('--plan', join(PLANS, plan));
  expect(status, text).toBe(0);
  expect(text).toContain('0 violations');
});

test('everything that is wrong with the options is said at once', async () => {
  const { status, text } = await simulate(
    '--wurlds',
    '3',
    '--seed',
    '-1',
    '--acts',
    'dance',
    '--set-up',
    'moon',
    '--plan',
    '/nowhere',
  );
  expect(status).toBe(2);
  for (const part of [
    'no option --wurlds',
    '--seed needs',
    '--acts are of',
    '--set-up is',
    '--plan needs',
    '--help names',
  ])
    expect(text).toContain(part);
});
