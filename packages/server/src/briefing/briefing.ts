/**
 * The heartbeat. Ten thousand agents ask every half minute, so: one trip to the database, market facts from the
 * venues' memory, at most one call to a chain for a wallet in several seconds, and nothing that grows with an agent's
 * past. No briefing waits long for a venue: a silent venue contributes its last known figures, marked as such.
 */
import {
  type Briefing,
  type BriefingAction,
  type ExitChange,
  LAST_MS,
  type RiskAlert,
  type VenueBrief,
} from '@bellwether/contract';
import { formatMicro, type Micro, microToNumber } from '@bellwether/contract/decimals';
import { settingsRecord } from '../agents/index.ts';
import { OPEN_EXITS } from '../domain/exits.ts';
import { inDoubtBefore } from '../domain/lifecycle.ts';
import type { ActingAgent, WalletAddress } from '../domain/records.ts';
import {
  type Alert,
  type HeldInMarket,
  type RedeemsBy,
  STALE_ORDER_MS,
  type Trading,
} from '../domain/risk-alerts.ts';
import { tradesLeft } from '../domain/safeguards.ts';
import { within } from '../domain/unavailable.ts';
import { type ExitRow, exitRecords } from '../exits/index.ts';
import { orderRecord } from '../orders/index.ts';
import { parseTime } from '../platform/clock.ts';
import { refusal } from '../platform/refusal.ts';
import { faucetVenue, type HasVenues, redeemsBy, type Scope, scopeOf, tradingOf } from '../venues/asking.ts';
import type { Listing, Venue } from '../venues/venue.ts';
import {
  agentState,
  BRIEFING_PATIENCE_MS,
  type BriefingNeeds,
  quotaResetsAt,
  type VenueState,
} from './standing.ts';
import type { BriefingFacts } from './store.ts';

/** Orders in one answer: without `since` the latest, with it what changed. */
const LATEST_ORDERS = 20;
const CHANGED_ORDERS = 100;
/** What became of exits, likewise. */
const LATEST_EXIT_CHANGES = 20;
const EXIT_CHANGES = 100;
/** New markets in one answer; with `since`, of each venue. */
const LATEST_MARKETS = 10;
const LISTED_MARKETS = 50;

interface BriefingQuery {
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
  const rows = await exits.list({ of: { agentId }, exitIds }, { limit: exitIds.length });
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

// `since`: a time, or the cursor of the last briefing. A cursor says what the last answer has seen: until when markets
// were listed, on each venue, and the database's snapshot for everything that is written.

interface Since {
  /** Epoch milliseconds. */
  readonly at: number;
  /** Markets listed later are new. Each venue has its own clock, and may not have answered: by its place in the registry. */
  listedAfter(nthVenue: number): number;
  /** `null` for a plain time. */
  readonly snapshot: string | null;
}

/** A cursor of an earlier configuration may name fewer venues than there are; those that it leaves out follow the first. */
const CURSOR = /^b1\.(\d{1,13})((?:\.\d{1,13}){1,16})\.(\d{1,18}:\d{1,18}:(?:\d{1,18}(?:,\d{1,18})*)?)$/;
const LOW_32_BITS = 0xffffffffn;

const encodeCursor = (seen: {
  readonly at: number;
  readonly listedAfter: readonly number[];
  readonly snapshot: string;
}): string => ['b1', seen.at, ...seen.listedAfter, seen.snapshot].join('.');

/** @throws Refusal invalid_request */
function parseSince(text: string): Since {
  const cursor = CURSOR.exec(text);
  if (cursor !== null && isSnapshot(cursor[3] as string)) {
    const times = (cursor[2] as string).slice(1).split('.').map(Number);
    return {
      at: Number(cursor[1]),
      listedAfter: (nth) => times[nth] ?? (times[0] as number),
      snapshot: cursor[3] as string,
    };
  }
  const at = parseTime(text);
  if (Number.isNaN(at) || at > LAST_MS) {
    throw refusal(
      'invalid_request',
      'since takes the last nextCursor unchanged, an ISO 8601 time with zone, or epoch seconds or milliseconds.',
      { path: 'since' },
    );
  }
  // Before 1970 there is nothing, and no date of the database's in the year 0.
  const from = Math.max(0, at);
  return { at: from, listedAfter: () => from, snapshot: null };
}

/** Whether the database takes the text as a snapshot: it must never get one that it fails on. */
function isSnapshot(text: string): boolean {
  const [from = '', to = '', running = ''] = text.split(':');
  const oldest = BigInt(from);
  const next = BigInt(to);
  const isId = (id: bigint) => (id & LOW_32_BITS) !== 0n;
  if (!isId(oldest) || !isId(next) || next < oldest) return false;
  let before = 0n;
  for (const part of running === '' ? [] : running.split(',')) {
    const id = BigInt(part);
    if (!isId(id) || id < oldest || id >= next || id <= before) return false;
    before = id;
  }
  return true;
}

// An agent's standing on one venue, and what it can do about it.

interface BriefParts {
  readonly facts: BriefingFacts;
  /** The wallet asked for. */
  readonly user: WalletAddress | null;
  readonly state: VenueState;
  /** Alerts of all venues. */
  readonly alerts: readonly Alert[];
}

const EXITS = new Set(['stop_loss_reached', 'take_profit_reached']);

/** Ids of the venue's markets in which a limit of risk control is reached. */
function exitsOf({ positions }: VenueState, alerts: readonly Alert[]): string[] {
  const held = new Set(positions.map(({ market }) => market.id));
  return alerts.flatMap(({ code, marketId }) =>
    EXITS.has(code) && marketId !== undefined && held.has(marketId) ? [marketId] : [],
  );
}

function venueBrief(needs: HasVenues, { facts, user, state, alerts }: BriefParts): VenueBrief {
  const { venue } = state;
  const { walletAddress, account } = walletsOf(facts, user, state);
  return {
    walletAddress,
    openOrdersCount: state.openOrders.reduce((sum, { count }) => sum + count, 0),
    currentPositionsCount: state.positionsCount,
    balance: microToNumber(state.balance),
    availableBalance: microToNumber(state.available),
    positionsValue: microToNumber(state.positionsValue),
    actions: nextSteps({
      venue: venue.id,
      isDefault: venue === needs.venues.default,
      trading: tradingOf(venue),
      canCancel: venue.cancel !== undefined,
      redeemsBy: redeemsBy(venue),
      hasFaucet: venue === faucetVenue(needs),
      credentialsBySignature: venue.paper?.credentials !== undefined,
      canTrade: venue.signedOrders === undefined ? walletAddress !== null : facts.hasCredentials,
      autoRedeem: facts.limits.autoRedeemEnabled,
      balance: state.balance,
      account,
      positions: state.positions,
      staleOrders: state.openOrders.flatMap(({ stale }) => stale),
      ordersInDoubt: state.openOrders.flatMap(({ inDoubt }) => inDoubt),
      exits: exitsOf(state, alerts),
    }) as BriefingAction[],
  };
}

/** The wallet that stands for the agent on the venue, and the account that pays for it. */
function walletsOf(facts: BriefingFacts, user: WalletAddress | null, { venue }: VenueState) {
  if (venue.accounts.family === 'solana') {
    const walletAddress = user ?? facts.solAddress ?? facts.wallets.solana[0] ?? null;
    return { walletAddress, account: walletAddress };
  }
  const walletAddress = user ?? facts.walletAddress;
  return {
    walletAddress,
    account: facts.wallets.evm.find((wallet) => wallet !== walletAddress) ?? walletAddress,
  };
}

// The useful next requests for an agent's state. They depend on the capabilities of its venues. Pure.

/** An account with less cannot trade. */
const EMPTY_BELOW: Micro = 1_000_000n;
/** Per kind of step; the alerts count the rest. */
const MAX_OF_A_KIND = 20;

interface NextStep {
  readonly code: string;
  readonly message: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Readonly<Record<string, string | number>>;
}

/** One venue, and the agent's state on it. */
export interface StepFacts {
  readonly venue: string;
  /** Requests may leave its name out. */
  readonly isDefault: boolean;
  readonly trading: Trading;
  readonly canCancel: boolean;
  readonly redeemsBy: RedeemsBy;
  readonly hasFaucet: boolean;
  /** The venue makes credentials for who signs a text. */
  readonly credentialsBySignature: boolean;
  /** Signed orders: the owner has a credential for the wallet. Quotes: the agent names a wallet, or has traded with one. */
  readonly canTrade: boolean;
  readonly autoRedeem: boolean;
  readonly balance: Micro;
  /** The account that pays. */
  readonly account: string | null;
  readonly positions: readonly (HeldInMarket & { readonly size: Micro })[];
  readonly staleOrders: readonly string[];
  readonly ordersInDoubt: readonly string[];
  /** Ids of markets where a take-profit or stop-loss is reached. */
  readonly exits: readonly string[];
}

/** The texts and paths for one way of trading. */
interface Wording {
  readonly toTrade: NextStep;
  readonly orderPath: (orderId: string) => string;
  readonly inDoubt: string;
}

const WORDING: Readonly<Record<Trading, Wording>> = {
  signed_orders: {
    toTrade: {
      code: 'register_credentials',
      message: "Register a wallet's venue credentials; without them no trade is taken.",
      method: 'POST',
      path: '/wallet/credentials',
    },
    orderPath: (orderId) => `/markets/orders/${orderId}`,
    inDoubt: 'See whether this order has its answer; until then send no replacement.',
  },
  quotes: {
    toTrade: {
      code: 'set_solana_wallet',
      message:
        'Name the Solana wallet that signs, or link it by a signed challenge; until then quotes are previews.',
      method: 'POST',
      path: '/wallet/update-sol-address',
    },
    orderPath: (orderId) => `/venueb/agent/orders/${orderId}`,
    inDoubt: 'Check the outcome of this order; send no replacement before it is known.',
  },
};

const PAPER_CREDENTIALS: NextStep = {
  code: 'register_credentials',
  message:
    'Sign the message of GET /wallet/credentials/challenge?address=<your EOA> and send address, nonce and signature; without credentials no trade is taken.',
  method: 'POST',
  path: '/wallet/credentials/paper',
};

export function nextSteps(facts: StepFacts): NextStep[] {
  const words = WORDING[facts.trading];
  const some = <T>(items: readonly T[]) => items.slice(0, MAX_OF_A_KIND);
  const look = (code: string, message: string, orderId: string): NextStep => ({
    code,
    message,
    method: 'GET',
    path: words.orderPath(orderId),
  });
  const venue = facts.isDefault ? '' : `?venue=${encodeURIComponent(facts.venue)}`;
  return [
    ...(facts.canTrade ? [] : [facts.credentialsBySignature ? PAPER_CREDENTIALS : words.toTrade]),
    ...some(facts.ordersInDoubt).map((orderId) => look('check_order', words.inDoubt, orderId)),
    ...some([...new Set(facts.exits)]).map(
      (marketId): NextStep => ({
        code: 'review_exit',
        message: 'A take-profit or stop-loss is reached: look at the market and sign an exit.',
        method: 'GET',
        path: `/markets/context/${encodeURIComponent(marketId)}${venue}`,
      }),
    ),
    ...redemptions(facts),
    ...some(facts.staleOrders).map((orderId) =>
      facts.canCancel
        ? cancelStep(orderId)
        : look(
            'check_stale_order',
            'This order has been with the venue for long: see where it stands.',
            orderId,
          ),
    ),
    ...faucet(facts),
  ];
}

const cancelStep = (orderId: string): NextStep => ({
  code: 'cancel_stale_order',
  message: 'Cancel this order, or decide to keep it: it has been open for long.',
  method: 'POST',
  path: '/markets/orders/cancel',
  body: { orderId },
});

function redemptions({ redeemsBy, autoRedeem, positions }: StepFacts): NextStep[] {
  const won = positions.filter(({ market, value }) => market.status === 'resolved' && value > 0n);
  if (redeemsBy === 'quote') {
    return won.slice(0, MAX_OF_A_KIND).map(({ market, outcome, size, value }) => ({
      code: 'redeem',
      message: `Ask for the SELL quote that pays ${formatMicro(value)} for ${outcome}, then sign and submit it.`,
      method: 'POST',
      path: '/venueb/agent/quote',
      body: { marketTicker: market.id, side: outcome, action: 'SELL', shares: microToNumber(size) },
    }));
  }
  if (redeemsBy === null || autoRedeem) return [];
  const byMarket = new Map<string, Micro>();
  for (const {
    market: { conditionId },
    value,
  } of won)
    byMarket.set(conditionId, (byMarket.get(conditionId) ?? 0n) + value);
  return [...byMarket].slice(0, MAX_OF_A_KIND).map(([marketConditionId, value]) => ({
    code: 'redeem',
    message: `Redeem ${formatMicro(value)} of a resolved market.`,
    method: 'POST',
    path: '/markets/redeem',
    body: { marketConditionId },
  }));
}

function faucet({ hasFaucet, canTrade, account, balance }: StepFacts): NextStep[] {
  if (!hasFaucet || !canTrade || account === null || balance >= EMPTY_BELOW) return [];
  return [
    {
      code: 'draw_paper_money',
      message: `${formatMicro(balance)} collateral is left: draw some more from the faucet.`,
      method: 'POST',
      path: '/paper/faucet',
      body: { address: account },
    },
  ];
}
