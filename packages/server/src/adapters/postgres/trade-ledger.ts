/**
 * The one transaction of a trade. Two round trips: everything up to the judgement goes out together, and so does
 * everything after it. The agent's safeguards row is locked by the first statement; the statements behind it have
 * snapshots of their own, taken after the lock was granted, so they see what the trade before this one committed.
 */

import { json, openTransaction, type Transaction } from '@bellwether/durable';
import { FIRST_STATUS } from '../../domain/orders/lifecycle.ts';
import type { NewChainOrder } from '../../ports/quoted-orders.ts';
import type { NewOrder, Standing, TradeLedger, TradeScope } from '../../ports/stores.ts';
import type { Sql, Tx } from './connection.ts';
import type { AgentsRow, ApiKeysRow, CredentialsRow, OrdersRow, QuotesRow } from './rows.generated.ts';
import { type ColumnValues, credentialRow, only, orderRow } from './rows.ts';
import { ownFacts, restrictingFacts, safeguardRows, standingOf, usage } from './trade-standing.ts';
import { createTurns } from './turns.ts';

/** How often the agents whose locks bind a wallet may change under a trade before it is given up. */
const ATTEMPTS = 10;

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
      for (let attempt = 1; ; attempt += 1) {
        const transaction = openTransaction(sql);
        try {
          const answers = await lockAndRead(transaction.tx, question);
          const opened = scope({ transaction, question, leave }, answers);
          if (opened !== null) return opened;
          if (attempt === ATTEMPTS) throw new Error('the locks that bind the wallet keep changing');
          await transaction.rollback();
        } catch (error) {
          leave();
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
 * Every statement here looks for a few rows by their keys, so one plan serves them all. Left alone, the planner makes a
 * new one for each trade once there are statistics, which costs several times what running it does.
 */
const keepPlans = (tx: Tx) => tx`set local plan_cache_mode = force_generic_plan`;

type Question = Parameters<TradeLedger['open']>[0];

/**
 * The locks come first. What says whose locks bind the wallet is read once more at the end, behind the credentials: a
 * link that moved the wallet here meanwhile shows itself there.
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

/** A trade that holds its agent's lock. */
interface Held {
  readonly transaction: Transaction;
  readonly question: Question;
  /** Lets the agent's next trade begin. */
  readonly leave: () => void;
}

/** @returns `null` when it must begin anew */
function scope(
  { transaction, question, leave }: Held,
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
    async commit(order, amount, chain) {
      // Executed, not awaited: both go out in front of the commit.
      const written = write(transaction.tx, standing, { order, amount, chain }).execute();
      // What became of it is the commit's to say.
      written.catch(() => {});
      if (key?.is_known !== true)
        note(transaction.tx, question, order)
          .execute()
          .catch(() => {});
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

interface Written {
  readonly order: NewOrder;
  readonly amount: bigint;
  readonly chain: NewChainOrder | undefined;
}

/** The order, and its budget: the agent's own, and that of every agent whose locks bind the wallet. */
function write(tx: Tx, standing: Standing & { readonly day: string }, { order, amount, chain }: Written) {
  const { day, usage: used, restrictions } = standing;
  const others = restrictions.map(({ agentId }) => agentId);
  const spent = tx`${amount.toString()}::bigint * (select count(*) from placed where counts)`;
  // The own budget moves by what was really written, and takes in what `lockAndRead` deleted from the returns.
  return tx<{ placed: number }[]>`with placed as (
      insert into orders ${tx(orderColumns(order, { day, amount, others }))} on conflict (order_id) do nothing
      returning not is_redemption as counts
    )${chain === undefined ? tx`` : tx`, ${chainOrder(tx, order, chain)}`}${
      others.length === 0
        ? tx``
        : tx`, bound as (
      update safeguards set usage_day = ${day}::date,
        used_trades = case when usage_day = ${day}::date then used_trades else 0 end
          + (select count(*) from placed where counts),
        used_amount = case when usage_day = ${day}::date then used_amount else 0 end + ${spent}
      where agent_id = any(${others}::uuid[])
    )`
    }
    update safeguards set usage_day = ${day}::date,
      used_trades = ${used.trades} + (select count(*) from placed where counts),
      used_amount = ${used.amount.toString()}::bigint + ${spent}
    where agent_id = ${order.agentId} returning (select count(*)::int from placed) as placed`;
}

/** The agent's first trade with this wallet. */
function note(tx: Tx, { signer }: Question, order: NewOrder) {
  const { agentId, funder, walletAddress, createdAt, orderId } = order;
  return tx`select note_agent_wallets(${agentId}::uuid, ${[...new Set([walletAddress, funder])]}::text[], ${signer},
      ${new Date(createdAt)}::timestamptz)
    where exists (select 1 from orders where order_id = ${orderId} and agent_id = ${agentId})`;
}

/**
 * The transaction of a quoted order, written with it: before any node is given it. Its signature proves the wallet,
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

interface Reserved {
  readonly day: string;
  readonly amount: bigint;
  /** Agents of other owners in whose budgets it is reserved, too. */
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
