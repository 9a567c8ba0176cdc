/** Errors for services that did not answer, one class each; the request that meets one is answered with 503. */

/**
 * A venue, or the replica that serves it, did not answer, or sent an unreadable answer. If the call may still have had an
 * effect, the port returns `unknown` instead.
 */
export class VenueUnavailable extends Error {
  override readonly name: string = 'VenueUnavailable';
}

/** The venue moves to another replica, and nothing has looked at the call: it may be made again. */
export class VenueMoves extends VenueUnavailable {
  override readonly name = 'VenueMoves';
}

/** The chain that a venue settles on did not answer. */
export class ChainUnavailable extends VenueUnavailable {
  override readonly name = 'ChainUnavailable';
}

/** A venue's list did not come to its end, so that what is missing from it proves nothing. */
export class ListingUnfinished extends VenueUnavailable {
  override readonly name = 'ListingUnfinished';

  /** @param list such as its path @param fault what was wrong, as a clause */
  constructor(list: string, fault: string) {
    super(`The venue's list ${list} does not end: ${fault}.`);
  }
}

// Bounded waits for answers from other services.

/** Maximum wait of a read for a venue; after that it uses the desk's own data. */
export const READ_PATIENCE_MS = 800;

/** @returns `null` when the answer fails, or comes later than this */
export async function within<T>(ms: number, answer: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null);
  });
  try {
    return await Promise.race([answer.catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}
