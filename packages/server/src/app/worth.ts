/**
 * What wallets are worth, and how much of it was paid in. Deposits are not recorded everywhere (money comes to a live wallet past
 * the desk), but they follow from the books: collateral, plus what the held tokens cost, less what was won and plus the
 * fees is what was ever paid in, less what was taken out.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { familyOf, type WalletAddress } from '../domain/addresses.ts';
import { READ_PATIENCE_MS } from '../domain/patience.ts';
import { holdings, type PositionNeeds, type Valued } from './positions.ts';

export interface Worth {
  /** Collateral and positions. */
  readonly equity: Micro;
  readonly netDeposits: Micro;
  readonly held: readonly Valued[];
  /** False: a venue did not answer, and older figures are in it. */
  readonly isCurrent: boolean;
}

const BALANCE_FRESH_MS = 5_000;
const BALANCE_OLD_MS = 60_000;

export async function worthOf(needs: PositionNeeds, wallets: readonly WalletAddress[]): Promise<Worth> {
  const [{ held, silent }, results, ...balances] = await Promise.all([
    holdings(needs, wallets),
    needs.positions.results(wallets, { except: [] }),
    ...[...needs.venues.values()].map(({ accounts }) =>
      accounts.balances(
        wallets.filter((wallet) => familyOf(wallet) === accounts.family),
        { freshMs: BALANCE_FRESH_MS, patienceMs: READ_PATIENCE_MS },
      ),
    ),
  ]);
  const collateral = balances.reduce((sum, { total }) => sum + total, 0n);
  const cost = held.reduce((sum, { row }) => sum + row.cost, 0n);
  return {
    equity: held.reduce((sum, { value }) => sum + value, collateral),
    netDeposits: collateral + cost - results.realized + results.fees,
    held,
    isCurrent: silent.size === 0 && balances.every(({ ageMs }) => ageMs !== null && ageMs <= BALANCE_OLD_MS),
  };
}
