/**
 * The progress of quoted orders' transactions. Several replicas work on the same rows: each leases some of them, and
 * records a change under a lock on the row, together with the evidence for it.
 */

import { transact } from '@bellwether/durable';
import type { ChainOrderRow, ChainOrderStore } from '../../ports/quoted-orders.ts';
import type { Sql } from './connection.ts';
import { writeEvidence } from './evidence.ts';
import type { ChainOrdersRow, TradedMarketsRow } from './rows.generated.ts';
import { msOrNull } from './rows.ts';

export function createChainOrderStore(sql: Sql): ChainOrderStore {
  return {
    async byIds(orderIds) {
      const rows = await sql<
        ChainOrdersRow[]
      >`select * from chain_orders where order_id = any(${[...orderIds]}::text[])`;
      return rows.map(chainOrderRow);
    },

    async orderIdOf(agentId, signature) {
      const [row] = await sql<Pick<ChainOrdersRow, 'order_id'>[]>`
        select order_id from chain_orders where signature = ${signature} and agent_id = ${agentId}`;
      return row === undefined ? null : row.order_id;
    },

    async claim({ at, leaseMs, limit }) {
      // Usually nothing is due: then this is one read of an empty index.
      const rows = await sql<ChainOrdersRow[]>`
        update chain_orders c set due_at = ${new Date(at + leaseMs)}
        from (select order_id from chain_orders where stage <> 'done' and due_at <= ${new Date(at)}
              order by due_at limit ${limit} for update skip locked) due
        where c.order_id = due.order_id returning c.*`;
      return rows.map(chainOrderRow);
    },

    async beginSend(orderIds, at, dueAt) {
      const rows = await sql<Pick<ChainOrdersRow, 'order_id'>[]>`
        update chain_orders set attempts = attempts + 1, sent_at = ${new Date(at)}, due_at = ${new Date(dueAt)}
        where order_id = any(${[...orderIds]}::text[]) and stage = 'sending' returning order_id`;
      return new Set(rows.map((row) => row.order_id));
    },

    async postpone(orders) {
      if (orders.length === 0) return;
      const batch = orders.map(({ orderId, dueAt }) => ({
        order_id: orderId,
        due_at: new Date(dueAt).toISOString(),
      }));
      await sql`
        update chain_orders c set due_at = t.due_at
        from jsonb_to_recordset(${sql.json(batch)}) as t(order_id text, due_at timestamptz)
        where c.order_id = t.order_id and c.stage <> 'done'`;
    },

    advance: ({ seen, evidence, to, dueAt, at }) =>
      transact(sql, async (tx) => {
        const [row] = await tx<Pick<ChainOrdersRow, 'stage' | 'attempts' | 'fills'>[]>`
          select stage, attempts, fills from chain_orders where order_id = ${seen.orderId} for update`;
        const isUnmoved =
          row !== undefined &&
          row.stage === seen.stage &&
          row.fills.length === seen.fills.length &&
          // A transaction that was unsent when the caller read the row may have been sent since.
          (seen.attempts > 0 || row.attempts === 0);
        if (!isUnmoved) return false;
        await Promise.all([
          ...writeEvidence(tx, evidence),
          tx`update chain_orders set stage = ${to.stage}, fills = ${[...to.fills]}::text[],
              reverts = ${tx.json(to.reverts.map((revert) => ({ ...revert })))}, due_at = ${new Date(dueAt)},
              landed_at = case when ${to.stage} = 'landed' then coalesce(landed_at, ${new Date(at)}) else landed_at end
            where order_id = ${seen.orderId}`,
        ]);
        return true;
      }) as Promise<boolean>,

    async unresolved(venue, limit) {
      const rows = await sql<Pick<TradedMarketsRow, 'condition_id'>[]>`
        select condition_id from traded_markets where venue = ${venue} and payout is null
        order by end_date limit ${limit}`;
      return rows.map((row) => row.condition_id);
    },

    async resolve(resolutions) {
      await transact(sql, async (tx) => {
        // Another replica may record the same outcome: the lock makes sure that agents get one event.
        const open = await tx<Pick<TradedMarketsRow, 'condition_id'>[]>`
          select condition_id from traded_markets
          where condition_id = any(${resolutions.map(({ conditionId }) => conditionId)}::text[]) and payout is null
          order by condition_id for update`;
        const unwritten = new Set(open.map((row) => row.condition_id));
        const fresh = resolutions.filter(({ conditionId }) => unwritten.has(conditionId));
        const evidence = { outcomes: [], fills: [], markets: [], deposits: [], resolutions: fresh };
        await Promise.all(writeEvidence(tx, evidence));
      });
    },
  };
}

const chainOrderRow = (row: ChainOrdersRow): ChainOrderRow => ({
  orderId: row.order_id,
  agentId: row.agent_id,
  signature: row.signature,
  wire: row.wire,
  stage: row.stage,
  attempts: row.attempts,
  sentAt: msOrNull(row.sent_at),
  landedAt: msOrNull(row.landed_at),
  fills: row.fills,
  reverts: row.reverts,
});
