/** Links between owners and wallets, each proved by a signature of the wallet's key. Times are epoch milliseconds. */

import type { Caller } from '../domain/records.ts';
import type { Sealed } from './secrets.ts';
import type { CredentialRow } from './wallets.ts';

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
  /** Per owner. A wallet that is already registered or linked, by any owner, does not count. */
  readonly maxWallets: number;
  /** Seals a credential for its new owner: the cipher text is bound to its owner. */
  reseal(credential: CredentialRow, userId: bigint): Sealed;
}

export type LinkOutcome =
  | { readonly kind: 'challenge_used' | 'full' }
  | {
      readonly kind: 'linked';
      /** Wallets that were another owner's. */
      readonly moved: readonly string[];
      /** Their former owners. */
      readonly formerOwners: readonly bigint[];
    };

export interface WalletLinkStore {
  /** Consumes the challenge, moves the signer's wallets and records the link: all of it or nothing. */
  link(link: NewLink): Promise<LinkOutcome>;
  /**
   * Deletes the wallet's link and credential; for a signer, those of all its wallets.
   * @returns the owner's wallets among them, empty when the address was not the owner's
   */
  unlink(caller: Caller, address: string): Promise<readonly string[]>;
  /** The addresses that an unlink can name: the owner's keys with their wallets, and the agent's Solana address. */
  unlinkable(
    caller: Caller,
  ): Promise<readonly { readonly key: string; readonly wallets: readonly string[] }[]>;
  /** Consumes a challenge that is not a link's. @returns false when it was used before */
  useChallenge(nonce: string, expiresAt: number): Promise<boolean>;
  setSolAddress(agentId: string, solAddress: string): Promise<void>;
  /** Deletes expired challenges. */
  sweep(at: number): Promise<void>;
}
