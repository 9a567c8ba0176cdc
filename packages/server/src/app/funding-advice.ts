/** Where the money for an order might be: asked only when an order is refused for want of it. */
import { formatMicro, type Micro } from '@bellwether/contract/decimals';
import { type Address, signatureTypeOf, walletKindsOf } from '@bellwether/protocol';
import type { Caller, WalletStore } from '../ports/stores.ts';
import type { Balance, BalanceQuestion, Venues, VenueWith } from '../ports/venue.ts';
import { faucetVenue } from './venues.ts';

export interface FundingNeeds {
  readonly wallets: Pick<WalletStore, 'credential'>;
  readonly venues: Venues;
}

export interface Shortage {
  readonly venue: VenueWith<'signedOrders'>;
  /** The account that should pay. */
  readonly maker: Address;
  /** The key that signed. */
  readonly eoa: Address;
  readonly buying: boolean;
  readonly needed: Micro;
  readonly heldIn: (balance: Balance) => Micro;
  readonly question: BalanceQuestion;
}

/** The same key's other wallets: those that hold enough. A wrong maker is the commonest reason for an empty account. */
async function richerWallets(
  needs: FundingNeeds,
  caller: Caller,
  { venue, maker, eoa, needed, heldIn, question }: Shortage,
): Promise<string[]> {
  const { proxy, safe, deposit } = walletKindsOf(eoa);
  const others = [eoa, proxy, safe, deposit.beacon, deposit.uups].filter((wallet) => wallet !== maker);
  const found = await Promise.all(
    others.map(async (wallet) => {
      // A venue may tell this only of wallets whose credential the desk has; without an answer there is no advice.
      const held = await venue.signedOrders.balance(wallet, question).then(heldIn, () => null);
      if (held === null || held < needed) return null;
      const isRegistered = (await needs.wallets.credential(caller, wallet)) !== null;
      const then = isRegistered
        ? 'it is registered: sign with it as order.maker'
        : 'it is not registered: POST /wallet/credentials with it, then sign with it as order.maker';
      return `${wallet} (signatureType ${signatureTypeOf(eoa, wallet)}) of the same key holds ${formatMicro(held)}; ${then}.`;
    }),
  );
  return found.filter((text) => text !== null);
}

/** @returns what to do next, beyond the registry's advice; `null` when nothing more is known */
export async function waysToFund(
  needs: FundingNeeds,
  caller: Caller,
  shortage: Shortage,
): Promise<string | null> {
  const ways = await richerWallets(needs, caller, shortage);
  if (shortage.buying && shortage.venue === faucetVenue(needs))
    ways.push(
      `Draw paper money with POST /paper/faucet {"address": "${shortage.maker}", "amount": ${formatMicro(shortage.needed)}}, or order less, or cancel open orders.`,
    );
  return ways.length === 0 ? null : ways.join(' ');
}
