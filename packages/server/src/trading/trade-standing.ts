/**
 * Facts for the judgement of a trade: the agent's safeguards and what is used of them, and the locks of other owners' agents
 * that had the wallet. The facts are SQL functions (functions/standing.sql), which the agent's reads use, too; a trade
 * reads them under its locks (admission-reads.ts), other requests read them without locks.
 */

import { type SettingsColumns, settingsRow } from '../agents/index.ts';
import type { Standing } from '../domain/records.ts';
import { type Usage, usageOf } from '../domain/safeguards.ts';
import { utcDay } from '../domain/utc-day.ts';
import type { Fragment, Sql, Tx } from '../platform/database/connection.ts';
import type { SafeguardsRow } from '../platform/database/rows.generated.ts';
import type { StandingQuestion } from './admission.ts';

export const restricting = (tx: Tx | Sql, { caller, signer }: StandingQuestion): Fragment =>
  tx`(select r from restricting_agents(${signer}, ${caller.agentId}::uuid) r)` as unknown as Fragment;

/**
 * Rows `day`: the trade's UTC day. A trade that waited for the lock across midnight may find that the next day has begun,
 * and counts there: the budget of a past day is never changed.
 */
const tradeDay = (tx: Tx | Sql, { caller, at }: StandingQuestion): Fragment =>
  tx`(select greatest(usage_day, ${utcDay(at)}::date) as day from safeguards where agent_id = ${caller.agentId})` as unknown as Fragment;

/** The agent's own row and those of the agents whose locks bind the wallet. */
export const safeguardRows = (sql: Tx | Sql, question: StandingQuestion) =>
  sql<SafeguardsRow[]>`select * from safeguards
    where agent_id = any(array(select ${question.caller.agentId}::uuid union ${restricting(sql, question)}))`;

export interface UsageRow {
  readonly day: string;
  readonly trades: number;
  readonly amount: bigint;
}

/** The agent's usage of the day. */
export const usage = (sql: Tx | Sql, question: StandingQuestion) => sql<UsageRow[]>`
  select t.day::text as day, u.trades, u.amount
  from ${tradeDay(sql, question)} t cross join usage_of_day(${question.caller.agentId}::uuid, t.day) u`;

export interface FactsRow {
  readonly position_value: bigint;
  readonly realized_today: bigint;
  readonly open_orders: number;
  readonly claimed: boolean;
}

/** Every figure, also those that no limit of the agent needs. */
export const ownFacts = (tx: Tx | Sql, question: StandingQuestion) => {
  const { caller, funder, tokenIds, conditionId } = question;
  return tx<FactsRow[]>`
    select v.value as position_value, r.net as realized_today, o.count as open_orders,
      a.claimed_at is not null as claimed
    from agents a cross join ${tradeDay(tx, question)} t
    cross join open_orders(a.agent_id, true) o
    cross join result_of_day(a.agent_id, t.day) r
    cross join position_value(a.agent_id, ${funder}::text, ${[...tokenIds]}::text[], ${conditionId}::text) v
    where a.agent_id = ${caller.agentId}`;
};

export interface RestrictingRow extends UsageRow, Omit<FactsRow, 'claimed'>, SettingsColumns {
  readonly agent_id: string;
}

/**
 * The same for each agent whose locks bind the wallet, as if that agent traded, including what other owners traded with
 * wallets that it had. No row for a wallet that no locks bind.
 */
export const restrictingFacts = (tx: Tx | Sql, question: StandingQuestion) => {
  const { signer, funder, tokenIds, conditionId } = question;
  const terms = tx`s.agent_id, ${funder}::text, ${[...tokenIds]}::text[], ${conditionId}::text`;
  return tx<RestrictingRow[]>`
    select s.*, t.day::text as day, u.trades, u.amount, r.net as realized_today,
      o.count + b.count as open_orders, v.value + w.value as position_value
    from ${tradeDay(tx, question)} own cross join ${restricting(tx, question)} f(agent_id)
    cross join binding_settings(${signer}, f.agent_id) s
    cross join lateral (select greatest(s.usage_day, own.day) as day) t
    cross join usage_of_day(s.agent_id, t.day) u
    cross join result_of_day(s.agent_id, t.day) r
    cross join open_orders(s.agent_id, s.locked_max_open_orders is not null) o
    cross join bound_open_orders(s.agent_id, s.locked_max_open_orders is not null) b
    cross join position_value(${terms}) v
    cross join bound_position_value(${terms}) w`;
};

export interface StandingRows {
  readonly locked: readonly SafeguardsRow[];
  readonly used: UsageRow;
  readonly facts: FactsRow;
  readonly restricting: readonly RestrictingRow[];
}

/**
 * `null`: another agent's locks began to bind the wallet between the first and the last statement, and its row was not
 * read. The caller repeats.
 */
export function standingOf(
  { caller }: StandingQuestion,
  { locked, used, facts, restricting: bound }: StandingRows,
): (Standing & { readonly day: string }) | null {
  const isLocked = new Set(locked.map((row) => row.agent_id));
  const ownRow = locked.find((row) => row.agent_id === caller.agentId);
  if (ownRow === undefined) throw new Error('the agent has no safeguards row');
  const day = [used, ...bound].reduce((latest, row) => (row.day > latest ? row.day : latest), used.day);
  // Usage of an earlier day does not count.
  const usageToday = (row: UsageRow, kept = 0): Usage =>
    row.day === day ? usageOf(row.trades, row.amount, kept) : usageOf(0, 0n, kept);
  const restrictions: Standing['restrictions'][number][] = [];
  for (const row of bound) {
    if (!isLocked.has(row.agent_id)) return null;
    const settings = settingsRow(row);
    restrictions.push({
      agentId: row.agent_id,
      paused: settings.ownerPaused,
      locks: settings.locks,
      usage: usageToday(row),
      realizedToday: row.realized_today,
      positionValue: row.position_value,
      openOrders: row.open_orders,
    });
  }
  return {
    day,
    claimed: facts.claimed,
    safeguards: settingsRow(ownRow),
    usage: usageToday(used, ownRow.reserved_exits),
    realizedToday: facts.realized_today,
    positionValue: facts.position_value,
    openOrders: facts.open_orders,
    restrictions,
  };
}
