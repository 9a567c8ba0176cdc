/** Chains of receipts, one per agent. Times are epoch milliseconds. */
import type { FillRow, OrderRow } from './stores.ts';

export interface ReceiptRow {
  readonly agentId: string;
  readonly sequence: number;
  readonly kind: string;
  readonly orderId: string | null;
  readonly recordedAt: number;
  /** The canonical JSON of the entry's body. */
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

/** With what it has realized. */
export type ReceiptFill = FillRow & { readonly wallet: string; readonly realized: bigint };

/** An order's journal as it is stored. Either part only grows. */
export interface StoredJournal {
  /** As releases before the lines wrote it. */
  readonly earlier: readonly unknown[];
  /** One line for each entry. */
  readonly lines: string;
}

/** What the log says of an order, oldest first. Money as text in micro-units. */
export type OrderFact =
  | { readonly kind: 'order'; readonly at: number; readonly payload: OrderChange }
  /** A fill, or what it has realized, counted anew. `null`: it was taken back since. */
  | { readonly kind: 'fill' | 'recount'; readonly at: number; readonly fill: ReceiptFill | null }
  | { readonly kind: 'reversal'; readonly at: number; readonly payload: Readonly<Record<string, string>> };

export interface OrderChange {
  readonly status: string;
  readonly filledSize?: string;
  readonly filledAmount?: string;
  readonly feePaid?: string;
  readonly errorCode?: string;
}

/** One order in a piece of the log, and what its receipt needs. */
export interface ReceiptMatter {
  readonly order: OrderRow;
  /** The id of a quoted order's transaction. */
  readonly transactionId: string | null;
  /** The order has no receipt yet. */
  readonly isFirst: boolean;
  readonly journal: StoredJournal;
  readonly facts: readonly [OrderFact, ...OrderFact[]];
}

export interface ReceiptPiece {
  /** In the order of their first facts. */
  readonly matters: readonly ReceiptMatter[];
  /** Of the agents that they are about; missing: the chain begins. */
  readonly heads: ReadonlyMap<string, ReceiptPlace>;
}

export interface ReceiptLog {
  /**
   * Takes the next piece of the log and adds what `link` makes of it: each fact is in the chains once, whatever fails and
   * whichever replica does it.
   * @returns how many facts were read, when the newest of them was, and false when another process has added this piece
   */
  extend(
    most: number,
    link: (piece: ReceiptPiece) => readonly ReceiptRow[],
  ): Promise<{ readonly facts: number; readonly newestAt: number | null; readonly isMine: boolean }>;
}

/** An order with its receipts, all made before the log had the order of causes. */
export interface DoubtfulReceipts {
  readonly order: OrderRow;
  /** Oldest first. */
  readonly receipts: readonly Pick<ReceiptRow, 'sequence' | 'body'>[];
  /** The log has the change that led to the order's present state. */
  readonly isLogged: boolean;
}

export interface DoubtfulPiece {
  readonly doubtful: readonly DoubtfulReceipts[];
  readonly heads: ReadonlyMap<string, ReceiptPlace>;
}

export interface ReceiptCorrections {
  /**
   * Takes the next orders whose receipts were made before the log had the order of causes, and adds what `link` makes of them.
   * Orders of which the log has something that is in no receipt yet are left out.
   * @returns false once all were looked at
   */
  correct(most: number, link: (piece: DoubtfulPiece) => readonly ReceiptRow[]): Promise<boolean>;
}

/** What is stored now of an order that has, or should have, a receipt. */
export interface AuditedOrder {
  readonly orderId: string;
  /** `null`: the row cannot be read, which the desk never writes. */
  readonly order: OrderRow | null;
  readonly journal: StoredJournal;
  readonly transactionId: string | null;
  readonly fills: readonly ReceiptFill[];
  /** It is one of the orders from before there were receipts. */
  readonly isListed: boolean;
}

/** Everything as of one moment. */
export interface ReceiptAudit {
  /** Orders recorded before then have no receipts, or incomplete ones. */
  readonly beganAt: number;
  agents(): Promise<readonly string[]>;
  /** As it is recorded beside the chain; `null`: not recorded. */
  head(agentId: string): Promise<ReceiptPlace | null>;
  page(agentId: string, after: number, limit: number): Promise<readonly LinkedReceipt[]>;
  /** Sorted. */
  orderIds(agentId: string): Promise<readonly string[]>;
  orders(agentId: string, ids: readonly string[]): Promise<readonly AuditedOrder[]>;
  /** Orders of which the log says something that is in no receipt yet. */
  pending(agentId: string): Promise<ReadonlySet<string>>;
}
