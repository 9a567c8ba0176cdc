/** A short run of `npm run test:histories` with few faults keeps it alive; the long ones are started by hand (CONTRIBUTING.md). */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { afterFile } from '../setup/clean-up.ts';

const MAIN = join(import.meta.dirname, '..', 'histories', 'main.ts');
const ROOT = join(import.meta.dirname, '..', '..');

/** Folder of one run, so that its processes can be distinguished from others'. */
function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'bw-h-'));
  afterFile('databases', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: folder() },
  });
  afterFile('processes', () => child.kill('SIGTERM'));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ended = once(child, 'close').then(([code]) => code as number);
  return { child, output: () => text, ended };
}

interface Listed {
  readonly pid: number;
  readonly args: string;
}

/** Processes that run below another at the moment. */
function descendantsOf(ancestor: number | undefined): Listed[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const all = stdout
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
    .map(([, pid, parent, args]) => ({ pid: Number(pid), parent: Number(parent), args: args ?? '' }));
  const below = (pid: number | undefined): Listed[] =>
    all.filter(({ parent }) => parent === pid).flatMap((one) => [one, ...below(one.pid)]);
  return below(ancestor);
}

const isThere = ({ pid, args }: Listed): boolean => {
  const { stdout } = spawnSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() === args.trim();
};

test('clients, faults and checker work together, and nothing is left running', {
  timeout: 400_000,
}, async () => {
  const { child, output, ended } = start(['--minutes', '0.1', '--seed', '2', '--faults', '0.3']);
  await expect.poll(output, { timeout: 120_000 }).toContain('The faults begin');
  const started = descendantsOf(child.pid);
  expect(started.filter(({ args }) => args.includes('/programs/main-'))).toHaveLength(2);
  expect(await ended, output()).toBe(0);
  const [, orders] = /paper, seed 2: (\d+) orders.* 0 violations; .*history: \S+$/m.exec(output()) ?? [];
  expect(Number(orders), output()).toBeGreaterThan(5);
  const [, file] = /history: (\S+)$/m.exec(output()) ?? [];
  const again = spawnSync(process.execPath, [MAIN, '--check', file ?? ''], { cwd: ROOT, encoding: 'utf8' });
  expect(again.status, again.stdout + again.stderr).toBe(0);
  expect(started.filter(isThere)).toEqual([]);
});

test('a signal ends everything that was started', { timeout: 400_000 }, async () => {
  const { child, output, ended } = start(['--minutes', '5', '--seed', '4']);
  await expect.poll(output, { timeout: 120_000 }).toContain('The faults begin');
  const started = descendantsOf(child.pid);
  child.kill('SIGINT');
  expect(await ended, output()).toBe(130);
  await expect.poll(() => started.filter(isThere), { timeout: 60_000 }).toEqual([]);
});

test('wrong options are named all at once', () => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [MAIN, '--minutes', 'soon', '--sed', '3', '--set-up', 'both', 'now'],
    { cwd: ROOT, encoding: 'utf8' },
  );
  expect(status).toBe(2);
  expect(stderr.trim().split('\n')).toEqual([
    'There is no option --sed; the options are --minutes, --seed, --set-up, --faults, --check, --help.',
    expect.stringContaining('"3" is no option'),
    expect.stringContaining('"now" is no option'),
    '--minutes needs a number of minutes up to 1440, not "soon".',
    '--set-up is paper or live, not "both".',
    'npm run test:histories -- --help names the options.',
  ]);
});
