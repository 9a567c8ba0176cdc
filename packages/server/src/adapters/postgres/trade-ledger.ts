/**
 * The one transaction of a trade. Two round trips: everything up to the judgement goes out together, and so does
 * everything after it. The agent's safeguards row is locked by the first statement; the statements behind it have
 * snapshots of their own, taken after the lock was granted, so they see what the trade before this one committed.
 */
import type { Usage } from '../../domain/safeguards.ts';
import type { NewOrder, TradeLedger, TradeScope } from '../../ports/stores.ts';
import type { NewChainOrder } from '../../ports/venue-b-stores.ts';
import type { Sql, Tx } from './connection.ts';
import { openStatuses } from './open-statuses.ts';
import { credentialRow, orderRow, type Row, settingsRow } from './rows.ts';
import { openTransaction, type Transaction } from './transaction.ts';
import { createTurns } from './turns.ts';

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function createTradeLedger(sql: Sql): TradeLedger {
  const turns = createTurns();
  return {
    async open(question) {
      const leave = await turns.take(question.caller.agentId);
      try {
        question.requireTime?.();
      } catch (error) {
        leave();
        throw error;
      }
      const transaction = openTransaction(sql);
      try {
        const answers = await Promise.all(lockAndRead(transaction.tx, question));
        return scope({ transaction, question, leave }, answers as unknown as Row[][]);
      } catch (error) {
        leave();
        transaction.rollback();
        throw error;
      }
    },
  };
}

type Question = Parameters<TradeLedger['open']>[0];

/**
 * The trade's UTC day. A trade that waited for the lock across midnight finds the next day begun, and counts there: the
 * budget of a day that is over is not written again.
 */
const theDay = (tx: Tx, { caller, at }: Question) =>
  tx`(select greatest(usage_day, ${dayOf(at)}::date) from safeguards where agent_id = ${caller.agentId})`;

function lockAndRead(tx: Tx, question: Question) {
  const { caller, orderIds, wallets, funder, conditionId, tokenIds, quoteId } = question;
  return [
    tx`select * from safeguards where agent_id = ${caller.agentId} for no key update`,
    tx`with back as (delete from budget_returns where agent_id = ${caller.agentId} returning day, trades, amount)
       select coalesce(sum(trades), 0)::int as trades, coalesce(sum(amount), 0)::bigint as amount
       from back where day = ${theDay(tx, question)}`,
    tx`select k.status, a.claimed_at, a.user_id from api_keys k join agents a using (agent_id) where k.id = ${caller.keyId}`,
    tx`select * from credentials where wallet_address = any(${[...wallets]}::text[]) and user_id = (select user_id from agents where agent_id = ${caller.agentId})`,
    tx`select * from orders where order_id = any(${[...orderIds]}::text[])`,
    // One statement, so one snapshot: a fill moves cost from an open BUY to the position, and is seen in one of them.
    // What an open BUY can still cost is its amount's part for the shares that are not filled, rounded up.
    tx`select
         (select coalesce(sum(cost), 0) from positions
           where wallet = ${funder} and token_id = any(${[...tokenIds]}::text[]))::bigint
         + (select coalesce(sum(cost), 0) from positions
           where agent_id = ${caller.agentId} and condition_id = ${conditionId} and wallet <> ${funder})::bigint
         + (select coalesce(sum(ceil(money::numeric * greatest(shares - filled, 0) / shares)), 0) from orders
             where agent_id = ${caller.agentId} and condition_id = ${conditionId} and side = 'BUY'
               and status in ${openStatuses(tx)})::bigint
         as position_value,
         coalesce((select realized - fees from daily_results
           where agent_id = ${caller.agentId} and day = ${theDay(tx, question)}), 0)::bigint as realized_today`,
    ...(quoteId === undefined ? [] : [tx`select withdrawn_at from quotes where quote_id = ${quoteId}`]),
  ];
}

/** A trade that holds its agent's lock. */
interface Held {
  readonly transaction: Transaction;
  readonly question: Question;
  /** Lets the agent's next trade begin. */
  readonly leave: () => void;
}

function scope({ transaction, question, leave }: Held, answers: Row[][]): TradeScope {
  const { tx } = transaction;
  const [[locked] = [], [returned] = [], [key] = [], credentials, existing, [facts] = [], [quote] = []] =
    answers;
  if (locked === undefined || returned === undefined || facts === undefined)
    throw new Error('the agent has no safeguards row');
  const usageDay: string = locked.usage_day.toISOString().slice(0, 10);
  const asked = dayOf(question.at);
  const day = usageDay > asked ? usageDay : asked;
  const usage: Usage =
    usageDay === day
      ? {
          trades: locked.used_trades - returned.trades,
          amount: (locked.used_amount as bigint) - (returned.amount as bigint),
        }
      : { trades: 0, amount: 0n };
  return {
    keyActive: key?.status === 1,
    claimed: key?.claimed_at !== null,
    // Read under the lock: a claim may have moved the agent since its key was looked up.
    userId: key?.user_id ?? question.caller.userId,
    safeguards: settingsRow(locked),
    usage,
    realizedToday: facts.realized_today,
    positionValue: facts.position_value,
    credentials: (credentials ?? []).map(credentialRow),
    existing: (existing ?? []).map(orderRow),
    quoteWithdrawn: quote !== undefined && quote.withdrawn_at !== null,
    async commit(order, amount, chain) {
      // The budget moves by what was really written, and takes in what `lockAndRead` deleted from the returns.
      const written = tx`with placed as (
          insert into orders ${tx(orderColumns(order, day, amount))} on conflict (order_id) do nothing
          returning not is_redemption as counts
        )${chain === undefined ? tx`` : tx`, ${chainOrder(tx, order, chain)}`}
        update safeguards set usage_day = ${day}::date,
          used_trades = ${usage.trades} + (select count(*) from placed where counts),
          used_amount = ${usage.amount.toString()}::bigint + ${amount.toString()}::bigint * (select count(*) from placed where counts)
        where agent_id = ${order.agentId} returning (select count(*)::int from placed) as placed`.execute();
      // What became of it is the commit's to say.
      written.catch(() => {});
      try {
        await transaction.commit();
        const [row] = await written;
        return row?.placed === 1;
      } finally {
        leave();
      }
    },
    abort() {
      // Nobody waits for it: a denial is answered while the connection cleans itself up.
      transaction.rollback();
      leave();
    },
  };
}

/**
 * The transaction of an order of venue B, written with it: before any node is given it. Its signature proves the wallet,
 * which is the agent's from now on when it names none.
 */
const chainOrder = (tx: Tx, order: NewOrder, chain: NewChainOrder) => tx`
  signed as (
    insert into chain_orders (order_id, agent_id, signature, wire, stage, due_at)
    select ${chain.orderId}, ${order.agentId}::uuid, ${chain.signature}, ${chain.wire as Buffer}::bytea, 'sending',
      ${new Date(chain.dueAt)}::timestamptz
    from placed
  ), named as (
    update agents set sol_address = ${order.walletAddress}
    where agent_id = ${order.agentId}::uuid and sol_address is null and exists (select 1 from placed)
  )`;

function orderColumns(order: NewOrder, day: string, amount: bigint): Row {
  const at = new Date(order.createdAt);
  return {
    agent_id: order.agentId,
    order_id: order.orderId,
    user_id: order.userId,
    venue: order.venue,
    market_id: order.marketId,
    condition_id: order.conditionId,
    question: order.question,
    token_id: order.tokenId,
    outcome: order.outcome,
    side: order.side,
    is_limit: order.isLimitOrder,
    time_in_force: order.timeInForce,
    post_only: order.postOnly,
    defer_exec: order.deferExec,
    price: order.price,
    limit_price: order.limit,
    shares: order.shares,
    money: order.money,
    funder: order.funder,
    wallet_address: order.walletAddress,
    signature_type: order.signatureType,
    version: order.version,
    is_redemption: order.isRedemption,
    expiration: order.expiration === null ? null : new Date(order.expiration),
    fee_amount: order.feeAmount,
    reasoning: order.reasoning,
    source: order.source,
    skill_slug: order.skillSlug,
    request_id: order.requestId,
    created_at: at,
    status: 'submitting',
    journal: [{ at: at.toISOString(), event: 'recorded', status: 'submitting' }],
    reserved_day: day,
    reserved_amount: amount,
    updated_at: at,
  };
}
