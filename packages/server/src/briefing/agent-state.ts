/** Where an agent stands on every venue, and what is at risk: the same for its heartbeat and for its owner's pages. */
import type { Limits } from '../agents/index.ts';
import { OPEN_EXITS } from '../domain/exits.ts';
import type { ActingAgent } from '../domain/records.ts';
import { type Alert, riskAlerts } from '../domain/risk-alerts.ts';
import { type AlertReader, type ExitRow, type ExitStore, exitEnd } from '../exits/index.ts';
import type { Clock } from '../platform/clock.ts';
import type { Scope } from '../venues/asking.ts';
import type { Venues } from '../venues/venue.ts';
import type { BriefingFacts } from './facts.ts';
import { type VenueState, venueState } from './venue-state.ts';

export interface AgentStateNeeds {
  readonly clock: Clock;
  readonly venues: Venues;
  readonly exits: Pick<ExitStore, 'list' | 'unguarded'>;
}

export interface AgentState {
  /** States of every venue, in the order of the registry. */
  readonly states: readonly VenueState[];
  /** Most severe first. */
  readonly alerts: readonly Alert[];
  /** Guarded exits that have not ended, newest first. */
  readonly exits: readonly ExitRow[];
}

const DAY_MS = 24 * 3_600_000;

export const quotaResetsAt = (now: number): string =>
  new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString();

/** An agent without any costs no trip. */
export const openExits = async (
  { exits }: { readonly exits: Pick<ExitStore, 'list'> },
  { agentId }: Pick<ActingAgent, 'agentId'>,
  { openExits: count }: Pick<Limits, 'openExits'>,
): Promise<readonly ExitRow[]> =>
  count === 0 ? [] : exits.list({ agentId, statuses: OPEN_EXITS }, { limit: count });

/** @param reader whose alerts: what the agent says that it has seen stays an alert of its owner's */
export async function agentState(
  needs: AgentStateNeeds,
  agent: ActingAgent,
  {
    facts,
    scope,
    reader,
  }: { readonly facts: BriefingFacts; readonly scope: Scope; readonly reader: AlertReader },
): Promise<AgentState> {
  const [exits, unguarded, ...states] = await Promise.all([
    openExits(needs, agent, facts.limits),
    facts.hasExits ? needs.exits.unguarded(agent.agentId, reader) : [],
    ...[...needs.venues.values()].map((venue) => venueState(needs, facts, venue, scope)),
  ]);
  const alerts = riskAlerts({
    now: needs.clock.now(),
    safeguards: facts.limits,
    usage: facts.limits.usage,
    realizedToday: facts.limits.realizedToday,
    balance: states.reduce((sum, { balance }) => sum + balance, 0n),
    positions: states.flatMap(({ positions }) => positions),
    openOrders: states.flatMap(({ openOrders }) => openOrders),
    silence: facts.silence,
    away: facts.away,
    repeatedRefusal: facts.repeatedRefusal,
    exits: exits.map((row) => ({ ...row, endsAt: exitEnd(row) })),
    unguarded,
    silentVenues: states.filter(({ isCurrent }) => !isCurrent).map(({ venue }) => venue.id),
  });
  return { states, alerts, exits };
}
