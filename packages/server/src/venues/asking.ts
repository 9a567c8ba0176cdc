/** Which venues a request means, and which of them can do what it asks. */
import type { WalletHeartbeat } from '@bellwether/contract';
import type { VenueId } from '../domain/market.ts';
import { familyOf, parseWallet, type VenueFilter, type WalletAddress } from '../domain/records.ts';
import type { RedeemsBy, Trading } from '../domain/risk-alerts.ts';
import { refusal } from '../platform/refusal.ts';
import type { Capability, KnownBalance, Venue, Venues, VenueWith } from './venue.ts';

export interface HasVenues {
  readonly venues: Venues;
}

const can =
  <C extends Capability>(capability: C) =>
  (venue: Venue): venue is VenueWith<C> =>
    venue[capability] !== undefined;

/** The venues that have a capability, in the order of the registry. */
export const venuesWith = <C extends Capability>({ venues }: HasVenues, capability: C): VenueWith<C>[] =>
  [...venues.values()].filter(can(capability));

/** @returns `null` when none is named @throws Refusal unknown_venue */
export function namedVenue({ venues }: HasVenues, name: string | undefined): Venue | null {
  if (name === undefined) return null;
  const venue = venues.get(name);
  if (venue !== undefined) return venue;
  throw refusal('unknown_venue', `There is no venue "${name}". Enabled: ${[...venues.keys()].join(', ')}.`, {
    path: 'venue',
  });
}

const BY_QUOTE =
  'trades by quote, local signature and submit: ask for a quote (POST /venueb/agent/quote), sign its transaction, submit it';
const REDEEM_BY_QUOTE =
  'trades by quote, local signature and submit: ask for a SELL quote of the winning outcome (POST /venueb/agent/quote), sign and submit it';

/** Advice where a venue lacks a capability. */
const INSTEAD: Readonly<Partial<Record<Capability, string>>> = {
  signedOrders: BY_QUOTE,
  redemption: REDEEM_BY_QUOTE,
  sets: 'has no full sets to split or merge: sell what is held by a quote (POST /venueb/agent/quote)',
};

/**
 * The venue that is named; else the default one where it can, or the first that can.
 * @throws Refusal unknown_venue, or wrong_venue_route for a venue that lacks the capability
 */
export function venueFor<C extends Capability>(
  needs: HasVenues,
  name: string | undefined,
  capability: C,
): VenueWith<C> {
  const named = namedVenue(needs, name);
  const { default: usual } = needs.venues;
  if (named === null && !can(capability)(usual)) {
    const [first] = venuesWith(needs, capability);
    if (first !== undefined) return first;
  }
  return requireCapability(named ?? usual, capability);
}

/** @throws Refusal wrong_venue_route */
export function requireCapability<C extends Capability>(venue: Venue, capability: C): VenueWith<C> {
  if (can(capability)(venue)) return venue;
  const instead = venue.quotes === undefined ? undefined : INSTEAD[capability];
  const detail = instead === undefined ? `"${venue.id}" does not offer this.` : `"${venue.id}" ${instead}.`;
  throw refusal('wrong_venue_route', detail, { path: 'venue' });
}

/**
 * The venue of the routes `/venueb/…`, which name none: the first that quotes.
 * @throws Refusal wrong_venue_route when no venue of this service does
 */
export function quotingVenue(needs: HasVenues): VenueWith<'quotes'> {
  const [venue] = venuesWith(needs, 'quotes');
  if (venue === undefined) throw refusal('wrong_venue_route', 'No venue of this service trades by quotes.');
  return venue;
}

/** The venue of `POST /paper/faucet`, which names none: the first that has a faucet. */
export const faucetVenue = (needs: HasVenues): VenueWith<'paper'> | null =>
  venuesWith(needs, 'paper').find(({ paper }) => paper.faucet !== undefined) ?? null;

/**
 * The venue of something that is stored with a venue's name and a wallet. A name that is not registered any more (the
 * configuration renamed the venue) means the first venue of the wallet's address family.
 */
export function venueOf(needs: HasVenues, name: VenueId | null, wallet: WalletAddress): Venue {
  const known = name === null ? undefined : needs.venues.get(name);
  return known ?? venuesFor(needs, wallet)[0] ?? needs.venues.default;
}

/** Filter for what is stored for these venues, those that {@link venueOf} means included. */
export function filterOf({ venues }: HasVenues, wanted: readonly Venue[]): VenueFilter {
  const families = new Set(wanted.map(({ accounts }) => accounts.family));
  const known = [...venues.values()].filter(({ accounts }) => families.has(accounts.family));
  const isFirst = (venue: Venue) =>
    venue === known.find(({ accounts }) => accounts.family === venue.accounts.family);
  const others = known.filter((venue) => !wanted.includes(venue));
  const ids = (of: readonly Venue[]) => of.map(({ id }) => id);
  return others.some(isFirst) ? { only: ids(wanted) } : { except: ids(others) };
}

/** The venues that understand a wallet's address. */
export const venuesFor = ({ venues }: HasVenues, wallet: WalletAddress): Venue[] => {
  const family = familyOf(wallet);
  return [...venues.values()].filter(({ accounts }) => accounts.family === family);
};

/** @param on whether the wallet's owner wants it */
export const heartbeatOf = (needs: HasVenues, wallet: WalletAddress, on: boolean): WalletHeartbeat => {
  const [venue] = venuesFor(needs, wallet).filter(can('heartbeat'));
  return { on, cancelsAfterS: venue?.heartbeat.cancelsAfterS ?? null };
};

const RETRY_S = 1;

export const silentVenue = ({ id }: Venue) =>
  refusal('service_unavailable', `${id} does not answer.`, { retryAfterS: RETRY_S });

/** Present balances of the accounts, for answers that would be wrong without them. @throws Refusal service_unavailable */
export async function currentBalance(
  venue: Venue,
  accounts: readonly WalletAddress[],
): Promise<KnownBalance> {
  const balance = await venue.accounts.balances(accounts, { freshMs: 0, patienceMs: BALANCE_PATIENCE_MS });
  if (balance.ageMs === null) throw silentVenue(venue);
  return balance;
}

const BALANCE_PATIENCE_MS = 4_000;

/** Kind of trading that rules need to know of a venue. */
export const tradingOf = ({ quotes }: Venue): Trading => (quotes === undefined ? 'signed_orders' : 'quotes');

export const redeemsBy = ({ redemption, quotes }: Venue): RedeemsBy =>
  redemption !== undefined ? 'request' : quotes !== undefined ? 'quote' : null;

/** A venue as answers show it. `kind` is the public interface's word for how one trades there. */
export const venueRecord = (venue: Venue, asker?: 'proxy') => {
  const notice = venue.notice?.() ?? null;
  return {
    name: venue.id,
    kind: PUBLIC_KIND[tradingOf(venue)],
    backend: venue.backend,
    status: venue.status(asker),
    ...(notice === null ? {} : { notice }),
  };
};

const PUBLIC_KIND: Readonly<Record<Trading, string>> = { signed_orders: 'A', quotes: 'B' };

/** Subject of a read: one venue or several, and a wallet of theirs, or the agent's own. */
export interface Scope {
  /** At least one. */
  readonly venues: readonly [Venue, ...Venue[]];
  readonly user: WalletAddress | null;
}

/**
 * The venue that is named, else those that understand the wallet's address, else all.
 * @throws Refusal unknown_venue, wallet_not_found for an address that is no wallet of the venue
 */
export function scopeOf(
  needs: HasVenues,
  query: { readonly venue?: string; readonly user?: string },
  path = 'user',
): Scope {
  const asked = namedVenue(needs, query.venue);
  if (query.user === undefined)
    return { venues: asked === null ? atLeastOne([...needs.venues.values()]) : [asked], user: null };
  const user = parseWallet(query.user);
  if (user === null) throw refusal('wallet_not_found', 'This is no address of a wallet.', { path });
  const venues = venuesFor(needs, user);
  if (asked === null) return { venues: atLeastOne(venues), user };
  if (venues.includes(asked)) return { venues: [asked], user };
  const names = venues.map(({ id }) => id).join(' or ');
  throw refusal('wallet_not_found', `This is a wallet of ${names}, not of ${asked.id}.`, { path });
}

function atLeastOne(venues: readonly Venue[]): Scope['venues'] {
  const [first, ...rest] = venues;
  if (first === undefined) throw refusal('wallet_not_found', 'No venue of this service takes such a wallet.');
  return [first, ...rest];
}
