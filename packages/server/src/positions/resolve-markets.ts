/** Notes how traded markets ended at venues that announce nothing and have to be asked. */

import type { ResolutionEvidence } from '../domain/evidence.ts';
import type { Clock } from '../platform/clock.ts';
import type { Venue, Venues } from '../venues/venue.ts';

export interface ResolveMarketsNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly chainOrders: {
    unresolved(venue: string, limit: number): Promise<readonly string[]>;
    resolve(resolutions: readonly ResolutionEvidence[]): Promise<void>;
  };
}

const MARKETS_PER_TURN = 500;

/** @returns how many outcomes were written @throws what a venue throws, once the others have been asked */
export async function resolveMarkets(needs: ResolveMarketsNeeds): Promise<number> {
  const asked = [...needs.venues.values()].filter(({ markets }) => !markets.announcesResolutions);
  const turns = await Promise.allSettled(asked.map((venue) => resolveAt(needs, venue)));
  const failures = turns.flatMap((turn) => (turn.status === 'rejected' ? [turn.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, 'outcomes of markets were not read');
  return turns.reduce((sum, turn) => (turn.status === 'fulfilled' ? sum + turn.value : sum), 0);
}

async function resolveAt(needs: ResolveMarketsNeeds, venue: Venue): Promise<number> {
  const conditionIds = await needs.chainOrders.unresolved(venue.id, MARKETS_PER_TURN);
  if (conditionIds.length === 0) return 0;
  const at = needs.clock.now();
  const resolutions = (await venue.markets.findAll(conditionIds)).flatMap((market): ResolutionEvidence[] =>
    market.status === 'resolved' && market.payout !== undefined
      ? [{ conditionId: market.conditionId, payout: market.payout, at }]
      : [],
  );
  if (resolutions.length === 0) return 0;
  await needs.chainOrders.resolve(resolutions);
  return resolutions.length;
}
