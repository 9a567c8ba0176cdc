/** People who own agents: their accounts, passkeys and sessions, and the claim that binds an agent to one of them. */
import type { NewPasskey } from './passkeys.ts';
import type { Sealed } from './secrets.ts';
import type { WalletAddress } from './stores.ts';

export interface OwnerRow {
  readonly userId: bigint;
  readonly name: string;
}

export interface PasskeyRow extends NewPasskey {
  readonly userId: bigint;
  readonly ownerName: string;
}

export interface Challenge {
  readonly challenge: string;
  readonly purpose: 'register' | 'sign_in';
  /** Registration only: the account to be. */
  readonly handle: string | null;
  readonly name: string | null;
}

export interface NewSession {
  readonly tokenHash: Uint8Array;
  readonly at: number;
  readonly expiresAt: number;
}

/** Seals a credential anew for another owner: it is bound to the owner it belongs to. */
export type Reseal = (walletAddress: string, sealed: Sealed, from: bigint, to: bigint) => Sealed;

/** One of an owner's wallets, as an agent of the owner's sees it. */
export interface WalletGrant {
  readonly walletAddress: WalletAddress;
  readonly isOwn: boolean;
  readonly granted: boolean;
}

/** A key that agents of the owner's had, and that somebody else has now. */
export interface LeftKey {
  readonly signer: WalletAddress;
  readonly wallets: readonly WalletAddress[];
  readonly leftAt: number;
  /** Whose locks bind it. */
  readonly agentIds: readonly string[];
}

export interface OwnerStore {
  /** All wallets of the owner, with what this agent may do with them. */
  walletGrants(userId: bigint, agentId: string): Promise<readonly WalletGrant[]>;
  /** @returns false when the wallet is none of the owner's */
  grantWallet(
    grant: { readonly userId: bigint; readonly agentId: string; readonly walletAddress: WalletAddress },
    granted: boolean,
    at: number,
  ): Promise<boolean>;
  leftKeys(userId: bigint): Promise<readonly LeftKey[]>;
  /**
   * Frees the key of a wallet from the locks of an owner's agents; of every owner's when `userId` is null.
   * @returns the agents; empty when there is nothing to lift
   */
  lift(userId: bigint | null, walletAddress: WalletAddress): Promise<readonly string[]>;
  addChallenge(challenge: Challenge, expiresAt: number): Promise<void>;
  /** Takes the challenge away: it answers once, on whichever replica. `null`: unknown, used or expired. */
  takeChallenge(challenge: string, purpose: Challenge['purpose'], at: number): Promise<Challenge | null>;
  /** An account with its first passkey and session. @returns `null` when the passkey is known already. */
  register(
    account: { readonly name: string; readonly handle: string; readonly passkey: NewPasskey },
    session: NewSession,
  ): Promise<OwnerRow | null>;
  passkey(credentialId: string): Promise<PasskeyRow | null>;
  /** Records a use and opens a session. */
  signIn(passkey: PasskeyRow, counter: number, session: NewSession): Promise<void>;
  sessionOwner(tokenHash: Uint8Array, at: number): Promise<OwnerRow | null>;
  endSession(tokenHash: Uint8Array): Promise<void>;
  /** Claimed agents, the latest claim first. */
  agentIds(userId: bigint): Promise<readonly string[]>;
  /**
   * Moves an unclaimed agent, and everything of its provisional owner, to `to`, in one transaction under the lock that
   * its trades take.
   * @returns who owned it before; `taken` when it is claimed already; `busy` when its rows stayed locked
   */
  claim(
    agentId: string,
    to: bigint,
    at: number,
    reseal: Reseal,
  ): Promise<{ readonly from: bigint } | 'taken' | 'busy'>;
  /** Moves what requests that were under way during the claim have still written for the former owner. */
  adopt(agentId: string, from: bigint, to: bigint, reseal: Reseal): Promise<void>;
  /** Drops what has expired. */
  sweep(at: number): Promise<void>;
}
