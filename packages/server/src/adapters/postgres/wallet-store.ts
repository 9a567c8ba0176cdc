/** Wallets and their sealed venue credentials. */
import type { Address, SolanaAddress } from '@bellwether/protocol';
import type { WalletStore } from '../../ports/stores.ts';
import type { Sql } from './connection.ts';
import { credentialRow } from './rows.ts';
import { agentsWallets, ownersWallets } from './solana-wallets.ts';

export function createWalletStore(sql: Sql): WalletStore {
  return {
    async register(caller, credential) {
      const at = new Date(credential.registeredAt);
      const [row] = await sql`
        with mine as (
          insert into credentials as c
            (wallet_address, user_id, eoa, funder, signature_type, api_key_hash, key_id, sealed, registered_at)
          select ${credential.walletAddress}, ${caller.userId}, ${credential.eoa}, ${credential.funder},
            ${credential.signatureType}, ${credential.apiKeyHash as Buffer}, ${credential.sealed.keyId},
            ${credential.sealed.bytes as Buffer}, ${at}
          -- A key that has signed for another owner is that owner's.
          where not exists (select 1 from linked_wallets where address = ${credential.eoa} and user_id <> ${caller.userId})
          on conflict (wallet_address) do update set
            eoa = excluded.eoa, funder = excluded.funder, signature_type = excluded.signature_type,
            api_key_hash = excluded.api_key_hash, key_id = excluded.key_id, sealed = excluded.sealed,
            registered_at = excluded.registered_at
          where c.user_id = excluded.user_id
          returning wallet_address
        )
        update agents set wallet_address = mine.wallet_address from mine where agent_id = ${caller.agentId} returning 1`;
      return row !== undefined;
    },

    async credential(userId, walletAddress) {
      const [row] =
        await sql`select * from credentials where wallet_address = ${walletAddress} and user_id = ${userId}`;
      return row === undefined ? null : credentialRow(row);
    },

    async wallets(userId) {
      const rows = await sql`
        select wallet_address as address from credentials where user_id = ${userId}
        union select funder from credentials where user_id = ${userId}
        union select address from linked_wallets where user_id = ${userId} and kind = 'evm'`;
      return rows.map((row) => row.address as Address);
    },

    async agentWallets(agentId) {
      const [row] = await sql`
        select c.wallet_address, c.funder from agents a
        join credentials c on c.wallet_address = a.wallet_address and c.user_id = a.user_id
        where a.agent_id = ${agentId}`;
      return row === undefined ? [] : ([...new Set([row.wallet_address, row.funder])] as Address[]);
    },

    async solanaWallets({ agentId, userId }) {
      const [row] = await sql`
        select a.sol_address as named, (select a.sol_address where not exists (
            select 1 from linked_wallets l where l.address = a.sol_address
            union all select 1 from order_wallets o where o.address = a.sol_address)) as unproved,
          array(${ownersWallets(sql, userId)} order by 1) as of_owner,
          array(${agentsWallets(sql, userId)} order by 1) as of_agent
        from agents a where a.agent_id = ${agentId}`;
      return {
        named: (row?.named ?? null) as SolanaAddress | null,
        unproved: (row?.unproved ?? null) as SolanaAddress | null,
        ofOwner: (row?.of_owner ?? []) as SolanaAddress[],
        ofAgent: (row?.of_agent ?? []) as SolanaAddress[],
      };
    },

    async isCredited(funder) {
      const [row] = await sql`select 1 from simulation_credits where wallet = ${funder}`;
      return row !== undefined;
    },

    async drawFaucet(address, amount, allowance, at) {
      const day = new Date(at).toISOString().slice(0, 10);
      const [row] = await sql`
        insert into faucet_draws as d (address, day, amount)
        select ${address}, ${day}::date, ${amount} where ${amount} <= ${allowance}::bigint
        on conflict (address, day) do update set amount = d.amount + excluded.amount
          where d.amount + excluded.amount <= ${allowance}::bigint
        returning amount`;
      if (row !== undefined) return { ok: true, left: allowance - row.amount };
      const [drawn] =
        await sql`select amount from faucet_draws where address = ${address} and day = ${day}::date`;
      return { ok: false, left: allowance - (drawn?.amount ?? 0n) };
    },
  };
}
