/** Where an agent stands on every venue, and what is at risk: the same for its heartbeat and for its owner's pages. */

import { type Micro, notional } from '@bellwether/contract/decimals';
import type { AgentStore, Limits } from '../agents/index.ts';
import { OPEN_EXITS } from '../domain/exits.ts';
import { knownPrice, type MarketRecord } from '../domain/market.ts';
import type { ActingAgent, AddressFamily, PositionRow, WalletAddress } from '../domain/records.ts';
import { type Alert, type HeldInMarket, riskAlerts, type Trading } from '../domain/risk-alerts.ts';
import { within } from '../domain/unavailable.ts';
import { type AlertReader, type ExitRow, type ExitStore, exitEnd } from '../exits/index.ts';
import type { ShownMarkets } from '../markets/index.ts';
import type { PositionNeeds } from '../positions/index.ts';
import type { RecommendedSkills } from '../skills/index.ts';
import type { OrderStore, TradeLedger } from '../trading/index.ts';
import { redeemsBy, type Scope, tradingOf, venueOf } from '../venues/asking.ts';
import type { Venue } from '../venues/venue.ts';
import type { AgentFacts, BriefingFacts, OpenOrders } from './store.ts';

export interface BriefingNeeds extends PositionNeeds {
  readonly agents: AgentStore;
  readonly orders: OrderStore;
  readonly exits: ExitStore;
  readonly ledger: TradeLedger;
  readonly facts: AgentFacts;
  readonly recommendedSkills: RecommendedSkills;
  readonly shownMarkets: ShownMarkets;
  readonly simulationBalance: Micro;
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
  count === 0 ? [] : exits.list({ of: { agentId }, statuses: OPEN_EXITS }, { limit: count });

/** @param reader whose alerts: what the agent says that it has seen stays an alert of its owner's */
export async function agentState(
  needs: BriefingNeeds,
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

// An agent's state on one venue for a heartbeat: without waiting long for the venue.

/** Time that a heartbeat waits for a venue, and age of a balance from which a chain is asked again. */
export const BRIEFING_PATIENCE_MS = 300;
const BALANCE_FRESH_MS = 5_000;
/** Replicas' clocks, and ours and a chain's, by at most so much. */
const CLOCKS_DIFFER_MS = 1_000;
/** From this age on the answer marks a balance as old, although the venue was just asked. */
const BALANCE_OLD_MS = 60_000;

/** An agent's state on one venue. */
export interface VenueState {
  readonly venue: Venue;
  readonly balance: Micro;
  readonly available: Micro;
  /** With their markets: those that the venue has shown. */
  readonly positions: readonly (HeldInMarket & { readonly row: PositionRow; readonly size: Micro })[];
  readonly positionsCount: number;
  /** Worth of the positions; their cost where no price is known. */
  readonly positionsValue: Micro;
  readonly openOrders: readonly (OpenOrders & {
    readonly trading: Trading;
    readonly market: MarketRecord | null;
  })[];
  /** The venue has shown all of it. */
  readonly isCurrent: boolean;
}

async function venueState(
  needs: BriefingNeeds,
  facts: BriefingFacts,
  venue: Venue,
  scope: Scope,
): Promise<VenueState> {
  const rows = facts.positions.filter((row) => venueOf(needs, row.venue, row.wallet) === venue);
  const open = facts.openOrders.filter(
    (orders) => (needs.venues.get(orders.venue) ?? needs.venues.default) === venue,
  );
  const ids = [...new Set([...rows, ...open].map(({ conditionId }) => conditionId))];
  // Without a wallet and without an order no venue is asked.
  const [markets, money] = await Promise.all([
    ids.length === 0 ? [] : within(BRIEFING_PATIENCE_MS, venue.markets.findAll(ids)),
    venue.accounts.balances(accountsOn(venue, facts, scope), {
      freshMs: freshMsOf(needs, facts),
      patienceMs: BRIEFING_PATIENCE_MS,
    }),
  ]);
  return {
    venue,
    balance: money.total,
    available: money.available,
    ...marked(venue, rows, open, markets ?? []),
    isCurrent: markets !== null && money.ageMs !== null && money.ageMs <= BALANCE_OLD_MS,
  };
}

/** A balance that was read before the agent's last fill, landing or return is read again, on whichever replica. */
const freshMsOf = ({ clock }: Pick<BriefingNeeds, 'clock'>, { lastChangeAt }: BriefingFacts): number =>
  lastChangeAt === null
    ? BALANCE_FRESH_MS
    : Math.min(BALANCE_FRESH_MS, Math.max(0, clock.now() - lastChangeAt - CLOCKS_DIFFER_MS));

/** The wallet asked for, else what the agent reaches and the one that it names. What a chain's address holds is no secret. */
function accountsOn(
  { accounts: { family } }: Venue,
  { solAddress, wallets }: BriefingFacts,
  { user }: Scope,
): readonly WalletAddress[] {
  return user === null ? withNamed(wallets[family], family, solAddress) : wallets[family];
}

/** With the Solana address that the agent names and has not proved: only for what is public on its chain. */
export const withNamed = (
  wallets: readonly WalletAddress[],
  family: AddressFamily,
  solAddress: WalletAddress | null,
): readonly WalletAddress[] =>
  family !== 'solana' || solAddress === null ? wallets : [...new Set([solAddress, ...wallets])];

/** Positions and open orders at the markets' prices. */
function marked(
  venue: Venue,
  rows: readonly PositionRow[],
  open: readonly OpenOrders[],
  markets: readonly MarketRecord[],
) {
  const known = new Map(markets.map((market) => [market.conditionId, market]));
  const positions = rows.flatMap((row) => {
    const market = known.get(row.conditionId);
    if (market === undefined) return [];
    const { outcome, size, cost } = row;
    const price = knownPrice(market, outcome);
    const value = price === null ? cost : notional(size, price, 'floor');
    return [{ redeemsBy: redeemsBy(venue), row, market, outcome, size, cost, value }];
  });
  const unpriced = rows.filter(({ conditionId }) => !known.has(conditionId));
  return {
    positions,
    positionsCount: rows.length,
    positionsValue:
      positions.reduce((sum, { value }) => sum + value, 0n) +
      unpriced.reduce((sum, { cost }) => sum + cost, 0n),
    openOrders: open.map((orders) => ({
      ...orders,
      trading: tradingOf(venue),
      market: known.get(orders.conditionId) ?? null,
    })),
  };
}
