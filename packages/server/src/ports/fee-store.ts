/** Fee charges, kept so that a charge with an Idempotency-Key happens once. Times are epoch milliseconds. */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';

/**
 * One attempt at a time: `signing` → `signed` (its bytes are here; whoever signed is sending them, for the first time)
 * → `broadcast` (a node took them), or `unknown` (they may be out, and no refusal of a node proves the contrary any
 * more) → `landed`. It can end as `unsigned` (nobody signed), `refused` (no node ever took it), `failed` (on chain
 * without effect) or `dropped` (it can land no more); from these four alone another attempt begins.
 */
export type FeeStatus =
  | 'signing'
  | 'unsigned'
  | 'signed'
  | 'unknown'
  | 'broadcast'
  | 'landed'
  | 'refused'
  | 'failed'
  | 'dropped';

export interface SignedFee {
  readonly providerId: string;
  /** Base58: the transaction's id. */
  readonly signature: string;
  /** The signed transaction. */
  readonly wire: Uint8Array;
  readonly lastValidBlockHeight: number;
}

export interface FeeCharge {
  readonly id: string;
  readonly amount: Micro;
  readonly fromAddress: SolanaAddress;
  readonly toAddress: SolanaAddress;
  readonly status: FeeStatus;
  /** Of the latest attempt that was signed; there from `signed` on. */
  readonly signed: SignedFee | null;
}

/** The right to make one attempt. */
export interface FeeAttempt {
  readonly id: string;
  readonly attempt: number;
}

export interface NewFeeCharge {
  /** For a charge that is new; one with the same key has its own. */
  readonly id: string;
  readonly agentId: string;
  /** `null`: a charge that is never looked up. */
  readonly key: string | null;
  readonly venue: string;
  readonly amount: Micro;
  readonly fromAddress: SolanaAddress;
  readonly toAddress: SolanaAddress;
  readonly requestId: string;
  readonly at: number;
  /** Until then nobody else begins an attempt, unless this one ends. */
  readonly leaseUntil: number;
}

export interface FeeStore {
  find(agentId: string, key: string): Promise<FeeCharge | null>;
  /** @returns `null` when another attempt is under way, or has come further than nothing */
  begin(charge: NewFeeCharge): Promise<FeeAttempt | null>;
  /** Before anything is sent. @returns false when the attempt has passed to somebody else: then nothing may be sent */
  recordSigned(attempt: FeeAttempt, signed: SignedFee, at: number): Promise<boolean>;
  /** Nothing was signed. A charge of which nothing ever was is forgotten. */
  abandon(attempt: FeeAttempt, at: number): Promise<void>;
  /**
   * What became of a signed attempt; `landed` tells the agent's webhooks, in the same transaction. `refused` and
   * `unknown` follow `signed` alone: so nobody sends what is given up, or gives up what another one sends.
   * @returns false when the attempt is no longer there, or not in a state that this can follow
   */
  settle(
    id: string,
    signature: string,
    status: Exclude<FeeStatus, 'signing' | 'unsigned' | 'signed'>,
    at: number,
  ): Promise<boolean>;
  /** Signed ones whose end is not known, the oldest first. */
  unsettled(limit: number): Promise<readonly FeeCharge[]>;
}
