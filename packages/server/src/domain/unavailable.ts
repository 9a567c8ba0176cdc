/** What did not answer. A caller tells these apart by class; a request that meets one is answered with 503. */

/**
 * A venue, or the replica that serves it, did not answer, or not in a form that can be read. Where a call may have taken
 * effect nevertheless, the port answers `unknown` instead.
 */
export class VenueUnavailable extends Error {
  override readonly name: string = 'VenueUnavailable';
}

/** The chain that a venue settles on did not answer. */
export class ChainUnavailable extends VenueUnavailable {
  override readonly name = 'ChainUnavailable';
}
