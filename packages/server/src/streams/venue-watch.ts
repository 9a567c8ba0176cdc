/** How the venues fare, as this replica sees it, for the streams that are open here. */
import type { HasVenues } from '../venues/asking.ts';

const LOOK_EVERY_MS = 500;

export interface VenueState {
  readonly venue: string;
  readonly ready: boolean;
  readonly status: string;
}

type Listener = (state: VenueState) => void;

export class VenueWatch {
  readonly #needs: HasVenues;
  readonly #listeners = new Set<Listener>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #known = new Map<string, string>();

  constructor(needs: HasVenues) {
    this.#needs = needs;
  }

  /** Calls with the present status of every venue, then with each change. @returns what ends it */
  follow(listener: Listener): () => void {
    if (this.#listeners.size === 0) {
      this.#known = new Map([...this.#needs.venues.values()].map((venue) => [venue.id, venue.status()]));
      this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
    }
    this.#listeners.add(listener);
    for (const [venue, status] of this.#known) listener(stateOf(venue, status));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearInterval(this.#timer);
    };
  }

  #look(): void {
    for (const venue of this.#needs.venues.values()) {
      const now = venue.status();
      if (this.#known.get(venue.id) === now) continue;
      this.#known.set(venue.id, now);
      for (const listener of this.#listeners) listener(stateOf(venue.id, now));
    }
  }
}

const stateOf = (venue: string, status: string): VenueState => ({ venue, ready: status === 'ready', status });
