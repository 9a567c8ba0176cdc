/**
 * The PostgreSQL that test files share, in a separate process: it ends with the pipe to the process that started it,
 * so a run that is killed leaves neither a server nor its folder behind.
 *
 * The data need not survive a crash of the machine, so nothing is flushed to disk. Tests of durability start
 * the service on an embedded PostgreSQL of its own.
 */

import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_ROLE, DESK_ROLE, prepareDatabase } from '../../packages/durable/src/embedded/embedded-role.ts';
import { findPostgres } from '../../packages/durable/src/embedded/postgres-binaries.ts';
import { endPostmaster } from '../../packages/durable/src/embedded/postmaster.ts';
import { openPool, socketUrl } from '../../packages/server/src/adapters/postgres/connection.ts';
import { copyCluster } from './copy-cluster.ts';

/** The server's data that a test file needs. */
export interface SharedPostgres {
  readonly socketDir: string;
  readonly port: number;
  /** The ordinary role that owns the databases. */
  readonly user: string;
  readonly admin: string;
  /** A new cluster that was never started: a test's service starts on a copy, which is faster than initdb. */
  readonly newCluster: string;
  /** File of the server's own messages. */
  readonly log: string;
}

const PORT = 5432;
const START_TIMEOUT_MS = 60_000;
const SETTINGS = {
  listen_addresses: '',
  port: String(PORT),
  max_connections: '400',
  shared_buffers: '128MB',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  jit: 'off',
};

const folder = mkdtempSync(join(tmpdir(), 'bw-test-'));
const cluster = join(folder, 'postgres');
const newCluster = join(folder, 'new-cluster');
const socketDir = join(folder, 'run');
const log = join(folder, 'postgres.log');

async function start(): Promise<number> {
  const binaries = await findPostgres(folder);
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
  copyCluster(cluster, newCluster);
  const options = Object.entries({ ...SETTINGS, unix_socket_directories: socketDir });
  const file = openSync(log, 'w');
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
  pid = await start();
  await waitUntilReady();
  await prepareDatabase(urlOf, 'bellwether');
  const shared: SharedPostgres = {
    ...{ socketDir, port: PORT, user: DESK_ROLE, admin: ADMIN_ROLE },
    ...{ newCluster, log },
  };
  process.stdout.write(`${JSON.stringify(shared)}\n`);
} catch (error) {
  console.error(error);
  process.exitCode = 1;
  await stop();
}
