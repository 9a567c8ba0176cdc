/** Links between owners and wallets whose keys have signed for them. Times are epoch milliseconds. */
import type { Sealed } from './secrets.ts';
import type { Caller, CredentialRow } from './stores.ts';

export interface NewLink {
  readonly caller: Caller;
  /** An EVM address, or a Solana address. */
  readonly address: string;
  readonly kind: 'evm' | 'solana';
  /** The EOA that signed; the address itself for Solana. */
  readonly signer: string;
  readonly nonce: string;
  readonly nonceExpiresAt: number;
  readonly at: number;
  /** An owner's; a wallet that anybody has registered or linked before is taken beyond it. */
  readonly maxWallets: number;
  /** A credential's sealed text for its new owner: it is bound to the owner that it was sealed for. */
  reseal(credential: CredentialRow, userId: bigint): Sealed;
}

export type LinkOutcome =
  | { readonly kind: 'challenge_used' | 'full' }
  | {
      readonly kind: 'linked';
      /** Wallets that were another owner's. */
      readonly moved: readonly string[];
      /** Whose they were. */
      readonly formerOwners: readonly bigint[];
    };

export interface WalletLinkStore {
  /** Uses the challenge up, moves what the signer controls and notes the link: all of it or nothing. */
  link(link: NewLink): Promise<LinkOutcome>;
  /**
   * Deletes the wallet's link and credential; with a signer everything that it controls.
   * @returns the wallets that the owner had, none when the address was not the owner's
   */
  unlink(caller: Caller, address: string): Promise<readonly string[]>;
  /** What an unlink could mean: the owner's keys with their wallets, and the Solana address that the agent names. */
  unlinkable(
    caller: Caller,
  ): Promise<readonly { readonly key: string; readonly wallets: readonly string[] }[]>;
  setSolAddress(agentId: string, solAddress: string): Promise<void>;
  /** Forgets challenges that have expired. */
  sweep(at: number): Promise<void>;
}
