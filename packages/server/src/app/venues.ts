/** Which venue a request means, and what there is of each. */
import { parseAddress, parseSolanaAddress, type SolanaAddress } from '@bellwether/protocol';
import type { WalletAddress } from '../ports/stores.ts';
import type { MarketData } from '../ports/venue.ts';
import type { Deps } from './deps.ts';
import { refusal } from './refusal.ts';

export type VenueKind = 'A' | 'B';

type Names = Pick<Deps, 'venueA' | 'venueB'>;

const unknownVenue = (deps: Names, name: string) =>
  refusal(
    'unknown_venue',
    `There is no venue "${name}". Enabled: ${deps.venueA.name}, ${deps.venueB.name}.`,
    {
      path: 'venue',
    },
  );

/** @returns `null` when none is named @throws Refusal unknown_venue */
export function venueKind(deps: Names, name: string | undefined): VenueKind | null {
  if (name === undefined) return null;
  if (name === deps.venueA.name) return 'A';
  if (name === deps.venueB.name) return 'B';
  throw unknownVenue(deps, name);
}

/**
 * @param instead what venue B has for it
 * @throws Refusal unknown_venue, or wrong_venue_route for venue B on a route of venue A
 */
export function requireVenueA(
  deps: Names,
  name: string | undefined,
  instead = 'ask for a quote (POST /venueb/agent/quote), sign its transaction, submit it',
): void {
  if (venueKind(deps, name) !== 'B') return;
  throw refusal('wrong_venue_route', `"${name}" trades by quote, local signature and submit: ${instead}.`, {
    path: 'venue',
  });
}

/** A filter by venue: `false` when it can match nothing of venue A. @throws Refusal unknown_venue */
export const isVenueA = (deps: Names, name: string | undefined): boolean => venueKind(deps, name) !== 'B';

export const venueName = (deps: Names, kind: VenueKind): string =>
  kind === 'A' ? deps.venueA.name : deps.venueB.name;

export const marketDataOf = (deps: Deps, kind: VenueKind): MarketData =>
  kind === 'A' ? deps.markets : deps.venueB.markets;

export const kindOfWallet = (wallet: WalletAddress): VenueKind => (wallet.startsWith('0x') ? 'A' : 'B');

/** An address as requests spell it; `null` when it is of neither venue. */
export const parseWallet = (text: string): WalletAddress | null =>
  parseAddress(text) ?? parseSolanaAddress(text);

export const isSolana = (wallet: WalletAddress): wallet is SolanaAddress => kindOfWallet(wallet) === 'B';

/** What a read is about: one venue, or both, and a wallet of it, or the agent's own. */
export interface Scope {
  readonly kinds: readonly VenueKind[];
  readonly user: WalletAddress | null;
}

/**
 * The venue that is named, else the one that the wallet belongs to, else both.
 * @throws Refusal unknown_venue, wallet_not_found for an address that is no wallet of the venue
 */
export function scopeOf(
  deps: Names,
  query: { readonly venue?: string; readonly user?: string },
  path = 'user',
): Scope {
  const asked = venueKind(deps, query.venue);
  if (query.user === undefined) return { kinds: asked === null ? ['A', 'B'] : [asked], user: null };
  const user = parseWallet(query.user);
  if (user === null) throw refusal('wallet_not_found', 'This is no address of a wallet.', { path });
  const kind = kindOfWallet(user);
  if (asked !== null && asked !== kind) {
    throw refusal(
      'wallet_not_found',
      `This is a wallet of ${venueName(deps, kind)}, not of ${query.venue}.`,
      {
        path,
      },
    );
  }
  return { kinds: [kind], user };
}
