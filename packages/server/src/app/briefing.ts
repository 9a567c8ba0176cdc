/**
 * The heartbeat. Ten thousand agents ask every half minute, so: one trip to the database, market facts from the
 * venues' memory, at most one call to venue B's chain for a wallet in several seconds, and nothing that grows with an
 * agent's past. Nobody waits long for venue B: what it does not tell is told as it was, and said to be so.
 */
import type { Briefing, RiskAlert } from '@bellwether/contract';
import { type Micro, microToNumber, notional } from '@bellwether/contract/decimals';
import type { SolanaAddress } from '@bellwether/protocol';
import { type MarketRecord, markPrice } from '../domain/market.ts';
import { within } from '../domain/patience.ts';
import {
  CHAIN_IN_DOUBT_AFTER_MS,
  type HeldInMarket,
  IN_DOUBT_AFTER_MS,
  riskAlerts,
  STALE_ORDER_MS,
} from '../domain/risk-alerts.ts';
import { plainText } from '../domain/untrusted-text.ts';
import type { BriefingFacts, OpenOrders } from '../ports/agent-facts.ts';
import type { Caller, PositionRow } from '../ports/stores.ts';
import { encodeCursor, parseSince, type Since } from './briefing-cursor.ts';
import type { Deps } from './deps.ts';
import { orderRecord } from './orders.ts';
import { refusal } from './refusal.ts';
import { settingsRecord } from './settings.ts';
import { plainMarket } from './untrusted-market.ts';
import { venueBriefOfA, venueBriefOfB } from './venue-briefs.ts';
import { kindOfWallet, type Scope, scopeOf, type VenueKind, venueName } from './venues.ts';

const DAY_MS = 24 * 3_600_000;
/** Orders in one answer: without `since` the latest, with it what changed. */
const LATEST_ORDERS = 20;
const CHANGED_ORDERS = 100;
/** New markets in one answer; with `since`, of each venue. */
const LATEST_MARKETS = 10;
const LISTED_MARKETS = 50;
const SKILL_TEXT_CHARS = 300;
/** What a heartbeat waits for venue B, and how old a balance may be before the chain is asked again. */
const PATIENCE_MS = 300;
const BALANCE_FRESH_MS = 5_000;
/** Replicas' clocks, and ours and the chain's, by at most so much. */
const CLOCKS_DIFFER_MS = 1_000;
/** A balance that is older, when the chain was just asked, is told to be old. */
const BALANCE_OLD_MS = 60_000;

export interface BriefingQuery {
  readonly venue?: string;
  readonly user?: string;
  readonly since?: string;
  readonly includeMarkets?: boolean;
  readonly 'include-markets'?: boolean;
  readonly include_markets?: boolean;
}

/** @throws Refusal unknown_venue, invalid_request, contradictory_filter, wallet_not_found */
export async function briefing(deps: Deps, caller: Caller, query: BriefingQuery): Promise<Briefing> {
  const now = deps.clock.now();
  const scope = scopeOf(deps, query);
  const since = query.since === undefined ? null : parseSince(query.since);
  const facts = await readFacts(deps, { caller, query, scope, since, now });
  const [onA, onB, listed, skills] = await Promise.all([
    stateOfA(deps, facts),
    stateOfB(deps, facts, scope),
    includesMarkets(query) ? listings(deps, scope.kinds, since) : null,
    deps.recommendedSkills(),
  ]);
  const alerts = riskAlerts({
    now,
    safeguards: facts.limits,
    usage: facts.limits.usage,
    realizedToday: facts.limits.realizedToday,
    balance: onA.balance + onB.balance,
    positions: [...onA.positions, ...onB.positions],
    openOrders: [...onA.openOrders, ...onB.openOrders],
    silentVenue: onB.isCurrent ? null : deps.venueB.name,
  });
  const changes = since === null ? LATEST_ORDERS : CHANGED_ORDERS;
  const briefs = {
    A: () => venueBriefOfA(deps, { facts, user: scope.user, state: onA, alerts }),
    B: () => venueBriefOfB(deps, { facts, user: scope.user, state: onB, alerts }),
  };
  return {
    timestamp: new Date(now).toISOString(),
    venue: query.venue ?? venueName(deps, scope.kinds[0] ?? 'A'),
    agent: agentOf(caller, facts, now),
    settings: settingsRecord(facts.limits),
    riskAlerts: alerts as RiskAlert[],
    venues: Object.fromEntries(scope.kinds.map((kind) => [venueName(deps, kind), briefs[kind]()])),
    opportunities: {
      newMarkets: newMarkets(deps, listed, since),
      recommendedSkills: skills.map((skill) => ({
        ...skill,
        description: plainText(skill.description, SKILL_TEXT_CHARS),
      })),
    },
    recentTrades: facts.changed.slice(0, changes).map(orderRecord),
    recentTradesTruncated: since !== null && facts.changed.length > changes,
    nextCursor: encodeCursor({
      at: now,
      // Markets that were not asked for, or not told, stay new.
      listedAfter: listed?.A?.latest ?? since?.listedAfter ?? now,
      listedAfterOnB: listed?.B?.latest ?? since?.listedAfterOnB ?? now,
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
      path: 'includeMarkets',
    });
  }
  return !said.has(false);
}

interface Asked {
  readonly caller: Caller;
  readonly query: BriefingQuery;
  readonly scope: Scope;
  readonly since: Since | null;
  readonly now: number;
}

async function readFacts(deps: Deps, { caller, query, scope, since, now }: Asked): Promise<BriefingFacts> {
  const facts = await deps.facts.briefing({
    caller,
    user: scope.user,
    at: now,
    staleBefore: now - STALE_ORDER_MS,
    doubtBefore: now - IN_DOUBT_AFTER_MS,
    chainDoubtBefore: now - CHAIN_IN_DOUBT_AFTER_MS,
    venue: query.venue ?? null,
    changedAfter: since?.at ?? null,
    notIn: since?.snapshot ?? null,
    changesLimit: since === null ? LATEST_ORDERS : CHANGED_ORDERS,
  });
  if (scope.user !== null && facts.wallets.length === 0 && facts.solanaWallets.length === 0)
    throw refusal('wallet_not_found', "This wallet is none of your owner's, or out of this agent's reach.", {
      path: 'user',
    });
  return facts;
}

/** What an agent has on one venue. */
export interface VenueState {
  readonly balance: Micro;
  readonly available: Micro;
  /** With their markets: those that the venue has told of. */
  readonly positions: readonly (HeldInMarket & { readonly row: PositionRow })[];
  readonly positionsCount: number;
  /** What the positions are worth; what they cost where no price is known. */
  readonly positionsValue: Micro;
  readonly openOrders: readonly (OpenOrders & {
    readonly kind: VenueKind;
    readonly market: MarketRecord | null;
  })[];
  /** The venue has told all of it. */
  readonly isCurrent: boolean;
}

async function stateOfA(deps: Deps, facts: BriefingFacts): Promise<VenueState> {
  const [markets, balances] = await Promise.all([
    deps.markets.findAll(marketIds(deps, facts, 'A')),
    Promise.all(facts.wallets.map((wallet) => deps.venueA.balance(wallet))),
  ]);
  const available = balances.reduce((sum, one) => sum + one.available, 0n);
  const balance = balances.reduce((sum, one) => sum + one.held, available);
  return { ...stateOf(deps, facts, 'A', markets), balance, available, isCurrent: true };
}

async function stateOfB(deps: Deps, facts: BriefingFacts, { user }: Scope): Promise<VenueState> {
  const tickers = marketIds(deps, facts, 'B');
  // Without a wallet and without an order nobody is asked.
  const [markets, collateral] = await Promise.all([
    tickers.length === 0 ? [] : within(PATIENCE_MS, deps.venueB.markets.findAll(tickers)),
    deps.venueBCollateral.of(walletsOfB(facts, user), {
      freshMs: freshMsOf(deps, facts),
      patienceMs: PATIENCE_MS,
    }),
  ]);
  const { amount, ageMs } = collateral;
  const isCurrent = markets !== null && ageMs !== null && ageMs <= BALANCE_OLD_MS;
  return { ...stateOf(deps, facts, 'B', markets ?? []), balance: amount, available: amount, isCurrent };
}

/** A balance that was read before the agent's last fill, landing or return is read again, on whichever replica. */
const freshMsOf = ({ clock }: Deps, { lastChangeAt }: BriefingFacts): number =>
  lastChangeAt === null
    ? BALANCE_FRESH_MS
    : Math.min(BALANCE_FRESH_MS, Math.max(0, clock.now() - lastChangeAt - CLOCKS_DIFFER_MS));

/** The wallet asked for, else what the agent names and what it traded with. What an address holds is no secret. */
function walletsOfB(
  { solAddress, solanaWallets }: BriefingFacts,
  user: Scope['user'],
): readonly SolanaAddress[] {
  if (user !== null || solAddress === null) return solanaWallets;
  return [...new Set([solAddress, ...solanaWallets])];
}

const kindOfOrders = (deps: Deps, { venue }: OpenOrders): VenueKind =>
  venue === deps.venueB.name ? 'B' : 'A';

const marketIds = (deps: Deps, facts: BriefingFacts, kind: VenueKind): readonly string[] => [
  ...new Set([
    ...facts.positions.filter(({ wallet }) => kindOfWallet(wallet) === kind).map((row) => row.conditionId),
    ...facts.openOrders
      .filter((orders) => kindOfOrders(deps, orders) === kind)
      .map((orders) => orders.conditionId),
  ]),
];

function stateOf(deps: Deps, facts: BriefingFacts, kind: VenueKind, markets: readonly MarketRecord[]) {
  const known = new Map(markets.map((market) => [market.conditionId, market]));
  const rows = facts.positions.filter(({ wallet }) => kindOfWallet(wallet) === kind);
  const positions = rows.flatMap((row) => {
    const market = known.get(row.conditionId);
    if (market === undefined) return [];
    const value = notional(row.size, markPrice(market, row.outcome), 'floor');
    return [{ kind, row, market, outcome: row.outcome, cost: row.cost, value }];
  });
  const unpriced = rows.filter(({ conditionId }) => !known.has(conditionId));
  return {
    positions,
    positionsCount: rows.length,
    positionsValue:
      positions.reduce((sum, { value }) => sum + value, 0n) +
      unpriced.reduce((sum, { cost }) => sum + cost, 0n),
    openOrders: facts.openOrders
      .filter((orders) => kindOfOrders(deps, orders) === kind)
      .map((orders) => ({ ...orders, kind, market: known.get(orders.conditionId) ?? null })),
  };
}

type Listing = Awaited<ReturnType<Deps['markets']['listedAfter']>>;
type Listings = Readonly<Partial<Record<VenueKind, Listing | null>>>;

async function listings(deps: Deps, kinds: readonly VenueKind[], since: Since | null): Promise<Listings> {
  const limit = since === null ? LATEST_MARKETS : LISTED_MARKETS;
  const [A, B] = await Promise.all([
    kinds.includes('A') ? deps.markets.listedAfter(since?.listedAfter ?? 0, limit) : null,
    kinds.includes('B')
      ? within(PATIENCE_MS, deps.venueB.markets.listedAfter(since?.listedAfterOnB ?? 0, limit))
      : null,
  ]);
  return { A, B };
}

function newMarkets(deps: Deps, listed: Listings | null, since: Since | null) {
  const found = (['A', 'B'] as const).flatMap((kind) =>
    (listed?.[kind]?.markets ?? []).map((market) => ({ kind, market })),
  );
  found.sort((a, b) => b.market.createdAt - a.market.createdAt);
  // What came since the last time is told in full; else the latest will do.
  return (since === null ? found.slice(0, LATEST_MARKETS) : found).map(({ kind, market }) =>
    plainMarket(venueName(deps, kind), market),
  );
}

function agentOf(caller: Caller, { limits, ...facts }: BriefingFacts, now: number): Briefing['agent'] {
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
    tradesRemaining: Math.max(0, maxTradesPerDay - usage.trades),
    amountToday: microToNumber(usage.amount),
    amountRemaining: limits.tradeLimitEnabled ? microToNumber(left) : null,
    realizedToday: microToNumber(limits.realizedToday),
    quotaResetsAt: new Date((Math.floor(now / DAY_MS) + 1) * DAY_MS).toISOString(),
  };
}
