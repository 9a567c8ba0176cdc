/** Where an agent stands on every venue, and what is at risk: the same for its heartbeat and for its owner's pages. */
import { type Alert, riskAlerts } from '../domain/risk-alerts.ts';
import type { Clock } from '../platform/clock.ts';
import type { Scope } from '../venues/asking.ts';
import type { Venues } from '../venues/venue.ts';
import type { BriefingFacts } from './facts.ts';
import { type VenueState, venueState } from './venue-state.ts';

export interface AgentStateNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
}

export interface AgentState {
  /** States of every venue, in the order of the registry. */
  readonly states: readonly VenueState[];
  /** Most severe first. */
  readonly alerts: readonly Alert[];
}

const DAY_MS = 24 * 3_600_000;

export const quotaResetsAt = (now: number): string =>
  new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString();

export async function agentState(
  needs: AgentStateNeeds,
  facts: BriefingFacts,
  scope: Scope,
): Promise<AgentState> {
  const states = await Promise.all(
    [...needs.venues.values()].map((venue) => venueState(needs, facts, venue, scope)),
  );
  const alerts = riskAlerts({
    now: needs.clock.now(),
    safeguards: facts.limits,
    usage: facts.limits.usage,
    realizedToday: facts.limits.realizedToday,
    balance: states.reduce((sum, { balance }) => sum + balance, 0n),
    positions: states.flatMap(({ positions }) => positions),
    openOrders: states.flatMap(({ openOrders }) => openOrders),
    silence: facts.silence,
    repeatedRefusal: facts.repeatedRefusal,
    silentVenues: states.filter(({ isCurrent }) => !isCurrent).map(({ venue }) => venue.id),
  });
  return { states, alerts };
}
