/**
 * The PostgreSQL that test files share, in a separate process: it ends with the pipe to the process that started it,
 * so a run that is killed leaves neither a server nor its folder behind.
 *
 * The data need not survive a crash of the machine, so nothing is flushed to disk. Tests of durability start
 * the service on an embedded PostgreSQL of its own.
 */

import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ADMIN_ROLE,
  DESK_ROLE,
  prepareDatabase,
} from '../../packages/durable/src/embedded/embedded-postgres.ts';
import {
  endPostmaster,
  findPostgres,
  type PostgresBinaries,
} from '../../packages/durable/src/embedded/postgres-process.ts';
import { openPool, socketUrl } from '../../packages/server/src/platform/database/connection.ts';
import { migrate } from '../../packages/server/src/platform/database/migrate.ts';
import { SCHEMAS } from '../../packages/server/src/wiring/database.ts';
import { copyCluster } from './copy-cluster.ts';

/** All databases of a run, and the clusters to copy, take less. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Memory where there is enough: databases come and go by hundreds of files, and a disk's file system is slow at that. */
function fastFolder(): string {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > ENOUGH_BYTES ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The server's data that a test file needs. */
export interface SharedPostgres {
  readonly socketDir: string;
  readonly port: number;
  /** The ordinary role that owns the databases. */
  readonly user: string;
  readonly admin: string;
  /** A database with the desk's tables and functions and no rows, to be copied; nothing connects to it. */
  readonly template: string;
  /** A new cluster that was never started: a test starts on a copy, which is faster than initdb. */
  readonly newCluster: string;
  /** A cluster with an empty database of the desk, its tables and functions included. */
  readonly deskCluster: string;
  /** File of the server's own messages. */
  readonly log: string;
}

const PORT = 5432;
/** The name that a service looks for on its embedded cluster. */
const TEMPLATE = 'bellwether';
/** Settings of the clusters to copy. A process that is killed loses nothing without it: that only a machine can do. */
const NOT_FLUSHED = '\nfsync = off\nfull_page_writes = off\n';
const START_TIMEOUT_MS = 60_000;
const SETTINGS = {
  listen_addresses: '',
  port: String(PORT),
  max_connections: '1000',
  shared_buffers: '128MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
  autovacuum: 'off',
};

const folder = mkdtempSync(join(fastFolder(), 'bw-test-'));
const cluster = join(folder, 'postgres');
const newCluster = join(folder, 'new-cluster');
const deskCluster = join(folder, 'desk-cluster');
const socketDir = join(folder, 'run');
const log = join(folder, 'postgres.log');

async function create(binaries: PostgresBinaries): Promise<void> {
  for (const made of [cluster, socketDir]) {
    mkdirSync(made, { recursive: true, mode: 0o700 });
    binaries.own(made);
  }
  const failure = await binaries.run('initdb', [
    `--pgdata=${cluster}`,
    `--username=${ADMIN_ROLE}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ]);
  if (failure !== null) throw new Error(`the tests' PostgreSQL cannot be set up: ${failure}`);
  appendFileSync(join(cluster, 'postgresql.conf'), NOT_FLUSHED);
  copyCluster(cluster, newCluster);
}

/** The desk's database, once for all files. */
async function fill(): Promise<void> {
  await prepareDatabase(urlOf, TEMPLATE);
  const sql = openPool(socketUrl({ socketDir, port: PORT, user: DESK_ROLE }, TEMPLATE), { max: 1 });
  try {
    await migrate(sql, SCHEMAS);
  } finally {
    await sql.end();
  }
}

function start(binaries: PostgresBinaries): number {
  const options = Object.entries({ ...SETTINGS, unix_socket_directories: socketDir });
  const file = openSync(log, 'a');
  const child = binaries.serve(
    ['-D', cluster, ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    file,
  );
  closeSync(file);
  if (child.pid === undefined) throw new Error("the tests' PostgreSQL cannot be started");
  return child.pid;
}

const urlOf = (database: string): string => socketUrl({ socketDir, port: PORT, user: ADMIN_ROLE }, database);

async function waitUntilReady(): Promise<void> {
  const end = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const sql = openPool(urlOf('postgres'), { max: 1 });
    try {
      await sql`select 1`;
      return;
    } catch (cause) {
      if (Date.now() > end)
        throw new Error(`the tests' PostgreSQL does not start: ${readFileSync(log, 'utf8')}`, { cause });
      await sleep(20);
    } finally {
      await sql.end().catch(() => {});
    }
  }
}

let pid: number | undefined;
async function stop(): Promise<void> {
  if (pid !== undefined) await endPostmaster(pid, cluster);
  rmSync(folder, { recursive: true, force: true });
  process.exit();
}

process.stdin.resume();
process.stdin.once('end', stop);
process.stdin.once('error', stop);
// A signal to the whole group is meant for the test run, which closes the pipe when it has ended its files.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});

try {
  const binaries = await findPostgres(folder);
  await create(binaries);
  pid = start(binaries);
  await waitUntilReady();
  await fill();
  // A cluster can be copied while no server runs on it.
  await endPostmaster(pid, cluster);
  copyCluster(cluster, deskCluster);
  pid = start(binaries);
  await waitUntilReady();
  const shared: SharedPostgres = {
    ...{ socketDir, port: PORT, user: DESK_ROLE, admin: ADMIN_ROLE },
    ...{ template: TEMPLATE, newCluster, deskCluster, log },
  };
  process.stdout.write(`${JSON.stringify(shared)}\n`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
  await stop();
}
