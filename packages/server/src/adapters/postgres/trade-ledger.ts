/**
 * The one transaction of a trade, in two round trips: all statements before the assessment are sent together, and so are
 * all statements after it. The first statement locks the agent's safeguards row; the next ones have separate snapshots,
 * taken after the lock was granted, so they see what the previous trade committed.
 */

import { json, openTransaction, type Transaction } from '@bellwether/durable';
import { FIRST_STATUS } from '../../domain/orders/lifecycle.ts';
import type { NewChainOrder } from '../../ports/quoted-orders.ts';
import type { NewOrder, Recorded, Standing, TradeLedger, TradeScope } from '../../ports/stores.ts';
import type { Sql, Tx } from './connection.ts';
import { createKeyedMutex } from './keyed-mutex.ts';
import type { AgentsRow, ApiKeysRow, CredentialsRow, OrdersRow, QuotesRow } from './rows.generated.ts';
import { type ColumnValues, credentialRow, only, orderRow } from './rows.ts';
import { ownFacts, restrictingFacts, safeguardRows, standingOf, usage } from './trade-standing.ts';

/** How often the set of restricting agents may change during a trade before the trade fails. */
const ATTEMPTS = 10;

export function createTradeLedger(sql: Sql): TradeLedger {
  const agents = createKeyedMutex();
  return {
    async open(question) {
      const release = await agents.acquire(question.caller.agentId);
      try {
        question.requireTime?.();
      } catch (error) {
        release();
        throw error;
      }
      for (let attempt = 1; ; attempt += 1) {
        const transaction = openTransaction(sql);
        try {
          const answers = await lockAndRead(transaction.tx, question);
          const opened = scope({ transaction, question, release }, answers);
          if (opened !== null) return opened;
          if (attempt === ATTEMPTS) throw new Error('the locks that bind the wallet keep changing');
          await transaction.rollback();
        } catch (error) {
          release();
          transaction.rollback();
          throw error;
        }
      }
    },

    async look(question) {
      for (let attempt = 1; ; attempt += 1) {
        const { tx, rollback } = openTransaction(sql);
        const [, locked, used, facts, restricting] = await Promise.all([
          keepPlans(tx),
          safeguardRows(tx, question, false),
          usage(tx, question, false),
          ownFacts(tx, question),
          restrictingFacts(tx, question),
        ]).finally(() => void rollback());
        const standing = standingOf(question, { locked, used: only(used), facts: only(facts), restricting });
        if (standing !== null) return standing;
        if (attempt === ATTEMPTS) throw new Error('the locks that bind the wallet keep changing');
      }
    },
  };
}

/**
 * Every statement here reads a few rows by key, so one plan fits all. By default the planner makes a new plan for each
 * trade once there are statistics, which costs several times as much as running it.
 */
const keepPlans = (tx: Tx) => tx`set local plan_cache_mode = force_generic_plan`;

type Question = Parameters<TradeLedger['open']>[0];

/**
 * The locks come first. The set of agents whose locks bind the wallet is read again at the end, after the credentials, to
 * detect a link that moved the wallet here meanwhile.
 */
function lockAndRead(tx: Tx, question: Question) {
  const { caller, orderIds, wallets, funder, quoteId } = question;
  return Promise.all([
    keepPlans(tx),
    safeguardRows(tx, question, true),
    usage(tx, question, true),
    tx<
      (Pick<ApiKeysRow, 'status'> & Pick<AgentsRow, 'user_id'> & { readonly is_known: boolean })[]
    >`select k.status, a.user_id, exists (select 1 from agent_wallets w
         where w.agent_id = k.agent_id and w.address = ${funder} and w.is_own and not w.lifted) as is_known
       from api_keys k join agents a using (agent_id) where k.id = ${caller.keyId}`,
    tx<
      (CredentialsRow & { readonly is_reachable: boolean })[]
    >`select c.*, exists (select 1 from agent_wallets w where w.agent_id = ${caller.agentId}
         and w.address = c.wallet_address and (w.is_own or w.granted)) as is_reachable
       from credentials c where c.wallet_address = any(${[...wallets]}::text[])
         and c.user_id = (select user_id from agents where agent_id = ${caller.agentId})`,
    tx<OrdersRow[]>`select * from orders where order_id = any(${[...orderIds]}::text[])`,
    ownFacts(tx, question),
    restrictingFacts(tx, question),
    quoteId === undefined
      ? []
      : tx<Pick<QuotesRow, 'withdrawn_at'>[]>`select withdrawn_at from quotes where quote_id = ${quoteId}`,
  ]);
}

/** The state of a trade that holds its agent's lock. */
interface Held {
  readonly transaction: Transaction;
  readonly question: Question;
  /** Lets the agent's next trade start. */
  readonly release: () => void;
}

/** @returns `null` when the trade must start again */
function scope(
  { transaction, question, release }: Held,
  answers: Awaited<ReturnType<typeof lockAndRead>>,
): TradeScope | null {
  const [, locked, used, [key], credentials, existing, facts, restricting, [quote]] = answers;
  const standing = standingOf(question, { locked, used: only(used), facts: only(facts), restricting });
  if (standing === null) return null;
  return {
    ...standing,
    keyActive: key?.status === 1,
    // Read under the lock: a claim may have moved the agent since its key was looked up.
    userId: key?.user_id ?? question.caller.userId,
    credentials: credentials.filter((row) => row.is_reachable).map(credentialRow),
    hasUnreachable: credentials.some((row) => !row.is_reachable),
    existing: existing.map(orderRow),
    quoteWithdrawn: quote !== undefined && quote.withdrawn_at !== null,
    async commit(orders) {
      // Executed, not awaited: all of it is sent together with the commit.
      const written = write(transaction.tx, standing, question.caller.agentId, orders).execute();
      // The commit reports its failure.
      written.catch(() => {});
      if (key?.is_known !== true)
        for (const { order } of orders)
          note(transaction.tx, question, order)
            .execute()
            .catch(() => {});
      try {
        await transaction.commit();
        const [row] = await written;
        return new Set(row?.placed ?? []);
      } finally {
        release();
      }
    },
    abort() {
      // Not awaited: the caller gets the denial while the connection rolls back.
      transaction.rollback();
      release();
    },
  };
}

/**
 * Records an agent's orders and reserves their budget: the agent's own, and that of every agent whose locks bind the
 * wallet. The own budget changes by what was actually recorded, and includes the returns that `lockAndRead` deleted.
 */
function write(
  tx: Tx,
  { day, usage: used, restrictions }: Standing & { readonly day: string },
  agentId: string,
  orders: readonly Recorded[],
) {
  const others = restrictions.map((restriction) => restriction.agentId);
  const rows = orders.map(({ order, reserves }) => orderColumns(order, { day, amount: reserves, others }));
  const transactions = orders.flatMap(({ transaction }) => (transaction === undefined ? [] : [transaction]));
  return tx<{ placed: string[] | null }[]>`with placed as (
      insert into orders ${tx(rows)} on conflict (order_id) do nothing
      returning order_id, wallet_address, is_redemption, reserved_amount
    ), spent as (
      select count(*)::int as trades, coalesce(sum(reserved_amount), 0)::bigint as amount
      from placed where not is_redemption
    )${transactions.length === 0 ? tx`` : tx`, ${chainOrders(tx, agentId, transactions)}`}${
      others.length === 0
        ? tx``
        : tx`, bound as (
      update safeguards set usage_day = ${day}::date,
        used_trades = case when usage_day = ${day}::date then used_trades else 0 end + spent.trades,
        used_amount = case when usage_day = ${day}::date then used_amount else 0 end + spent.amount
      from spent where agent_id = any(${others}::uuid[])
    )`
    }
    update safeguards set usage_day = ${day}::date,
      used_trades = ${used.trades} + spent.trades,
      used_amount = ${used.amount.toString()}::bigint + spent.amount
    from spent where agent_id = ${agentId}
    returning (select array_agg(order_id) from placed) as placed`;
}

/** Records the agent's first trade with this wallet. */
function note(tx: Tx, { signer }: Question, order: NewOrder) {
  const { agentId, funder, walletAddress, createdAt, orderId } = order;
  return tx`select note_agent_wallets(${agentId}::uuid, ${[...new Set([walletAddress, funder])]}::text[], ${signer},
      ${new Date(createdAt)}::timestamptz)
    where exists (select 1 from orders where order_id = ${orderId} and agent_id = ${agentId})`;
}

/**
 * Records the transactions with their quoted orders, before any is sent to a node. The signature proves the wallet, which
 * becomes the agent's named wallet if it has none.
 */
function chainOrders(tx: Tx, agentId: string, transactions: readonly NewChainOrder[]) {
  const rows = transactions
    .map(
      ({ orderId, signature, wire, dueAt }) =>
        tx`(${orderId}::text, ${signature}::text, ${wire as Buffer}::bytea, ${new Date(dueAt)}::timestamptz)`,
    )
    .reduce((all, row) => tx`${all}, ${row}`);
  return tx`
  signed as (
    insert into chain_orders (order_id, agent_id, signature, wire, stage, due_at)
    select order_id, ${agentId}::uuid, t.signature, t.wire, 'sending', t.due_at
    from (values ${rows}) as t(order_id, signature, wire, due_at) join placed using (order_id)
  ), named as (
    update agents set sol_address = (select min(wallet_address) from placed)
    where agent_id = ${agentId}::uuid and sol_address is null and exists (select 1 from placed)
  )`;
}

interface Reserved {
  readonly day: string;
  readonly amount: bigint;
  /** Agents of other owners whose budgets also reserve the orders. */
  readonly others: readonly string[];
}

function orderColumns(order: NewOrder, { day, amount, others }: Reserved): ColumnValues {
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
    ...kindColumns(order),
    expiration: order.expiration === null ? null : new Date(order.expiration),
    fee_amount: order.feeAmount,
    reasoning: order.reasoning,
    source: order.source,
    skill_slug: order.skillSlug,
    request_id: order.requestId,
    created_at: at,
    status: FIRST_STATUS,
    journal: json([{ at: at.toISOString(), event: 'recorded', status: FIRST_STATUS }]),
    reserved_day: day,
    reserved_amount: amount,
    ...(others.length === 0 ? {} : { restricted_by: others }),
    updated_at: at,
  };
}

const kindColumns = (order: NewOrder): ColumnValues =>
  order.kind === 'signed'
    ? { kind: order.kind, signature_type: order.signatureType, version: order.version, is_redemption: false }
    : { kind: order.kind, signature_type: null, version: null, is_redemption: order.isRedemption };
