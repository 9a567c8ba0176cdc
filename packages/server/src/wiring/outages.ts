/** Which errors mean that something the service needs did not answer, in words for the caller. */

import { ListingUnfinished, VenueUnavailable } from '../domain/unavailable.ts';
import { databaseFault } from '../platform/database/database-faults.ts';

/** @returns null for a fault of the service's own code */
export function describeOutage(error: unknown): string | null {
  if (error instanceof ListingUnfinished) return error.message;
  return error instanceof VenueUnavailable ? 'The venue is not reachable.' : databaseFault(error);
}
