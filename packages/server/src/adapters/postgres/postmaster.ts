/**
 * The processes of the embedded PostgreSQL as the system sees them: who runs, who merely exists, and how they are ended
 * within a bounded time.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const FAST_WAIT_MS = 5_000;
const KILL_WAIT_MS = 1_000;
const LOOK_EVERY_MS = 10;

/** What `postmaster.pid` says, line by line as PostgreSQL documents it. */
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
  return Number.isInteger(pid) && pid > 1 ? { pid, socketDir: lines[4] ?? '' } : null;
}

/** A pid can belong to another program by now, even to another PostgreSQL: only the server of this folder counts. */
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

/** The letter of Linux for a process's state; `null` where nothing can be read. */
function stateOf(pid: number): string | null {
  try {
    // The name stands in brackets and may contain anything; the state follows it.
    return /\) (\S) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Costs next to nothing; of a process that is no child of this one it may be wrong. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A dead process that its parent has not asked about still has a number: it does not count. */
export const alive = (pid: number): boolean => exists(pid) && stateOf(pid) !== 'Z';

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
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

/** Every server process works in the cluster's folder: so those are found whose postmaster died and who are frozen. */
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
 * Kills whatever is left of a server, frozen or not. While one of its processes lives no new server may write, and
 * PostgreSQL makes sure of that; what was acknowledged is in the write-ahead log.
 */
export async function endStrays(pid: number, cluster: string): Promise<void> {
  const all = [...new Set([...(alive(pid) ? [pid, ...childrenOf(pid)] : []), ...workingIn(cluster)])];
  for (const one of all) signal(one, 'SIGKILL');
  await gone(() => !all.some(alive), KILL_WAIT_MS);
}

/** SIGINT is PostgreSQL's "fast" shutdown. What does not follow it in time is killed; the next start recovers. */
export async function endPostmaster(pid: number, cluster: string, withinMs = FAST_WAIT_MS): Promise<void> {
  // A stopped process follows nothing but a kill.
  if (alive(pid) && stateOf(pid) !== 'T') {
    signal(pid, 'SIGINT');
    if (await gone(() => !alive(pid), withinMs)) return;
  }
  await endStrays(pid, cluster);
}
