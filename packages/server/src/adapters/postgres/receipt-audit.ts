/** What an audit of receipts reads, in one transaction that changes nothing and sees one moment. */
import { openTransaction } from '@bellwether/durable';
import type { AuditedOrder, LinkedReceipt, ReceiptAudit, ReceiptPlace } from '../../ports/receipts.ts';
import type { OrderRow } from '../../ports/stores.ts';
import type { Sql, Tx } from './connection.ts';
import { receiptFill, storedJournal } from './receipt-log.ts';
import { hexOf, linkedReceipt, receiptRows } from './receipt-store.ts';
import type { FillsRow, OrdersRow, ReceiptHeadsRow, ReceiptLogRow } from './rows.generated.ts';
import { ms, only, orderRow } from './rows.ts';

type Audited = OrdersRow & { readonly signature: string | null; readonly is_listed: boolean };

export async function auditReceipts<T>(sql: Sql, work: (audit: ReceiptAudit) => Promise<T>): Promise<T> {
  const { tx, rollback } = openTransaction(sql);
  try {
    await tx`set transaction isolation level repeatable read read only`;
    await tx`set local statement_timeout = 0`;
    const log = only(await tx<ReceiptLogRow[]>`select * from receipt_log`);
    return await work(reads(tx, ms(log.began_at)));
  } finally {
    await rollback();
  }
}

/** A row that somebody wrote past the desk may hold anything. */
function readable(row: OrdersRow): OrderRow | null {
  try {
    return orderRow(row);
  } catch {
    return null;
  }
}

const reads = (tx: Tx, beganAt: number): ReceiptAudit => ({
  beganAt,

  async agents() {
    const rows = await tx<{ readonly agent_id: string }[]>`
      select agent_id from receipt_heads union select agent_id from receipts
      union select agent_id from orders order by agent_id`;
    return rows.map((row) => row.agent_id);
  },

  async head(agentId): Promise<ReceiptPlace | null> {
    const [row] = await tx<ReceiptHeadsRow[]>`select * from receipt_heads where agent_id = ${agentId}`;
    return row === undefined ? null : { sequence: Number(row.sequence), hash: hexOf(row.hash) };
  },

  async page(agentId, after, limit): Promise<LinkedReceipt[]> {
    const rows = await receiptRows(
      tx,
      tx`r.agent_id = ${agentId} and r.sequence > ${after}::bigint order by r.sequence limit ${limit}`,
    );
    return rows.map(linkedReceipt);
  },

  async pending(agentId): Promise<ReadonlySet<string>> {
    const rows = await tx<{ readonly subject: string }[]>`
      select distinct f.subject from receipt_log l cross join lateral (
        select subject from facts where agent_id = ${agentId} and writer >= l.writer and (writer, seq) > (l.writer, l.seq)
          and kind in ('order', 'fill', 'reversal', 'recount') offset 0) f`;
    return new Set(rows.map(({ subject }) => subject));
  },

  async orderIds(agentId): Promise<readonly string[]> {
    // By the index on an agent's orders, and sorted then: each page by its ids, whatever other agents have.
    const rows = await tx<{ readonly order_id: string }[]>`
      select o.order_id from (select order_id from orders where agent_id = ${agentId} offset 0) o order by 1`;
    return rows.map((row) => row.order_id);
  },

  async orders(agentId, ids): Promise<AuditedOrder[]> {
    const rows = await tx<Audited[]>`
      select o.*, c.signature, b.order_id is not null as is_listed
      from unnest(${[...ids]}::text[]) as t(order_id) join orders o using (order_id)
      left join chain_orders c using (order_id)
      left join orders_before_receipts b using (order_id)
      where o.agent_id = ${agentId} order by o.order_id`;
    const fills = await tx<FillsRow[]>`select * from fills
      where order_id = any(${[...ids]}::text[]) and agent_id = ${agentId}`;
    const fillsOf = Map.groupBy(fills, (fill) => fill.order_id);
    return rows.map((row) => ({
      orderId: row.order_id,
      order: readable(row),
      journal: storedJournal(row),
      transactionId: row.signature,
      fills: (fillsOf.get(row.order_id) ?? []).map(receiptFill),
      isListed: row.is_listed,
    }));
  },
});
