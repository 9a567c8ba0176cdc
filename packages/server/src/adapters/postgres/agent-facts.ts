/**
 * One statement for a heartbeat, one for the check before a trade.
 *
 * "Changed since" has to be exact: a change has a time, but its commit follows a moment later, and a reader in between
 * must neither miss it in the next read nor get it twice. So a cursor holds the database snapshot of the read, and the
 * next read takes the facts of transactions that this snapshot did not contain, each order once and in its current state.
 * Times only limit how far back the log is read: `CHANGE_MARGIN_MS` covers slow commits and clock differences.
 */
import type { Address, SolanaAddress } from '@bellwether/protocol';
import type {
  AgentFacts,
  BriefingFacts,
  BriefingQuestion,
  ContextFacts,
  DoubtTimes,
  OpenOrders,
} from '../../ports/agent-facts.ts';
import type { Caller, PositionRow, WalletAddress } from '../../ports/stores.ts';
import type { Fragment, Sql } from './connection.ts';
import { type LimitsRow, limitColumns, limitFacts, limitsOf } from './limits.ts';
import { openStatuses } from './open-statuses.ts';
import { evmWallets, isReachable, solanaWallets } from './reachable-wallets.ts';
import type { AgentsRow, OrdersRow, PositionsRow, TradedMarketsRow } from './rows.generated.ts';
import { type AsJson, msOrNull, orderFromJson } from './rows.ts';

const CHANGE_MARGIN_MS = 60_000;
/** Orders named in an alert; its count covers all of them. */
const NAMED_ORDERS = 5;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function createAgentFacts(sql: Sql): AgentFacts {
  const open = sql`status in ${openStatuses(sql)}`;

  /** The requested wallet with the account that pays for it, else all within the agent's reach. */
  const walletsOfEvm = (caller: Pick<Caller, 'agentId' | 'userId'>, user: WalletAddress | null) =>
    user === null
      ? sql`select array_agg(x.address order by x.address) as wallets from (${evmWallets(sql, caller)}) x`
      : sql`select array_agg(distinct y.address) as wallets from (${evmWallets(sql, caller)}) x
          left join credentials c on c.wallet_address = x.address
          cross join lateral (values (x.address), (c.funder)) y(address)
          where x.address = ${user} and y.address is not null`;

  /** Venue credentials, those of the requested or named wallet first. Expects the agent's row as `a`. */
  const credential = ({ agentId, userId }: Pick<Caller, 'agentId' | 'userId'>, user: WalletAddress | null) =>
    sql`select c.funder, c.eoa from credentials c
      where c.user_id = ${userId} and ${isReachable(sql, agentId, sql`c.wallet_address`)}
        ${user === null ? sql`` : sql`and ${user} in (c.wallet_address, c.funder)`}
      order by c.wallet_address = coalesce(${user}, a.wallet_address) desc nulls last, c.registered_at desc limit 1`;

  /** The same for Solana wallets. */
  const walletsOfSolana = (caller: Pick<Caller, 'agentId' | 'userId'>, user: WalletAddress | null) =>
    sql`select array_agg(x.address order by x.address) as wallets from (${solanaWallets(sql, caller)}) x
      ${user === null ? sql`` : sql`where x.address = ${user}`}`;

  const walletsOf = { evm: walletsOfEvm, solana: walletsOfSolana };

  /** Orders that wait for an answer for longer than their venue needs. */
  const inDoubt = ({ doubtBefore }: DoubtTimes): Fragment => sql`(status = 'unknown' or (status = 'submitting'
      and created_at < case kind when 'quoted' then ${new Date(doubtBefore.quoted)}::timestamptz
                                 else ${new Date(doubtBefore.signed)}::timestamptz end))`;

  const positionColumns = sql`jsonb_agg(jsonb_build_object('wallet', p.wallet, 'condition_id', p.condition_id,
    'venue', (select m.venue from traded_markets m where m.condition_id = p.condition_id),
    'token_id', p.token_id, 'outcome', p.outcome, 'size', p.size::text, 'cost', p.cost::text,
    'realized', p.realized::text, 'fees', p.fees::text, 'bought_size', p.bought_size::text,
    'bought_cost', p.bought_cost::text))`;

  /** Money as text: JSON numbers cannot hold it. */
  const changeColumns = sql`jsonb_agg((to_jsonb(o) - 'journal') || jsonb_build_object('user_id', o.user_id::text,
    'shares', o.shares::text, 'money', o.money::text, 'filled', o.filled::text, 'cost', o.cost::text,
    'fees', o.fees::text, 'fee_amount', o.fee_amount::text, 'reserved_amount', o.reserved_amount::text) order by o.updated_at desc, o.order_id)`;

  return {
    async briefing(question) {
      const { caller, user, at } = question;
      const day = dayOf(at);
      const [row] = await sql<BriefingRow[]>`
        select s.*, ${limitColumns(sql)}, a.claimed_at as agent_claimed_at, a.name as agent_name, a.wallet_address as agent_wallet,
          a.sol_address as agent_sol, w.wallets, v.wallets as solana_wallets, p.positions,
          exists (${credential(caller, user)}) as has_credentials, g.groups, c.changed,
          (select max(updated_at) from orders where agent_id = ${caller.agentId}) as last_change_at,
          pg_current_snapshot()::text as snapshot
        from agents a join safeguards s on s.agent_id = a.agent_id ${limitFacts(sql, day)}
        left join lateral (${walletsOf.evm(caller, user)}) w on true
        left join lateral (${walletsOf.solana(caller, user)}) v on true
        left join lateral (select ${positionColumns} as positions from positions p
          where p.is_held and p.wallet = any(w.wallets || v.wallets)) p on true
        left join lateral (select jsonb_agg(to_jsonb(m)) as groups from (
          select condition_id, min(venue) as venue, min(market_id) as market_id, count(*)::int as count,
            (array_agg(order_id order by created_at) filter (where status not in ('submitting', 'unknown')
              and created_at < ${new Date(question.staleBefore)}))[1:${NAMED_ORDERS}::int] as stale,
            count(*) filter (where status not in ('submitting', 'unknown')
              and created_at < ${new Date(question.staleBefore)})::int as stale_count,
            (array_agg(order_id) filter (where ${inDoubt(question)}))[1:${NAMED_ORDERS}::int] as in_doubt,
            count(*) filter (where ${inDoubt(question)})::int as in_doubt_count
          from orders where agent_id = ${caller.agentId} and ${open} group by condition_id) m) g on true
        left join lateral (select ${changeColumns} as changed from (${changes(question)}) o) c on true
        where a.agent_id = ${caller.agentId}`;
      if (row === undefined) throw new Error('the calling agent has no row');
      return briefingFacts(row);
    },

    async context(question) {
      const { caller, user, conditionId, family } = question;
      const [row] = await sql<ContextRow[]>`
        select a.claimed_at as agent_claimed_at, w.wallets, f.funder, f.eoa as signer, p.positions, g.count, g.in_doubt,
          g.market_id, g.venue
        from agents a
        left join lateral (${walletsOf[family](caller, user)}) w on true
        left join lateral (${
          family === 'evm'
            ? credential(caller, user)
            : sql`select coalesce(${user}, a.sol_address, w.wallets[1]) as funder,
                coalesce(${user}, a.sol_address, w.wallets[1]) as eoa`
        }) f on true
        left join lateral (select ${positionColumns} as positions from positions p
          where p.is_held and p.wallet = any(w.wallets) and p.condition_id = ${conditionId}) p on true
        left join lateral (
          select count(*)::int as count, min(market_id) as market_id, min(venue) as venue,
            (array_agg(order_id) filter (where ${inDoubt(question)})) as in_doubt
          from orders where agent_id = ${caller.agentId} and condition_id = ${conditionId} and ${open}) g on true
        where a.agent_id = ${caller.agentId}`;
      if (row === undefined) throw new Error('the calling agent has no row');
      return contextFacts(row, conditionId);
    },
  };

  /** The newest changes after a time, without those that an earlier snapshot contained. */
  function changes(question: BriefingQuestion) {
    const { caller, changedAfter, notIn, changesLimit, venue } = question;
    const orders = sql`orders o where o.agent_id = ${caller.agentId} ${venue === null ? sql`` : sql`and o.venue = ${venue}`}`;
    const newest = sql`order by o.updated_at desc, o.order_id limit ${changesLimit + 1}::int`;
    if (changedAfter === null) return sql`select o.* from ${orders} ${newest}`;
    if (notIn === null)
      return sql`select o.* from ${orders} and o.updated_at > ${new Date(changedAfter)} ${newest}`;
    const after = sql`${new Date(changedAfter - CHANGE_MARGIN_MS)}::timestamptz`;
    // A cursor's snapshot may be newer than a restored database, or older than the log: then only its time is used, and
    // changes from about that time are repeated.
    const isInLog = sql`(select l.kept_since <= ${after}
      and pg_snapshot_xmax(${notIn}::pg_snapshot) <= pg_snapshot_xmax(pg_current_snapshot()) from fact_log l)`;
    return sql`
      select * from (
        (select distinct on (f.at, f.subject) o.* from facts f cross join lateral (
            select * from ${orders} and o.order_id = f.subject and o.updated_at = f.at offset 0) o
          where ${isInLog} and f.agent_id = ${caller.agentId} and f.kind = 'order' and f.at > ${after}
            and not pg_visible_in_snapshot(f.writer, ${notIn}::pg_snapshot)
            and pg_visible_in_snapshot(f.writer, pg_current_snapshot())
          order by f.at desc, f.subject limit ${changesLimit + 1}::int)
        union all
        (select o.* from ${orders} and not ${isInLog} and o.updated_at > ${after} ${newest})
      ) o ${newest}`;
  }
}

/** A position with its market's venue, as JSON. */
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

/** Open orders of one market, added up. */
interface OpenOrdersJson extends Pick<OrdersRow, 'venue' | 'condition_id' | 'market_id'> {
  readonly count: number;
  readonly stale: string[] | null;
  readonly stale_count: number;
  readonly in_doubt: string[] | null;
  readonly in_doubt_count: number;
}

type BriefingRow = LimitsRow & {
  readonly agent_claimed_at: AgentsRow['claimed_at'];
  readonly agent_name: AgentsRow['name'];
  readonly agent_wallet: AgentsRow['wallet_address'];
  readonly agent_sol: AgentsRow['sol_address'];
  readonly wallets: Address[] | null;
  readonly solana_wallets: SolanaAddress[] | null;
  readonly positions: PositionJson[] | null;
  readonly has_credentials: boolean;
  readonly groups: OpenOrdersJson[] | null;
  readonly changed: AsJson<Omit<OrdersRow, 'journal'>>[] | null;
  readonly last_change_at: Date | null;
  readonly snapshot: string;
};

type ContextRow = {
  readonly agent_claimed_at: AgentsRow['claimed_at'];
  readonly wallets: WalletAddress[] | null;
  readonly funder: WalletAddress | null;
  readonly signer: WalletAddress | null;
  readonly positions: PositionJson[] | null;
  readonly in_doubt: string[] | null;
} & (
  | { readonly count: 0; readonly venue: null; readonly market_id: null }
  | ({ readonly count: number } & Pick<OrdersRow, 'venue' | 'market_id'>)
);

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
  limits: limitsOf(row),
  positions: positionsOf(row.positions),
  openOrders: (row.groups ?? []).map(openOrders),
  changed: (row.changed ?? []).map(orderFromJson),
  lastChangeAt: msOrNull(row.last_change_at),
  snapshot: row.snapshot,
});

function openOrdersIn(conditionId: string, row: ContextRow): OpenOrders | null {
  if (row.venue === null) return null;
  return openOrders({
    ...row,
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
});
