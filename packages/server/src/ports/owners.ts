/** People who own agents: their accounts, passkeys and sessions, and the claim that binds an agent to one of them. */

import type { WalletAddress } from '../domain/addresses.ts';
import type { Owner } from '../domain/records.ts';
import type { SettingsChange, SettingsRow } from './agents.ts';
import type { NewPasskey } from './passkeys.ts';
import type { Sealed } from './secrets.ts';

export interface PasskeyRow extends NewPasskey {
  readonly userId: bigint;
  readonly ownerName: string;
}

export interface Challenge {
  readonly challenge: string;
  /** `approve`: one approval, by one owner. */
  readonly purpose: 'register' | 'sign_in' | `approve ${string} by ${bigint}`;
  /** Registration only: the handle of the new account. */
  readonly handle: string | null;
  readonly name: string | null;
}

export interface NewSession {
  readonly tokenHash: Uint8Array;
  readonly at: number;
  readonly expiresAt: number;
}

/** Seals a credential again for another owner: the cipher text is bound to its owner. */
export type Reseal = (walletAddress: string, sealed: Sealed, from: bigint, to: bigint) => Sealed;

/** One of an owner's wallets, and what one of the owner's agents may do with it. */
export interface WalletGrant {
  readonly walletAddress: WalletAddress;
  readonly isOwn: boolean;
  readonly granted: boolean;
}

/** A wallet key that the owner's agents had, and that belongs to another owner. */
export interface LeftKey {
  readonly signer: WalletAddress;
  readonly wallets: readonly WalletAddress[];
  readonly leftAt: number;
  /** The agents whose locks bind it. */
  readonly agentIds: readonly string[];
}

export interface OwnerStore {
  /** All wallets of the owner, with what this agent may do with them. */
  walletGrants(userId: bigint, agentId: string): Promise<readonly WalletGrant[]>;
  /** @returns false when the wallet is not the owner's */
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
  /** Consumes the challenge: it is valid once over all replicas. `null`: unknown, used or expired. */
  takeChallenge(challenge: string, purpose: Challenge['purpose'], at: number): Promise<Challenge | null>;
  /** Creates an account with its first passkey and session. @returns `null` when the passkey is already registered. */
  register(
    account: { readonly name: string; readonly handle: string; readonly passkey: NewPasskey },
    session: NewSession,
  ): Promise<Owner | null>;
  passkey(credentialId: string): Promise<PasskeyRow | null>;
  /** Records the passkey's use and opens a session. */
  signIn(passkey: PasskeyRow, counter: number, session: NewSession): Promise<void>;
  /** Records the passkey's use without opening a session. */
  usePasskey(credentialId: string, counter: number, at: number): Promise<void>;
  sessionOwner(tokenHash: Uint8Array, at: number): Promise<Owner | null>;
  endSession(tokenHash: Uint8Array): Promise<void>;
  /**
   * Of those of the sessions that hold, by their token's hash in hexadecimal: a text that changes with the owner's claimed
   * agents.
   */
  sessionsAgents(tokenHashes: readonly Uint8Array[], at: number): Promise<ReadonlyMap<string, string>>;
  /** Claimed agents, the latest claim first. */
  agentIds(userId: bigint): Promise<readonly string[]>;
  /** Pauses all claimed agents, or resumes all and lifts their own pauses: in one transaction, under the locks of their trades. */
  pauseAll(userId: bigint, isPaused: boolean, at: number): Promise<void>;
  /**
   * Moves an unclaimed agent, and everything of its provisional owner, to `to`, in one transaction under the lock that
   * its trades take.
   * @returns the former owner; `taken` when the agent is already claimed; `busy` when its rows stayed locked
   */
  claim(
    agentId: string,
    to: bigint,
    at: number,
    terms: {
      readonly reseal: Reseal;
      /** What the claim changes of the agent's settings, in the same transaction. */
      readonly settings: (current: SettingsRow) => SettingsChange;
    },
  ): Promise<{ readonly from: bigint } | 'taken' | 'busy'>;
  /** Moves the rows that requests in progress during the claim wrote for the former owner. */
  adopt(agentId: string, from: bigint, to: bigint, reseal: Reseal): Promise<void>;
  /** Deletes expired challenges and sessions. */
  sweep(at: number): Promise<void>;
}
