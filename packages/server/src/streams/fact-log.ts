/** Deletes old facts from the log that functions/facts.sql writes. */

import type { Sql } from '../platform/database/connection.ts';
import { only } from '../platform/database/rows.ts';

export const createFactLog = (sql: Sql) => ({
  /** Deletes facts older than `horizon`, oldest first, at most `most`. @returns how many */
  async forget(horizon: number, most: number): Promise<number> {
    const rows = await sql<{ count: number }[]>`
      select forget_facts(${new Date(horizon)}, ${most}::int) as count`;
    return only(rows).count;
  },
});

/** The append-only log of facts: written by the statements that record evidence, read by database snapshot. */
export type FactLog = ReturnType<typeof createFactLog>;
