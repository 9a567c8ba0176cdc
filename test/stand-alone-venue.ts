/** The venue in a box on a database of its own, closed with the test file. */
import type { Faults } from '../packages/exchange/src/doors/polymarket/index.ts';
import { openTestDatabase } from './postgres.ts';
import { afterFile } from './setup/clean-up.ts';
import { openVenueInABox, type VenueInABox } from './venue-in-a-box.ts';

export type StandAloneVenue = Pick<VenueInABox, 'url' | 'exchange'>;

export async function startStandAloneVenue(faults: Faults): Promise<StandAloneVenue> {
  const venue = await openVenueInABox(await openTestDatabase(), faults);
  afterFile('services', async () => {
    await venue.close();
    return true;
  });
  return venue;
}
