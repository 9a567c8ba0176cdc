/**
 * Which wallets an agent reaches: a part of statements. Of its owner's wallets those that it registered, linked or
 * traded with, and those that the owner granted it. Whose a wallet is follows from credentials, links and, for Solana
 * wallets, signed orders. A link is the stronger word: whoever links a wallet takes it from those that traded with it.
 * An address that an agent only names is nobody's.
 */
import type { Caller } from '../../ports/stores.ts';
import type { Fragment, Sql, Tx } from './connection.ts';

type Reader = Pick<Caller, 'agentId' | 'userId'>;

/** A condition on an address. */
export const isReachable = (sql: Sql | Tx, agentId: string, address: Fragment): Fragment =>
  (sql as Sql)`exists (select 1 from agent_wallets r where r.agent_id = ${agentId} and r.address = ${address}
    and (r.is_own or r.granted))`;

/** Rows `address`: EVM wallets with credentials, the accounts that pay for them, and linked ones. */
export const evmWallets = (sql: Sql, { agentId, userId }: Reader): Fragment =>
  sql`select x.address from credentials c cross join lateral (values (c.wallet_address), (c.funder)) x(address)
      where c.user_id = ${userId} and ${isReachable(sql, agentId, sql`c.wallet_address`)}
    union select l.address from linked_wallets l
      where l.user_id = ${userId} and l.kind = 'evm' and ${isReachable(sql, agentId, sql`l.address`)}`;

/** Rows `address`: the owner's Solana wallets, proved by a signature, whoever of its agents may reach them. */
export const ownersSolanaWallets = (sql: Sql, userId: bigint): Fragment =>
  sql`select l.address from linked_wallets l where l.user_id = ${userId} and l.kind = 'solana'
    union select o.address from order_wallets o where o.user_id = ${userId} and not exists (
      select 1 from linked_wallets l where l.address = o.address and l.user_id <> ${userId})`;

/** Rows `address`: of these, those that the agent reaches. */
export const solanaWallets = (sql: Sql, { agentId, userId }: Reader): Fragment =>
  sql`select s.address from (${ownersSolanaWallets(sql, userId)}) s
    where ${isReachable(sql, agentId, sql`s.address`)}`;

/** Rows `address`: of some addresses, of any family, those that the agent reaches. */
export const reachableAmong = (sql: Sql, reader: Reader, addresses: readonly string[]): Fragment =>
  sql`select r.address from agent_wallets r where r.agent_id = ${reader.agentId} and (r.is_own or r.granted)
    and r.address = any(${[...addresses]}::text[])`;
