/** What the owner's console reads: an owner's agents and their days, and the equity of wallets over time. */
import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SolanaAddress } from '@bellwether/protocol';
import type { WalletAddress } from '../domain/records.ts';
import { ms, only, type Sql } from '../platform/database/connection.ts';
import type { AgentsRow, DailyResultsRow, EquityPointsRow } from '../platform/database/rows.generated.ts';
import { openStatuses } from '../trading/index.ts';
import { ownersEvmWallets, ownersSolanaWallets } from '../wallets/index.ts';

type AgentOfOwner = Pick<AgentsRow, 'agent_id' | 'description'> & {
  readonly claimed_at: Date;
  readonly last_called_at: Date;
};

type ReachRow = Pick<AgentsRow, 'agent_id'> & {
  readonly wallet: WalletAddress;
  readonly since: Date;
  readonly is_own: boolean;
};

type DayOfAgent = Pick<DailyResultsRow, 'agent_id' | 'realized' | 'fees'> & { readonly day: string };

export const createOwnerReads = (sql: Sql) => ({
  /** Claimed agents, the latest claim first, and how many of all the owner has paused. */
  async agents(
    userId: bigint,
    limit: number,
  ): Promise<{ readonly rows: readonly OwnedAgentRow[]; readonly total: number; readonly paused: number }> {
    const [rows, counts] = await Promise.all([
      sql<AgentOfOwner[]>`
        select a.agent_id, a.description, a.claimed_at,
          (select max(last_called_at) from api_keys k where k.agent_id = a.agent_id) as last_called_at
        from agents a where a.user_id = ${userId} and a.claimed_at is not null
        order by a.claimed_at desc, a.agent_id limit ${limit}`,
      sql<{ total: number; paused: number }[]>`
        select count(*)::int as total, count(*) filter (where s.owner_paused)::int as paused
        from agents a join safeguards s using (agent_id) where a.user_id = ${userId} and a.claimed_at is not null`,
    ]);
    return {
      rows: rows.map((row) => ({
        agentId: row.agent_id,
        description: row.description,
        claimedAt: ms(row.claimed_at),
        lastCalledAt: ms(row.last_called_at),
      })),
      ...only(counts),
    };
  },

  /** Days with a result, of every agent of the owner or of one. */
  async days(userId: bigint, agentId: string | null, since: string): Promise<readonly DayRow[]> {
    const rows = await sql<DayOfAgent[]>`
      select d.agent_id, d.day::text as day, d.realized, d.fees
      from agents a cross join lateral (
        select * from daily_results r where r.agent_id = a.agent_id and r.day >= ${since}::date offset 0) d
      where a.user_id = ${userId} and a.claimed_at is not null
        ${agentId === null ? sql`` : sql`and a.agent_id = ${agentId}`}`;
    return rows.map(({ agent_id, ...row }) => ({ agentId: agent_id, ...row }));
  },

  /** All wallets that are proved to be the owner's, with the accounts that pay for them. */
  async wallets(
    userId: bigint,
  ): Promise<{ readonly evm: readonly Address[]; readonly solana: readonly SolanaAddress[] }> {
    const [evm, solana] = await Promise.all([
      sql<{ address: Address }[]>`select x.address from (${ownersEvmWallets(sql, userId)}) x order by 1`,
      sql<
        { address: SolanaAddress }[]
      >`select x.address from (${ownersSolanaWallets(sql, userId)}) x order by 1`,
    ]);
    return { evm: evm.map(({ address }) => address), solana: solana.map(({ address }) => address) };
  },

  /** Which wallets and accounts are within reach of which agents, and since when; an agent's own come first. */
  async reach(userId: bigint, agentId: string | null = null): Promise<readonly Reach[]> {
    const rows = await sql<ReachRow[]>`
      select a.agent_id, x.address as wallet, min(w.since) as since, bool_or(w.is_own) as is_own
      from agents a join agent_wallets w using (agent_id)
      left join credentials c on c.wallet_address = w.address and c.user_id = a.user_id
      cross join lateral (values (w.address), (c.funder)) x(address)
      where a.user_id = ${userId} and a.claimed_at is not null and (w.is_own or w.granted) and x.address is not null
        ${agentId === null ? sql`` : sql`and a.agent_id = ${agentId}`}
      group by 1, 2 order by 4 desc, 3, 1`;
    return rows.map((row) => ({ agentId: row.agent_id, wallet: row.wallet, since: ms(row.since) }));
  },

  /** Agents that have or had something in a market, the latest claim first. */
  async agentsIn(userId: bigint, conditionId: string, limit: number): Promise<readonly string[]> {
    const rows = await sql<Pick<AgentsRow, 'agent_id'>[]>`
      select a.agent_id from agents a
      where a.user_id = ${userId} and a.claimed_at is not null and (
        exists (select 1 from orders o where o.agent_id = a.agent_id and o.condition_id = ${conditionId}
          and o.status in ${openStatuses(sql)})
        or exists (select 1 from agent_wallets w join positions p on p.wallet = w.address
          where w.agent_id = a.agent_id and p.condition_id = ${conditionId}))
      order by a.claimed_at desc, a.agent_id limit ${limit}`;
    return rows.map((row) => row.agent_id);
  },
});

export interface OwnedAgentRow {
  readonly agentId: string;
  readonly description: string;
  readonly claimedAt: number;
  readonly lastCalledAt: number;
}

/** A wallet within reach of an agent. */
export interface Reach {
  readonly agentId: string;
  readonly wallet: WalletAddress;
  readonly since: number;
}

/** Result of an agent on a UTC day. */
export interface DayRow {
  readonly agentId: string;
  /** As 2026-11-22. */
  readonly day: string;
  readonly realized: Micro;
  readonly fees: Micro;
}

export type OwnerReads = ReturnType<typeof createOwnerReads>;

const STEPS = [5, 60, 1440] as const;
const MINUTE_MS = 60_000;

type Point = Pick<EquityPointsRow, 'at' | 'equity' | 'deposits'> & { readonly wallet: WalletAddress };

const pointOf = ({ at, equity, deposits }: Point) => ({ at: ms(at), equity, deposits });

export const createEquityStore = (sql: Sql) => ({
  /**
   * The next wallets, in the order of their addresses, that hold something or did when their last point was taken.
   * @param after an address, or the empty text
   */
  async next(after: string, limit: number): Promise<readonly WalletAddress[]> {
    // From one wallet to the next by the index: a wallet with many positions costs no more than one with few.
    const follows = (wallet: ReturnType<typeof sql>) => sql`least(
      (select min(p.wallet) from positions p where p.is_held and p.wallet > ${wallet}),
      (select min(w.wallet) from equity_open_wallets w where w.wallet > ${wallet}))`;
    const rows = await sql<Pick<Point, 'wallet'>[]>`
      with recursive walk as (
        select ${follows(sql`${after}::text`)} as wallet, 1 as nth
        union all
        select ${follows(sql`walk.wallet`)}, nth + 1 from walk where wallet is not null and nth < ${limit}::int
      ) select wallet from walk where wallet is not null`;
    return rows.map(({ wallet }) => wallet);
  },

  /** P&L before fees and fees of all that was ever traded, by wallet; a wallet without a trade is missing. */
  async results(
    wallets: readonly WalletAddress[],
  ): Promise<ReadonlyMap<WalletAddress, { readonly realized: Micro; readonly fees: Micro }>> {
    const rows = await sql<{ wallet: WalletAddress; realized: bigint; fees: bigint }[]>`
      select wallet, sum(realized)::bigint as realized, sum(fees)::bigint as fees
      from positions where wallet = any(${[...wallets]}::text[]) group by wallet`;
    return new Map(rows.map(({ wallet, ...sums }) => [wallet, sums]));
  },

  /** The newest point of each wallet that has one. */
  async latest(wallets: readonly WalletAddress[]): Promise<ReadonlyMap<WalletAddress, EquityPoint>> {
    const rows = await sql<Point[]>`
      select x.* from unnest(${[...wallets]}::text[]) as q(wallet) cross join lateral (
        select p.wallet, p.at, p.equity, p.deposits from unnest(${[...STEPS]}::smallint[]) as s(step)
        cross join lateral (select * from equity_points e where e.wallet = q.wallet and e.step = s.step
          order by e.span desc limit 1) p
        order by p.at desc limit 1) x`;
    return new Map(rows.map((row) => [row.wallet, pointOf(row)]));
  },

  /** The last point of each wallet before a time. */
  async lastBefore(
    wallets: readonly WalletAddress[],
    at: number,
  ): Promise<ReadonlyMap<WalletAddress, EquityPoint>> {
    const rows = await sql<Point[]>`
      select x.* from unnest(${[...wallets]}::text[]) as q(wallet) cross join lateral (
        select p.wallet, p.at, p.equity, p.deposits from unnest(${[...STEPS]}::smallint[]) as s(step)
        cross join lateral (select * from equity_points e where e.wallet = q.wallet and e.step = s.step
          and e.span < ${new Date(at)} and e.at < ${new Date(at)} order by e.span desc limit 1) p
        order by p.at desc limit 1) x`;
    return new Map(rows.map((row) => [row.wallet, pointOf(row)]));
  },

  /** Keeps for ever what wallets had when they were seen first, of those of which no deposit is known. */
  async noteFirstSeen(points: readonly WalletPoint[]): Promise<void> {
    if (points.length === 0) return;
    await sql`
      insert into wallet_deposits (wallet, at, amount, reason)
      select q.wallet, least(q.at, (select min(filled_at) from fills f where f.wallet = q.wallet)),
        q.deposits + coalesce((select sum(amount) from fee_charges c where c.from_address = q.wallet and c.status = 'landed'), 0),
        'first_seen'
      from unnest(${points.map(({ wallet }) => wallet)}::text[], ${points.map(({ at }) => new Date(at))}::timestamptz[],
        ${points.map(({ deposits }) => deposits.toString())}::bigint[]) as q(wallet, at, deposits)
      where not exists (select 1 from wallet_deposits d where d.wallet = q.wallet)
      on conflict do nothing`;
  },

  /** Adds a point to every step. `isOpen`: the wallet holds something. */
  async record(points: readonly (WalletPoint & { readonly isOpen: boolean })[]): Promise<void> {
    if (points.length === 0) return;
    const rows = points.flatMap((point) =>
      STEPS.map((step) => {
        const spanMs = step * MINUTE_MS;
        return { ...point, step, span: Math.floor(point.at / spanMs) * spanMs };
      }),
    );
    await sql`
      insert into equity_points (wallet, step, span, at, equity, deposits)
      select * from unnest(${rows.map(({ wallet }) => wallet)}::text[], ${rows.map(({ step }) => step)}::smallint[],
        ${rows.map(({ span }) => new Date(span))}::timestamptz[], ${rows.map(({ at }) => new Date(at))}::timestamptz[],
        ${rows.map(({ equity }) => equity.toString())}::bigint[], ${rows.map(({ deposits }) => deposits.toString())}::bigint[])
      on conflict (wallet, step, span) do update
        set at = excluded.at, equity = excluded.equity, deposits = excluded.deposits where equity_points.at <= excluded.at`;
    const wallets = (isOpen: boolean) =>
      points.filter((point) => point.isOpen === isOpen).map(({ wallet }) => wallet);
    await sql`insert into equity_open_wallets select unnest(${wallets(true)}::text[]) on conflict do nothing`;
    await sql`delete from equity_open_wallets where wallet = any(${wallets(false)}::text[])`;
  },

  /** Deletes at most `most` points of a step that are older. */
  async forget(step: EquityStep, before: number, most: number): Promise<void> {
    await sql`delete from equity_points where ctid = any(array(
      select ctid from equity_points where step = ${step}::smallint and span < ${new Date(before)} limit ${most}))`;
  },

  /** Points since a time, oldest first, and of each wallet the last one before it. */
  async since(
    wallets: readonly WalletAddress[],
    step: EquityStep,
    from: number,
  ): Promise<readonly WalletPoint[]> {
    const rows = await sql<Point[]>`
      select q.wallet, p.at, p.equity, p.deposits from unnest(${[...wallets]}::text[]) as q(wallet) cross join lateral (
        (select b.* from unnest(${[...STEPS]}::smallint[]) as s(step) cross join lateral (
            select e.at, e.equity, e.deposits from equity_points e
            where e.wallet = q.wallet and e.step = s.step and e.span < ${new Date(from)} and e.at < ${new Date(from)}
            order by e.span desc limit 1) b
          order by b.at desc limit 1)
        union all
        (select e.at, e.equity, e.deposits from equity_points e
          where e.wallet = q.wallet and e.step = ${step}::smallint and e.span >= ${new Date(from - step * MINUTE_MS)}
            and e.at >= ${new Date(from)})) p
      order by p.at`;
    return rows.map((row) => ({ wallet: row.wallet, ...pointOf(row) }));
  },
});

export interface EquityPoint {
  readonly at: number;
  readonly equity: Micro;
  /** Paid in less taken out until then. */
  readonly deposits: Micro;
}

export interface WalletPoint extends EquityPoint {
  readonly wallet: WalletAddress;
}

/** Minutes between points. */
export type EquityStep = 5 | 60 | 1440;

export type EquityStore = ReturnType<typeof createEquityStore>;
