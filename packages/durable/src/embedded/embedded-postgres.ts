/**
 * The embedded PostgreSQL: starts and stops with the service, is restarted when it dies while the service runs, and is
 * adopted after a crash of the service.
 *
 * It listens on a Unix socket in a folder that only its owner may enter, never on TCP, and runs in a separate session.
 * When the service died without stopping it, the next start reads `postmaster.pid`: a server that still answers is
 * adopted; one that does not is killed, and the new one recovers from the write-ahead log.
 *
 * The service connects as an ordinary role that owns its database and nothing else.
 */
import {
  accessSync,
  chmodSync,
  closeSync,
  existsSync,
  constants as files,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { socketUrl } from '../database-url.ts';
import { openPool } from '../pool.ts';
import { quotedName } from '../statement.ts';
import { claimFolder, type FolderClaim } from './data-folder.ts';
import {
  alive,
  endPostmaster,
  endStrays,
  exists,
  findPostgres,
  NoPostgres,
  type PostgresBinaries,
  readPostmaster,
  serves,
} from './postgres-process.ts';

const PORT = 5432;
/** A socket's path may have 103 bytes on macOS, 107 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;
const START_TIMEOUT_MS = 30_000;
const ADOPT_TIMEOUT_MS = 3_000;
const ANSWER_TIMEOUT_MS = 2_000;
const FREE_TIMEOUT_MS = 10_000;
const FREE_PAUSE_MS = 100;
const KILLED = 'it was ended by';
const MAX_CONNECTIONS = 100;
const UNFINISHED = '.unfinished-';
const FORBIDDEN = 'this user may not write there';
/** By the system's code. */
const UNUSABLE: Readonly<Record<string, string>> = {
  ...{ EEXIST: 'it is a file', ENOTDIR: 'it lies in a file' },
  ...{ EACCES: FORBIDDEN, EPERM: FORBIDDEN, EROFS: FORBIDDEN },
};

export interface EmbeddedPostgres {
  /** Folder of the Unix socket; clients connect with it as `host`. */
  readonly socketDir: string;
  readonly port: number;
  readonly database: string;
  /** The ordinary role that owns the database. */
  readonly user: string;
  /** The superuser of the cluster; the service uses it only to prepare the database. */
  readonly admin: string;
  readonly adopted: boolean;
  readonly how: PostgresBinaries['how'];
  readonly dataDir: string;
  /** Whether its process exists, also when it is frozen. */
  isAlive(): boolean;
  /**
   * Kills the rest of the server and starts it again on the same socket; it recovers from its log.
   * @throws NoPostgres with a sentence when it does not come up
   */
  restart(): Promise<void>;
  /** Gives up the claim on the folder: another start may take over the server. */
  release(): void;
  /** Kills what does not end in time; the next start recovers. */
  stop(withinMs?: number): Promise<void>;
}

async function waitUntil(done: () => boolean | Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs;
  for (let pause = 4; ; pause = Math.min(pause * 1.5, 100)) {
    if (await done()) return true;
    if (Date.now() > end) return false;
    await sleep(pause);
  }
}

/** For the preparation of the database and for backups, which only the superuser may take. */
export const adminUrl = (socketDir: string, database: string): string =>
  socketUrl({ socketDir, port: PORT, user: ADMIN_ROLE }, database);

async function answers(socketDir: string): Promise<boolean> {
  const sql = openPool(adminUrl(socketDir, 'postgres'), {
    max: 1,
    connectTimeoutSeconds: ANSWER_TIMEOUT_MS / 1_000,
  });
  try {
    return await Promise.race([
      sql`select 1`.then(() => true),
      sleep(ANSWER_TIMEOUT_MS, false, { ref: false }),
    ]);
  } catch {
    return false;
  } finally {
    await sql.end({ timeout: 1 }).catch(() => {});
  }
}

function makeSocketDir(binaries: PostgresBinaries): string {
  const beside = join(binaries.home, 'run');
  if (canHoldSocket(beside)) {
    clearSocketDir(beside, binaries);
    return beside;
  }
  const base = [tmpdir(), '/tmp'].find(
    (one) => canHoldSocket(join(one, 'bellwether-XXXXXX')) && existsSync(one),
  );
  const folder = mkdtempSync(join(base ?? '/tmp', 'bellwether-'));
  binaries.own(folder);
  return folder;
}

/** PostgreSQL and database URLs give a meaning of their own to commas, quotes and %. */
const canHoldSocket = (folder: string): boolean =>
  /^[\p{L}\p{N} /._-]+$/u.test(folder) &&
  Buffer.byteLength(join(folder, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_PATH_BYTES;

/** A lock file from a crash may name a pid that another program has since received; then no server would start. */
function clearSocketDir(folder: string, binaries: PostgresBinaries): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  binaries.own(folder);
}

/** @throws NoPostgres with a sentence */
function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, files.W_OK | files.X_OK);
  } catch (error) {
    const why = UNUSABLE[(error as NodeJS.ErrnoException).code ?? ''];
    if (why === undefined) throw error;
    throw new NoPostgres(`The folder ${dataDir} cannot be used: ${why}. Set DATA_DIR to another.`);
  }
}

/** @throws NoPostgres with a sentence where another release of PostgreSQL made it */
function takeCluster(binaries: PostgresBinaries, cluster: string): void {
  const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (version !== String(binaries.major))
    throw new NoPostgres(
      `The database in ${cluster} was made by PostgreSQL ${version}, and this release runs ${binaries.major}. Start it with the release that made it, or set DATA_DIR to another folder.`,
    );
  try {
    // A copy may have opened it to others, which PostgreSQL refuses.
    if ((statSync(cluster).mode & 0o027) !== 0) chmodSync(cluster, 0o700);
  } catch {
    // It has another owner, of which PostgreSQL tells.
  }
}

/** The cluster gets its name only once it is whole: when a start ends in any way, the next one finds all of it or nothing. */
async function initialise(binaries: PostgresBinaries, cluster: string, onSpawned: () => void): Promise<void> {
  if (existsSync(join(cluster, 'PG_VERSION'))) return takeCluster(binaries, cluster);
  // Without a version file it holds no data.
  rmSync(cluster, { recursive: true, force: true });
  clearUnfinished(cluster);
  const unfinished = mkdtempSync(`${cluster}${UNFINISHED}`);
  binaries.own(unfinished);
  const running = binaries.run('initdb', [
    `--pgdata=${unfinished}`,
    `--username=${ADMIN_ROLE}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
  ]);
  onSpawned();
  const failure = await running;
  if (failure !== null) {
    rmSync(unfinished, { recursive: true, force: true });
    throw new NoPostgres(`The embedded PostgreSQL could not be set up in ${cluster}: ${failure.slice(-400)}`);
  }
  renameSync(unfinished, cluster);
}

/** Removes the folders of starts that were killed. Their initdb may still write for a moment; the next start removes what it leaves. */
function clearUnfinished(cluster: string): void {
  const start = `${basename(cluster)}${UNFINISHED}`;
  for (const name of readdirSync(dirname(cluster)).filter((one) => one.startsWith(start)))
    try {
      rmSync(join(dirname(cluster), name), { recursive: true, force: true });
    } catch {
      // It delays no other start.
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
    // Durability stays complete: fsync and synchronous_commit keep their defaults.
    // Settings that a backup of a running service needs; nothing follows the log (docs/decisions/what-is-kept.md).
    wal_level: 'replica',
    max_wal_senders: '0',
    // A backup that does not get on must not fill the disk with log.
    max_slot_wal_keep_size: '4GB',
    max_wal_size: '1GB',
    jit: 'off',
    log_min_messages: 'warning',
    // Statements contain hashes and cipher texts, which must not reach a log file.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: '0',
  }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

interface Running {
  readonly pid: number;
  readonly socketDir: string;
}

interface Launch {
  readonly binaries: PostgresBinaries;
  readonly cluster: string;
  readonly socketDir: string;
  readonly startWithinMs: number;
  /** Called as soon as the process exists, so that a concurrent stop finds it. */
  readonly spawned: (pid: number) => void;
}

/**
 * Lowers the server's priority. Under overload a dozen busy server processes would take the processors from the one
 * process that admits or refuses requests, and all requests would wait.
 */
function giveWay(pid: number): void {
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // The system may not allow it; the server works without it, too.
  }
}

async function launch({ binaries, cluster, socketDir, startWithinMs, spawned }: Launch): Promise<Running> {
  const logPath = join(binaries.home, 'postgres.log');
  const logFile = openSync(logPath, 'w', 0o600);
  const child = binaries.serve(['-D', cluster, ...settings(socketDir)], logFile);
  closeSync(logFile);
  if (child.pid !== undefined) {
    spawned(child.pid);
    giveWay(child.pid);
  }
  let gone = false;
  let killedBy: NodeJS.Signals | null = null;
  child.once('exit', (_code, signal) => {
    gone = true;
    killedBy = signal;
  });
  child.once('error', () => {
    gone = true;
  });
  const up = await waitUntil(async () => gone || (await answers(socketDir)), startWithinMs);
  if (!up || gone || child.pid === undefined) {
    const ended = killedBy === null ? '' : `${KILLED} ${killedBy}`;
    const why = gone ? ended : `it did not answer within ${startWithinMs / 1_000} s`;
    if (!gone && child.pid !== undefined) await endPostmaster(child.pid, realpathSync(cluster));
    const lines = readFileSync(logPath, 'utf8').trim().split('\n');
    const reasons = lines.filter((line) => /\b(FATAL|PANIC|HINT): /.test(line));
    const log = (reasons.length === 0 ? lines : reasons).slice(-3).join(' · ');
    throw new NoPostgres(
      `The embedded PostgreSQL did not start in ${cluster}: ${why || log || 'it said nothing'}`,
    );
  }
  return { pid: child.pid, socketDir };
}

/** Launches the server; first waits until the children of a killed server have exited. One that is killed meanwhile is launched again. */
async function launchWhenFree(options: Launch, isStopped: () => boolean): Promise<Running> {
  const end = Date.now() + FREE_TIMEOUT_MS;
  for (;;) {
    try {
      return await launch(options);
    } catch (error) {
      const passes = new RegExp(`shared memory block|${KILLED}`).test((error as Error).message);
      if (!passes || isStopped() || Date.now() > end) throw error;
      await sleep(FREE_PAUSE_MS);
    }
  }
}

/** Adopts a server that a dead service left running; kills it, or clears its files, when it does not answer. */
async function adopt(cluster: string): Promise<Running | null> {
  const left = readPostmaster(cluster);
  // PostgreSQL itself clears the files of a dead server: it makes sure that no child process still writes.
  if (left === null || !exists(left.pid)) return null;
  if (!serves(left.pid, cluster)) {
    rmSync(join(cluster, 'postmaster.pid'), { force: true });
    return null;
  }
  if (left.socketDir !== '' && (await waitUntil(() => answers(left.socketDir), ADOPT_TIMEOUT_MS)))
    return left;
  await endPostmaster(left.pid, realpathSync(cluster));
  return null;
}

interface StartOptions {
  /** The service's data folder; created when missing. */
  readonly dataDir: string;
  /** Created when missing; the service's own when not given. */
  readonly database?: string;
  readonly allowNamespace?: boolean;
  /** How long it may recover before it answers. */
  readonly startWithinMs?: number;
  /** Called as soon as a process of PostgreSQL is at work, so that the caller can do other work meanwhile. */
  readonly onSpawned?: () => void;
}

/**
 * Claims the folder until the server is stopped.
 * @throws NoPostgres with a sentence that says what to do
 */
export async function startEmbeddedPostgres(options: StartOptions): Promise<EmbeddedPostgres> {
  const { dataDir } = options;
  makeFolder(dataDir);
  const claim = claimFolder(dataDir);
  if (claim === null)
    throw new NoPostgres(
      `Another Bellwether is running on ${dataDir}. Stop it, or give this one its own DATA_DIR.`,
    );
  try {
    return await startClaimed(options, claim);
  } catch (error) {
    claim.release();
    throw error;
  }
}

async function startClaimed(options: StartOptions, claim: FolderClaim): Promise<EmbeddedPostgres> {
  const { database = DESK_DATABASE, startWithinMs = START_TIMEOUT_MS, onSpawned = () => {} } = options;
  const binaries = await findPostgres(options.dataDir, options.allowNamespace);
  const cluster = join(binaries.home, 'postgres');
  await initialise(binaries, cluster, onSpawned);
  // The path as the system reports it, also after the folder is deleted.
  const folder = realpathSync(cluster);
  const left = await adopt(cluster);
  const socketDir = left?.socketDir ?? makeSocketDir(binaries);
  let isStopped = false;
  let pid = left?.pid ?? 0;
  let isAdopted = left !== null;
  const start = async (): Promise<void> => {
    isAdopted = false;
    const spawned = (started: number): void => {
      pid = started;
      onSpawned();
      if (isStopped) endPostmaster(started, folder).catch(() => {});
    };
    await launchWhenFree({ binaries, cluster, socketDir, startWithinMs, spawned }, () => isStopped);
  };
  if (left === null) await start();
  try {
    const prepared = prepareDatabase((name) => adminUrl(socketDir, name), database);
    const isLate = sleep(START_TIMEOUT_MS, true, { ref: false });
    if (await Promise.race([prepared, isLate]))
      throw new NoPostgres(`The embedded PostgreSQL in ${cluster} has started, and answers no more.`);
  } catch (error) {
    // A server that was adopted may be of use to others.
    if (left === null) await endPostmaster(pid, folder);
    throw error;
  }
  return {
    socketDir,
    port: PORT,
    database,
    user: DESK_ROLE,
    admin: ADMIN_ROLE,
    adopted: left !== null,
    how: binaries.how,
    dataDir: dirname(cluster),
    // This process reaps its own children at once; an adopted server has another parent.
    isAlive: () => (isAdopted ? alive(pid) : exists(pid)),
    async restart() {
      await endStrays(pid, folder);
      // A new cluster would be an empty database that answers without any of the data.
      if (!existsSync(join(cluster, 'PG_VERSION')))
        throw new NoPostgres(`The embedded PostgreSQL cannot start again: its folder ${cluster} is gone.`);
      // A zombie whose parent has not reaped it: PostgreSQL would take it for a running server.
      if (exists(pid)) rmSync(join(cluster, 'postmaster.pid'), { force: true });
      clearSocketDir(socketDir, binaries);
      await start();
    },
    release: claim.release,
    async stop(withinMs) {
      isStopped = true;
      await endPostmaster(pid, folder, withinMs);
      rmSync(socketDir, { recursive: true, force: true });
      claim.release();
    },
  };
}

// The service's role on its embedded PostgreSQL: an ordinary role that owns the service's database and has no other
// rights.

/** Created with the cluster. PostgreSQL never takes its superuser rights away, so the service needs another role. */
export const ADMIN_ROLE = 'bellwether';
export const DESK_ROLE = 'bellwether_desk';
export const DESK_DATABASE = 'bellwether';

/**
 * Creates the role and the database if they are missing.
 * @param urlOf gives the superuser's URL of a database
 * @throws Error with a sentence when the database is another role's
 */
export async function prepareDatabase(urlOf: (database: string) => string, name: string): Promise<void> {
  const sql = openPool(urlOf('postgres'), { max: 1 });
  try {
    const [role] = await sql`select 1 from pg_roles where rolname = ${DESK_ROLE}`;
    if (role === undefined)
      await sql.unsafe(
        `create role ${DESK_ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`,
      );
    const [found] =
      await sql`select pg_get_userbyid(datdba) as owner from pg_database where datname = ${name}`;
    if (found === undefined) await sql.unsafe(`create database ${quotedName(name)} owner ${DESK_ROLE}`);
    else if (found.owner !== DESK_ROLE)
      throw new Error(
        `The database ${name} of this folder belongs to the role ${found.owner}, not to ${DESK_ROLE}, as a version from before release 0.2.0 left it. Start commit 4c9c1f9d on it once, then this version. Nothing was changed.`,
      );
  } finally {
    await sql.end({ timeout: 2 });
  }
}

// Watches the embedded PostgreSQL while the service runs: restarts it when its process dies, and when the process exists
// but has not answered for long (frozen or hanging), which gives no error. After a restart, pools, listeners and the
// exchange's lead recover automatically. If the restart fails, `onLost` is called once, so that the service can exit.

export interface EmbeddedWatch {
  /** The database pulse calls this after a long silence of the database. */
  silent(): void;
  /** Prevents any further restart. */
  stop(): void;
}

interface WatchOptions {
  readonly postgres: Pick<EmbeddedPostgres, 'isAlive' | 'restart'>;
  /** Called at most once: the database is permanently lost. */
  readonly onLost: (error: Error) => void;
  readonly log: {
    warn(context: object, message: string): void;
    error(context: object, message: string): void;
  };
}

const LOOK_EVERY_MS = 100;
/** A failure may be temporary: a disk that was full for a moment, the last process of the old server. */
const RESTART_ATTEMPTS = 3;
const RESTART_PAUSE_MS = 1_000;

export function watchEmbedded({ postgres, onLost, log }: WatchOptions): EmbeddedWatch {
  let isStopped = false;
  let isStarting = false;

  const startAgain = async (why: string): Promise<void> => {
    if (isStarting || isStopped) return;
    isStarting = true;
    log.warn({}, `the embedded PostgreSQL ${why}; restarting it`);
    const since = performance.now();
    for (let attempt = 1; !isStopped; attempt += 1) {
      try {
        await postgres.restart();
        log.warn({ ms: Math.round(performance.now() - since) }, 'the embedded PostgreSQL runs again');
        break;
      } catch (error) {
        if (isStopped) break;
        log.error({ err: error, attempt }, 'the embedded PostgreSQL did not start again');
        if (attempt === RESTART_ATTEMPTS) {
          isStopped = true;
          onLost(error as Error);
          break;
        }
        await sleep(RESTART_PAUSE_MS);
      }
    }
    isStarting = false;
  };

  const timer = setInterval(() => {
    if (!isStarting && !postgres.isAlive()) startAgain('has died');
  }, LOOK_EVERY_MS);
  timer.unref();

  return {
    silent() {
      startAgain('lives and answers nothing');
    },
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

// Reaches the database of a data folder for a tool beside the service: its server may run, or be started for the tool.

const STOP_WITHIN_MS = 30_000;
const SESSIONS_END_WITHIN_MS = 5_000;
const LOOK_FOR_SESSIONS_EVERY_MS = 10;

export interface ReachedServer {
  /** As the superuser. */
  readonly url: string;
  /** The folder of its files. */
  readonly cluster: string;
  readonly major: number;
  /** Ends the server if it was started for this tool and no other process has come to use it. */
  close(): Promise<void>;
}

/** The server still lists a session for a moment after its client has closed it: the tool's own must not count. */
async function isAlone(url: string): Promise<boolean> {
  const sql = openPool(url, { max: 1 });
  const end = performance.now() + SESSIONS_END_WITHIN_MS;
  try {
    for (;;) {
      const [row] = await sql`
        select count(*)::int as others from pg_stat_activity
        where backend_type = 'client backend' and pid <> pg_backend_pid()`;
      if (row?.others === 0) return true;
      if (performance.now() > end) return false;
      await sleep(LOOK_FOR_SESSIONS_EVERY_MS);
    }
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * @param database the one that the URL leads to
 * @throws NoPostgres with a sentence when there is no database, or its server does not answer
 */
export async function reachServer(dataDir: string, database: string): Promise<ReachedServer> {
  const nothing = `There is no database in ${dataDir}. Name the data folder of the service.`;
  if (!existsSync(dataDir)) throw new NoPostgres(nothing);
  const { home, major } = await findPostgres(dataDir);
  const cluster = join(home, 'postgres');
  if (!existsSync(join(cluster, 'PG_VERSION'))) throw new NoPostgres(nothing);
  const running = readPostmaster(cluster);
  if (running !== null && exists(running.pid) && serves(running.pid, cluster)) {
    // A start would end a server that does not answer, and with it the service's work.
    if (!(await answers(running.socketDir)))
      throw new NoPostgres(
        `The database in ${dataDir} runs, but does not answer. Look at the service first.`,
      );
    return { url: adminUrl(running.socketDir, database), cluster, major, close: async () => {} };
  }
  const started = await startEmbeddedPostgres({ dataDir, database });
  // The service may start meanwhile, and takes over the server.
  started.release();
  const url = adminUrl(started.socketDir, database);
  return {
    ...{ url, cluster, major },
    async close() {
      const claim = claimFolder(dataDir);
      if (claim === null) return;
      try {
        if (await isAlone(url)) await started.stop(STOP_WITHIN_MS);
      } finally {
        claim.release();
      }
    },
  };
}
