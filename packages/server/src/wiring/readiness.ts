/**
 * Answers `/readyz`: whether trades can be taken here, asked anew each time, and within a second. Every question has
 * its own, shorter time, so that one that hangs neither delays nor hides the others.
 */

import { venueRecord } from '../venues/asking.ts';
import type { PaperBackend } from '../venues/paper/index.ts';
import type { Venues } from '../venues/venue.ts';
import type { ReadyState } from './server.ts';

export interface ReadinessParts {
  /** `ready`, or what is wrong with the database; in time. */
  readonly database: () => Promise<string>;
  /** Refreshes what the venues on paper know of the replica that leads. */
  readonly paper: Pick<PaperBackend, 'probe'>;
  readonly venues: Venues;
  readonly version: string;
  /** The process is about to end: proxies are to choose another replica, while this one still answers. */
  readonly isDraining: () => boolean;
}

export function createReadiness({ database, paper, venues, version, isDraining }: ReadinessParts) {
  return async (): Promise<ReadyState> => {
    const draining = isDraining();
    const [said] = draining ? ['not asked'] : await Promise.all([database(), paper.probe()]);
    const own = [...venues.values()].map((venue) => venueRecord(venue, 'proxy'));
    // One venue's trouble must not take the others' agents away; without the database none takes anything.
    const states =
      draining || said === 'ready'
        ? own
        : own.map((venue) =>
            venue.status === 'ready' ? { ...venue, status: `waits for the database: ${said}` } : venue,
          );
    const ready = !draining && states.some(({ status }) => status === 'ready');
    const status = draining ? 'draining' : ready ? 'ready' : 'not ready';
    return { ready, body: { status, version, venues: states, database: said } };
  };
}
