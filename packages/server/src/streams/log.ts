/**
 * Reads the log of facts for streams, in the order of (writer, seq). Sequence numbers are given before they are committed, so
 * they alone are no order to resume in. Transactions below the horizon of a snapshot have all ended: among their facts nothing
 * is inserted any more, whichever replica looks. A transaction that stays open keeps later facts back until it ends, which
 * the time-out for idle transactions bounds.
 */
import { ms, only, type Sql } from '../platform/database/connection.ts';
import type { ApiKeysRow, FactLogRow, FactsRow } from '../platform/database/rows.generated.ts';

type Fact = Pick<FactsRow, 'seq' | 'agent_id'> & { readonly writer: string };
type Forgotten = Pick<FactLogRow, 'forgotten_writer' | 'forgotten_seq'>;
type Event = Fact &
  Pick<FactsRow, 'at'> & {
    readonly nth: number;
    readonly type: string;
    readonly event_id: string;
    readonly data: string;
  };

const positionOf = (writer: string, seq: bigint): LogPosition => ({
  writer: BigInt(writer),
  seq,
  // All of a fact's events: there are never so many.
  nth: WHOLE_FACT,
});
const WHOLE_FACT = 99;

const forgottenOf = (row: Forgotten): LogPosition => positionOf(row.forgotten_writer, row.forgotten_seq);

const loggedEvent = (row: Event): LoggedEvent => ({
  position: { writer: BigInt(row.writer), seq: row.seq, nth: row.nth },
  agentId: row.agent_id,
  type: row.type,
  id: row.event_id,
  at: ms(row.at),
  data: row.data,
});

export const createEventLog = (sql: Sql) => ({
  /** Whose facts are new since a position, at most `most` facts; from the present when there is no position. */
  async fresh(after: LogPosition | null, most: number): Promise<FreshFacts> {
    const [from, seq] = after === null ? [null, '0'] : [after.writer.toString(), after.seq.toString()];
    const rows = await sql<
      (Forgotten & { readonly horizon: string; readonly writer: string | null } & Partial<
          Pick<Fact, 'seq' | 'agent_id'>
        >)[]
    >`
      select h.horizon::text as horizon, l.forgotten_writer::text as forgotten_writer, l.forgotten_seq, f.seq,
        f.writer::text as writer, f.agent_id
      from fact_log l cross join (select pg_snapshot_xmin(pg_current_snapshot()) as horizon) h
      left join lateral (
        select seq, writer, agent_id from facts
        where writer >= ${from}::text::xid8 and (writer, seq) > (${from}::text::xid8, ${seq}::bigint) and writer < h.horizon
        order by writer, seq limit ${most}) f on true
      order by f.writer, f.seq`;
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) throw new Error('fact_log has no row');
    const isCut = rows.length >= most && last.writer !== null;
    const horizon = { writer: BigInt(first.horizon), seq: 0n, nth: 0 };
    return {
      facts: rows.flatMap(({ seq: fact, agent_id: agentId }) =>
        typeof fact === 'bigint' && agentId !== undefined ? [{ seq: fact, agentId }] : [],
      ),
      upTo: isCut ? positionOf(last.writer as string, last.seq as bigint) : horizon,
      forgotten: forgottenOf(first),
      horizon,
    };
  },

  /** The events of those facts, in the order of the log. */
  async eventsOf(facts: readonly bigint[]): Promise<readonly LoggedEvent[]> {
    const rows = await sql<Event[]>`
      select f.seq, f.writer::text as writer, f.agent_id, f.at, e.nth, e.type, e.event_id, e.data::text as data
      from stream_events(${facts.map(String)}::bigint[]) e
      cross join lateral (select * from facts x where x.seq = e.seq offset 0) f
      order by f.writer, f.seq, e.nth`;
    return rows.map(loggedEvent);
  },

  /** Facts about some agents between a position and `upTo`, at most `most` for each question. */
  async between(
    questions: readonly { readonly agentIds: readonly string[]; readonly after: LogPosition }[],
    upTo: LogPosition,
    most: number,
  ): Promise<Backlog> {
    const rows = await sql<
      (Forgotten & { readonly ask: number; readonly writer: string | null } & Partial<
          Omit<Event, 'writer'>
        >)[]
    >`
      with q as (
        select * from unnest(${questions.map(({ after }) => after.writer.toString())}::text[],
          ${questions.map(({ after }) => after.seq.toString())}::bigint[])
          with ordinality as t(writer, seq, ask)
      ), whose as materialized (
        select * from unnest(${questions.flatMap(({ agentIds }) => agentIds)}::uuid[],
          ${questions.flatMap(({ agentIds }, nth) => agentIds.map(() => nth + 1))}::bigint[]) as t(agent_id, ask)
      ), x as materialized (
        select q.ask, f.* from q cross join lateral (
          select o.* from whose w cross join lateral (
            select f.seq, f.writer, f.agent_id, f.at from facts f
            where f.agent_id = w.agent_id and f.writer >= q.writer::xid8 and (f.writer, f.seq) >= (q.writer::xid8, q.seq)
              and (f.writer, f.seq) <= (${upTo.writer.toString()}::text::xid8, ${upTo.seq.toString()}::bigint)
            order by f.writer, f.seq limit ${most}) o
          where w.ask = q.ask order by o.writer, o.seq limit ${most}) f
      ), e as materialized (
        select * from stream_events(array(select distinct seq from x))
      )
      select q.ask::integer as ask, l.forgotten_writer::text as forgotten_writer, l.forgotten_seq,
        x.seq, x.writer::text as writer, x.agent_id, x.at, e.nth, e.type, e.event_id, e.data::text as data
      from fact_log l cross join q left join x on x.ask = q.ask left join e on e.seq = x.seq
      order by q.ask, x.writer, x.seq, e.nth`;
    const pages = questions.map(() => ({ events: [] as LoggedEvent[], facts: 0, upTo }));
    let seen: string | null = null;
    for (const row of rows) {
      const page = pages[row.ask - 1];
      if (page === undefined || row.writer === null || row.seq === undefined) continue;
      const fact: string = `${row.ask} ${row.seq}`;
      if (fact !== seen) page.facts += 1;
      seen = fact;
      if (page.facts >= most) page.upTo = positionOf(row.writer, row.seq);
      if (typeof row.nth === 'number') page.events.push(loggedEvent(row as Event));
    }
    const [first] = rows;
    return {
      pages,
      forgotten: first === undefined ? { writer: 0n, seq: 0n, nth: 0 } : forgottenOf(first),
    };
  },

  /** Those of the keys that are still active. */
  async activeKeys(keyIds: readonly bigint[]): Promise<ReadonlySet<bigint>> {
    const rows = await sql<Pick<ApiKeysRow, 'id'>[]>`
      select id from api_keys where id = any(${keyIds.map(String)}::bigint[]) and status = 1`;
    return new Set(rows.map(({ id }) => id));
  },
});

/** After a fact: of the transaction `writer`, the fact `seq`, its event `nth`. `seq` 0: before every fact of that transaction. */
export interface LogPosition {
  readonly writer: bigint;
  readonly seq: bigint;
  readonly nth: number;
}

export interface LoggedEvent {
  /** Right after this event. */
  readonly position: LogPosition;
  readonly agentId: string;
  readonly type: string;
  /** The same as in webhooks, for what both tell. */
  readonly id: string;
  readonly at: number;
  /** JSON text. */
  readonly data: string;
}

interface FreshFacts {
  readonly facts: readonly { readonly seq: bigint; readonly agentId: string }[];
  /** Everything up to here is in `facts`, and nothing can be added before it. */
  readonly upTo: LogPosition;
  /** Facts before this may have been deleted. */
  readonly forgotten: LogPosition;
  /** No position of this log is beyond it yet. */
  readonly horizon: LogPosition;
}

interface Backlog {
  /** For each question in turn. A full page ends with a whole fact. */
  readonly pages: readonly { readonly events: readonly LoggedEvent[]; readonly upTo: LogPosition }[];
  readonly forgotten: LogPosition;
}

export type EventLog = ReturnType<typeof createEventLog>;

// Deletes old facts from the log that functions/facts.sql writes.

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
