/** Reads the receipts that may have to be corrected, order by order, and adds what corrects them. */
import type { DoubtfulReceipts, ReceiptCorrections, ReceiptRow } from '../../ports/receipts.ts';
import type { Sql } from './connection.ts';
import { columnsOf, headsOf } from './receipt-log.ts';
import type { OrdersRow, ReceiptsRow } from './rows.generated.ts';
import { only, orderRow } from './rows.ts';

interface Place {
  readonly writer: string;
  readonly seq: bigint;
  readonly uncorrected_after: string | null;
}
type Doubtful = OrdersRow & { readonly is_logged: boolean; readonly is_pending: boolean };

export const createReceiptCorrections = (sql: Sql): ReceiptCorrections => ({
  async correct(most, link) {
    const place = only(
      await sql<Place[]>`select writer::text as writer, seq, uncorrected_after from receipt_log`,
    );
    const { uncorrected_after: after } = place;
    if (after === null) return false;
    const orders = await sql<Doubtful[]>`
      select o.*, p.is_pending, exists (
        select 1 from facts f where f.agent_id = o.agent_id and f.kind = 'order' and f.at = o.updated_at
          and f.subject = o.order_id
          and f.payload - 'reversals' = order_change(o.status, o.filled, o.cost, o.fees, o.error_code)) as is_logged
      from (select * from orders where order_id > ${after} order by order_id limit ${most}) o
      cross join lateral (select exists (
        select 1 from facts f where f.agent_id = o.agent_id and f.subject = o.order_id
          and f.writer >= ${place.writer}::text::xid8
          and (f.writer, f.seq) > (${place.writer}::text::xid8, ${place.seq}::bigint)) as is_pending) p
      order by o.order_id`;
    const ids = orders.filter((row) => !row.is_pending).map((row) => row.order_id);
    const told = await sql<Pick<ReceiptsRow, 'order_id' | 'sequence' | 'body'>[]>`
      select order_id, sequence, body from receipts where order_id = any(${ids}::text[]) order by sequence`;
    const receiptsOf = Map.groupBy(told, (row) => row.order_id);
    const doubtful = orders.flatMap((row): DoubtfulReceipts[] => {
      const receipts = receiptsOf.get(row.order_id)?.map(({ sequence, body }) => ({
        sequence: Number(sequence),
        body,
      }));
      return receipts === undefined ? [] : [{ order: orderRow(row), receipts, isLogged: row.is_logged }];
    });
    const heads = await headsOf(sql, [...new Set(doubtful.map(({ order }) => order.agentId))]);
    const next = orders.length < most ? null : (orders.at(-1)?.order_id ?? null);
    await write(sql, { place, next, rows: link({ doubtful, heads }) });
    return true;
  },
});

interface Corrected {
  readonly place: Place;
  readonly next: string | null;
  readonly rows: readonly ReceiptRow[];
}

/** Where another process was faster, nothing is added: the next turn looks again. */
const write = (sql: Sql, { place, next, rows }: Corrected): PromiseLike<unknown> =>
  sql`select correct_receipts(${place.writer}::text::xid8, ${place.seq}::bigint, ${place.uncorrected_after}, ${next}::text,
    ${columnsOf(sql, rows)})`;
