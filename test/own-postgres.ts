/** A PostgreSQL of one test file, with the default durability, that the file may kill and start again. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ADMIN_ROLE,
  DESK_ROLE,
  prepareDatabase,
} from '../packages/durable/src/embedded/embedded-postgres.ts';
import { findPostgres } from '../packages/durable/src/embedded/postgres-process.ts';
import { openPool, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { sharedPostgres } from './postgres.ts';
import { dataFolder, postgresOf, signalPostgres, waitFor } from './service-process.ts';
import { copyCluster } from './setup/copy-cluster.ts';

const PORT = 5432;
const START_TIMEOUT_MS = 120_000;
const DATABASE = 'bellwether';

export interface OwnPostgres {
  /** An empty database of the ordinary role. */
  readonly url: string;
  /** SIGKILL to the postmaster and all its children. */
  kill(): void;
  /** Resolves when it answers. */
  start(): Promise<void>;
}

/** It ends with the file. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = dataFolder();
  const cluster = join(folder, 'postgres');
  const socketDir = join(folder, 'run');
  copyCluster((await sharedPostgres()).deskCluster, cluster);
  mkdirSync(socketDir, { mode: 0o700 });
  const binaries = await findPostgres(folder);
  binaries.own(socketDir);
  const where = { socketDir, port: PORT };
  const adminUrl = (database: string): string => socketUrl({ ...where, user: ADMIN_ROLE }, database);

  const start = async (): Promise<void> => {
    await waitFor(() => postgresOf(folder).length === 0, START_TIMEOUT_MS);
    const log = openSync(join(folder, 'postgres.log'), 'a');
    binaries.serve(
      ['-D', cluster, '-k', socketDir, '-p', String(PORT), '-c', 'listen_addresses=', '-c', 'jit=off'],
      log,
    );
    closeSync(log);
    const until = performance.now() + START_TIMEOUT_MS;
    for (;;) {
      const sql = openPool(adminUrl('postgres'), { max: 1 });
      try {
        await sql`select 1`;
        return;
      } catch (cause) {
        if (performance.now() > until)
          throw new Error('the PostgreSQL of this file does not start', { cause });
        await sleep(20);
      } finally {
        await sql.end().catch(() => {});
      }
    }
  };
  await start();
  await prepareDatabase(adminUrl, DATABASE);
  return {
    url: socketUrl({ ...where, user: DESK_ROLE }, DATABASE),
    kill: () => {
      signalPostgres(folder, 'SIGKILL');
    },
    start,
  };
}
