/** Reads receipts: of one order, and a whole chain page by page. */
import {
  type OrderReceipt,
  RECEIPT_LIMITS,
  RECEIPT_VERSION,
  type ReceiptBody,
  type ReceiptEntry,
  type ReceiptPage,
  type Sha256,
} from '@bellwether/contract';
import type { AgentStore } from '../agents/index.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import type { OrderStore } from '../trading/index.ts';
import type { LinkedReceipt, ReceiptStore } from './store.ts';

export interface ReceiptNeeds {
  readonly clock: Clock;
  readonly receipts: ReceiptStore;
  readonly orders: Pick<OrderStore, 'byId'>;
  readonly agents: Pick<AgentStore, 'byId'>;
  readonly sha256: Sha256;
}

export interface Agent {
  readonly agentId: string;
}

export const entryOf = (row: LinkedReceipt): ReceiptEntry => ({
  version: RECEIPT_VERSION,
  agentId: row.agentId,
  sequence: row.sequence,
  previousHash: row.previousHash,
  kind: row.kind,
  recordedAt: new Date(row.recordedAt).toISOString(),
  body: JSON.parse(row.body) as ReceiptBody,
  hash: row.hash,
});

/** As often as receipts are written. */
const RETRY_S = 2;

/** @throws Refusal order_not_found, receipt_not_found */
export async function orderReceipt(
  { receipts, orders }: ReceiptNeeds,
  { agentId }: Agent,
  orderId: string,
): Promise<OrderReceipt> {
  const [rows, order, head] = await Promise.all([
    receipts.ofOrder(agentId, orderId),
    orders.byId(agentId, orderId),
    receipts.head(agentId),
  ]);
  if (order === null) throw refusal('order_not_found');
  if (rows.length === 0) throw refusal('receipt_not_found', undefined, { retryAfterS: RETRY_S });
  return { agentId, orderId, entries: rows.map(entryOf), head };
}

export async function receiptPage(
  { receipts }: { readonly receipts: Pick<ReceiptStore, 'head' | 'page'> },
  { agentId }: Agent,
  { after = 0, limit = RECEIPT_LIMITS.entriesPerPage }: { readonly after?: number; readonly limit?: number },
): Promise<ReceiptPage> {
  // The head first: entries that come meanwhile are behind it, never missing before it.
  const head = await receipts.head(agentId);
  const rows = await receipts.page(agentId, after, limit);
  const last = rows.at(-1);
  const hasMore = last !== undefined && rows.length === limit && last.sequence < head.sequence;
  return { agentId, entries: rows.map(entryOf), next: hasMore ? last.sequence : null, head };
}
