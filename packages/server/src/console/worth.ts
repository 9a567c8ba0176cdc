/**
 * Computes what wallets are worth, and how much of it was paid in. Deposits are not recorded everywhere (money comes to a live wallet past
 * the desk), but they follow from the books: collateral, plus what the held tokens cost, less what was won and plus the
 * fees is what was ever paid in, less what was taken out.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { familyOf, type WalletAddress } from '../domain/addresses.ts';
import { READ_PATIENCE_MS } from '../domain/patience.ts';
import { type Holdings, holdings, type PositionNeeds, type Valued } from '../positions/index.ts';
import type { HasVenues } from '../venues/asking.ts';
import type { Patience } from '../venues/venue.ts';

export interface Worth {
  /** Collateral and positions. */
  readonly equity: Micro;
  readonly netDeposits: Micro;
  readonly held: readonly Valued[];
  /** False: a venue did not answer, and older figures are in it. */
  readonly isCurrent: boolean;
}

/** P&L before fees, and the fees, of all that wallets ever traded. */
export interface Booked {
  readonly realized: Micro;
  readonly fees: Micro;
}

const BALANCE_FRESH_MS = 5_000;
const BALANCE_OLD_MS = 60_000;

export async function worthOf(needs: PositionNeeds, wallets: readonly WalletAddress[]): Promise<Worth> {
  const [held, booked, collateral] = await Promise.all([
    holdings(needs, wallets),
    needs.positions.results(wallets, { except: [] }),
    collateralOf(needs, wallets, { freshMs: BALANCE_FRESH_MS, patienceMs: READ_PATIENCE_MS }),
  ]);
  return worthFrom(held, booked, collateral);
}

export interface Collateral {
  readonly total: Micro;
  readonly isCurrent: boolean;
}

/** On every venue that understands the wallets' addresses. */
export async function collateralOf(
  { venues }: HasVenues,
  wallets: readonly WalletAddress[],
  patience: Patience,
): Promise<Collateral> {
  const balances = await Promise.all(
    [...venues.values()].map(({ accounts }) =>
      accounts.balances(
        wallets.filter((wallet) => familyOf(wallet) === accounts.family),
        patience,
      ),
    ),
  );
  return {
    total: balances.reduce((sum, { total }) => sum + total, 0n),
    isCurrent: balances.every(({ ageMs }) => ageMs !== null && ageMs <= BALANCE_OLD_MS),
  };
}

export function worthFrom({ held, silent }: Holdings, booked: Booked, collateral: Collateral): Worth {
  const cost = held.reduce((sum, { row }) => sum + row.cost, 0n);
  return {
    equity: held.reduce((sum, { value }) => sum + value, collateral.total),
    netDeposits: collateral.total + cost - booked.realized + booked.fees,
    held,
    isCurrent: silent.size === 0 && collateral.isCurrent,
  };
}
