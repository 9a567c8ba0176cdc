/** Positions. */

import type { Micro } from '@bellwether/contract/decimals';
import type { AddressFamily, WalletAddress } from '../domain/addresses.ts';
import type { ActingAgent, PositionRow, VenueFilter } from '../domain/records.ts';

export interface ClosedPage {
  readonly limit: number;
  readonly offset: number;
  /** Condition id or market id. */
  readonly market?: string;
  /** A part of the title, case-insensitive. */
  readonly title?: string;
  /** Default: the time of closing. Fields that are the same for every closed position do not sort. */
  readonly sortBy?: string;
  readonly sortDirection?: 'ASC' | 'DESC';
}

export interface PositionStore {
  /** Held now, by all wallets within the agent's reach, of these address families. */
  heldByAgent(
    caller: ActingAgent,
    families: readonly AddressFamily[],
    venues: VenueFilter,
  ): Promise<readonly PositionRow[]>;
  /** Held now, by any of the wallets. */
  held(wallets: readonly WalletAddress[], venues: VenueFilter): Promise<readonly PositionRow[]>;
  /** Completely sold or redeemed, latest first. */
  closed(
    wallets: readonly WalletAddress[],
    venues: VenueFilter,
    page: ClosedPage,
  ): Promise<{ readonly rows: readonly PositionRow[]; readonly total: number }>;
  /** Realised P&L after fees of the fills since then. */
  realizedSince(wallets: readonly WalletAddress[], venues: VenueFilter, at: number): Promise<Micro>;
  /** Realised P&L before fees, the fees, the number of closed positions and of those with a gain. */
  results(
    wallets: readonly WalletAddress[],
    venues: VenueFilter,
  ): Promise<{ realized: Micro; fees: Micro; closed: number; won: number }>;
}
