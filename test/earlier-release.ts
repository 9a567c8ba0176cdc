/**
 * The release before markets of Protocol V2, as programs to start: its sources come out of this repository's history, and run on the
 * libraries that are installed now.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterFile } from './setup/clean-up.ts';
import { noteSkipped } from './setup/skipped.ts';

/** The last commit before ids of Protocol V2. */
const COMMIT = '5882247048c0';
const ROOT = join(import.meta.dirname, '..');
const OWN_SCOPE = '@bellwether';
const PACKAGES = ['contract', 'console', 'durable', 'exchange', 'protocol', 'sandbox', 'server'];

/** @returns the folder for `startProcess`; `null`, which is noted, in a copy without its history */
export function earlierRelease(what: string): string | null {
  const base = mkdtempSync(join(tmpdir(), 'bw-e-'));
  afterFile('pools', () => rmSync(base, { recursive: true, force: true }));
  const archive = join(base, 'sources.tar');
  try {
    execFileSync('git', ['archive', '--output', archive, COMMIT], { cwd: ROOT, stdio: 'pipe' });
  } catch {
    noteSkipped(what, `the history of this repository has no commit ${COMMIT}`);
    return null;
  }
  execFileSync('tar', ['-xf', archive, '-C', base]);
  linkLibraries(base);
  return base;
}

/** Each library by itself: the packages of this repository are the earlier ones. */
function linkLibraries(base: string): void {
  const [from, to] = [join(ROOT, 'node_modules'), join(base, 'node_modules')];
  mkdirSync(join(to, OWN_SCOPE), { recursive: true });
  for (const name of readdirSync(from))
    if (name === '.bin' || (!name.startsWith('.') && name !== OWN_SCOPE))
      symlinkSync(join(from, name), join(to, name));
  for (const name of PACKAGES) {
    symlinkSync(join(base, 'packages', name), join(to, OWN_SCOPE, name));
    const own = join(ROOT, 'packages', name, 'node_modules');
    if (existsSync(own)) symlinkSync(own, join(base, 'packages', name, 'node_modules'));
  }
}
