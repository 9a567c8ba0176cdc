/**
 * Whose a Solana wallet is: a part of statements. Proof is a signature of its key: over a link challenge, or under an
 * order that was submitted. A link is the stronger word: whoever links a wallet takes it from those that traded with it.
 * An address that an agent only names is nobody's.
 */
import type { Fragment, Sql } from './connection.ts';

/** Rows `address`: wallets that the owner has proved. */
export const ownersWallets = (sql: Sql, userId: bigint): Fragment =>
  sql`select l.address from linked_wallets l where l.user_id = ${userId} and l.kind = 'solana'
    union select o.address from order_wallets o where o.user_id = ${userId} and not exists (
      select 1 from linked_wallets l where l.address = o.address and l.user_id <> ${userId})`;

/**
 * Rows `address`: of the owner's, those that the agent traded with, and the one that it names. Wants the agent's row
 * as `a`.
 */
export const agentsWallets = (sql: Sql, userId: bigint): Fragment =>
  sql`select o.address from order_wallets o where o.agent_id = a.agent_id and not exists (
      select 1 from linked_wallets l where l.address = o.address and l.user_id <> ${userId})
    union select l.address from linked_wallets l
      where l.address = a.sol_address and l.user_id = ${userId} and l.kind = 'solana'
    union select o.address from order_wallets o
      where o.user_id = ${userId} and o.address = a.sol_address and not exists (
        select 1 from linked_wallets l where l.address = o.address and l.user_id <> ${userId})`;
