/**
 * The statuses of orders that can still be filled, as far as is known, as the list after `status in`. Literal text, not a parameter:
 * the planner uses a partial index only if the statement itself shows that the index's condition is true.
 */

import type { FirstAnswer } from '../domain/evidence.ts';
import {
  mayFill,
  ORDER_STATUSES,
  type OrderStatus,
  standingsOf,
  WITHOUT_EFFECT_CODES,
} from '../domain/lifecycle.ts';
import type {
  AgentFillRow,
  FillPlace,
  FillRow,
  ListedOrder,
  OrderRow,
  QuotedOrderRow,
  SetOrderRow,
  SignedOrderRow,
  WalletAddress,
} from '../domain/records.ts';
import { utcDay } from '../domain/safeguards.ts';
import {
  type AsJson,
  type Fragment,
  ms,
  msOrNull,
  only,
  type Sql,
  type Tx,
} from '../platform/database/connection.ts';
import { SILENCE } from '../platform/database/desk-watch.ts';
import { type Answering, asRows, byShape, groupReads } from '../platform/database/grouped-reads.ts';
import type { FillsRow, LateOrdersRow, OrdersRow } from '../platform/database/rows.generated.ts';
import type { Place } from '../platform/http/page.ts';
import { journalEntries, writeOutcomes } from './outcomes.ts';

const OPEN_STATUSES = ORDER_STATUSES.filter(mayFill);

const LIST = `(${OPEN_STATUSES.map((status) => `'${status}'`).join(', ')})`;

export const openStatuses = (sql: Sql | Tx): Fragment => sql.unsafe(LIST) as unknown as Fragment;

// Orders from their rows.

/** A table constraint makes sure that each kind has its columns. */
export function orderRow(row: OrdersRow): OrderRow {
  if (row.kind === 'signed') return signedOrderRow(row);
  return row.kind === 'quoted'
    ? { ...orderColumns(row), ...quotedColumns(row) }
    : { ...orderColumns(row), ...setColumns(row, row.kind) };
}

export const signedOrderRow = (row: OrdersRow): SignedOrderRow => ({
  ...orderColumns(row),
  ...signedColumns(row),
});

const signedColumns = (row: ListedOrdersRow) => ({
  kind: 'signed' as const,
  outcome: row.outcome as SignedOrderRow['outcome'],
  timeInForce: row.time_in_force as SignedOrderRow['timeInForce'],
  funder: row.funder as SignedOrderRow['funder'],
  walletAddress: row.wallet_address as SignedOrderRow['walletAddress'],
  signatureType: row.signature_type as SignedOrderRow['signatureType'],
  version: row.version as SignedOrderRow['version'],
});

const quotedColumns = (row: ListedOrdersRow) => ({
  kind: 'quoted' as const,
  outcome: row.outcome as QuotedOrderRow['outcome'],
  timeInForce: row.time_in_force as QuotedOrderRow['timeInForce'],
  funder: row.funder as QuotedOrderRow['funder'],
  walletAddress: row.wallet_address as QuotedOrderRow['walletAddress'],
  isRedemption: row.is_redemption,
});

const setColumns = (row: ListedOrdersRow, kind: SetOrderRow['kind']) => ({
  kind,
  outcome: row.outcome as SetOrderRow['outcome'],
  timeInForce: row.time_in_force as SetOrderRow['timeInForce'],
  funder: row.funder as SetOrderRow['funder'],
  walletAddress: row.wallet_address as SetOrderRow['walletAddress'],
});

const orderColumns = (row: OrdersRow) => ({
  ...listedColumns(row),
  requestId: row.request_id,
  counted: row.reserved_amount,
  first:
    row.first_answer === null
      ? null
      : {
          ...row.first_answer,
          filled: BigInt(row.first_answer.filled),
          cost: BigInt(row.first_answer.cost),
          fees: BigInt(row.first_answer.fees),
        },
  journal: journalEntries(row.journal, row.journal_lines),
  sentAt: ms(row.sent_at ?? row.created_at),
});

/** Lists leave out what only one order's own record shows: its journal and its first answer are long. */
const UNLISTED = [
  'journal',
  'journal_lines',
  'first_answer',
  'request_id',
  'reserved_day',
  'reserved_amount',
  'restricted_by',
  'sent_at',
] as const satisfies readonly (keyof OrdersRow)[];

type ListedOrdersRow = Omit<OrdersRow, (typeof UNLISTED)[number]>;

/** Every column of `orders` that a list reads. The type makes a missing or unknown one an error. */
const LISTED: Readonly<Record<keyof ListedOrdersRow, 'money' | 'plain'>> = {
  agent_id: 'plain',
  order_id: 'plain',
  user_id: 'money',
  venue: 'plain',
  market_id: 'plain',
  condition_id: 'plain',
  question: 'plain',
  token_id: 'plain',
  outcome: 'plain',
  outcome_name: 'plain',
  side: 'plain',
  is_limit: 'plain',
  time_in_force: 'plain',
  post_only: 'plain',
  defer_exec: 'plain',
  price: 'plain',
  limit_price: 'plain',
  shares: 'money',
  money: 'money',
  funder: 'plain',
  wallet_address: 'plain',
  signature_type: 'plain',
  version: 'plain',
  expiration: 'plain',
  fee_amount: 'money',
  reasoning: 'plain',
  source: 'plain',
  skill_slug: 'plain',
  client_order_id: 'plain',
  cancel_at: 'plain',
  cancel_cause: 'plain',
  created_at: 'plain',
  status: 'plain',
  filled: 'money',
  cost: 'money',
  fees: 'money',
  error_code: 'plain',
  updated_at: 'plain',
  is_redemption: 'plain',
  kind: 'plain',
};

/** The columns of a table with the alias `o`, as text of a statement. */
const LISTED_COLUMNS = Object.keys(LISTED)
  .map((name) => `o.${name}`)
  .join(', ');

/** The same for lists in JSON, whose numbers cannot hold 64 bits. Names would be half of such a list. */
export const LISTED_JSON_COLUMNS = Object.entries(LISTED)
  .map(([name, kind]) => (kind === 'money' ? `o.${name}::text` : `o.${name}`))
  .join(', ');

export type ListedJson = readonly unknown[];

const LISTED_NAMES = Object.keys(LISTED);

const listedColumns = (row: ListedOrdersRow) => ({
  orderId: row.order_id,
  agentId: row.agent_id,
  userId: row.user_id,
  venue: row.venue,
  marketId: row.market_id,
  conditionId: row.condition_id,
  question: row.question,
  tokenId: row.token_id,
  outcomeName: row.outcome_name,
  side: row.side,
  isLimitOrder: row.is_limit,
  postOnly: row.post_only,
  deferExec: row.defer_exec,
  price: row.price,
  limit: row.limit_price,
  shares: row.shares,
  money: row.money,
  expiration: msOrNull(row.expiration),
  feeAmount: row.fee_amount,
  reasoning: row.reasoning,
  source: row.source,
  skillSlug: row.skill_slug,
  clientOrderId: row.client_order_id,
  cancelAt: msOrNull(row.cancel_at),
  cancelCause: row.cancel_cause as ListedOrder['cancelCause'],
  createdAt: ms(row.created_at),
  status: row.status,
  filled: row.filled,
  cost: row.cost,
  fees: row.fees,
  errorCode: row.error_code,
  updatedAt: ms(row.updated_at),
});

/** A table constraint makes sure that each kind has its columns. */
function listedOrder(row: ListedOrdersRow): ListedOrder {
  if (row.kind === 'signed') return { ...listedColumns(row), ...signedColumns(row) };
  return row.kind === 'quoted'
    ? { ...listedColumns(row), ...quotedColumns(row) }
    : { ...listedColumns(row), ...setColumns(row, row.kind) };
}

const named = (values: ListedJson): AsJson<ListedOrdersRow> =>
  Object.fromEntries(LISTED_NAMES.map((name, at) => [name, values[at]])) as AsJson<ListedOrdersRow>;

/** From a list of {@link LISTED_JSON_COLUMNS}. */
export function listedOrderFromJson(values: ListedJson): ListedOrder {
  const row = named(values);
  return listedOrder({
    ...row,
    user_id: BigInt(row.user_id),
    shares: BigInt(row.shares),
    money: BigInt(row.money),
    filled: BigInt(row.filled),
    cost: BigInt(row.cost),
    fees: BigInt(row.fees),
    fee_amount: BigInt(row.fee_amount),
    expiration: row.expiration === null ? null : new Date(row.expiration),
    cancel_at: row.cancel_at === null ? null : new Date(row.cancel_at),
    created_at: new Date(row.created_at),
    updated_at: new Date(row.updated_at),
  });
}

// Reads orders and fills; writes the outcomes that only the desk can prove.

type FillOfAgent = FillsRow &
  Pick<OrdersRow, 'venue' | 'market_id' | 'outcome_name'> & { readonly transaction: string | null };

type OpenQuestion = OrderFilter & { readonly agentId: string };
type OpenRow = ListedOrdersRow & Answering;

/** Decides the text of the statement. */
const shapeOf = ({ venue, conditionId, after }: OpenQuestion) => ({
  ofVenue: venue !== undefined,
  ofMarket: conditionId !== undefined,
  isAfter: after !== undefined,
});

interface Counts extends Omit<DayCounts, 'givenBack'> {
  readonly given_back: number;
}

const fillRow = (row: FillsRow): FillRow => ({
  tradeId: Number(row.trade_id),
  price: row.price,
  size: row.size,
  cost: row.cost,
  fee: row.fee,
  liquidity: row.liquidity,
  matchKind: row.match_kind,
  filledAt: ms(row.filled_at),
});

export function createOrderStore(sql: Sql) {
  const open = sql`status in ${openStatuses(sql)}`;

  /** Orders whose status is this integer in the interface's records. */
  const ofNumber = (number: number): Fragment => {
    const keys = standingsOf(number).map(
      ({ kind, status, errorCode }) => `${kind} ${status} ${errorCode ?? ''}`,
    );
    return sql`kind || ' ' || status || ' ' || case
        when kind = 'quoted' and status = 'rejected' and error_code = any(${[...WITHOUT_EFFECT_CODES]}::text[])
          then error_code else '' end = any(${keys}::text[])`;
  };

  const isWanted = (agentId: string, filter: OrderFilter, condition: Fragment): Fragment =>
    sql`agent_id = ${agentId} and ${condition}
      ${filter.venue === undefined ? sql`` : sql`and venue = ${filter.venue}`}
      ${filter.conditionId === undefined ? sql`` : sql`and condition_id = ${filter.conditionId}`}
      ${filter.clientOrderId === undefined ? sql`` : sql`and client_order_id = ${filter.clientOrderId}`}`;

  const openPages = byShape(shapeOf, (shape) =>
    groupReads<OpenQuestion, OpenRow>((questions) => {
      const after = questions.map(({ after: place }) => place);
      return sql<OpenRow[]>`
        select q.nth::integer as nth, o.*
        from ${asRows(
          sql,
          sql`${questions.map(({ agentId }) => agentId)}::uuid[], ${questions.map(({ venue = null }) => venue)}::text[],
            ${questions.map(({ conditionId = null }) => conditionId)}::text[],
            ${after.map((place) => (place === undefined ? null : new Date(place.at)))}::timestamptz[],
            ${after.map((place) => place?.id ?? null)}::text[], ${questions.map(({ limit }) => limit)}::bigint[],
            ${questions.map(({ offset }) => offset)}::bigint[]`,
          'agent_id, venue, condition_id, after_time, after_id, most, skipped',
          questions.length,
        )}
        cross join lateral (select ${sql.unsafe(LISTED_COLUMNS)} from orders o
          where o.agent_id = q.agent_id and ${open}
            ${shape.ofVenue ? sql`and o.venue = q.venue` : sql``}
            ${shape.ofMarket ? sql`and o.condition_id = q.condition_id` : sql``}
            ${shape.isAfter ? sql`and (o.created_at, o.order_id) < (q.after_time, q.after_id)` : sql``}
          order by o.created_at desc, o.order_id desc limit q.most offset q.skipped) o
        order by q.nth, o.created_at desc, o.order_id desc`;
    }),
  );

  const page = async (agentId: string, filter: OrderFilter, condition: Fragment) => {
    const where = isWanted(agentId, filter, condition);
    const { after } = filter;
    const beyond =
      after === undefined ? sql`` : sql`and (created_at, order_id) < (${new Date(after.at)}, ${after.id})`;
    const [rows, count] = await Promise.all([
      sql<
        OrdersRow[]
      >`select * from orders where ${where} ${beyond} order by created_at desc, order_id desc limit ${filter.limit} offset ${filter.offset}`,
      sql<{ total: number }[]>`select count(*)::int as total from orders where ${where}`,
    ]);
    return { orders: rows.map(orderRow), total: only(count).total };
  };

  return {
    async byIds(orderIds: readonly string[]): Promise<readonly OrderRow[]> {
      return (
        await sql<OrdersRow[]>`select * from orders where order_id = any(${[...orderIds]}::text[])`
      ).map(orderRow);
    },

    async byId(agentId: string, orderId: string): Promise<OrderRow | null> {
      const [row] = await sql<
        OrdersRow[]
      >`select * from orders where agent_id = ${agentId} and order_id = ${orderId}`;
      return row === undefined ? null : orderRow(row);
    },

    /** @param wallet the account whose position the fills changed */
    async fills(wallet: WalletAddress, orderId: string): Promise<readonly FillRow[]> {
      const rows = await sql<
        FillsRow[]
      >`select * from fills where wallet = ${wallet} and order_id = ${orderId} order by trade_id`;
      return rows.map(fillRow);
    },

    /** Fills of the agent's orders, under any owner and on any wallet. */
    async fillsOfAgent(
      agentId: string,
      { venue, conditionId, after, limit, offset }: FillFilter,
    ): Promise<{ readonly fills: readonly AgentFillRow[]; readonly total: number }> {
      // The order's row must be the agent's, too: a position change without an order is not a fill. Looked up per fill:
      // a plan made while the tables were empty must not scan the agent's orders.
      const wanted = sql`from fills f
        join lateral (select agent_id, venue, market_id, condition_id from orders where order_id = f.order_id offset 0) o
          on o.agent_id = f.agent_id
        left join chain_orders c on c.order_id = f.order_id
        where f.agent_id = ${agentId}
          ${venue === undefined ? sql`` : sql`and o.venue = ${venue}`}
          ${conditionId === undefined ? sql`` : sql`and f.condition_id = ${conditionId}`}`;
      const rows = await sql<FillOfAgent[]>`
        select f.*, o.venue, c.fills[f.trade_id::integer + 1] as transaction,
          -- A conversion has fills in other markets than its order's own.
          case when f.condition_id = o.condition_id then o.market_id else (
            select market_id from traded_markets m where m.condition_id = f.condition_id) end as market_id,
          outcome_name(f.condition_id, f.outcome) ${wanted}
          ${
            after === undefined
              ? sql``
              : sql`and (f.filled_at, f.order_id, f.trade_id)
                  < (${new Date(after.filledAt)}, ${after.orderId}, ${after.tradeId}::bigint)`
          }
        order by f.filled_at desc, f.order_id desc, f.trade_id desc limit ${limit} offset ${offset}`;
      // A first page that is not full has them all.
      const hasAll = after === undefined && offset === 0 && rows.length < limit;
      const total = hasAll
        ? rows.length
        : only(await sql<{ total: number }[]>`select count(*)::int as total ${wanted}`).total;
      const fills = rows.map((row) => ({
        ...fillRow(row),
        orderId: row.order_id,
        venue: row.venue,
        marketId: row.market_id,
        conditionId: row.condition_id,
        tokenId: row.token_id,
        outcome: row.outcome,
        outcomeName: row.outcome_name,
        side: row.side,
        wallet: row.wallet,
        transaction: row.transaction,
      }));
      return { fills, total };
    },

    async open(
      agentId: string,
      filter: OrderFilter,
    ): Promise<{ readonly orders: readonly ListedOrder[]; readonly total: number }> {
      const { after, limit, offset } = filter;
      const count = () =>
        sql<
          { total: number }[]
        >`select count(*)::int as total from orders where ${isWanted(agentId, filter, open)}`;
      const isFirst = after === undefined && offset === 0;
      const [rows, counted] = await Promise.all([
        openPages({ agentId, ...filter }),
        isFirst ? null : count(),
      ]);
      const orders = rows.map(listedOrder);
      // A first page that is not full has them all.
      if (isFirst && rows.length < limit) return { orders, total: rows.length };
      return { orders, total: only(counted ?? (await count())).total };
    },

    history: (
      agentId: string,
      filter: OrderFilter,
    ): Promise<{ readonly orders: readonly OrderRow[]; readonly total: number }> =>
      page(agentId, filter, filter.orderStatus === undefined ? sql`true` : ofNumber(filter.orderStatus)),

    async openOfOwner(userId: bigint): Promise<readonly OrderRow[]> {
      const rows = await sql<OrdersRow[]>`
        select * from orders where agent_id in (select agent_id from agents where user_id = ${userId}) and ${open}
        order by created_at`;
      return rows.map(orderRow);
    },

    /** Parts of the day's number of trades, for the UTC day of `at`. */
    async countsOfDay(agentId: string, at: number): Promise<DayCounts> {
      const day = utcDay(at);
      const row = only(
        await sql<Counts[]>`
        select count(*)::int as placed, count(*) filter (where filled > 0)::int as filled,
          count(*) filter (where ${open} or status in ('submitting', 'unknown'))::int as open,
          count(*) filter (where filled = 0 and status in ('canceled', 'expired'))::int as canceled,
          count(*) filter (where status = 'rejected')::int as given_back
        from orders where agent_id = ${agentId} and created_at >= ${new Date(`${day}T00:00:00Z`)}
          and reserved_day = ${day}::date and not is_redemption`,
      );
      return {
        placed: row.placed,
        filled: row.filled,
        open: row.open,
        canceled: row.canceled,
        givenBack: row.given_back,
      };
    },

    /** Without quoted orders: a job follows their transactions. */
    async inDoubt(olderThan: number): Promise<readonly SentOrderRow[]> {
      const rows = await sql<OrdersRow[]>`
        select * from orders where status in ('submitting', 'unknown') and created_at < ${new Date(olderThan)}
          and kind <> 'quoted'
        order by created_at limit 1000`;
      return rows.map(orderRow).filter((row) => row.kind !== 'quoted');
    },

    /** Orders whose time is over and that may still be filled; each is given out again later, until it has ended. */
    async late(at: number, most: number): Promise<readonly OrderRow[]> {
      // Mostly there is none, which a read finds out without a write.
      const due = await sql<Pick<LateOrdersRow, 'order_id'>[]>`
        select order_id from late_orders where due_at <= ${new Date(at)} limit 1`;
      if (due.length === 0) return [];
      const now = sql`${new Date(at)}::timestamptz`;
      const rows = await sql<OrdersRow[]>`
        with due as materialized (
          select l.order_id, o.status in ${openStatuses(sql)} as is_open, o.cancel_at
          from late_orders l join orders o using (order_id)
          where l.due_at <= ${now} order by l.due_at limit ${most} for update of l skip locked
        ), ended as (
          delete from late_orders l using due where l.order_id = due.order_id and not due.is_open
        ), later as (
          update late_orders l
          set due_at = ${now} + least(greatest((${now} - due.cancel_at) / 4, interval '1 second'), interval '1 minute')
          from due where l.order_id = due.order_id and due.is_open
        )
        select o.* from orders o join due using (order_id) where due.is_open`;
      return rows.map(orderRow);
    },

    /** Has the open orders of agents canceled that have made no request for as long as their settings say. */
    async cancelSilent(at: number): Promise<void> {
      await sql`select cancel_silent(${new Date(at)}, ${SILENCE.gap}::interval, ${SILENCE.slack}::interval)`;
    },

    /** Records the outcome of an order when the venue's own evidence does not. */
    async settle(
      orderId: string,
      outcome: FirstAnswer & {
        readonly status: OrderStatus;
        readonly event: string;
        /** Only where it was not sent after that, epoch milliseconds; its venue would take it again. */
        readonly sentBefore?: number;
      },
      at: number,
    ): Promise<void> {
      await writeOutcomes(sql, [
        {
          orderId,
          status: outcome.status,
          filled: 0n,
          cost: 0n,
          fees: 0n,
          errorCode: outcome.errorCode,
          first: outcome.status === 'unknown' ? null : outcome,
          ...(outcome.sentBefore === undefined ? {} : { isRepeatable: true, sentBefore: outcome.sentBefore }),
          journal: [{ at, event: outcome.event, status: outcome.status }],
          at,
        },
      ]);
    },
  };
}

/** An order that the desk sends, and its venue answers. */
export type SentOrderRow = SignedOrderRow | SetOrderRow;

interface FillFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  /** Only fills that come after this one in the list. */
  readonly after?: FillPlace;
  readonly limit: number;
  readonly offset: number;
}

export interface OrderFilter {
  readonly venue?: string;
  readonly conditionId?: string;
  readonly orderStatus?: number;
  readonly clientOrderId?: string;
  /** Only orders after this one in the list, which is newest first. */
  readonly after?: Place;
  readonly limit: number;
  readonly offset: number;
}

interface DayCounts {
  readonly placed: number;
  readonly filled: number;
  readonly open: number;
  /** Canceled or expired without a fill. */
  readonly canceled: number;
  /** Proved never accepted by the venue. */
  readonly givenBack: number;
}

export type OrderStore = ReturnType<typeof createOrderStore>;
