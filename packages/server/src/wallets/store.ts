/** Wallets and their sealed venue credentials. */

import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { WalletAddress } from '../domain/addresses.ts';
import type { ActingAgent, Caller } from '../domain/records.ts';
import { utcDay } from '../domain/utc-day.ts';
import type { Sql, Tx } from '../platform/database/connection.ts';
import { once } from '../platform/database/idempotency-store.ts';
import type { CredentialsRow, FaucetDrawsRow } from '../platform/database/rows.generated.ts';
import { ms } from '../platform/database/rows.ts';
import type { Sealed } from '../platform/secrets.ts';
import { evmWallets, isReachable, reachableAmong, solanaWallets } from './reachable-wallets.ts';
import { hasRoomFor } from './wallet-cap.ts';

export function createWalletStore(sql: Sql) {
  return {
    /** `taken`: another owner has the wallet. `full`: this one has `maxWallets` others. */
    register: (
      caller: Caller,
      credential: CredentialRow,
      maxWallets: number,
      challenge: SpentChallenge | null,
    ): Promise<Pick<CredentialRow, 'registeredAt'> | 'taken' | 'full' | 'challenge_used'> =>
      once(sql, async (tx) => {
        const at = new Date(credential.registeredAt);
        if (!(await hasRoomFor(tx, caller.userId, credential.walletAddress, maxWallets)))
          return 'full' as const;
        if (challenge !== null && !(await spendChallenge(tx, challenge))) return 'challenge_used' as const;
        const [row] = await tx<object[]>`
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
        ), named as (
          update agents set wallet_address = mine.wallet_address from mine where agent_id = ${caller.agentId}
        )
        select note_agent_wallets(${caller.agentId}::uuid,
          ${[...new Set([credential.walletAddress, credential.funder])]}::text[], ${credential.eoa}, ${at}::timestamptz)
        from mine`;
        return row === undefined ? ('taken' as const) : { registeredAt: credential.registeredAt };
      }),

    async credential(caller: ActingAgent, walletAddress: Address): Promise<CredentialRow | null> {
      const [row] = await sql<
        CredentialsRow[]
      >`select * from credentials c where wallet_address = ${walletAddress}
        and user_id = ${caller.userId} and ${isReachable(sql, caller.agentId, sql`c.wallet_address`)}`;
      return row === undefined ? null : credentialRow(row);
    },

    /** The credential of a wallet, or of the wallet that an account pays for, within the agent's reach. */
    async credentialOf(caller: ActingAgent, address: Address): Promise<CredentialRow | null> {
      const [row] = await sql<
        CredentialsRow[]
      >`select * from credentials c where (wallet_address = ${address} or funder = ${address})
        and user_id = ${caller.userId} and ${isReachable(sql, caller.agentId, sql`c.wallet_address`)}
        order by wallet_address = ${address} desc, wallet_address limit 1`;
      return row === undefined ? null : credentialRow(row);
    },

    /** Every EVM wallet within the agent's reach, and the accounts that pay for them. */
    async wallets(caller: ActingAgent): Promise<readonly Address[]> {
      const rows = await sql<
        { address: Address }[]
      >`select address from (${evmWallets(sql, caller)}) w order by 1`;
      return rows.map((row) => row.address);
    },

    /** The keys (EOAs) of the EVM wallets within the agent's reach. */
    async keys({ agentId, userId }: ActingAgent): Promise<readonly Address[]> {
      const rows = await sql<{ key: Address }[]>`
        select c.eoa as key from credentials c
          where c.user_id = ${userId} and ${isReachable(sql, agentId, sql`c.wallet_address`)}
        union select l.signer from linked_wallets l
          where l.user_id = ${userId} and l.kind = 'evm' and ${isReachable(sql, agentId, sql`l.address`)}`;
      return rows.map((row) => row.key);
    },

    async solanaWallets(caller: ActingAgent): Promise<SolanaWallets> {
      const [row] = await sql<SolanaWallets[]>`
        select a.sol_address as named, (select a.sol_address where not exists (
            select 1 from linked_wallets l where l.address = a.sol_address
            union all select 1 from order_wallets o where o.address = a.sol_address)) as unproved,
          array(${solanaWallets(sql, caller)} order by 1) as proved
        from agents a where a.agent_id = ${caller.agentId}`;
      return {
        named: row?.named ?? null,
        unproved: row?.unproved ?? null,
        proved: row?.proved ?? [],
      };
    },

    /** Those of the addresses, of any family, within the agent's reach; also of wallets that have left the owner. */
    async reachable(
      caller: ActingAgent,
      addresses: readonly WalletAddress[],
    ): Promise<ReadonlySet<WalletAddress>> {
      const rows = await sql<
        { address: WalletAddress }[]
      >`select address from (${reachableAmong(sql, caller, addresses)}) w`;
      return new Set(rows.map((row) => row.address));
    },

    /** Whether the simulation balance has been credited. */
    async isCredited(funder: Address): Promise<boolean> {
      const [row] = await sql<object[]>`select 1 from simulation_credits where wallet = ${funder}`;
      return row !== undefined;
    },

    /** Takes `amount` from the day's faucet allowance. @returns what is left, and the draw's name when there was enough */
    async drawFaucet(
      { address, amount, drawId }: FaucetDraw,
      allowance: Micro,
      at: number,
    ): Promise<{ readonly drawId: string | null; readonly left: Micro }> {
      const day = utcDay(at);
      const drawn = await once(sql, async (tx) => {
        const [row] = await tx<Pick<FaucetDrawsRow, 'amount'>[]>`
          insert into faucet_draws as d (address, day, amount)
          select ${address}, ${day}::date, ${amount} where ${amount} <= ${allowance}::bigint
          on conflict (address, day) do update set amount = d.amount + excluded.amount
            where d.amount + excluded.amount <= ${allowance}::bigint
          returning amount`;
        return row === undefined ? null : { drawId, left: allowance - row.amount };
      });
      return drawn ?? { drawId: null, left: await this.faucetLeft(address, allowance, at) };
    },

    /** Amount that the faucet still gives an address today. */
    async faucetLeft(address: Address, perDay: Micro, at: number): Promise<Micro> {
      const [drawn] = await sql<Pick<FaucetDrawsRow, 'amount'>[]>`
        select amount from faucet_draws where address = ${address} and day = ${utcDay(at)}::date`;
      return perDay - (drawn?.amount ?? 0n);
    },
  };
}

/** @returns false when the challenge was used before */
export const spendChallenge = async (tx: Tx, { nonce, expiresAt }: SpentChallenge): Promise<boolean> =>
  (
    await tx<object[]>`insert into used_link_challenges (nonce, expires_at)
      values (${nonce}, ${new Date(expiresAt)}) on conflict do nothing returning 1`
  ).length === 1;

export const credentialRow = (row: CredentialsRow): CredentialRow => ({
  walletAddress: row.wallet_address,
  userId: row.user_id,
  eoa: row.eoa,
  funder: row.funder,
  signatureType: row.signature_type,
  apiKeyHash: row.api_key_hash,
  sealed: { keyId: row.key_id, bytes: row.sealed },
  registeredAt: ms(row.registered_at),
});

/** A challenge of this service, whose signature proved a wallet. */
export interface SpentChallenge {
  readonly nonce: string;
  readonly expiresAt: number;
}

export interface CredentialRow {
  readonly walletAddress: Address;
  readonly userId: bigint;
  readonly eoa: Address;
  /** The account that pays for this wallet's orders. */
  readonly funder: Address;
  readonly signatureType: SignatureType;
  readonly apiKeyHash: Uint8Array;
  readonly sealed: Sealed;
  readonly registeredAt: number;
}

export interface FaucetDraw {
  readonly address: Address;
  readonly amount: Micro;
  readonly drawId: string;
}

/** Solana wallets. A signature of its key proves a wallet: over a link challenge, or in a submitted order. */
export interface SolanaWallets {
  /** The agent's solAddress, proved or not: quotes are made for it. */
  readonly named: SolanaAddress | null;
  /** Proved by the owner's agents, not linked by another owner, and within this agent's reach. */
  readonly proved: readonly SolanaAddress[];
  /** The agent's solAddress while no agent has proved that it holds its key. */
  readonly unproved: SolanaAddress | null;
}

/**
 * An agent reaches those of its owner's wallets that it registered, linked or traded with, and those that the owner
 * granted it. All methods here ignore the owner's other wallets.
 */
export type WalletStore = ReturnType<typeof createWalletStore>;
