/** Reads chains of receipts. Writing them is another file's work. */
import type { LinkedReceipt, ReceiptPlace, ReceiptStore } from '../../ports/receipts.ts';
import type { Fragment, Sql, Tx } from './connection.ts';
import type { ReceiptHeadsRow, ReceiptsRow } from './rows.generated.ts';
import { ms } from './rows.ts';

/** Before the first entry of a chain. */
export const NO_HASH = '0'.repeat(64);

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

type Row = ReceiptsRow & { readonly previous: Uint8Array | null };

/** With the hash of the entry before each. */
export const receiptRows = (sql: Sql | Tx, where: Fragment) => sql<Row[]>`
  select r.*, p.hash as previous from receipts r
  left join receipts p on p.agent_id = r.agent_id and p.sequence = r.sequence - 1 where ${where}`;

export function createReceiptStore(sql: Sql): ReceiptStore {
  const read = async (where: Fragment): Promise<LinkedReceipt[]> =>
    (await receiptRows(sql, where)).map(linkedReceipt);

  return {
    async head(agentId): Promise<ReceiptPlace> {
      const [row] = await sql<ReceiptHeadsRow[]>`select * from receipt_heads where agent_id = ${agentId}`;
      return row === undefined
        ? { sequence: 0, hash: NO_HASH }
        : { sequence: Number(row.sequence), hash: hexOf(row.hash) };
    },

    page: (agentId, after, limit) =>
      read(sql`r.agent_id = ${agentId} and r.sequence > ${after}::bigint order by r.sequence limit ${limit}`),

    ofOrder: (agentId, orderId) =>
      read(sql`r.order_id = ${orderId} and r.agent_id = ${agentId} order by r.sequence`),
  };
}

export const linkedReceipt = (row: Row): LinkedReceipt => ({
  agentId: row.agent_id,
  sequence: Number(row.sequence),
  kind: row.kind,
  orderId: row.order_id,
  recordedAt: ms(row.recorded_at),
  body: row.body,
  hash: hexOf(row.hash),
  previousHash: row.previous === null ? NO_HASH : hexOf(row.previous),
});
