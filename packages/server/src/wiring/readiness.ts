/**
 * What `/readyz` says: whether trades can be taken here, asked anew each time, and within a second. Every question has
 * its own, shorter time, so that one that hangs neither delays nor hides the others.
 */
import type { PaperBackend } from '../adapters/venues/paper/paper-backend.ts';
import type { ReadyState } from '../http/server.ts';

interface ReadyVenue {
  readonly name: string;
  readonly kind: 'A' | 'B';
  readonly backend: 'paper' | 'live';
  status(): string;
}

export interface ReadinessParts {
  /** `ready`, or what is wrong with the database; in time. */
  readonly database: () => Promise<string>;
  /** Refreshes what the venues on paper know of the replica that leads. */
  readonly paper: Pick<PaperBackend, 'probe'>;
  readonly venues: readonly ReadyVenue[];
  readonly version: string;
}

export function createReadiness({ database, paper, venues, version }: ReadinessParts) {
  return async (): Promise<ReadyState> => {
    const [said] = await Promise.all([database(), paper.probe()]);
    const states = venues.map((venue) => ({
      name: venue.name,
      kind: venue.kind,
      backend: venue.backend,
      status: venue.status(),
    }));
    // One venue's trouble must not take the other's agents away; without the database neither takes anything.
    const ready = said === 'ready' && states.some(({ status }) => status === 'ready');
    const status = ready ? 'ready' : 'not ready';
    return { ready, body: { status, version, venues: states, database: said } };
  };
}
