/** Fee charges, kept so that a charge with an Idempotency-Key happens once. Times are epoch milliseconds. */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';

/**
 * One attempt at a time: `signing` → `signed` (its bytes are stored; the process that signed sends them for the first
 * time) → `broadcast` (a node accepted them), or `unknown` (a node may have them, and no refusal can disprove it)
 * → `landed`. It can end as `unsigned` (not signed), `refused` (no node ever accepted it), `failed` (on the chain
 * without effect) or `dropped` (it can no longer land). Only after one of these four can another attempt begin.
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
  /** Of the latest signed attempt; set from `signed` on. */
  readonly signed: SignedFee | null;
}

/** The right to make one attempt. */
export interface FeeAttempt {
  readonly id: string;
  readonly attempt: number;
}

export interface NewFeeCharge {
  /** Used for a new charge; an existing charge with the same key keeps its id. */
  readonly id: string;
  readonly agentId: string;
  /** `null`: the charge is never looked up. */
  readonly key: string | null;
  readonly venue: string;
  readonly amount: Micro;
  readonly fromAddress: SolanaAddress;
  readonly toAddress: SolanaAddress;
  readonly requestId: string;
  readonly at: number;
  /** No other process begins an attempt before this time, unless this attempt ends. */
  readonly leaseUntil: number;
}

export interface FeeStore {
  find(agentId: string, key: string): Promise<FeeCharge | null>;
  /** @returns `null` when an attempt is in progress, has landed or may still land */
  begin(charge: NewFeeCharge): Promise<FeeAttempt | null>;
  /** Call it before sending. @returns false when another process has taken the attempt: then send nothing */
  recordSigned(attempt: FeeAttempt, signed: SignedFee, at: number): Promise<boolean>;
  /** Nothing was signed. A charge without any signed attempt is deleted. */
  abandon(attempt: FeeAttempt, at: number): Promise<void>;
  /**
   * Records the outcome of a signed attempt; `landed` queues webhook events in the same transaction. `refused` and
   * `unknown` follow only `signed`: so no process sends an abandoned attempt, or abandons one that another sends.
   * @returns false when the attempt does not exist, or its state does not allow this outcome
   */
  settle(
    id: string,
    signature: string,
    status: Exclude<FeeStatus, 'signing' | 'unsigned' | 'signed'>,
    at: number,
  ): Promise<boolean>;
  /** Signed charges whose outcome is not known, oldest first. */
  unsettled(limit: number): Promise<readonly FeeCharge[]>;
}
