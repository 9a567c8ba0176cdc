/** Errors for services that did not answer, one class each; the request that meets one is answered with 503. */

/**
 * A venue, or the replica that serves it, did not answer, or sent an unreadable answer. If the call may still have had an
 * effect, the port returns `unknown` instead.
 */
export class VenueUnavailable extends Error {
  override readonly name: string = 'VenueUnavailable';
}

/** The chain that a venue settles on did not answer. */
export class ChainUnavailable extends VenueUnavailable {
  override readonly name = 'ChainUnavailable';
}
