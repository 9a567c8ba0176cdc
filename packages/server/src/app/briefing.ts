/**
 * The heartbeat. Ten thousand agents ask every half minute, so: one trip to the database, market facts from the
 * venue's memory, and nothing that grows with an agent's past.
 */
import type { Briefing, BriefingAction, RiskAlert, VenueBrief } from '@bellwether/contract';
import { type Micro, microToNumber, notional } from '@bellwether/contract/decimals';
import { asAddress } from '@bellwether/protocol';
import { type MarketRecord, markPrice } from '../domain/market.ts';
import { nextSteps } from '../domain/next-steps.ts';
import {
  type Alert,
  type HeldInMarket,
  IN_DOUBT_AFTER_MS,
  type OpenInMarket,
  riskAlerts,
  STALE_ORDER_MS,
} from '../domain/risk-alerts.ts';
import { plainText } from '../domain/untrusted-text.ts';
import type { BriefingFacts } from '../ports/agent-facts.ts';
import type { Caller } from '../ports/stores.ts';
import { settingsRecord } from './agents.ts';
import { encodeCursor, parseSince, type Since } from './briefing-cursor.ts';
import type { Deps } from './deps.ts';
import { orderRecord } from './orders.ts';
import { refusal } from './refusal.ts';
import { plainMarket } from './untrusted-market.ts';
import { isVenueA } from './venues.ts';

const DAY_MS = 24 * 3_600_000;
/** Orders in one answer: without `since` the latest, with it what changed. */
const LATEST_ORDERS = 20;
const CHANGED_ORDERS = 100;
/** New markets in one answer. */
const LATEST_MARKETS = 10;
const LISTED_MARKETS = 50;
const SKILL_TEXT_CHARS = 300;

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
  const isOurs = isVenueA(deps, query.venue);
  const since = query.since === undefined ? null : parseSince(query.since);
  const wantsMarkets = includesMarkets(query) && isOurs;
  const facts = await readFacts(deps, caller, query, since, now);
  const [markets, listed, balances, skills] = await Promise.all([
    deps.markets.findAll([
      ...new Set([...facts.positions, ...facts.openOrders].map(({ conditionId }) => conditionId)),
    ]),
    wantsMarkets
      ? deps.markets.listedAfter(since?.listedAfter ?? 0, since === null ? LATEST_MARKETS : LISTED_MARKETS)
      : null,
    Promise.all(facts.wallets.map((wallet) => deps.venueA.balance(wallet))),
    deps.recommendedSkills(),
  ]);
  const state = stateOf(facts, markets, balances);
  const alerts = riskAlerts({
    now,
    safeguards: facts.limits,
    usage: facts.limits.usage,
    realizedToday: facts.limits.realizedToday,
    ...state,
  });
  const changes = since === null ? LATEST_ORDERS : CHANGED_ORDERS;
  return {
    timestamp: new Date(now).toISOString(),
    venue: query.venue ?? deps.venueA.name,
    agent: agentOf(caller, facts, now),
    settings: settingsRecord(facts.limits),
    riskAlerts: alerts as RiskAlert[],
    venues: isOurs ? { [deps.venueA.name]: venueBrief(deps, facts, state, alerts) } : {},
    opportunities: {
      newMarkets: (listed?.markets ?? []).map((market) => plainMarket(deps.venueA.name, market)),
      recommendedSkills: skills.map((skill) => ({
        ...skill,
        description: plainText(skill.description, SKILL_TEXT_CHARS),
      })),
    },
    recentTrades: facts.changed
      .slice(0, changes)
      .filter((row) => query.venue === undefined || row.venue === query.venue)
      .map(orderRecord),
    recentTradesTruncated: since !== null && facts.changed.length > changes,
    nextCursor: encodeCursor({
      at: now,
      // Markets that were not asked for stay new.
      listedAfter: listed?.latest ?? since?.listedAfter ?? now,
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

async function readFacts(
  deps: Deps,
  caller: Caller,
  query: BriefingQuery,
  since: Since | null,
  now: number,
): Promise<BriefingFacts> {
  const facts = await deps.facts.briefing({
    caller,
    user: query.user === undefined ? null : asAddress(query.user),
    at: now,
    staleBefore: now - STALE_ORDER_MS,
    doubtBefore: now - IN_DOUBT_AFTER_MS,
    changedAfter: since?.at ?? null,
    notIn: since?.snapshot ?? null,
    changesLimit: since === null ? LATEST_ORDERS : CHANGED_ORDERS,
  });
  if (query.user !== undefined && facts.wallets.length === 0)
    throw refusal('wallet_not_found', "This wallet is none of your owner's.", { path: 'user' });
  return facts;
}

interface State {
  readonly balance: Micro;
  readonly available: Micro;
  readonly positions: readonly HeldInMarket[];
  readonly openOrders: readonly OpenInMarket[];
}

function stateOf(
  facts: BriefingFacts,
  markets: readonly MarketRecord[],
  balances: readonly { readonly available: Micro; readonly held: Micro }[],
): State {
  const known = new Map(markets.map((market) => [market.conditionId, market]));
  const available = balances.reduce((sum, one) => sum + one.available, 0n);
  return {
    available,
    balance: balances.reduce((sum, one) => sum + one.held, available),
    positions: facts.positions.flatMap(({ conditionId, outcome, size, cost }) => {
      const market = known.get(conditionId);
      if (market === undefined) return [];
      return [{ market, outcome, cost, value: notional(size, markPrice(market, outcome), 'floor') }];
    }),
    openOrders: facts.openOrders.map((orders) => ({
      ...orders,
      market: known.get(orders.conditionId) ?? null,
    })),
  };
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

const EXITS = new Set(['stop_loss_reached', 'take_profit_reached']);

function venueBrief(
  deps: Deps,
  facts: BriefingFacts,
  { balance, available, positions }: State,
  alerts: readonly Alert[],
): VenueBrief {
  return {
    walletAddress: facts.walletAddress,
    openOrdersCount: facts.openOrders.reduce((sum, { count }) => sum + count, 0),
    currentPositionsCount: facts.positions.length,
    balance: microToNumber(balance),
    availableBalance: microToNumber(available),
    positionsValue: microToNumber(positions.reduce((sum, { value }) => sum + value, 0n)),
    actions: nextSteps({
      hasCredentials: facts.wallets.length > 0,
      isPaper: deps.venueA.backend === 'paper',
      autoRedeem: facts.limits.autoRedeemEnabled,
      balance,
      account: facts.wallets.find((wallet) => wallet !== facts.walletAddress) ?? facts.walletAddress,
      positions,
      staleOrders: facts.openOrders.flatMap(({ stale }) => stale),
      ordersInDoubt: facts.openOrders.flatMap(({ inDoubt }) => inDoubt),
      exits: alerts.flatMap(({ code, marketId }) =>
        EXITS.has(code) && marketId !== undefined ? [marketId] : [],
      ),
    }) as BriefingAction[],
  };
}
