/** What is told of exits: what became of them, and what nothing guards any more. Written by the triggers of functions/exits.sql. */
import type { ExitChange } from '@bellwether/contract';
import type { UnguardedExit } from '../domain/risk-alerts.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { ExitsRow, FactsRow } from '../platform/database/rows.generated.ts';

/** Who reads an alert, and may say that it was seen. */
export type AlertReader = 'agent' | 'owner';

export interface ChangesQuestion {
  readonly agentId: string;
  /** `null`: of all. */
  readonly venue: string | null;
  /** Epoch milliseconds; `null`: the latest, whenever they were. */
  readonly after: number | null;
  /** Leaves out what an earlier answer's snapshot contained. */
  readonly notIn: string | null;
  /** Leaves out what this snapshot does not contain: a cursor of it tells that the next time. */
  readonly upTo: string;
  readonly limit: number;
}

/** Covers slow commits and clock differences, where a snapshot says what is new. */
const MARGIN_MS = 60_000;

const COLUMN = { agent: 'seen_at', owner: 'owner_seen_at' } as const;

export const createToldExits = (sql: Sql) => ({
  /** Latest first. Where the log does not reach back to a snapshot, what comes from about its time is repeated. */
  async changes({ agentId, venue, after, notIn, upTo, limit }: ChangesQuestion): Promise<ExitChange[]> {
    const since = after === null ? null : new Date(notIn === null ? after : after - MARGIN_MS);
    const isNew = sql`not (select l.kept_since <= ${since} and pg_snapshot_xmax(${notIn}::text::pg_snapshot)
        <= pg_snapshot_xmax(pg_current_snapshot()) from fact_log l)
      or not pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), ${notIn}::text::pg_snapshot)`;
    const rows = await sql<(Pick<ExitChange, 'id' | 'type' | 'data'> & Pick<FactsRow, 'at'>)[]>`
      select v.event_id as id, v.type, f.at, v.data from (
        select f as fact, f.at, f.seq from facts f
        where f.agent_id = ${agentId} and f.kind = 'exit' ${venue === null ? sql`` : sql`and f.payload ->> 'venue' = ${venue}`}
          and pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), ${upTo}::text::pg_snapshot)
          ${since === null ? sql`` : sql`and f.at > ${since}`} ${notIn === null ? sql`` : sql`and (${isNew})`}
        order by f.at desc, f.seq desc limit ${limit}) f
      cross join lateral webhook_events(f.fact) v order by f.at desc, f.seq desc`;
    return rows.map(({ at, ...event }) => ({ ...event, createdAt: at.toISOString() }));
  },

  /** Exits that ended unsold, while shares are held that no other exit would sell: those that this reader has not seen. */
  async unguarded(agentId: string, reader: AlertReader): Promise<UnguardedExit[]> {
    const rows = await sql<
      (Pick<ExitsRow, 'exit_id' | 'market_id' | 'outcome'> &
        Record<'unsold' | 'bare', bigint> & {
          readonly because: string;
        })[]
    >`select exit_id, market_id, outcome, because, unsold, bare from unguarded_exits(${agentId}, ${reader === 'owner'})
      order by exit_id`;
    return rows.map((row) => ({
      exitId: row.exit_id,
      marketId: row.market_id,
      outcome: row.outcome as UnguardedExit['outcome'],
      because: row.because,
      unsold: row.unsold,
      bare: row.bare,
    }));
  },

  /** Notes that ended exits were seen; those that have not ended are left out. @returns which ended ones are seen now */
  async seen(
    exitIds: readonly string[],
    { agentId, by, at }: { readonly agentId: string; readonly by: AlertReader; readonly at: number },
  ): Promise<string[]> {
    const column = sql(COLUMN[by]);
    const rows = await sql<Pick<ExitsRow, 'exit_id'>[]>`
      update exits set ${column} = coalesce(${column}, ${new Date(at)})
      where agent_id = ${agentId} and exit_id = any(${[...exitIds]}::text[]) and sealed is null returning exit_id`;
    return rows.map((row) => row.exit_id);
  },
});
