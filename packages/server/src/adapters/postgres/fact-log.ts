/** Deletes old facts from the log that functions/facts.sql writes. */
import type { FactLog } from '../../ports/fact-log.ts';
import type { Sql } from './connection.ts';
import { only } from './rows.ts';

export const createFactLog = (sql: Sql): FactLog => ({
  async forget(horizon, most) {
    const rows = await sql<{ count: number }[]>`
      select forget_facts(${new Date(horizon)}, ${most}::int) as count`;
    return only(rows).count;
  },
});
