/** What an audit of receipts reads, in one transaction that changes nothing and sees one moment. */
import { openTransaction } from '@bellwether/durable';
import type { AuditedOrder, LinkedReceipt, ReceiptAudit, ReceiptPlace } from '../../ports/receipts.ts';
import type { Sql, Tx } from './connection.ts';
import { receiptFill } from './receipt-log.ts';
import { hexOf, linkedReceipt, receiptRows } from './receipt-store.ts';
import type { FillsRow, OrdersRow, ReceiptHeadsRow, ReceiptLogRow } from './rows.generated.ts';
import { ms, only, orderRow } from './rows.ts';

type Audited = OrdersRow & { readonly signature: string | null; readonly is_pending: boolean };

export async function auditReceipts<T>(sql: Sql, work: (audit: ReceiptAudit) => Promise<T>): Promise<T> {
  const { tx, rollback } = openTransaction(sql);
  try {
    await tx`set transaction isolation level repeatable read read only`;
    const log = only(await tx<ReceiptLogRow[]>`select * from receipt_log`);
    return await work(reads(tx, ms(log.began_at)));
  } finally {
    await rollback();
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

  async orders(agentId, after, limit): Promise<AuditedOrder[]> {
    const rows = await tx<Audited[]>`
      select o.*, c.signature, exists (
        select 1 from facts f cross join receipt_log l where f.agent_id = o.agent_id and f.subject = o.order_id
          and f.kind in ('order', 'fill', 'reversal') and (f.writer, f.seq) > (l.writer, l.seq)) as is_pending
      from orders o left join chain_orders c on c.order_id = o.order_id
      where o.agent_id = ${agentId} and o.order_id > ${after} order by o.order_id limit ${limit}`;
    const fills = await tx<FillsRow[]>`select * from fills
      where order_id = any(${rows.map((row) => row.order_id)}::text[]) and agent_id = ${agentId}`;
    const fillsOf = Map.groupBy(fills, (fill) => fill.order_id);
    return rows.map((row) => ({
      order: orderRow(row),
      transactionId: row.signature,
      fills: (fillsOf.get(row.order_id) ?? []).map(receiptFill),
      isPending: row.is_pending,
    }));
  },
});
