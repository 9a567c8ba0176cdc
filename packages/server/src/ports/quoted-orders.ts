/**
 * What the desk keeps of trading by quote: every quote it gave, and the transactions signed for them. The orders themselves are
 * rows like any other; a transaction's row says how far it has come on the chain. Times are epoch milliseconds.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import type { Evidence, ResolutionEvidence } from './evidence.ts';
import type { QuotedAmounts } from './quotes.ts';
import type { VenueId } from './venue.ts';

export interface QuoteRow {
  /** Ours; an order made of it has the same id. */
  readonly quoteId: string;
  readonly agentId: string;
  readonly ticker: string;
  readonly title: string;
  /** When its market ends; `null` when the market is not known. */
  readonly endDate: number | null;
  readonly outcome: 'YES' | 'NO';
  readonly side: 'BUY' | 'SELL';
  /** What was asked for: collateral for a BUY, contracts for a SELL. */
  readonly asked: Micro;
  readonly wallet: SolanaAddress | null;
  /** Who receives, when that is not the wallet. */
  readonly destination: SolanaAddress | null;
  /** [YES, NO]; `null` when the market is not known. */
  readonly mints: readonly [string, string] | null;
  /** `null` on a degraded quote. */
  readonly amounts: QuotedAmounts | null;
  /** What there is to sign; `null` on previews and degraded quotes. */
  readonly transaction: {
    readonly message: Uint8Array;
    readonly lastValidBlockHeight: number;
    /** When the blockhash is expected to be too old. */
    readonly deadAt: number;
  } | null;
  readonly errorCode: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly withdrawn: boolean;
}

export interface QuoteStore {
  add(quote: Omit<QuoteRow, 'withdrawn'>): Promise<void>;
  byId(agentId: string, quoteId: string): Promise<QuoteRow | null>;
  /** Of whoever's orders: what was quoted for them. */
  byIds(quoteIds: readonly string[]): Promise<readonly QuoteRow[]>;
  /** Under the agent's lock, so that a submit is either before it or sees it. `used`: an order has been made of it. */
  withdraw(agentId: string, quoteId: string, at: number): Promise<'withdrawn' | 'already' | 'used'>;
  /** Forgets what expired before and was never used. */
  sweep(expiredBefore: number): Promise<void>;
}

/** A signed transaction as it is written down before any node is given it. */
export interface NewChainOrder {
  readonly orderId: string;
  /** Base58 of the first signature. */
  readonly signature: string;
  readonly wire: Uint8Array;
  /** When the follower is to take it up if nobody else has by then. */
  readonly dueAt: number;
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
  /** Sends that were begun. While there is none, no node can have it. */
  readonly attempts: number;
  readonly sentAt: number | null;
  readonly landedAt: number | null;
  /** Signatures of the fills that are recorded; the n-th is trade n. */
  readonly fills: readonly string[];
  readonly reverts: readonly Revert[];
}

export interface ChainOrderStore {
  byIds(orderIds: readonly string[]): Promise<readonly ChainOrderRow[]>;
  /** The agent's order with this transaction id. */
  orderIdOf(agentId: string, signature: string): Promise<string | null>;
  /** Takes what is due, each for as long as the lease; no two callers get the same row meanwhile. */
  claim(question: {
    readonly at: number;
    readonly leaseMs: number;
    readonly limit: number;
  }): Promise<readonly ChainOrderRow[]>;
  /**
   * Notes that a send begins, before it does, and until when nobody else need look.
   * @returns those that may be sent: not canceled, not seen on the chain
   */
  beginSend(orderIds: readonly string[], at: number, dueAt: number): Promise<ReadonlySet<string>>;
  /** Sets when to look again. */
  postpone(orders: readonly { readonly orderId: string; readonly dueAt: number }[]): Promise<void>;
  /**
   * Writes evidence and moves the row in one transaction, under a lock on the row, and only if it still is where the
   * caller saw it: so two replicas, or one that died half way, never record anything twice.
   * @returns false when it has moved on.
   */
  advance(move: {
    readonly seen: ChainOrderRow;
    readonly evidence: Evidence;
    readonly to: Pick<ChainOrderRow, 'stage' | 'fills' | 'reverts'>;
    readonly dueAt: number;
    readonly at: number;
  }): Promise<boolean>;
  /** Condition ids of the venue's markets that were traded here and whose outcome is not written yet. */
  unresolved(venue: VenueId, limit: number): Promise<readonly string[]>;
  /** Writes outcomes of markets; one that is there already is left as it is. */
  resolve(resolutions: readonly ResolutionEvidence[]): Promise<void>;
}
