/** Reaches the database of a data folder for a tool beside the service: its server may run, or be started for the tool. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPool } from '../pool.ts';
import { adminUrl, answers, startEmbeddedPostgres } from './embedded-postgres.ts';
import { claimFolder } from './folder-claim.ts';
import { findPostgres, NoPostgres } from './postgres-binaries.ts';
import { exists, readPostmaster, serves } from './postmaster.ts';

const STOP_WITHIN_MS = 30_000;
const SESSIONS_END_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 10;

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
      await sleep(LOOK_EVERY_MS);
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
