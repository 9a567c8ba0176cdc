/** A primary and a standby that confirms its commits, of one test file, which the file may kill, freeze, start again and promote. */
import { appendFileSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ADMIN_ROLE,
  DESK_ROLE,
  prepareDatabase,
} from '../packages/durable/src/embedded/embedded-postgres.ts';
import { findPostgres } from '../packages/durable/src/embedded/postgres-process.ts';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { sharedPostgres } from './postgres.ts';
import { dataFolder, postgresOf, signalPostgres, waitFor } from './service-process.ts';
import { afterFile } from './setup/clean-up.ts';
import { copyCluster } from './setup/copy-cluster.ts';

const PORT = 5432;
const START_TIMEOUT_MS = 120_000;
export const DATABASE = 'bellwether';

interface PostgresNode {
  /** A superuser's connection, outside the pools under test. */
  readonly admin: Sql;
  /** All processes of the server. */
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Resolves when it answers. */
  start(): Promise<void>;
  promote(): Promise<void>;
}

export interface PostgresPair {
  /** Names both hosts. */
  readonly url: string;
  readonly first: PostgresNode;
  readonly second: PostgresNode;
}

/** They end with the file. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const { deskCluster } = await sharedPostgres();
  const folders = [dataFolder(), dataFolder()] as const;
  const nodes = await Promise.all(folders.map((folder) => nodeOf(folder)));
  const [first, second] = nodes as [Node, Node];
  copyCluster(deskCluster, first.cluster);
  first.own(first.cluster);
  // A standby begins with what was written for one.
  await first.start();
  await first.stop();
  copyCluster(first.cluster, second.cluster);
  // Only a commit that the standby has confirmed is acknowledged.
  appendFileSync(join(first.cluster, 'postgresql.conf'), "\nsynchronous_standby_names = '*'\n");
  appendFileSync(
    join(second.cluster, 'postgresql.conf'),
    `\nprimary_conninfo = 'host=${first.socketDir} port=${PORT} user=${ADMIN_ROLE}'\n`,
  );
  writeFileSync(join(second.cluster, 'standby.signal'), '');
  for (const { own, cluster } of nodes) own(cluster);
  await first.start();
  await second.start();
  await prepareDatabase((database) => first.adminUrl(database), DATABASE);
  const hosts = nodes.map(({ socketDir }) => encodeURIComponent(socketDir)).join(',');
  return {
    url: `postgres://${DESK_ROLE}@/${DATABASE}?host=${hosts}&port=${PORT}&target_session_attrs=read-write`,
    first,
    second,
  };
}

interface Node extends PostgresNode {
  readonly cluster: string;
  readonly socketDir: string;
  readonly own: (folder: string) => void;
  readonly adminUrl: (database: string) => string;
  /** Cleanly. */
  stop(): Promise<void>;
}

async function nodeOf(folder: string): Promise<Node> {
  const cluster = join(folder, 'postgres');
  const socketDir = join(folder, 'run');
  mkdirSync(socketDir, { mode: 0o700 });
  const binaries = await findPostgres(folder);
  binaries.own(socketDir);
  const adminUrl = (database: string): string =>
    socketUrl({ socketDir, port: PORT, user: ADMIN_ROLE }, database);
  const admin = openPool(adminUrl('postgres'), { max: 1 });
  afterFile('pools', () => admin.end({ timeout: 1 }));
  return {
    ...{ cluster, socketDir, adminUrl, admin },
    own: (path) => binaries.own(path),
    signal(signal) {
      signalPostgres(folder, signal);
    },
    async start() {
      await waitFor(() => postgresOf(folder).length === 0, START_TIMEOUT_MS);
      const log = openSync(join(folder, 'postgres.log'), 'a');
      const settings = [
        'listen_addresses=',
        'jit=off',
        'wal_level=replica',
        'hot_standby=on',
        'wal_receiver_status_interval=1',
      ];
      binaries.serve(
        ['-D', cluster, '-k', socketDir, '-p', String(PORT), ...settings.flatMap((one) => ['-c', one])],
        log,
      );
      closeSync(log);
      await answers(admin);
    },
    async stop() {
      signalPostgres(folder, 'SIGINT');
      await waitFor(() => postgresOf(folder).length === 0, START_TIMEOUT_MS);
    },
    async promote() {
      await admin`select pg_promote(true, 60)`;
      // Nothing confirms its commits any more.
      await admin`alter system set synchronous_standby_names = ''`;
      await admin`select pg_reload_conf()`;
    },
  };
}

async function answers(sql: Sql): Promise<void> {
  const until = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await sql`select 1`;
      return;
    } catch (cause) {
      if (performance.now() > until) throw new Error('a PostgreSQL of this file does not start', { cause });
      await sleep(50);
    }
  }
}
