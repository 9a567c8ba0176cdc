/** An owner's decisions about wallets: which agent may use which, and whether locks still bind wallets that left. */

import { type SettingsColumns, type SettingsRow, settingsRow } from '../agents/index.ts';
import type { WalletAddress } from '../domain/addresses.ts';
import type { Fragment, Sql } from '../platform/database/connection.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type { AgentWalletsRow } from '../platform/database/rows.generated.ts';
import { ms, only } from '../platform/database/rows.ts';
import { ownersSolanaWallets } from '../wallets/index.ts';

interface LeftKeyRow extends Pick<AgentWalletsRow, 'signer'> {
  readonly wallets: WalletAddress[];
  readonly agents: string[];
  readonly left_at: Date;
}

/** Rows `address`, `signer`: all wallets that the owner can grant. */
const walletsOf = (sql: Sql, userId: bigint): Fragment =>
  sql`select wallet_address as address, eoa as signer from credentials where user_id = ${userId}
    union select address, signer from linked_wallets where user_id = ${userId} and kind = 'evm'
    union select s.address, s.address from (${ownersSolanaWallets(sql, userId)}) s`;

export function createOwnerWallets(sql: Sql) {
  return {
    /** All wallets of the owner, with what this agent may do with them. */
    async walletGrants(userId: bigint, agentId: string): Promise<readonly WalletGrant[]> {
      const rows = await sql<Pick<AgentWalletsRow, 'address' | 'is_own' | 'granted'>[]>`
        select o.address, coalesce(w.is_own, false) as is_own, coalesce(w.granted, false) as granted
        from (${walletsOf(sql, userId)}) o
        left join agent_wallets w on w.address = o.address and w.agent_id = ${agentId} order by 1`;
      return rows.map((row) => ({ walletAddress: row.address, isOwn: row.is_own, granted: row.granted }));
    },

    /** @returns false when the wallet is not the owner's */
    grantWallet: (
      {
        userId,
        agentId,
        walletAddress,
      }: { readonly userId: bigint; readonly agentId: string; readonly walletAddress: WalletAddress },
      granted: boolean,
      at: number,
    ): Promise<boolean> =>
      once(sql, async (tx) => {
        const rows = await tx<object[]>`
          insert into agent_wallets (agent_id, address, signer, is_own, granted, since)
          select ${agentId}::uuid, o.address, o.signer, false, ${granted}, ${new Date(at)}::timestamptz
          from (${walletsOf(sql, userId)}) o where o.address = ${walletAddress} limit 1
          on conflict (agent_id, address) do update set granted = excluded.granted
          returning 1`;
        return rows.length === 1;
      }),

    async leftKeys(userId: bigint): Promise<readonly LeftKey[]> {
      const rows = await sql<LeftKeyRow[]>`
        select m.signer, array_agg(distinct m.address order by m.address) as wallets,
          array_agg(distinct m.agent_id::text) as agents, max(l.since) as left_at
        from agent_wallets m join agents a using (agent_id)
        cross join lateral (select w.since, b.user_id from agent_wallets w join agents b using (agent_id)
          where w.signer = m.signer and w.is_own order by w.turn desc limit 1) l
        where a.user_id = ${userId} and a.claimed_at is not null and m.is_own and not m.lifted
          and l.user_id <> ${userId}
        group by m.signer order by max(l.since) desc, m.signer`;
      return rows.map((row) => ({
        signer: row.signer,
        wallets: row.wallets,
        leftAt: ms(row.left_at),
        agentIds: row.agents,
      }));
    },

    /** What binds a key that left one of the owner's agents. */
    async settingsTakenAlong(signer: WalletAddress, agentId: string): Promise<SettingsRow> {
      return settingsRow(
        only(await sql<SettingsColumns[]>`select * from binding_settings(${signer}, ${agentId}::uuid)`),
      );
    },

    /**
     * Frees the key of a wallet from the locks of an owner's agents; of every owner's when `userId` is null.
     * @returns the agents; empty when there is nothing to lift
     */
    lift: (userId: bigint | null, walletAddress: WalletAddress): Promise<readonly string[]> =>
      once(
        sql,
        async (tx) => {
          const rows = await tx<Pick<AgentWalletsRow, 'agent_id'>[]>`
            update agent_wallets w set lifted = true from agents a
            where a.agent_id = w.agent_id and a.claimed_at is not null and w.is_own and not w.lifted
              ${userId === null ? sql`` : sql`and a.user_id = ${userId}`}
              and w.signer in (select signer from agent_wallets
                where address = ${walletAddress} or signer = ${walletAddress})
            returning w.agent_id::text as agent_id`;
          return [...new Set(rows.map((row) => row.agent_id))];
        },
        (agents) => agents.length > 0,
      ),
  };
}

/** One of an owner's wallets, and what one of the owner's agents may do with it. */
export interface WalletGrant {
  readonly walletAddress: WalletAddress;
  readonly isOwn: boolean;
  readonly granted: boolean;
}

/** A wallet key that the owner's agents had, and that belongs to another owner. */
export interface LeftKey {
  readonly signer: WalletAddress;
  readonly wallets: readonly WalletAddress[];
  readonly leftAt: number;
  /** The agents whose locks bind it. */
  readonly agentIds: readonly string[];
}
