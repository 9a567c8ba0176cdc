/** Chains of receipts, one per agent. Times are epoch milliseconds. */

export interface ReceiptRow {
  readonly agentId: string;
  readonly sequence: number;
  readonly kind: string;
  readonly orderId: string | null;
  readonly recordedAt: number;
  /** The canonical JSON that was hashed. */
  readonly body: string;
  /** 64 hex digits. */
  readonly hash: string;
}

/** Sequence 0 before the first entry. */
export interface ReceiptPlace {
  readonly sequence: number;
  readonly hash: string;
}

/** With the hash of the entry before it. */
export type LinkedReceipt = ReceiptRow & { readonly previousHash: string };

export interface ReceiptStore {
  head(agentId: string): Promise<ReceiptPlace>;
  /** The entries after a sequence, in their order. */
  page(agentId: string, after: number, limit: number): Promise<readonly LinkedReceipt[]>;
  /** Oldest first. */
  ofOrder(agentId: string, orderId: string): Promise<readonly LinkedReceipt[]>;
}
