/**
 * The heartbeat. Ten thousand agents ask every half minute, so: one trip to the database, market facts from the
 * venues' memory, at most one call to a chain for a wallet in several seconds, and nothing that grows with an agent's
 * past. No briefing waits long for a venue: a silent venue contributes its last known figures, marked as such.
 */
import type { Briefing, ExitChange, RiskAlert } from '@bellwether/contract';
import { microToNumber } from '@bellwether/contract/decimals';
import { settingsRecord } from '../agents/index.ts';
import { OPEN_EXITS } from '../domain/exits.ts';
import { inDoubtBefore } from '../domain/lifecycle.ts';
import { within } from '../domain/patience.ts';
import type { ActingAgent } from '../domain/records.ts';
import { tradesLeft } from '../domain/safeguards.ts';
import { STALE_ORDER_MS } from '../domain/thresholds.ts';
import { type ExitRow, type ExitStore, exitRecords } from '../exits/index.ts';
import type { ShownMarkets } from '../markets/index.ts';
import { orderRecord } from '../orders/index.ts';
import type { Clock } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import type { RecommendedSkills } from '../skills/index.ts';
import { type HasVenues, type Scope, scopeOf } from '../venues/asking.ts';
import type { Listing, Venue, Venues } from '../venues/venue.ts';
import type { AgentFacts } from './agent-facts.ts';
import { type AgentStateNeeds, agentState, quotaResetsAt } from './agent-state.ts';
import { encodeCursor, parseSince, type Since } from './briefing-cursor.ts';
import type { BriefingFacts } from './facts.ts';
import { venueBrief } from './venue-briefs.ts';
import { BRIEFING_PATIENCE_MS } from './venue-state.ts';

export interface BriefingNeeds extends AgentStateNeeds {
  readonly exits: AgentStateNeeds['exits'] & Pick<ExitStore, 'changes'>;
  readonly clock: Clock;
  readonly venues: Venues;
  readonly facts: AgentFacts;
  readonly recommendedSkills: RecommendedSkills;
  readonly shownMarkets: ShownMarkets;
}

/** Orders in one answer: without `since` the latest, with it what changed. */
const LATEST_ORDERS = 20;
const CHANGED_ORDERS = 100;
/** What became of exits, likewise. */
const LATEST_EXIT_CHANGES = 20;
const EXIT_CHANGES = 100;
/** New markets in one answer; with `since`, of each venue. */
const LATEST_MARKETS = 10;
const LISTED_MARKETS = 50;

export interface BriefingQuery {
  readonly venue?: string;
  readonly user?: string;
  readonly since?: string;
  readonly includeMarkets?: boolean;
  readonly 'include-markets'?: boolean;
  readonly include_markets?: boolean;
}

/** @throws Refusal unknown_venue, invalid_request, contradictory_filter, wallet_not_found */
export async function briefing(
  needs: BriefingNeeds,
  caller: ActingAgent,
  query: BriefingQuery,
): Promise<Briefing> {
  const now = needs.clock.now();
  const scope = scopeOf(needs, query);
  const since = query.since === undefined ? null : parseSince(query.since);
  const facts = await readFacts(needs, { caller, query, scope, since, now });
  const registered = [...needs.venues.values()];
  const [{ states, alerts, exits }, told, listed, skills] = await Promise.all([
    agentState(needs, caller, { facts, scope, reader: 'agent' }),
    toldOfExits(needs, caller, { facts, query, since }),
    includesMarkets(query) ? listings(needs, scope, since) : new Map<Venue, Listing>(),
    needs.recommendedSkills(),
  ]);
  const changes = since === null ? LATEST_ORDERS : CHANGED_ORDERS;
  return {
    timestamp: new Date(now).toISOString(),
    venue: query.venue ?? scope.venues[0].id,
    agent: agentOf(caller, facts, now),
    settings: settingsRecord(facts.limits),
    riskAlerts: alerts as RiskAlert[],
    approvals: [...facts.approvals],
    exits: await exitRecords(needs, exits),
    exitChanges: told.changes,
    endedExits: await exitRecords(needs, told.ended),
    venues: Object.fromEntries(
      states
        .filter(({ venue }) => scope.venues.includes(venue))
        .map((state) => [state.venue.id, venueBrief(needs, { facts, user: scope.user, state, alerts })]),
    ),
    opportunities: {
      newMarkets: newMarkets(needs, listed, since),
      recommendedSkills: [...skills],
    },
    recentTrades: facts.changed.slice(0, changes).map(orderRecord),
    recentTradesTruncated: since !== null && facts.changed.length > changes,
    nextCursor: encodeCursor({
      at: now,
      // Markets that were not asked for, or not shown, stay new.
      listedAfter: registered.map((venue, i) => listed.get(venue)?.latest ?? since?.listedAfter(i) ?? now),
      snapshot: facts.snapshot,
    }),
  };
}

function includesMarkets(query: BriefingQuery): boolean {
  const said = new Set(
    [query.includeMarkets, query['include-markets'], query.include_markets].filter(
      (value) => value !== undefined,
    ),
  );
  if (said.size > 1) {
    throw refusal('contradictory_filter', 'include-markets and includeMarkets contradict each other.', {
      path: query.includeMarkets === undefined ? 'include-markets' : 'includeMarkets',
    });
  }
  return !said.has(false);
}

interface BriefingRequest {
  readonly caller: ActingAgent;
  readonly query: BriefingQuery;
  readonly scope: Scope;
  readonly since: Since | null;
  readonly now: number;
}

async function readFacts(
  needs: BriefingNeeds,
  { caller, query, scope, since, now }: BriefingRequest,
): Promise<BriefingFacts> {
  const facts = await needs.facts.briefing({
    caller,
    user: scope.user,
    at: now,
    staleBefore: now - STALE_ORDER_MS,
    doubtBefore: inDoubtBefore(now),
    venue: query.venue ?? null,
    changedAfter: since?.at ?? null,
    notIn: since?.snapshot ?? null,
    changesLimit: since === null ? LATEST_ORDERS : CHANGED_ORDERS,
  });
  if (scope.user !== null && Object.values(facts.wallets).every((wallets) => wallets.length === 0))
    throw refusal('wallet_not_found', "This wallet is none of your owner's, or out of this agent's reach.", {
      path: 'user',
    });
  return facts;
}

interface ToldOfExits {
  readonly changes: ExitChange[];
  /** Those of them that have ended. */
  readonly ended: readonly ExitRow[];
}

/** What became of exits, up to what the facts contain. An agent that has left none costs no trip. */
async function toldOfExits(
  { exits }: Pick<BriefingNeeds, 'exits'>,
  { agentId }: ActingAgent,
  {
    facts,
    query,
    since,
  }: { readonly facts: BriefingFacts; readonly query: BriefingQuery; readonly since: Since | null },
): Promise<ToldOfExits> {
  if (!facts.hasExits) return { changes: [], ended: [] };
  const changes = await exits.changes({
    ...{ agentId, venue: query.venue ?? null, upTo: facts.snapshot },
    after: since?.at ?? null,
    notIn: since?.snapshot ?? null,
    limit: since === null ? LATEST_EXIT_CHANGES : EXIT_CHANGES,
  });
  const exitIds = [...new Set(changes.map(({ data }) => data.exitId))];
  if (exitIds.length === 0) return { changes, ended: [] };
  const rows = await exits.list({ agentId, exitIds }, { limit: exitIds.length });
  return { changes, ended: rows.filter(({ status }) => !OPEN_EXITS.includes(status)) };
}

/** Markets that each venue has listed; one that does not answer in time is left out. */
async function listings(
  needs: HasVenues,
  scope: Scope,
  since: Since | null,
): Promise<ReadonlyMap<Venue, Listing>> {
  const limit = since === null ? LATEST_MARKETS : LISTED_MARKETS;
  const listed = new Map<Venue, Listing>();
  await Promise.all(
    [...needs.venues.values()].map(async (venue, i) => {
      if (!scope.venues.includes(venue)) return;
      const after = since?.listedAfter(i) ?? 0;
      const found = await within(BRIEFING_PATIENCE_MS, venue.markets.listedAfter(after, limit));
      if (found !== null) listed.set(venue, found);
    }),
  );
  return listed;
}

function newMarkets(
  { shownMarkets }: Pick<BriefingNeeds, 'shownMarkets'>,
  listed: ReadonlyMap<Venue, Listing>,
  since: Since | null,
) {
  const found = [...listed].flatMap(([venue, { markets }]) => markets.map((market) => ({ venue, market })));
  found.sort((a, b) => b.market.createdAt - a.market.createdAt);
  // Markets since the last briefing are given in full; else the latest will do.
  return (since === null ? found.slice(0, LATEST_MARKETS) : found).map(({ venue, market }) =>
    shownMarkets.plain(venue.id, market),
  );
}

function agentOf(caller: ActingAgent, { limits, ...facts }: BriefingFacts, now: number): Briefing['agent'] {
  const { usage, maxTradesPerDay, dailyTradeAmountLimit } = limits;
  const left = dailyTradeAmountLimit > usage.amount ? dailyTradeAmountLimit - usage.amount : 0n;
  return {
    agentId: caller.agentId,
    name: facts.name,
    claimed: facts.claimed,
    walletAddress: facts.walletAddress,
    solAddress: facts.solAddress,
    tradesToday: usage.trades,
    maxTradesPerDay,
    tradesRemaining: tradesLeft(usage, maxTradesPerDay),
    amountToday: microToNumber(usage.amount),
    amountRemaining: limits.tradeLimitEnabled ? microToNumber(left) : null,
    realizedToday: microToNumber(limits.realizedToday),
    quotaResetsAt: quotaResetsAt(now),
  };
}
