/** An agent's safeguards and what is used of them today, as reads show them. */

import { usageOf } from '../domain/safeguards.ts';
import type { Fragment, Sql } from '../platform/database/connection.ts';
import type { SafeguardsRow } from '../platform/database/rows.generated.ts';
import type { Limits } from './settings-columns.ts';
import { settingsRow } from './settings-columns.ts';

export interface LimitsRow extends SafeguardsRow {
  readonly trades_today: number;
  readonly amount_today: bigint;
  readonly realized_today: bigint;
}

/** Joins; expects the agent's row of `safeguards` as `s`. @param day a UTC day, or a column that has it */
export const limitFacts = (sql: Sql, day: string | Fragment): Fragment =>
  sql`cross join usage_of_day(s.agent_id, ${day}::date) u cross join result_of_day(s.agent_id, ${day}::date) r`;

export const limitColumns = (sql: Sql): Fragment =>
  sql`u.trades as trades_today, u.amount as amount_today, r.net as realized_today`;

export const limitsOf = (row: LimitsRow): Limits => ({
  ...settingsRow(row),
  usage: usageOf(row.trades_today, row.amount_today, row.reserved_exits),
  realizedToday: row.realized_today,
  openExits: row.open_exits,
});
