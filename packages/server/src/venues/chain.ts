/**
 * The Solana calls that the desk needs. Addresses are base58, token amounts micro-units (every mint here has six
 * decimals), lamports bigint. An unknown result is `null` or `unknown`, never a guess. Calls throw
 * ChainUnavailable and nothing else.
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

/** The outcome of a signed transaction. */
export type Landing =
  /** No node knows it: it has not landed yet, or never will. */
  | { readonly kind: 'unseen' }
  | { readonly kind: 'landed' }
  /** On the chain, without effect. */
  | { readonly kind: 'failed'; readonly reason: string };

export type SendAnswer =
  /** A node accepted it. It has not landed yet. */
  | { readonly kind: 'sent' }
  /** Proof that it cannot land: preflight failed permanently, or the signature is wrong. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown' };

export type Simulation =
  | { readonly kind: 'ok'; readonly changes: readonly BalanceChange[] }
  | { readonly kind: 'would_fail'; readonly reason: string }
  | { readonly kind: 'unknown' };

/** Change of a transaction to one of a wallet's token accounts or to its lamports (`mint: null`). */
export interface BalanceChange {
  readonly account: SolanaAddress;
  readonly mint: SolanaAddress | null;
  readonly before: bigint;
  readonly after: bigint;
  /** The owner, delegate or close authority changed. */
  readonly authorityChanged: boolean;
}

export interface Chain {
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  /** Commitment confirmed. */
  blockHeight(): Promise<number>;
  /** The recently measured duration of a block, or a lower bound. Never throws. */
  blockMs(): Promise<number>;
  /** Sends with the node's retries switched off; the caller resends the same bytes. Never throws. */
  send(wire: Uint8Array): Promise<SendAnswer>;
  /** @param deep also searches the node's history. At most 256 signatures. */
  landings(signatures: readonly string[], deep: boolean): Promise<ReadonlyMap<string, Landing>>;
  /** Changes of the accounts that `wallet` owns. @param signed false: signatures are not checked */
  simulate(wire: Uint8Array, wallet: SolanaAddress, signed: boolean): Promise<Simulation>;
  lamports(wallet: SolanaAddress): Promise<bigint>;
  /** The associated token account; `null` when there is none. */
  tokenAccount(owner: SolanaAddress, mint: SolanaAddress): Promise<TokenAccount | null>;
  /** Token-2022 accounts of a wallet with a balance above zero. */
  outcomeAccounts(owner: SolanaAddress): Promise<readonly TokenAccount[]>;
  /** The address of `owner`'s associated account for a mint of the classic token program. */
  tokenAddress(owner: SolanaAddress, mint: SolanaAddress): Promise<SolanaAddress>;
  /**
   * An unsigned transaction in which `delegate` moves collateral from `owner`'s account to `destination`'s and pays the
   * network fee. It creates the account of `destination` when that is missing.
   */
  buildDelegatedTransfer(transfer: {
    readonly mint: SolanaAddress;
    readonly owner: SolanaAddress;
    readonly delegate: SolanaAddress;
    readonly destination: SolanaAddress;
    readonly amount: Micro;
    /** Makes two transfers of the same amount in one block different transactions. */
    readonly memo: string;
  }): Promise<{
    readonly message: Uint8Array;
    /** Zeroes in place of the signature. */
    readonly wire: Uint8Array;
    readonly lastValidBlockHeight: number;
  }>;
}
