import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SolanaAddress } from '@bellwether/protocol';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Sql } from '../platform/database/connection.ts';
import type { AgentsRow, DailyResultsRow } from '../platform/database/rows.generated.ts';
import { ms, only } from '../platform/database/rows.ts';
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
