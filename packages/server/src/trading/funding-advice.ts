/** Where the money for an order might be: asked only when an order is refused for want of it. */
import { formatMicro, type Micro } from '@bellwether/contract/decimals';
import { type Address, signatureTypeOf, walletKindsOf } from '@bellwether/protocol';
import type { Caller } from '../domain/records.ts';
import type { Clock } from '../platform/clock.ts';
import { faucetVenue } from '../venues/asking.ts';
import type { Balance, BalanceQuestion, Venues, VenueWith } from '../venues/venue.ts';
import type { WalletStore } from '../wallets/index.ts';

export interface FundingNeeds {
  readonly clock: Clock;
  readonly wallets: Pick<WalletStore, 'credential' | 'faucetLeft'>;
  readonly venues: Venues;
  readonly faucetPerDay: Micro;
}

export interface Shortage {
  readonly venue: VenueWith<'signedOrders'>;
  /** The account that should pay. */
  readonly maker: Address;
  /** The key that signed. */
  readonly eoa: Address;
  readonly buying: boolean;
  readonly needed: Micro;
  readonly available: Micro;
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
    ways.push(await faucetAdvice(needs, shortage));
  return ways.length === 0 ? null : ways.join(' ');
}

/** Advice about the missing amount, where the faucet still gives as much today. */
async function faucetAdvice(
  { wallets, faucetPerDay, clock }: FundingNeeds,
  { maker, needed, available }: Shortage,
): Promise<string> {
  const gap = needed - available;
  const left = await wallets.faucetLeft(maker, faucetPerDay, clock.now());
  if (gap > left)
    return `Order less, or cancel open orders: ${formatMicro(gap)} is missing, and the faucet gives this address ${formatMicro(left)} more today.`;
  return `Draw paper money with POST /paper/faucet {"address": "${maker}", "amount": ${formatMicro(gap)}}, or order less, or cancel open orders.`;
}
