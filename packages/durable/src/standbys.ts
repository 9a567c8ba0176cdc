/** Refuses a database of several hosts in which a commit is acknowledged before a standby has it. */
import { readDatabaseUrl } from './database-url.ts';
import type { Sql } from './pool.ts';

/** Of `synchronous_commit`: no standby is waited for. */
const ALONE: ReadonlySet<string> = new Set(['off', 'local']);

/** @throws Error with a sentence */
export async function refuseLoneCommits(sql: Sql, url: string): Promise<void> {
  if (readDatabaseUrl(url).hosts.length === 1) return;
  const [row] = await sql<{ readonly names: string; readonly waits: string }[]>`
    select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as waits`;
  if (row !== undefined && row.names.trim() !== '' && !ALONE.has(row.waits)) return;
  throw new Error(
    'DATABASE_URL names several hosts, and no standby must confirm a commit: a promotion would lose what was acknowledged last. Set synchronous_standby_names and synchronous_commit = on on the servers, or say DATABASE_MAY_LOSE_COMMITS=on',
  );
}
