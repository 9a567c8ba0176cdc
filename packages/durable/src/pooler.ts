/**
 * Refuses a connection pooler such as pgbouncer between this process and PostgreSQL. It drops the settings of our sessions
 * (time limits, keepalive, what the journal's session needs), or refuses them, and in transaction mode it lends one session to
 * several clients, which breaks the lead, notifications and prepared statements.
 */
import { IDLE_IN_TRANSACTION_MS, type Sql } from './pool.ts';

const ADVICE =
  'Name PostgreSQL itself in DATABASE_URL: the service keeps its own pool, of DATABASE_POOL connections, and needs its sessions for itself';

/** @throws Error with a sentence, or the database's own error */
export async function refusePooler(sql: Sql): Promise<void> {
  const rows = await sql<{ readonly setting: string }[]>`
    select setting from pg_settings where name = 'idle_in_transaction_session_timeout'`.catch(
    (error: unknown) => {
      if (!(error instanceof Error) || !/unsupported startup parameter/i.test(error.message)) throw error;
      throw new Error(
        `a connection pooler such as pgbouncer stands before the database and refuses the settings of our sessions. ${ADVICE}`,
        { cause: error },
      );
    },
  );
  if (rows[0]?.setting !== String(IDLE_IN_TRANSACTION_MS))
    throw new Error(
      `a connection pooler such as pgbouncer stands before the database and drops the settings of our sessions. ${ADVICE}`,
    );
}
