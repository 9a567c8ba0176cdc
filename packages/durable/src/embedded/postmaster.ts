/**
 * The operating system's processes of the embedded PostgreSQL: which of them run, which merely exist, and how to end
 * them within a bounded time.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FAST_WAIT_MS = 5_000;
const KILL_WAIT_MS = 1_000;
const LOOK_EVERY_MS = 10;

/** The lines of `postmaster.pid`, as PostgreSQL documents them. */
interface Postmaster {
  readonly pid: number;
  readonly socketDir: string;
}

export function readPostmaster(cluster: string): Postmaster | null {
  let lines: string[];
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  return Number.isInteger(pid) && pid > 0 ? { pid, socketDir: lines[4] ?? '' } : null;
}

/** The pid may belong to another program, even another PostgreSQL: only the server of this folder counts. */
export function serves(pid: number, cluster: string): boolean {
  const isOurs = (args: string) => args.includes('postgres') && args.includes(cluster);
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  if (stdout) return isOurs(stdout);
  try {
    return isOurs(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}

/** Linux's letter for a process's state; `null` if it cannot be read. */
function stateOf(pid: number): string | null {
  try {
    // The name is in brackets and may contain any character; the state follows it.
    return /\) (\S) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Cheap; may be wrong for a process that is not a child of this one. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A zombie, which is dead but not reaped by its parent, does not count. */
export const alive = (pid: number): boolean => exists(pid) && stateOf(pid) !== 'Z';

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has already exited.
  }
}

async function gone(isGone: () => boolean, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (!isGone()) {
    if (performance.now() > end) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}

/** All server processes have the cluster as working folder: this also finds orphaned and frozen ones. */
function workingIn(cluster: string): number[] {
  let names: string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
  const isThere = (pid: number): boolean => {
    try {
      const folder = readlinkSync(`/proc/${pid}/cwd`);
      if (folder !== cluster && folder !== `${cluster} (deleted)`) return false;
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
    } catch {
      return false;
    }
  };
  return names.map(Number).filter((pid) => pid !== process.pid && isThere(pid));
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' });
  return (stdout ?? '')
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child as number);
}

/**
 * Kills all remaining processes of a server, frozen or not. PostgreSQL does not let a new server write while one of them
 * exists; everything acknowledged is in the write-ahead log.
 */
export async function endStrays(pid: number, cluster: string): Promise<void> {
  const all = [...new Set([...(alive(pid) ? [pid, ...childrenOf(pid)] : []), ...workingIn(cluster)])];
  for (const one of all) signal(one, 'SIGKILL');
  await gone(() => !all.some(alive), KILL_WAIT_MS);
}

/** SIGINT is PostgreSQL's "fast" shutdown. Processes that do not exit in time are killed; the next start recovers. */
export async function endPostmaster(pid: number, cluster: string, withinMs = FAST_WAIT_MS): Promise<void> {
  // A stopped process reacts only to SIGKILL.
  if (alive(pid) && stateOf(pid) !== 'T') {
    signal(pid, 'SIGINT');
    if (await gone(() => !alive(pid), withinMs)) return;
  }
  await endStrays(pid, cluster);
}
