/** Wallets and credentials. */

import type { Micro } from '@bellwether/contract/decimals';
import type { Address, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { WalletAddress } from '../domain/addresses.ts';
import type { ActingAgent, Caller } from '../domain/records.ts';
import type { Sealed } from './secrets.ts';

export interface CredentialRow {
  readonly walletAddress: Address;
  readonly userId: bigint;
  readonly eoa: Address;
  /** The account that pays for this wallet's orders. */
  readonly funder: Address;
  readonly signatureType: SignatureType;
  readonly apiKeyHash: Uint8Array;
  readonly sealed: Sealed;
  readonly registeredAt: number;
}

/** Solana wallets. A signature of its key proves a wallet: over a link challenge, or in a submitted order. */
export interface SolanaWallets {
  /** The agent's solAddress, proved or not: quotes are made for it. */
  readonly named: SolanaAddress | null;
  /** Proved by the owner's agents, not linked by another owner, and within this agent's reach. */
  readonly proved: readonly SolanaAddress[];
  /** The agent's solAddress while no agent has proved that it holds its key. */
  readonly unproved: SolanaAddress | null;
}

/**
 * An agent reaches those of its owner's wallets that it registered, linked or traded with, and those that the owner
 * granted it. All methods here ignore the owner's other wallets.
 */
export interface WalletStore {
  /** `taken`: another owner has the wallet. `full`: this one has `maxWallets` others. */
  register(
    caller: Caller,
    credential: CredentialRow,
    maxWallets: number,
  ): Promise<'registered' | 'taken' | 'full'>;
  credential(caller: ActingAgent, walletAddress: Address): Promise<CredentialRow | null>;
  /** Every EVM wallet within the agent's reach, and the accounts that pay for them. */
  wallets(caller: ActingAgent): Promise<readonly Address[]>;
  solanaWallets(caller: ActingAgent): Promise<SolanaWallets>;
  /** Those of the addresses, of any family, within the agent's reach; also of wallets that have left the owner. */
  reachable(caller: ActingAgent, addresses: readonly WalletAddress[]): Promise<ReadonlySet<WalletAddress>>;
  /** Whether the simulation balance has been credited. */
  isCredited(funder: Address): Promise<boolean>;
  /** What the faucet still gives an address today. */
  faucetLeft(address: Address, perDay: Micro, at: number): Promise<Micro>;
  /** Takes `amount` from the day's faucet allowance. @returns what is left, or `null` and what there was. */
  drawFaucet(
    address: Address,
    amount: Micro,
    allowance: Micro,
    at: number,
  ): Promise<{ ok: boolean; left: Micro }>;
}
