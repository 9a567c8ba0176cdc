/** Orders and fills, read; and the outcomes that only the desk can prove, written. */
import type { OrderFilter, OrderStore } from '../../ports/stores.ts';
import type { Fragment, Sql } from './connection.ts';
import { writeEvidence } from './evidence.ts';
import { OPEN_STATUSES, openStatuses } from './open-statuses.ts';
import { orderRow, type Row } from './rows.ts';

/** The statuses behind each integer of the interface's records. */
const STATUSES_BY_NUMBER: Readonly<Record<number, readonly string[]>> = {
  1: OPEN_STATUSES,
  2: ['matched', 'filled'],
  3: ['canceled', 'expired'],
  4: ['market_resolved'],
  5: ['rejected'],
};

export function createOrderStore(sql: Sql): OrderStore {
  const open = sql`status in ${openStatuses(sql)}`;

  const page = async (agentId: string, filter: OrderFilter, condition: Fragment) => {
    const where = sql`agent_id = ${agentId} and ${condition}
      ${filter.venue === undefined ? sql`` : sql`and venue = ${filter.venue}`}
      ${filter.conditionId === undefined ? sql`` : sql`and condition_id = ${filter.conditionId}`}`;
    const { after } = filter;
    const beyond =
      after === undefined
        ? sql``
        : sql`and (created_at, order_id) < (${new Date(after.createdAt)}, ${after.orderId})`;
    const [rows, [count]] = await Promise.all([
      sql`select * from orders where ${where} ${beyond} order by created_at desc, order_id desc limit ${filter.limit} offset ${filter.offset}`,
      sql`select count(*)::int as total from orders where ${where}`,
    ]);
    return { orders: rows.map(orderRow), total: count?.total as number };
  };

  return {
    async byIds(orderIds) {
      return (await sql`select * from orders where order_id = any(${[...orderIds]}::text[])`).map(orderRow);
    },

    async byId(agentId, orderId) {
      const [row] = await sql`select * from orders where agent_id = ${agentId} and order_id = ${orderId}`;
      return row === undefined ? null : orderRow(row);
    },

    async fills(funder, orderId) {
      const rows =
        await sql`select * from fills where wallet = ${funder} and order_id = ${orderId} order by trade_id`;
      return rows.map((row: Row) => ({
        tradeId: row.trade_id.toString(),
        price: row.price,
        size: row.size,
        cost: row.cost,
        fee: row.fee,
        liquidity: row.liquidity,
        matchKind: row.match_kind,
        filledAt: row.filled_at.getTime(),
      }));
    },

    open: (agentId, filter) => page(agentId, filter, open),

    history: (agentId, filter) =>
      page(
        agentId,
        filter,
        filter.orderStatus === undefined
          ? sql`true`
          : sql`status = any(${[...(STATUSES_BY_NUMBER[filter.orderStatus] ?? [])]}::text[])`,
      ),

    async openOfOwner(userId) {
      return (await sql`select * from orders where user_id = ${userId} and ${open} order by created_at`).map(
        orderRow,
      );
    },

    async inDoubt(olderThan) {
      const rows = await sql`
        select * from orders where status in ('submitting', 'unknown') and created_at < ${new Date(olderThan)}
        order by created_at limit 1000`;
      return rows.map(orderRow);
    },

    async settle(orderId, outcome, at) {
      await Promise.all(
        writeEvidence(sql, {
          fills: [],
          deposits: [],
          markets: [],
          resolutions: [],
          outcomes: [
            {
              orderId,
              status: outcome.status,
              terminal: outcome.status === 'rejected',
              filled: 0n,
              cost: 0n,
              fees: 0n,
              errorCode: outcome.errorCode,
              first: outcome.status === 'unknown' ? null : outcome,
              journal: [{ at, event: outcome.event, status: outcome.status }],
              at,
            },
          ],
        }),
      );
    },
  };
}
