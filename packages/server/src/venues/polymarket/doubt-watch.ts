/**
 * Looks for an order whose answer proved nothing: at once, and again after 2, 5 and 15 seconds. Most such orders are there,
 * or were never taken, within that time; an order that is still in doubt then is left to the resolver, which asks ever more
 * rarely. That the venue does not know an order is no proof here: the look decides what is one.
 */
import type { VenueAnswer } from '../venue.ts';

export interface DoubtWatch {
  /** @returns what the first look found */
  watch(orderId: string): Promise<VenueAnswer>;
  /** Orders that are looked for at the moment. */
  count(): number;
  stop(): void;
}

export interface DoubtWatchParts {
  /** Never throws. */
  readonly look: (orderId: string) => Promise<VenueAnswer | { readonly kind: 'never_received' }>;
  /** After the answer that proved nothing; shorter ones for tests. */
  readonly afterMs?: readonly number[];
}

const AFTER_MS = [2_000, 5_000, 15_000] as const;
/** More are left to the resolver. */
const MOST_WATCHED = 5_000;
const UNKNOWN = { kind: 'unknown' } as const;

export function createDoubtWatch({ look, afterMs = AFTER_MS }: DoubtWatchParts): DoubtWatch {
  const watched = new Map<string, NodeJS.Timeout[]>();

  const forget = (orderId: string): void => {
    for (const timer of watched.get(orderId) ?? []) clearTimeout(timer);
    watched.delete(orderId);
  };
  const lookOnce = async (orderId: string, isLast: boolean): Promise<VenueAnswer> => {
    const answer = await look(orderId);
    if (answer.kind === 'never_received') {
      // For the resolver to settle: this order is not looked for any more.
      forget(orderId);
      return UNKNOWN;
    }
    if (answer.kind !== 'unknown' || isLast) forget(orderId);
    return answer;
  };

  return {
    async watch(orderId) {
      if (watched.has(orderId) || watched.size >= MOST_WATCHED) return UNKNOWN;
      const timers = afterMs.map((pause, nth) =>
        setTimeout(() => void lookOnce(orderId, nth === afterMs.length - 1), pause).unref(),
      );
      watched.set(orderId, timers);
      return lookOnce(orderId, false);
    },
    count: () => watched.size,
    stop() {
      for (const orderId of [...watched.keys()]) forget(orderId);
    },
  };
}
