import { getVenueSigning, listVenues } from '@bellwether/contract';
import * as guides from '../app/venue-guides.ts';
import type { Bind } from './routes.ts';

export function bindVenues(bind: Bind, needs: guides.VenueGuideNeeds): void {
  bind(listVenues, async () => guides.listVenues(needs));
  bind(getVenueSigning, async ({ params }) => guides.venueSigning(needs, params.id));
}
