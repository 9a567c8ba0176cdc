/**
 * The embedded PostgreSQL: started with the service, stopped with it, adopted after a crash of the service.
 *
 * It listens on a Unix socket in a folder that only its owner may enter, never on TCP. It runs in a session of its
 * own. When the service died without stopping it, the next start reads `postmaster.pid`: a server that still answers
 * is adopted; one that does not is ended, and the new one recovers from the write-ahead log.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPool, socketUrl } from './connection.ts';
import { findPostgres, NoPostgres, type PostgresBinaries } from './postgres-binaries.ts';

const PORT = 5432;
/** A socket's path may have 103 bytes on macOS, 107 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 20_000;
const ADOPT_TIMEOUT_MS = 3_000;
const ORPHANS_TIMEOUT_MS = 10_000;
const ORPHANS_PAUSE_MS = 100;
const MAX_CONNECTIONS = 100;

export interface EmbeddedPostgres {
  /** Folder of the Unix socket; clients connect with it as `host`. */
  readonly socketDir: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly adopted: boolean;
  readonly how: PostgresBinaries['how'];
  readonly dataDir: string;
  stop(): Promise<void>;
}

/** What `postmaster.pid` says, line by line as PostgreSQL documents it. */
interface Postmaster {
  readonly pid: number;
  readonly socketDir: string;
}

function readPostmaster(cluster: string): Postmaster | null {
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
function serves(pid: number, cluster: string): boolean {
  const isOurs = (args: string) => args.includes('postgres') && args.includes(cluster);
  const { stdout } = spawnSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });
  if (stdout) return isOurs(stdout);
  try {
    return isOurs(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function waitUntil(done: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  for (let pause = 4; ; pause = Math.min(pause * 1.5, 100)) {
    if (await done()) return true;
    if (Date.now() > end) return false;
    await sleep(pause);
  }
}

/** SIGINT is PostgreSQL's "fast" shutdown; SIGQUIT skips the checkpoint and leaves recovery to the next start. */
async function endPostmaster(pid: number): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 2_000],
  ] as const) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    if (await waitUntil(() => !alive(pid), waitMs)) return;
  }
}

const maintenanceUrl = (socketDir: string): string =>
  socketUrl({ socketDir, port: PORT, user: 'bellwether' }, 'postgres');

async function answers(socketDir: string): Promise<boolean> {
  const sql = openPool(maintenanceUrl(socketDir), { max: 1, connectTimeoutSeconds: 2 });
  try {
    await sql`select 1`;
    return true;
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 }).catch(() => {});
  }
}

function makeSocketDir(binaries: PostgresBinaries): string {
  const beside = join(binaries.home, 'run');
  if (Buffer.byteLength(join(beside, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH_BYTES) {
    // A lock file left by a crash may name a pid that another program has by now, and then no server would start.
    rmSync(beside, { recursive: true, force: true });
    mkdirSync(beside, { recursive: true, mode: 0o700 });
    binaries.own(beside);
    return beside;
  }
  const base = Buffer.byteLength(tmpdir()) < 40 ? tmpdir() : '/tmp';
  const folder = mkdtempSync(join(base, 'bellwether-'));
  binaries.own(folder);
  return folder;
}

function initialise(binaries: PostgresBinaries, cluster: string): void {
  if (existsSync(join(cluster, 'PG_VERSION'))) return;
  // A cluster without a version file is one whose making was cut short: nothing can be in it yet.
  rmSync(cluster, { recursive: true, force: true });
  mkdirSync(cluster, { recursive: true, mode: 0o700 });
  binaries.own(cluster);
  const failure = binaries.run('initdb', [
    `--pgdata=${cluster}`,
    '--username=bellwether',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  if (failure !== null) {
    rmSync(cluster, { recursive: true, force: true });
    throw new NoPostgres(`The embedded PostgreSQL could not be set up in ${cluster}: ${failure.slice(-400)}`);
  }
}

const settings = (socketDir: string): string[] =>
  Object.entries({
    listen_addresses: '',
    unix_socket_directories: socketDir,
    unix_socket_permissions: '0700',
    port: String(PORT),
    max_connections: String(MAX_CONNECTIONS),
    shared_buffers: '128MB',
    // Durability is never traded away: fsync and synchronous_commit keep their defaults.
    wal_level: 'minimal',
    max_wal_senders: '0',
    max_wal_size: '1GB',
    jit: 'off',
    log_min_messages: 'warning',
    // Statements carry hashes and cipher texts; even those have no place in a log file.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: '0',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

async function launch(
  binaries: PostgresBinaries,
  cluster: string,
): Promise<{ pid: number; socketDir: string }> {
  const socketDir = makeSocketDir(binaries);
  const logPath = join(binaries.home, 'postgres.log');
  const logFile = openSync(logPath, 'w', 0o600);
  const child = binaries.serve(['-D', cluster, ...settings(socketDir)], logFile);
  closeSync(logFile);
  let gone = false;
  child.once('exit', () => {
    gone = true;
  });
  child.once('error', () => {
    gone = true;
  });
  const up = await waitUntil(async () => gone || (await answers(socketDir)), START_TIMEOUT_MS);
  if (!up || gone || child.pid === undefined) {
    const log = readFileSync(logPath, 'utf8').trim().split('\n').slice(-3).join(' · ');
    throw new NoPostgres(`The embedded PostgreSQL did not start in ${cluster}: ${log || 'it said nothing'}`);
  }
  return { pid: child.pid, socketDir };
}

/** Launches; waits for what a killed server left behind to die first, which takes it a moment. */
async function launchWhenFree(
  binaries: PostgresBinaries,
  cluster: string,
): Promise<{ pid: number; socketDir: string }> {
  const end = Date.now() + ORPHANS_TIMEOUT_MS;
  for (;;) {
    try {
      return await launch(binaries, cluster);
    } catch (error) {
      if (!/shared memory block/.test((error as Error).message) || Date.now() > end) throw error;
      await sleep(ORPHANS_PAUSE_MS);
    }
  }
}

/** Adopts a server that a dead service left behind; ends it, or clears its traces, when it does not answer. */
async function adopt(cluster: string): Promise<{ pid: number; socketDir: string } | null> {
  const left = readPostmaster(cluster);
  // The traces of a dead server are PostgreSQL's to clear: it makes sure that none of its children still writes.
  if (left === null || !alive(left.pid)) return null;
  if (!serves(left.pid, cluster)) {
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return null;
  }
  if (left.socketDir !== '' && (await waitUntil(() => answers(left.socketDir), ADOPT_TIMEOUT_MS)))
    return left;
  await endPostmaster(left.pid);
  return null;
}

/**
 * @param options.dataDir the service's data folder; made when missing
 * @param options.database made when missing
 * @throws NoPostgres with a sentence that says what to do
 */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly database: string;
  readonly allowNamespace?: boolean;
}): Promise<EmbeddedPostgres> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const binaries = await findPostgres(options.dataDir, options.allowNamespace);
  const cluster = join(binaries.home, 'postgres');
  initialise(binaries, cluster);
  const left = await adopt(cluster);
  const { pid, socketDir } = left ?? (await launchWhenFree(binaries, cluster));
  await ensureDatabase(socketDir, options.database);
  return {
    socketDir,
    port: PORT,
    database: options.database,
    user: 'bellwether',
    adopted: left !== null,
    how: binaries.how,
    dataDir: dirname(cluster),
    async stop() {
      await endPostmaster(pid);
      rmSync(socketDir, { recursive: true, force: true });
    },
  };
}

async function ensureDatabase(socketDir: string, name: string): Promise<void> {
  const sql = openPool(maintenanceUrl(socketDir), { max: 1 });
  try {
    const [found] = await sql`select 1 from pg_database where datname = ${name}`;
    if (found === undefined) await sql.unsafe(`create database "${name.replaceAll('"', '""')}"`);
  } finally {
    await sql.end({ timeout: 2 });
  }
}
