/** Which errors mean that something the service needs did not answer, in words for the caller. */

import { VenueUnavailable } from '../domain/unavailable.ts';
import { databaseFault } from '../platform/database/database-faults.ts';

/** @returns null for a fault of the service's own code */
export const describeOutage = (error: unknown): string | null =>
  error instanceof VenueUnavailable ? 'The venue is not reachable.' : databaseFault(error);
