/** Which venue a request means. */
import type { Deps } from './deps.ts';
import { refusal } from './refusal.ts';

/** @throws Refusal unknown_venue, or wrong_venue_route for venue B on a route of venue A */
export function requireVenueA(deps: Pick<Deps, 'venueA' | 'venueBName'>, name: string | undefined): void {
  if (name === undefined || name === deps.venueA.name) return;
  if (name === deps.venueBName) {
    throw refusal(
      'wrong_venue_route',
      `"${name}" trades by quote, local signature and submit: its routes begin with /venueb/agent/.`,
      { path: 'venue' },
    );
  }
  throw refusal('unknown_venue', `There is no venue "${name}". Enabled: ${deps.venueA.name}.`, {
    path: 'venue',
  });
}

/** A filter by venue: `false` when it can match nothing of venue A. @throws Refusal unknown_venue */
export function isVenueA(deps: Pick<Deps, 'venueA' | 'venueBName'>, name: string | undefined): boolean {
  if (name === deps.venueBName) return false;
  requireVenueA(deps, name);
  return true;
}
