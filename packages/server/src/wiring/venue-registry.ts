/** Every venue that can be configured: a line for each. Answers about several venues list them in this order. */
import type { VenueDeclaration } from '../venues/configured.ts';
import { dflowVenue } from '../venues/dflow/index.ts';
import { polymarketVenue } from '../venues/polymarket/index.ts';

export const VENUES: readonly VenueDeclaration[] = [polymarketVenue, dflowVenue];
