/** Facts that the briefing and the context of a market read from the database: one statement for many agents who ask at once. And whose risk alerts are looked at. */
import type { Briefing } from '@bellwether/contract';
import type { Address, SolanaAddress } from '@bellwether/protocol';
import { type Limits, type LimitsRow, limitColumns, limitFacts, limitsOf } from '../agents/index.ts';
import type { inDoubtBefore } from '../domain/lifecycle.ts';
import type {
  ActingAgent,
  AddressFamily,
  ListedOrder,
  PositionRow,
  Standing,
  WalletAddress,
} from '../domain/records.ts';
import type { RepeatedRefusal, Silence } from '../domain/risk-alerts.ts';
import { utcDay } from '../domain/safeguards.ts';
import { type AsJson, type Fragment, ms, msOrNull, type Sql } from '../platform/database/connection.ts';
import {
  type Answering,
  type AskTogether,
  asRows,
  byShape,
  groupReads,
} from '../platform/database/grouped-reads.ts';
import type {
  AgentsRow,
  OrdersRow,
  PositionsRow,
  TradedMarketsRow,
} from '../platform/database/rows.generated.ts';
import { LISTED_JSON_COLUMNS, type ListedJson, listedOrderFromJson, openStatuses } from '../trading/index.ts';
import { evmWallets, isReachable, solanaWallets } from '../wallets/index.ts';

/** The agent's own open orders in one market. */
export interface OpenOrders {
  readonly venue: string;
  readonly conditionId: string;
  readonly marketId: string;
  readonly count: number;
  /** Open for longer than asked about, oldest first; at most a few. */
  readonly stale: readonly string[];
  readonly staleCount: number;
  /** Their outcome is not known yet; at most a few. */
  readonly inDoubt: readonly string[];
  readonly inDoubtCount: number;
}

/** As it is shown. */
type OpenApproval = Briefing['approvals'][number];

export interface BriefingFacts {
  readonly name: string;
  readonly claimed: boolean;
  /** The one that the agent registered last. */
  readonly walletAddress: Address | null;
  readonly solAddress: SolanaAddress | null;
  /**
   * The requested wallet, else all wallets within the agent's reach: EVM wallets with the accounts that pay for them,
   * and proved Solana wallets. Empty when there are none.
   */
  readonly wallets: { readonly evm: readonly Address[]; readonly solana: readonly SolanaAddress[] };
  /** The agent may place signed orders: one of the EVM wallets has venue credentials. */
  readonly hasCredentials: boolean;
  /** It has left guarded exits, ended ones among them. */
  readonly hasExits: boolean;
  readonly limits: Limits;
  readonly silence: Silence | null;
  /** See `RiskFacts`. */
  readonly away: string | null;
  readonly repeatedRefusal: RepeatedRefusal | null;
  /** Positions of the wallets. */
  readonly positions: readonly PositionRow[];
  readonly openOrders: readonly OpenOrders[];
  /** Waiting for the owner, or approved and not sent yet; newest first. */
  readonly approvals: readonly OpenApproval[];
  /** Changed since then, latest change first; one more than requested when there are more. */
  readonly changed: readonly ListedOrder[];
  /** When an order of the agent last changed, on any venue; `null`: it has none. */
  readonly lastChangeAt: number | null;
  /** The database snapshot that this answer was read from. */
  readonly snapshot: string;
}

/** Orders submitted before this time that have no answer are in doubt. */
interface DoubtTimes {
  readonly doubtBefore: ReturnType<typeof inDoubtBefore>;
}

interface BriefingQuestion extends DoubtTimes {
  readonly caller: ActingAgent;
  readonly user: WalletAddress | null;
  readonly at: number;
  /** Open orders created before this time are stale. */
  readonly staleBefore: number;
  /** Only changes of this venue's orders. */
  readonly venue: string | null;
  /** `null`: the latest changes, whenever they were. */
  readonly changedAfter: number | null;
  /** Leaves out what an earlier answer's snapshot contained. */
  readonly notIn: string | null;
  readonly changesLimit: number;
}

export interface ContextFacts {
  /** The requested wallet, else all of the family within the agent's reach; Solana wallets only if proved. */
  readonly wallets: readonly WalletAddress[];
  /**
   * The account that pays for the requested wallet, else for the wallet in the agent's profile; a Solana wallet even if it
   * is not proved. `null`: no credentials are registered for the EVM wallet.
   */
  readonly funder: WalletAddress | null;
  /** The wallet's key. */
  readonly signer: WalletAddress | null;
  readonly claimed: boolean;
  /** Positions of the wallets in the market. */
  readonly positions: readonly PositionRow[];
  /** The agent's own orders in the market. */
  readonly openOrders: OpenOrders | null;
  /**
   * Standing by which a trade of the proved wallet in the market would be judged; without a proved wallet, the agent's own part of
   * it. `null` where other owners' locks bind the wallet: the trade ledger knows what they leave.
   */
  readonly standing: Standing | null;
  /** Guarded exits of the agent, in all markets, that have not ended. */
  readonly openExits: number;
}

interface ContextQuestion extends DoubtTimes {
  readonly caller: ActingAgent;
  /** The address family of the wallets that trade the market. */
  readonly family: AddressFamily;
  readonly user: WalletAddress | null;
  readonly conditionId: string;
  /** [YES, NO] of the market. */
  readonly tokenIds: readonly [string, string];
  readonly at: number;
}

// One statement for the heartbeats of many agents, one for their checks before a trade.

export function createAgentFacts(sql: Sql) {
  const briefings = byShape(shapeOf, (shape) => groupReads(askBriefing(sql, shape)));
  const contexts = byShape(
    ({ family, user }: ContextQuestion) => ({ family, isAsked: user !== null }),
    (shape) => groupReads(askContext(sql, shape)),
  );
  return {
    async briefing(question: BriefingQuestion): Promise<BriefingFacts> {
      const [row] = await briefings(question);
      if (row === undefined) throw new Error('the calling agent has no row');
      return briefingFacts(row);
    },

    async context(question: ContextQuestion): Promise<ContextFacts> {
      const [row] = await contexts(question);
      if (row === undefined) throw new Error('the calling agent has no row');
      return contextFacts(row, question.conditionId);
    },
  };
}

const positionsOf = (rows: readonly PositionJson[] | null): PositionRow[] =>
  (rows ?? []).map((row) => ({
    wallet: row.wallet,
    venue: row.venue,
    conditionId: row.condition_id,
    tokenId: row.token_id,
    outcome: row.outcome,
    size: BigInt(row.size),
    cost: BigInt(row.cost),
    realized: BigInt(row.realized),
    fees: BigInt(row.fees),
    boughtSize: BigInt(row.bought_size),
    boughtCost: BigInt(row.bought_cost),
    closedAt: null,
    // The venue knows every market in which an account holds tokens.
    market: null,
  }));

const openOrders = (row: OpenOrdersJson): OpenOrders => ({
  venue: row.venue,
  conditionId: row.condition_id,
  marketId: row.market_id,
  count: row.count,
  stale: row.stale ?? [],
  staleCount: row.stale_count,
  inDoubt: row.in_doubt ?? [],
  inDoubtCount: row.in_doubt_count,
});

const briefingFacts = (row: BriefingRow): BriefingFacts => ({
  name: row.agent_name,
  claimed: row.agent_claimed_at !== null,
  walletAddress: row.agent_wallet,
  solAddress: row.agent_sol,
  wallets: { evm: row.wallets ?? [], solana: row.solana_wallets ?? [] },
  hasCredentials: row.has_credentials,
  hasExits: row.has_exits,
  limits: limitsOf(row),
  silence: row.silent_at === null ? null : { at: ms(row.silent_at), orders: row.silent_orders ?? 0 },
  away: row.away,
  repeatedRefusal: row.repeated_refusal,
  positions: positionsOf(row.positions),
  openOrders: (row.groups ?? []).map(openOrders),
  approvals: row.approvals ?? [],
  changed: (row.changed ?? []).map(listedOrderFromJson),
  lastChangeAt: msOrNull(row.last_change_at),
  snapshot: row.snapshot,
});

function openOrdersIn(conditionId: string, row: ContextRow): OpenOrders | null {
  if (row.venue === null) return null;
  return openOrders({
    ...{ venue: row.venue, market_id: row.market_id, count: row.count, in_doubt: row.in_doubt },
    condition_id: conditionId,
    stale: null,
    stale_count: 0,
    in_doubt_count: (row.in_doubt ?? []).length,
  });
}

const contextFacts = (row: ContextRow, conditionId: string): ContextFacts => ({
  wallets: row.wallets ?? [],
  funder: row.funder,
  signer: row.signer,
  claimed: row.agent_claimed_at !== null,
  positions: positionsOf(row.positions),
  openOrders: openOrdersIn(conditionId, row),
  standing: standingOf(row),
  openExits: row.open_exits,
});

export type AgentFacts = ReturnType<typeof createAgentFacts>;

// Fragments of statements that many agents ask together: each question is a row `q` with the columns `agent_id`, `user_id`
// and `asked_wallet`, and its agent a row `a`.
//
// Every part is a lateral subquery with `offset 0`, which is planned by itself: the planner cannot join it the other way
// round and walk a table, however small the table was when the plan was made.

interface Asker {
  readonly caller: ActingAgent;
  readonly user: WalletAddress | null;
}

/** The columns that every question has, as arrays for `unnest`. */
const askers = (sql: Sql, questions: readonly Asker[]): Fragment =>
  sql`${questions.map(({ caller }) => caller.agentId)}::uuid[], ${questions.map(({ caller }) => caller.userId)}::bigint[],
    ${questions.map(({ user }) => user)}::text[]`;

/** The same of the times from which on an order without an answer is in doubt: `signed_before`, `quoted_before`. */
const doubtTimes = (sql: Sql, questions: readonly DoubtTimes[]): Fragment =>
  sql`${questions.map(({ doubtBefore }) => new Date(doubtBefore.signed))}::timestamptz[],
    ${questions.map(({ doubtBefore }) => new Date(doubtBefore.quoted))}::timestamptz[]`;

function askedWallets(sql: Sql) {
  const reader = { agentId: sql`q.agent_id`, userId: sql`q.user_id` };

  /** The requested wallet with the account that pays for it, else all within the agent's reach. */
  const evm = (isAsked: boolean): Fragment =>
    isAsked
      ? sql`select array_agg(distinct y.address) as wallets from (${evmWallets(sql, reader)}) x
          left join credentials c on c.wallet_address = x.address
          cross join lateral (values (x.address), (c.funder)) y(address)
          where x.address = q.asked_wallet and y.address is not null`
      : sql`select array_agg(x.address order by x.address) as wallets from (${evmWallets(sql, reader)}) x`;

  /** The same for Solana wallets. */
  const solana = (isAsked: boolean): Fragment =>
    sql`select array_agg(x.address order by x.address) as wallets from (${solanaWallets(sql, reader)}) x
      ${isAsked ? sql`where x.address = q.asked_wallet` : sql``}`;

  return {
    of: { evm, solana } satisfies Record<AddressFamily, (isAsked: boolean) => Fragment>,

    /** Venue credentials, those of the requested or named wallet first. */
    credential: (isAsked: boolean): Fragment =>
      sql`select c.funder, c.eoa from credentials c
        where c.user_id = q.user_id and ${isReachable(sql, reader.agentId, sql`c.wallet_address`)}
          ${isAsked ? sql`and q.asked_wallet in (c.wallet_address, c.funder)` : sql``}
        order by c.wallet_address = coalesce(q.asked_wallet, a.wallet_address) desc nulls last, c.registered_at desc limit 1`,
  };
}

/** Whether an order waits for an answer for longer than its venue needs. */
const inDoubt = (sql: Sql): Fragment => sql`(status = 'unknown' or (status = 'submitting'
  and created_at < case kind when 'quoted' then q.quoted_before else q.signed_before end))`;

/** Positions, each with its market's venue, as a list of {@link PositionJson}. */
const positionColumns = (
  sql: Sql,
): Fragment => sql`json_agg(json_build_object('wallet', p.wallet, 'condition_id', p.condition_id,
  'venue', (select m.venue from traded_markets m where m.condition_id = p.condition_id),
  'token_id', p.token_id, 'outcome', p.outcome, 'size', p.size::text, 'cost', p.cost::text,
  'realized', p.realized::text, 'fees', p.fees::text, 'bought_size', p.bought_size::text,
  'bought_cost', p.bought_cost::text))`;

type PositionJson = AsJson<
  Pick<
    PositionsRow,
    | 'wallet'
    | 'condition_id'
    | 'token_id'
    | 'outcome'
    | 'size'
    | 'cost'
    | 'realized'
    | 'fees'
    | 'bought_size'
    | 'bought_cost'
  >
> & { readonly venue: TradedMarketsRow['venue'] };

// The heartbeat: one statement for any length of history.
//
// "Changed since" has to be exact: a change has a time, but its commit follows a moment later, and a reader in between
// must neither miss it in the next read nor get it twice. So a cursor holds the database snapshot of the read, and the
// next read takes the facts of transactions that this snapshot did not contain, each order once and in its current state.
// Times only limit how far back the log is read: `CHANGE_MARGIN_MS` covers slow commits and clock differences.

const CHANGE_MARGIN_MS = 60_000;
/** Orders named in an alert; its count covers all of them. */
const NAMED_ORDERS = 5;

/** Open orders of one market, added up. */
interface OpenOrdersJson extends Pick<OrdersRow, 'venue' | 'condition_id' | 'market_id'> {
  readonly count: number;
  readonly stale: string[] | null;
  readonly stale_count: number;
  readonly in_doubt: string[] | null;
  readonly in_doubt_count: number;
}

type BriefingRow = Answering &
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
interface BriefingShape {
  /** The questions name a wallet. */
  readonly isAsked: boolean;
  /** They name a venue. */
  readonly ofVenue: boolean;
  readonly changes: 'latest' | 'since a time' | 'since a snapshot';
}

const shapeOf = ({ user, venue, changedAfter, notIn }: BriefingQuestion): BriefingShape => ({
  isAsked: user !== null,
  ofVenue: venue !== null,
  changes: changedAfter === null ? 'latest' : notIn === null ? 'since a time' : 'since a snapshot',
});

function askBriefing(sql: Sql, shape: BriefingShape): AskTogether<BriefingQuestion, BriefingRow> {
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

// The check before a trade: what the agent holds and has open in one market, and what a trade there would be judged by.

type ContextRow = Answering &
  LimitsRow & {
    readonly agent_claimed_at: AgentsRow['claimed_at'];
    readonly wallets: WalletAddress[] | null;
    readonly funder: WalletAddress | null;
    readonly signer: WalletAddress | null;
    readonly positions: PositionJson[] | null;
    readonly in_doubt: string[] | null;
    readonly position_value: bigint;
    readonly open_orders: number;
    readonly is_restricted: boolean;
  } & (
    | { readonly count: 0; readonly venue: null; readonly market_id: null }
    | ({ readonly count: number } & Pick<OrdersRow, 'venue' | 'market_id'>)
  );

interface ContextShape {
  readonly family: AddressFamily;
  /** The questions name a wallet. */
  readonly isAsked: boolean;
}

/** The figures of a trade are those of functions/standing.sql, as the trade's own statements read them. */
function askContext(sql: Sql, { family, isAsked }: ContextShape): AskTogether<ContextQuestion, ContextRow> {
  const wallets = askedWallets(sql);
  const doubtful = inDoubt(sql);
  const open = sql`status in ${openStatuses(sql)}`;
  const columns = positionColumns(sql);
  const ofWallet =
    family === 'evm'
      ? wallets.credential(isAsked)
      : sql`select coalesce(q.asked_wallet, a.sol_address, w.wallets[1]) as funder,
          coalesce(q.asked_wallet, a.sol_address, w.wallets[1]) as eoa`;
  // The answer shows only public facts of a wallet that was named and not proven.
  const isProved = family === 'evm' ? sql`true` : sql`f.funder = any(w.wallets)`;
  return (questions) => sql<ContextRow[]>`
    select q.nth::integer as nth, s.*, ${limitColumns(sql)}, a.claimed_at as agent_claimed_at, w.wallets,
      f.funder, f.eoa as signer, p.positions, g.count, g.in_doubt, g.market_id, g.venue,
      v.value as position_value, o.count as open_orders,
      (select true from restrictions_by(e.signer, q.agent_id) limit 1) is not null as is_restricted
    from ${asRows(
      sql,
      sql`${askers(sql, questions)}, ${doubtTimes(sql, questions)},
        ${questions.map(({ conditionId }) => conditionId)}::text[],
        ${questions.map(({ tokenIds }) => tokenIds[0])}::text[], ${questions.map(({ tokenIds }) => tokenIds[1])}::text[],
        ${questions.map(({ at }) => utcDay(at))}::date[]`,
      'agent_id, user_id, asked_wallet, signed_before, quoted_before, condition_id, yes_token, no_token, today',
      questions.length,
    )}
    cross join lateral (select * from agents where agent_id = q.agent_id offset 0) a
    cross join lateral (select * from safeguards where agent_id = q.agent_id offset 0) s
    left join lateral (${wallets.of[family](isAsked)} offset 0) w on true
    left join lateral (select * from (${ofWallet}) f offset 0) f on true
    cross join lateral (select case when ${isProved} then f.funder end as account,
      case when ${isProved} then f.eoa end as signer offset 0) e
    left join lateral (select ${columns} as positions from positions p
      where p.is_held and p.wallet = any(w.wallets) and p.token_id in (q.yes_token, q.no_token) offset 0) p on true
    left join lateral (
      select count(*)::int as count, min(market_id) as market_id, min(venue) as venue,
        (array_agg(order_id) filter (where ${doubtful})) as in_doubt
      from orders where agent_id = q.agent_id and condition_id = q.condition_id and ${open} offset 0) g on true
    cross join lateral (select greatest(s.usage_day, q.today) as day offset 0) t
    ${limitFacts(sql, sql`t.day`)}
    cross join lateral open_orders(q.agent_id, true) o
    cross join lateral position_value(q.agent_id, coalesce(e.account, ''), array[q.yes_token, q.no_token], q.condition_id) v`;
}

function standingOf(row: ContextRow): Standing | null {
  if (row.is_restricted) return null;
  const { usage, realizedToday, openExits: _, ...safeguards } = limitsOf(row);
  return {
    claimed: row.agent_claimed_at !== null,
    safeguards,
    usage,
    realizedToday,
    positionValue: row.position_value,
    openOrders: row.open_orders,
    restrictions: [],
  };
}

// Whose risk alerts are looked at, and which of them stand.

/** A stream that stays open is noted again this much later: most turns write nothing. */
const NOTE_AGAIN_AFTER_MS = 3_600_000;

export const createRiskWatches = (sql: Sql) => ({
  /** Streams of these agents are open, and may be resumed until then. */
  async listen(agents: readonly string[], until: number): Promise<void> {
    if (agents.length === 0) return;
    await sql`insert into risk_watches as w (agent_id, listened_until)
      select agent_id, ${new Date(until)} from unnest(${agents as string[]}::uuid[]) as t(agent_id) order by agent_id
      on conflict (agent_id) do update set listened_until = excluded.listened_until
      where w.listened_until < ${new Date(until - NOTE_AGAIN_AFTER_MS)}`;
  },

  /**
   * At most `limit` agents whose risks were last checked before `dueBefore`, the one that waited longest first. Another caller gets
   * others.
   */
  async claim({
    at,
    dueBefore,
    limit,
  }: {
    readonly at: number;
    readonly dueBefore: number;
    readonly limit: number;
  }): Promise<readonly ActingAgent[]> {
    await sql`insert into risk_watches (agent_id, listened_until)
      select distinct e.agent_id, '-infinity'::timestamptz from webhook_endpoints e
      where e.enabled and e.events && array['*', 'risk']
        and not exists (select 1 from risk_watches w where w.agent_id = e.agent_id)
      on conflict do nothing`;
    const rows = await sql<Pick<AgentsRow, 'agent_id' | 'user_id'>[]>`
      update risk_watches w set watched_at = ${new Date(at)} from agents a
      where a.agent_id = w.agent_id and w.agent_id = any(array(
        select agent_id from risk_watches where watched_at <= ${new Date(dueBefore)}
        order by watched_at limit ${limit} for update skip locked))
      returning a.agent_id, a.user_id`;
    return rows.map((row) => ({ agentId: row.agent_id, userId: row.user_id }));
  },

  /** Records which alerts of an agent stand, by name, and logs those that were not there the last time. */
  async raise(
    agentId: string,
    alerts: ReadonlyMap<string, Readonly<Record<string, unknown>>>,
    at: number,
  ): Promise<void> {
    const batch = [...alerts].map(([alert, data]) => ({ alert, data }));
    await sql`
      with standing as (
        select alert, data from jsonb_to_recordset(${sql.json(batch as never)}) as t(alert text, data jsonb)
      ), gone as (
        delete from raised_alerts where agent_id = ${agentId} and alert not in (select alert from standing)
      ), fresh as (
        insert into raised_alerts (agent_id, alert, raised_at)
        select ${agentId}, alert, ${new Date(at)} from standing on conflict do nothing returning alert
      )
      insert into facts (agent_id, kind, subject, at, payload)
      select ${agentId}::uuid, 'risk', alert, ${new Date(at)}, s.data from fresh join standing s using (alert)`;
  },

  /** Forgets agents without a listener. */
  async sweep(at: number): Promise<void> {
    await sql`delete from risk_watches w where w.listened_until < ${new Date(at)} and not exists (
      select 1 from webhook_endpoints e where e.agent_id = w.agent_id and e.enabled and e.events && array['*', 'risk'])`;
    await sql`delete from raised_alerts r where not exists (select 1 from risk_watches w where w.agent_id = r.agent_id)`;
  },
});

export type RiskWatches = ReturnType<typeof createRiskWatches>;
