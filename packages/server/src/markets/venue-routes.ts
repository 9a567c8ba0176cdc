import { getVenueSigning, listVenues } from '@bellwether/contract';
import type { Bind } from '../platform/http/routes.ts';
import * as guides from './venue-guides.ts';

export function bindVenues(bind: Bind, needs: guides.VenueGuideNeeds): void {
  bind(listVenues, async () => guides.listVenues(needs));
  bind(getVenueSigning, async ({ params }) => guides.venueSigning(needs, params.id));
}
