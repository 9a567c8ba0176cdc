/** Puts entries behind the chains of their agents. */
import { canonicalJson, FIRST_LINK, type ReceiptBody, receiptText, type Sha256 } from '@bellwether/contract';
import type { OrderRow } from '../domain/records.ts';
import type { ReceiptPlace, ReceiptRow } from './store.ts';

export interface NewEntry {
  readonly order: Pick<OrderRow, 'agentId' | 'orderId'>;
  readonly recordedAt: number;
  readonly body: ReceiptBody;
}

export function linkEntries(
  entries: readonly NewEntry[],
  heads: ReadonlyMap<string, ReceiptPlace>,
  sha256: Sha256,
): ReceiptRow[] {
  const last = new Map<string, ReceiptPlace>(heads);
  return entries.map(({ order: { agentId, orderId }, recordedAt, body: content }) => {
    const { sequence, hash: previousHash } = last.get(agentId) ?? FIRST_LINK;
    const entry = {
      agentId,
      sequence: sequence + 1,
      previousHash,
      kind: 'order',
      recordedAt: new Date(recordedAt).toISOString(),
    };
    const body = canonicalJson(content) as string;
    const hash = sha256(receiptText(entry, body));
    last.set(agentId, { sequence: entry.sequence, hash });
    return { agentId, sequence: entry.sequence, kind: entry.kind, orderId, recordedAt, body, hash };
  });
}
