/** What wallets were worth over time. Figures are micro collateral, times epoch milliseconds. */
import type { Micro } from '@bellwether/contract/decimals';
import type { WalletAddress } from '../domain/addresses.ts';

export interface EquityPoint {
  readonly at: number;
  readonly equity: Micro;
  /** Paid in less taken out until then. */
  readonly deposits: Micro;
}

export interface WalletPoint extends EquityPoint {
  readonly wallet: WalletAddress;
}

/** Minutes between points. */
export type EquityStep = 5 | 60 | 1440;

export interface EquityStore {
  /**
   * The next wallets, in the order of their addresses, that hold something or did when their last point was taken.
   * @param after an address, or the empty text
   */
  next(after: string, limit: number): Promise<readonly WalletAddress[]>;
  /** P&L before fees and fees of all that was ever traded, by wallet; a wallet without a trade is missing. */
  results(
    wallets: readonly WalletAddress[],
  ): Promise<ReadonlyMap<WalletAddress, { readonly realized: Micro; readonly fees: Micro }>>;
  /** The newest point of each wallet that has one. */
  latest(wallets: readonly WalletAddress[]): Promise<ReadonlyMap<WalletAddress, EquityPoint>>;
  /** Adds a point to every step. `isOpen`: the wallet holds something. */
  record(points: readonly (WalletPoint & { readonly isOpen: boolean })[]): Promise<void>;
  /** Deletes at most `most` points of a step that are older. */
  forget(step: EquityStep, before: number, most: number): Promise<void>;
  /** Points since a time, oldest first, and of each wallet the last one before it. */
  since(wallets: readonly WalletAddress[], step: EquityStep, from: number): Promise<readonly WalletPoint[]>;
  /** Since when each wallet is within reach: of one agent, or of any agent of the owner. */
  reachedSince(userId: bigint, agentId: string | null): Promise<ReadonlyMap<WalletAddress, number>>;
}
