/**
 * What the desk stores about trading by quote: every quote it gave, and the transactions signed for them. Quoted orders
 * are order rows like any other; a transaction's row records its progress on the chain. Times are epoch milliseconds.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import type { VenueId } from '../domain/market.ts';
import type { Evidence, ResolutionEvidence } from './evidence.ts';
import type { QuotedAmounts } from './quotes.ts';

export interface QuoteRow {
  /** The desk's id; an order made from the quote has the same id. */
  readonly quoteId: string;
  readonly agentId: string;
  readonly ticker: string;
  readonly title: string;
  /** When its market ends; `null` when the market is not known. */
  readonly endDate: number | null;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** The requested amount: collateral for a BUY, contracts for a SELL. */
  readonly asked: Micro;
  readonly wallet: SolanaAddress | null;
  /** The recipient, when it is not the wallet. */
  readonly destination: SolanaAddress | null;
  /** [YES, NO]; `null` when the market is not known. */
  readonly mints: readonly [string, string] | null;
  /** `null` on a degraded quote. */
  readonly amounts: QuotedAmounts | null;
  /** The transaction to sign; `null` on previews and degraded quotes. */
  readonly transaction: {
    readonly message: Uint8Array;
    readonly lastValidBlockHeight: number;
    /** When the blockhash is expected to be too old. */
    readonly deadAt: number;
    /** The whole transaction, where its agent may not have it before the owner approves; `null`: its agent has it. */
    readonly withheld: Uint8Array | null;
  } | null;
  readonly errorCode: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly withdrawn: boolean;
}

/** What a submit needs to know before it takes the agent's lock. */
export interface SubmittedQuote {
  readonly quote: QuoteRow;
  /** The transaction that was submitted for this quote before. */
  readonly submitted: ChainOrderRow | null;
  /** The agent's order with the signature asked for. */
  readonly twin: string | null;
}

export interface QuoteStore {
  add(quote: Omit<QuoteRow, 'withdrawn'>): Promise<void>;
  byId(agentId: string, quoteId: string): Promise<QuoteRow | null>;
  /** @param signature of the transaction handed in; `null` when it has none */
  toSubmit(agentId: string, quoteId: string, signature: string | null): Promise<SubmittedQuote | null>;
  /** The quotes of any agent's orders. */
  byIds(quoteIds: readonly string[]): Promise<readonly QuoteRow[]>;
  /** Takes the agent's lock, so a submit comes either before it or sees it. `used`: the quote has become an order. */
  withdraw(agentId: string, quoteId: string, at: number): Promise<'withdrawn' | 'already' | 'used'>;
  /** Deletes unused quotes that expired before this time. */
  sweep(expiredBefore: number): Promise<void>;
}

export interface Revert {
  readonly signature: string;
  readonly mint: string;
  /** Micro-units as text. */
  readonly amount: string;
}

/** `sending`: until it is seen on the chain or dead. `landed`: until the venue has filled or reverted all of it. */
export type ChainStage = 'sending' | 'landed' | 'done';

export interface ChainOrderRow {
  readonly orderId: string;
  readonly agentId: string;
  readonly signature: string;
  readonly wire: Uint8Array;
  readonly stage: ChainStage;
  /** Number of sends begun. While it is 0, no node can have the transaction. */
  readonly attempts: number;
  readonly sentAt: number | null;
  readonly landedAt: number | null;
  /** Signatures of the recorded fills; the n-th is trade n. */
  readonly fills: readonly string[];
  readonly reverts: readonly Revert[];
}

export interface ChainOrderStore {
  byIds(orderIds: readonly string[]): Promise<readonly ChainOrderRow[]>;
  /** The agent's order with this transaction id. */
  orderIdOf(agentId: string, signature: string): Promise<string | null>;
  /** Leases the due rows to the caller; no other caller gets them before the lease ends. */
  claim(question: {
    readonly at: number;
    readonly leaseMs: number;
    readonly limit: number;
  }): Promise<readonly ChainOrderRow[]>;
  /**
   * Records that a send begins, before it does, and until when other processes leave the order alone.
   * @returns the orders that may be sent: not canceled, not seen on the chain
   */
  beginSend(orderIds: readonly string[], at: number, dueAt: number): Promise<ReadonlySet<string>>;
  /** Waits, at most a second, until no other transaction changes the row. @throws where it lasts longer */
  onceUnlocked(orderId: string): Promise<void>;
  /** Sets when each order is checked next. */
  postpone(orders: readonly { readonly orderId: string; readonly dueAt: number }[]): Promise<void>;
  /**
   * Writes evidence and advances the row in one transaction, under a lock on the row, and only if the row is still in
   * the state that the caller read: so two replicas, or one that died half way, never record anything twice.
   * @returns false when the row has changed.
   */
  advance(move: {
    readonly seen: ChainOrderRow;
    readonly evidence: Evidence;
    readonly to: Pick<ChainOrderRow, 'stage' | 'fills' | 'reverts'>;
    readonly dueAt: number;
    readonly at: number;
  }): Promise<boolean>;
  /** Condition ids of the venue's markets that were traded here and whose outcome is not recorded yet. */
  unresolved(venue: VenueId, limit: number): Promise<readonly string[]>;
  /** Records outcomes of markets; a recorded outcome never changes. */
  resolve(resolutions: readonly ResolutionEvidence[]): Promise<void>;
}
