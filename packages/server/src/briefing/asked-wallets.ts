/**
 * Fragments of statements that many agents ask together: each question is a row `q` with the columns `agent_id`, `user_id`
 * and `asked_wallet`, and its agent a row `a`.
 *
 * Every part is a lateral subquery with `offset 0`, which is planned by itself: the planner cannot join it the other way
 * round and walk a table, however small the table was when the plan was made.
 */
import type { AddressFamily, WalletAddress } from '../domain/addresses.ts';
import type { ActingAgent } from '../domain/records.ts';
import type { Fragment, Sql } from '../platform/database/connection.ts';
import type { PositionsRow, TradedMarketsRow } from '../platform/database/rows.generated.ts';
import type { AsJson } from '../platform/database/rows.ts';
import { evmWallets, isReachable, solanaWallets } from '../wallets/index.ts';
import type { DoubtTimes } from './facts.ts';

export interface Asker {
  readonly caller: ActingAgent;
  readonly user: WalletAddress | null;
}

/** The columns that every question has, as arrays for `unnest`. */
export const askers = (sql: Sql, questions: readonly Asker[]): Fragment =>
  sql`${questions.map(({ caller }) => caller.agentId)}::uuid[], ${questions.map(({ caller }) => caller.userId)}::bigint[],
    ${questions.map(({ user }) => user)}::text[]`;

/** The same of the times from which on an order without an answer is in doubt: `signed_before`, `quoted_before`. */
export const doubtTimes = (sql: Sql, questions: readonly DoubtTimes[]): Fragment =>
  sql`${questions.map(({ doubtBefore }) => new Date(doubtBefore.signed))}::timestamptz[],
    ${questions.map(({ doubtBefore }) => new Date(doubtBefore.quoted))}::timestamptz[]`;

export function askedWallets(sql: Sql) {
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
export const inDoubt = (sql: Sql): Fragment => sql`(status = 'unknown' or (status = 'submitting'
  and created_at < case kind when 'quoted' then q.quoted_before else q.signed_before end))`;

/** Positions, each with its market's venue, as a list of {@link PositionJson}. */
export const positionColumns = (
  sql: Sql,
): Fragment => sql`json_agg(json_build_object('wallet', p.wallet, 'condition_id', p.condition_id,
  'venue', (select m.venue from traded_markets m where m.condition_id = p.condition_id),
  'token_id', p.token_id, 'outcome', p.outcome, 'size', p.size::text, 'cost', p.cost::text,
  'realized', p.realized::text, 'fees', p.fees::text, 'bought_size', p.bought_size::text,
  'bought_cost', p.bought_cost::text))`;

export type PositionJson = AsJson<
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
