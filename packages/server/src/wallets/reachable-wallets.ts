/**
 * SQL fragments for the wallets within an agent's reach: those of its owner's wallets that it registered, linked or
 * traded with, and those that the owner granted it. A wallet's owner follows from credentials, links and, for Solana wallets,
 * signed orders. A link takes precedence: it takes the wallet from owners that only traded with it. An address that an
 * agent merely names has no owner.
 */
import type { Fragment, Sql, Tx } from '../platform/database/connection.ts';

/** Values, or columns that have them. */
export interface Reader {
  readonly agentId: string | Fragment;
  readonly userId: bigint | Fragment;
}

/** A condition on an address. */
export const isReachable = (sql: Sql | Tx, agentId: Reader['agentId'], address: Fragment): Fragment =>
  (sql as Sql)`exists (select 1 from agent_wallets r where r.agent_id = ${agentId} and r.address = ${address}
    and (r.is_own or r.granted))`;

/** Rows `address`: EVM wallets with credentials, the accounts that pay for them, and linked ones. */
export const evmWallets = (sql: Sql, { agentId, userId }: Reader): Fragment =>
  sql`select x.address from credentials c cross join lateral (values (c.wallet_address), (c.funder)) x(address)
      where c.user_id = ${userId} and ${isReachable(sql, agentId, sql`c.wallet_address`)}
    union select l.address from linked_wallets l
      where l.user_id = ${userId} and l.kind = 'evm' and ${isReachable(sql, agentId, sql`l.address`)}`;

/** Rows `address`: the owner's EVM wallets with the accounts that pay for them, for all its agents. */
export const ownersEvmWallets = (sql: Sql, userId: Reader['userId']): Fragment =>
  sql`select x.address from credentials c cross join lateral (values (c.wallet_address), (c.funder)) x(address)
      where c.user_id = ${userId}
    union select l.address from linked_wallets l where l.user_id = ${userId} and l.kind = 'evm'`;

/** Rows `address`: the owner's Solana wallets that are proved by a signature, for all its agents. */
export const ownersSolanaWallets = (sql: Sql, userId: Reader['userId']): Fragment =>
  sql`select l.address from linked_wallets l where l.user_id = ${userId} and l.kind = 'solana'
    union select o.address from order_wallets o where o.user_id = ${userId} and not exists (
      select 1 from linked_wallets l where l.address = o.address and l.user_id <> ${userId})`;

/** Rows `address`: those of them within the agent's reach. */
export const solanaWallets = (sql: Sql, { agentId, userId }: Reader): Fragment =>
  sql`select s.address from (${ownersSolanaWallets(sql, userId)}) s
    where ${isReachable(sql, agentId, sql`s.address`)}`;

/** Rows `address`: those of some addresses, of any family, within the agent's reach. */
export const reachableAmong = (sql: Sql, reader: Reader, addresses: readonly string[]): Fragment =>
  sql`select r.address from agent_wallets r where r.agent_id = ${reader.agentId} and (r.is_own or r.granted)
    and r.address = any(${[...addresses]}::text[])`;
