/**
 * Solana, as far as the desk needs it. Addresses are base58, token amounts micro-units (every mint here has six
 * decimals), lamports bigint. What could not be learned is `null` or `unknown`, never a guess; a call that throws
 * throws ChainUnavailable.
 */
import type { Micro } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';

export interface TokenAccount {
  readonly address: SolanaAddress;
  readonly mint: SolanaAddress;
  readonly owner: SolanaAddress;
  readonly amount: Micro;
  readonly delegate: SolanaAddress | null;
  readonly delegatedAmount: Micro;
  readonly frozen: boolean;
}

/** What became of a signature. */
export type Landing =
  /** No node knows it: not landed yet, or never. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'landed' }
  /** On chain, without effect. */
  | { readonly kind: 'failed'; readonly reason: string };

export type SendAnswer =
  /** A node took it. That is no landing. */
  | { readonly kind: 'sent' }
  /** Proof that it cannot land: preflight failed for good, or the signature is wrong. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export type Simulation =
  | { readonly kind: 'ok'; readonly changes: readonly BalanceChange[] }
  | { readonly kind: 'would_fail'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** What a transaction does to one of a wallet's token accounts or to its lamports (`mint: null`). */
export interface BalanceChange {
  readonly account: SolanaAddress;
  readonly mint: SolanaAddress | null;
  readonly before: bigint;
  readonly after: bigint;
  /** Owner, delegate or close authority are not what they were. */
  readonly authorityChanged: boolean;
}

export interface Chain {
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  /** Commitment confirmed. */
  blockHeight(): Promise<number>;
  /** How long a block lasts, as measured lately, or less. Never throws. */
  blockMs(): Promise<number>;
  /** Sends without retries of the node's own; the caller resends the same bytes. Never throws. */
  send(wire: Uint8Array): Promise<SendAnswer>;
  /** @param deep also looks into history. At most 256 signatures. */
  landings(signatures: readonly string[], deep: boolean): Promise<ReadonlyMap<string, Landing>>;
  /** @param signed false: signatures are not checked. Changes of the accounts that `wallet` owns. */
  simulate(wire: Uint8Array, wallet: SolanaAddress, signed: boolean): Promise<Simulation>;
  lamports(wallet: SolanaAddress): Promise<bigint>;
  /** The associated token account; `null` when there is none. */
  tokenAccount(owner: SolanaAddress, mint: SolanaAddress): Promise<TokenAccount | null>;
  /** Token-2022 accounts of a wallet that hold something. */
  outcomeAccounts(owner: SolanaAddress): Promise<readonly TokenAccount[]>;
  /** The address that `owner`'s associated account for a mint of the classic token program has. */
  tokenAddress(owner: SolanaAddress, mint: SolanaAddress): Promise<SolanaAddress>;
  /**
   * An unsigned transaction that moves collateral out of `owner`'s account by `delegate`, who also pays for it, into
   * the account of `destination`, which it makes when it is missing.
   */
  buildDelegatedTransfer(transfer: {
    readonly mint: SolanaAddress;
    readonly owner: SolanaAddress;
    readonly delegate: SolanaAddress;
    readonly destination: SolanaAddress;
    readonly amount: Micro;
    /** Makes two transfers of the same amount in one block two transactions. */
    readonly memo: string;
  }): Promise<{
    readonly message: Uint8Array;
    /** With zeroes where the signature goes. */
    readonly wire: Uint8Array;
    readonly lastValidBlockHeight: number;
  }>;
}
