/** What did not answer. A caller tells these apart by class; the http layer answers all of them with 503. */

/** A venue, or the replica that serves it, did not answer. Where a call may have taken effect, its answer says so instead. */
export class VenueUnavailable extends Error {
  override readonly name: string = 'VenueUnavailable';
}
