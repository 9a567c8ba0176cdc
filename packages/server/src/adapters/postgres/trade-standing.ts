/**
 * What a trade is judged by: the agent's safeguards with what it has used of them, and the locks that bind the wallet
 * from agents of other owners that had it. One reading for the trade that holds the locks and for whoever only looks.
 */
import type { Usage } from '../../domain/safeguards.ts';
import type { Standing, StandingQuestion } from '../../ports/stores.ts';
import type { Fragment, Sql, Tx } from './connection.ts';
import { openStatuses } from './open-statuses.ts';
import type { Row } from './rows.ts';
import { settingsRow } from './settings-columns.ts';

export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/**
 * The trade's UTC day. A trade that waited for the lock across midnight finds the next day begun, and counts there: the
 * budget of a day that is over is not written again.
 */
export const theDay = (tx: Tx | Sql, { caller, at }: StandingQuestion): Fragment =>
  tx`(select greatest(usage_day, ${dayOf(at)}::date) from safeguards where agent_id = ${caller.agentId})` as unknown as Fragment;

const restricting = (tx: Tx | Sql, { caller, signer }: StandingQuestion): Fragment =>
  tx`(select r from restricting_agents(${signer}, ${caller.agentId}::uuid) r)` as unknown as Fragment;

/** The agent's own row and those of the agents whose locks bind the wallet, always locked in one order. */
export const safeguardRows = (tx: Tx | Sql, question: StandingQuestion, isLocked: boolean) =>
  tx`select * from safeguards
    where agent_id = any(array(select ${question.caller.agentId}::uuid union ${restricting(tx, question)}))
    order by agent_id ${isLocked ? tx`for no key update` : tx``}`;

/** What came back and is not folded into the agent's row yet. */
export const openReturns = (tx: Tx | Sql, question: StandingQuestion) =>
  tx`select coalesce(sum(trades), 0)::int as trades, coalesce(sum(amount), 0)::bigint as amount
    from budget_returns where agent_id = ${question.caller.agentId} and day = ${theDay(tx, question)}`;

/** Cost of what the funder holds in the market. */
const heldByFunder = (tx: Tx | Sql, { funder, tokenIds }: StandingQuestion) =>
  tx`(select coalesce(sum(cost), 0) from positions
    where wallet = ${funder} and token_id = any(${[...tokenIds]}::text[]))`;

/** What an open BUY can still cost is its amount's part for the shares that are not filled, rounded up. */
const stillToCost = (tx: Tx | Sql) =>
  tx`coalesce(sum(ceil(money::numeric * greatest(shares - filled, 0) / shares)), 0)`;

/** A trade names its order; who only looks names none. */
const isTrade = (question: StandingQuestion): boolean => 'orderIds' in question;

/**
 * Orders that are open or in doubt. A trade counts them only where a limit asks for it: an agent without one may have
 * thousands, and the count would slow each of its trades down.
 */
const openOrders = (tx: Tx | Sql, { where, isCounted }: Readonly<Record<'where' | 'isCounted', Fragment>>) =>
  tx`(select count(*) from orders where ${where} and status in ${openStatuses(tx)} and ${isCounted})`;

/** One statement, so one snapshot: a fill moves cost from an open BUY to the position, and is seen in one of them. */
export const ownFacts = (tx: Tx | Sql, question: StandingQuestion) => {
  const { caller, funder, conditionId } = question;
  const open = openOrders(tx, {
    where: tx`agent_id = ${caller.agentId}`,
    isCounted: isTrade(question)
      ? tx`(select max_open_orders is not null from safeguards where agent_id = ${caller.agentId})`
      : tx`true`,
  });
  return tx`select
    ${heldByFunder(tx, question)}::bigint
    + (select coalesce(sum(cost), 0) from positions
        where agent_id = ${caller.agentId} and condition_id = ${conditionId} and wallet <> ${funder})::bigint
    + (select ${stillToCost(tx)} from orders
        where agent_id = ${caller.agentId} and condition_id = ${conditionId} and side = 'BUY'
          and status in ${openStatuses(tx)})::bigint
    as position_value,
    ${open}::int as open_orders,
    coalesce((select realized - fees from daily_results
      where agent_id = ${caller.agentId} and day = ${theDay(tx, question)}), 0)::bigint as realized_today,
    (select claimed_at is not null from agents where agent_id = ${caller.agentId}) as claimed`;
};

/**
 * The same for each agent whose locks bind the wallet, as if that agent traded: with what went on outside its owner on
 * wallets that it had. No row for a wallet that nobody's locks bind.
 */
export const restrictingFacts = (tx: Tx | Sql, question: StandingQuestion) => {
  const { funder, conditionId } = question;
  const isCounted = tx`s.locked_max_open_orders is not null`;
  return tx`select s.agent_id, b.trades, b.amount,
      (${openOrders(tx, { where: tx`agent_id = s.agent_id`, isCounted })}
      + ${openOrders(tx, { where: tx`restricted_by is not null and restricted_by @> array[s.agent_id]`, isCounted })})::int
      as open_orders,
      coalesce(d.realized - d.fees, 0)::bigint as realized_today,
      ${heldByFunder(tx, question)}::bigint
      + (select coalesce(sum(cost), 0) from positions p where p.condition_id = ${conditionId} and p.wallet <> ${funder}
          and (p.agent_id = s.agent_id or p.wallet in (
            select address from agent_wallets where agent_id = s.agent_id and is_own and not lifted)))::bigint
      + (select ${stillToCost(tx)} from orders
          where agent_id = s.agent_id and condition_id = ${conditionId} and side = 'BUY'
            and status in ${openStatuses(tx)})::bigint
      + (select ${stillToCost(tx)} from orders
          where restricted_by is not null and restricted_by @> array[s.agent_id] and condition_id = ${conditionId}
            and side = 'BUY' and status in ${openStatuses(tx)})::bigint
      as position_value
    from safeguards s
    cross join lateral (select greatest(s.usage_day, ${theDay(tx, question)}) as day) t
    cross join lateral (select coalesce(sum(trades), 0)::int as trades, coalesce(sum(amount), 0)::bigint as amount
      from budget_returns where agent_id = s.agent_id and day = t.day) b
    left join daily_results d on d.agent_id = s.agent_id and d.day = t.day
    where s.agent_id = any(array${restricting(tx, question)})`;
};

export interface StandingRows {
  readonly locked: readonly Row[];
  readonly returned: Row;
  readonly facts: Row;
  readonly restricting: readonly Row[];
}

const dayText = (row: Row): string => row.usage_day.toISOString().slice(0, 10);

const usageOf = (row: Row, day: string, back: Row): Usage =>
  dayText(row) === day
    ? { trades: row.used_trades - back.trades, amount: (row.used_amount as bigint) - (back.amount as bigint) }
    : { trades: 0, amount: 0n };

/**
 * `null`: between the first statement and the last another agent's locks came to bind the wallet, and its row is not
 * among those read. To be asked again.
 */
export function standingOf(
  { caller, at }: StandingQuestion,
  { locked, returned, facts, restricting: bound }: StandingRows,
): (Standing & { readonly day: string }) | null {
  const own = locked.find((row) => row.agent_id === caller.agentId);
  if (own === undefined) throw new Error('the agent has no safeguards row');
  const rowOf = new Map(locked.map((row) => [row.agent_id as string, row]));
  if (bound.some((row) => !rowOf.has(row.agent_id))) return null;
  const day = [
    dayOf(at),
    dayText(own),
    ...bound.map((row) => dayText(rowOf.get(row.agent_id) as Row)),
  ].reduce((latest, one) => (one > latest ? one : latest));
  return {
    day,
    claimed: facts.claimed,
    safeguards: settingsRow(own),
    usage: usageOf(own, day, returned),
    realizedToday: facts.realized_today,
    positionValue: facts.position_value,
    openOrders: facts.open_orders,
    restrictions: bound.map((row) => {
      const settings = settingsRow(rowOf.get(row.agent_id) as Row);
      return {
        agentId: row.agent_id,
        paused: settings.ownerPaused,
        locks: settings.locks,
        usage: usageOf(rowOf.get(row.agent_id) as Row, day, row),
        realizedToday: row.realized_today,
        positionValue: row.position_value,
        openOrders: row.open_orders,
      };
    }),
  };
}
