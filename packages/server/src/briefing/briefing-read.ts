/**
 * The heartbeat: one statement for any length of history.
 *
 * "Changed since" has to be exact: a change has a time, but its commit follows a moment later, and a reader in between
 * must neither miss it in the next read nor get it twice. So a cursor holds the database snapshot of the read, and the
 * next read takes the facts of transactions that this snapshot did not contain, each order once and in its current state.
 * Times only limit how far back the log is read: `CHANGE_MARGIN_MS` covers slow commits and clock differences.
 */
import type { Address, SolanaAddress } from '@bellwether/protocol';
import { type LimitsRow, limitColumns, limitFacts } from '../agents/index.ts';
import type { RepeatedRefusal } from '../domain/risk-alerts.ts';
import { utcDay } from '../domain/utc-day.ts';
import type { Sql } from '../platform/database/connection.ts';
import { type Answering, type AskTogether, asRows } from '../platform/database/grouped-reads.ts';
import type { AgentsRow, OrdersRow } from '../platform/database/rows.generated.ts';
import { LISTED_JSON_COLUMNS, type ListedJson, openStatuses } from '../trading/index.ts';
import {
  askedWallets,
  askers,
  doubtTimes,
  inDoubt,
  type PositionJson,
  positionColumns,
} from './asked-wallets.ts';
import type { BriefingQuestion, OpenApproval } from './facts.ts';

const CHANGE_MARGIN_MS = 60_000;
/** Orders named in an alert; its count covers all of them. */
const NAMED_ORDERS = 5;

/** Open orders of one market, added up. */
export interface OpenOrdersJson extends Pick<OrdersRow, 'venue' | 'condition_id' | 'market_id'> {
  readonly count: number;
  readonly stale: string[] | null;
  readonly stale_count: number;
  readonly in_doubt: string[] | null;
  readonly in_doubt_count: number;
}

export type BriefingRow = Answering &
  LimitsRow & {
    readonly agent_claimed_at: AgentsRow['claimed_at'];
    readonly agent_name: AgentsRow['name'];
    readonly agent_wallet: AgentsRow['wallet_address'];
    readonly agent_sol: AgentsRow['sol_address'];
    readonly wallets: Address[] | null;
    readonly solana_wallets: SolanaAddress[] | null;
    readonly positions: PositionJson[] | null;
    readonly has_credentials: boolean;
    readonly has_exits: boolean;
    readonly groups: OpenOrdersJson[] | null;
    readonly changed: ListedJson[] | null;
    readonly approvals: OpenApproval[] | null;
    readonly silent_at: Date | null;
    readonly silent_orders: number | null;
    readonly away: string | null;
    readonly repeated_refusal: RepeatedRefusal | null;
    readonly last_change_at: Date | null;
    readonly snapshot: string;
  };

/** Decides the text of the statement; the rest are its values. */
export interface BriefingShape {
  /** The questions name a wallet. */
  readonly isAsked: boolean;
  /** They name a venue. */
  readonly ofVenue: boolean;
  readonly changes: 'latest' | 'since a time' | 'since a snapshot';
}

export const shapeOf = ({ user, venue, changedAfter, notIn }: BriefingQuestion): BriefingShape => ({
  isAsked: user !== null,
  ofVenue: venue !== null,
  changes: changedAfter === null ? 'latest' : notIn === null ? 'since a time' : 'since a snapshot',
});

export function askBriefing(sql: Sql, shape: BriefingShape): AskTogether<BriefingQuestion, BriefingRow> {
  const { isAsked } = shape;
  const wallets = askedWallets(sql);
  const doubtful = inDoubt(sql);
  const isStale = sql`status not in ('submitting', 'unknown') and created_at < q.stale_before`;
  const open = sql`status in ${openStatuses(sql)}`;
  const columns = positionColumns(sql);
  const changed = changes(sql, shape);
  return (questions) => sql<BriefingRow[]>`
    select q.nth::integer as nth, s.*, ${limitColumns(sql)}, a.claimed_at as agent_claimed_at, a.name as agent_name,
      a.wallet_address as agent_wallet, a.sol_address as agent_sol, w.wallets, v.wallets as solana_wallets, p.positions, y.approvals,
      exists (${wallets.credential(isAsked)}) as has_credentials,
      exists (select from exits x where x.agent_id = q.agent_id) as has_exits, g.groups, c.changed, z.fired_at as silent_at, z.orders as silent_orders, d.away, f.refusal as repeated_refusal,
      (select max(updated_at) from orders where agent_id = q.agent_id) as last_change_at,
      pg_current_snapshot()::text as snapshot
    from ${asRows(
      sql,
      sql`${askers(sql, questions)}, ${doubtTimes(sql, questions)},
        ${questions.map(({ at }) => utcDay(at))}::date[], ${questions.map(({ staleBefore }) => new Date(staleBefore))}::timestamptz[],
        ${questions.map(({ venue }) => venue)}::text[], ${questions.map(afterOf)}::timestamptz[],
        ${questions.map(({ notIn }) => notIn)}::text[], ${questions.map(({ changesLimit }) => changesLimit)}::integer[],
        ${questions.map(({ at }) => new Date(at))}::timestamptz[]`,
      'agent_id, user_id, asked_wallet, signed_before, quoted_before, today, stale_before, venue, changed_after, not_in, changes_limit, asked_at',
      questions.length,
    )}
    cross join lateral (select * from agents where agent_id = q.agent_id offset 0) a
    cross join lateral (select * from safeguards where agent_id = q.agent_id offset 0) s
    ${limitFacts(sql, sql`q.today`)}
    -- A silence that the agent has ended is none.
    left join silences z on z.agent_id = q.agent_id
      and z.called_at = (select max(last_called_at) from api_keys where agent_id = q.agent_id)
    left join lateral (select string_agg(m, ' ') as away from (select payload ->> 'message' as m from facts
      where agent_id = q.agent_id and kind = 'risk' and subject = 'desk_was_away ' and at > q.asked_at - interval '1 day'
      order by at desc limit 3) x offset 0) d on true
    left join lateral (select jsonb_build_object('conditionId', condition_id, 'side', side, 'code', code, 'count', count) as refusal
      from repeated_refusal(q.agent_id, q.asked_at) offset 0) f on true
    left join lateral (${wallets.of.evm(isAsked)} offset 0) w on true
    left join lateral (${wallets.of.solana(isAsked)} offset 0) v on true
    left join lateral (select ${columns} as positions from positions p
      where p.is_held and p.wallet = any(w.wallets || v.wallets) offset 0) p on true
    left join lateral (select json_agg(m) as groups from (
      select condition_id, min(venue) as venue, min(market_id) as market_id, count(*)::int as count,
        (array_agg(order_id order by created_at) filter (where ${isStale}))[1:${NAMED_ORDERS}::int] as stale,
        count(*) filter (where ${isStale})::int as stale_count,
        (array_agg(order_id) filter (where ${doubtful}))[1:${NAMED_ORDERS}::int] as in_doubt,
        count(*) filter (where ${doubtful})::int as in_doubt_count
      from orders where agent_id = q.agent_id and ${open} group by condition_id) m offset 0) g on true
    left join lateral (select json_agg(approval_told(a, t.status) order by a.asked_at desc, a.approval_id desc) as approvals
      from approvals a cross join lateral (select approval_status(a, q.asked_at) as status offset 0) t
      where s.approval_above is not null and a.agent_id = q.agent_id and t.status in ('waiting', 'approved') offset 0) y on true
    left join lateral (
      select json_agg(json_build_array(${sql.unsafe(LISTED_JSON_COLUMNS)}) order by o.updated_at desc, o.order_id) as changed
      from (${changed}) o offset 0) c on true`;
}

const afterOf = ({ changedAfter, notIn }: BriefingQuestion): Date | null =>
  changedAfter === null ? null : new Date(notIn === null ? changedAfter : changedAfter - CHANGE_MARGIN_MS);

/** The newest changes after a time, without those that an earlier snapshot contained. */
function changes(sql: Sql, shape: BriefingShape) {
  const orders = sql`orders o where o.agent_id = q.agent_id ${shape.ofVenue ? sql`and o.venue = q.venue` : sql``}`;
  const newest = sql`order by o.updated_at desc, o.order_id limit q.changes_limit + 1`;
  if (shape.changes === 'latest') return sql`select o.* from ${orders} ${newest}`;
  if (shape.changes === 'since a time')
    return sql`select o.* from ${orders} and o.updated_at > q.changed_after ${newest}`;
  // A cursor's snapshot may be newer than a restored database, or older than the log: then only its time is used, and
  // changes from about that time are repeated.
  const isInLog = sql`(select l.kept_since <= q.changed_after
    and pg_snapshot_xmax(q.not_in::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) from fact_log l)`;
  return sql`
    select * from (
      (select distinct on (f.at, f.subject) o.* from facts f cross join lateral (
          select * from ${orders} and o.order_id = f.subject and o.updated_at = f.at offset 0) o
        where ${isInLog} and f.agent_id = q.agent_id and f.kind = 'order' and f.at > q.changed_after
          and not pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), q.not_in::pg_snapshot)
          and pg_visible_in_snapshot(coalesce(f.recorded_by, f.writer), pg_current_snapshot())
        order by f.at desc, f.subject limit q.changes_limit + 1)
      union all
      (select o.* from ${orders} and not ${isInLog} and o.updated_at > q.changed_after ${newest})
    ) o ${newest}`;
}
