/** How the service fares: what the database says of all replicas, and what this one says of itself. */
import type { OperatorStatus } from '@bellwether/contract';
import { inDoubtBefore } from '../domain/lifecycle.ts';
import type { Clock } from '../platform/clock.ts';
import { type HasVenues, venueRecord } from '../venues/asking.ts';
import type { OperatorReads } from './operator-reads.ts';

export interface OperatorStatusNeeds extends HasVenues {
  readonly clock: Clock;
  readonly operatorReads: OperatorReads;
}

type Own = Pick<OperatorStatus, 'version' | 'ready' | 'database' | 'thisReplica'>;

const SECOND_MS = 1_000;

export async function operatorStatus(needs: OperatorStatusNeeds, own: Own): Promise<OperatorStatus> {
  const now = needs.clock.now();
  const { leader, inDoubt, oldestInDoubtAt, tradesKeptAside, replicas, ...queues } =
    await needs.operatorReads.facts(inDoubtBefore(now));
  return {
    timestamp: new Date(now).toISOString(),
    ...own,
    venues: [...needs.venues.values()].map((venue) => ({
      ...venueRecord(venue),
      counts: { ...venue.counts?.() },
    })),
    replicas: {
      count: replicas,
      leader: leader === null ? null : { ...leader, since: new Date(leader.since).toISOString() },
    },
    orders: {
      inDoubt,
      oldestInDoubtSeconds:
        oldestInDoubtAt === null ? null : Math.max(0, (now - oldestInDoubtAt) / SECOND_MS),
      tradesKeptAside,
    },
    queues,
  };
}
