/** The check before a trade: what the agent holds and has open in one market, and what a trade there would be judged by. */

import { type LimitsRow, limitColumns, limitFacts, limitsOf } from '../agents/index.ts';
import type { AddressFamily, WalletAddress } from '../domain/addresses.ts';
import type { Standing } from '../domain/records.ts';
import { utcDay } from '../domain/utc-day.ts';
import type { Sql } from '../platform/database/connection.ts';
import { type Answering, type AskTogether, asRows } from '../platform/database/grouped-reads.ts';
import type { AgentsRow, OrdersRow } from '../platform/database/rows.generated.ts';
import { openStatuses } from '../trading/index.ts';
import {
  askedWallets,
  askers,
  doubtTimes,
  inDoubt,
  type PositionJson,
  positionColumns,
} from './asked-wallets.ts';
import type { ContextQuestion } from './facts.ts';

export type ContextRow = Answering &
  LimitsRow & {
    readonly agent_claimed_at: AgentsRow['claimed_at'];
    readonly wallets: WalletAddress[] | null;
    readonly funder: WalletAddress | null;
    readonly signer: WalletAddress | null;
    readonly positions: PositionJson[] | null;
    readonly in_doubt: string[] | null;
    readonly position_value: bigint;
    readonly open_orders: number;
    readonly is_restricted: boolean;
  } & (
    | { readonly count: 0; readonly venue: null; readonly market_id: null }
    | ({ readonly count: number } & Pick<OrdersRow, 'venue' | 'market_id'>)
  );

export interface ContextShape {
  readonly family: AddressFamily;
  /** The questions name a wallet. */
  readonly isAsked: boolean;
}

/** The figures of a trade are those of functions/standing.sql, as the trade's own statements read them. */
export function askContext(
  sql: Sql,
  { family, isAsked }: ContextShape,
): AskTogether<ContextQuestion, ContextRow> {
  const wallets = askedWallets(sql);
  const doubtful = inDoubt(sql);
  const open = sql`status in ${openStatuses(sql)}`;
  const columns = positionColumns(sql);
  const ofWallet =
    family === 'evm'
      ? wallets.credential(isAsked)
      : sql`select coalesce(q.asked_wallet, a.sol_address, w.wallets[1]) as funder,
          coalesce(q.asked_wallet, a.sol_address, w.wallets[1]) as eoa`;
  // The answer shows only public facts of a wallet that was named and not proven.
  const isProved = family === 'evm' ? sql`true` : sql`f.funder = any(w.wallets)`;
  return (questions) => sql<ContextRow[]>`
    select q.nth::integer as nth, s.*, ${limitColumns(sql)}, a.claimed_at as agent_claimed_at, w.wallets,
      f.funder, f.eoa as signer, p.positions, g.count, g.in_doubt, g.market_id, g.venue,
      v.value as position_value, o.count as open_orders,
      (select true from restrictions_by(e.signer, q.agent_id) limit 1) is not null as is_restricted
    from ${asRows(
      sql,
      sql`${askers(sql, questions)}, ${doubtTimes(sql, questions)},
        ${questions.map(({ conditionId }) => conditionId)}::text[],
        ${questions.map(({ tokenIds }) => tokenIds[0])}::text[], ${questions.map(({ tokenIds }) => tokenIds[1])}::text[],
        ${questions.map(({ at }) => utcDay(at))}::date[]`,
      'agent_id, user_id, asked_wallet, signed_before, quoted_before, condition_id, yes_token, no_token, today',
      questions.length,
    )}
    cross join lateral (select * from agents where agent_id = q.agent_id offset 0) a
    cross join lateral (select * from safeguards where agent_id = q.agent_id offset 0) s
    left join lateral (${wallets.of[family](isAsked)} offset 0) w on true
    left join lateral (select * from (${ofWallet}) f offset 0) f on true
    cross join lateral (select case when ${isProved} then f.funder end as account,
      case when ${isProved} then f.eoa end as signer offset 0) e
    left join lateral (select ${columns} as positions from positions p
      where p.is_held and p.wallet = any(w.wallets) and p.token_id in (q.yes_token, q.no_token) offset 0) p on true
    left join lateral (
      select count(*)::int as count, min(market_id) as market_id, min(venue) as venue,
        (array_agg(order_id) filter (where ${doubtful})) as in_doubt
      from orders where agent_id = q.agent_id and condition_id = q.condition_id and ${open} offset 0) g on true
    cross join lateral (select greatest(s.usage_day, q.today) as day offset 0) t
    ${limitFacts(sql, sql`t.day`)}
    cross join lateral open_orders(q.agent_id, true) o
    cross join lateral position_value(q.agent_id, coalesce(e.account, ''), array[q.yes_token, q.no_token], q.condition_id) v`;
}

export function standingOf(row: ContextRow): Standing | null {
  if (row.is_restricted) return null;
  const { usage, realizedToday, openExits: _, ...safeguards } = limitsOf(row);
  return {
    claimed: row.agent_claimed_at !== null,
    safeguards,
    usage,
    realizedToday,
    positionValue: row.position_value,
    openOrders: row.open_orders,
    restrictions: [],
  };
}
