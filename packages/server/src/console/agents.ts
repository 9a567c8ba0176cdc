/** One agent as its owner looks at it: where it stands, what it may still do today, and what needs attention. */
import {
  type DayResult,
  type HomeAgent,
  LIMITS,
  OWNER_LIMITS,
  type OwnerAgentDetail,
  type OwnerAlert,
  type RiskAlert,
} from '@bellwether/contract';
import { type Micro, microToNumber } from '@bellwether/contract/decimals';
import type { AgentStore } from '../agents/index.ts';
import { lockedByOwner, onlineStatus, STATUS_WORDS, settingsRecord } from '../agents/index.ts';
import type { AgentFacts, BriefingFacts } from '../briefing/index.ts';
import { type AgentState, type AgentStateNeeds, agentState, quotaResetsAt } from '../briefing/index.ts';
import { inDoubtBefore } from '../domain/lifecycle.ts';
import type { ActingAgent, Owner } from '../domain/records.ts';
import { STALE_ORDER_MS } from '../domain/thresholds.ts';
import { plainText } from '../domain/untrusted-text.ts';
import { utcDay } from '../domain/utc-day.ts';
import { TITLE_CHARS } from '../markets/index.ts';
import { ownedAgent } from '../owners/index.ts';
import { scopeOf } from '../venues/asking.ts';
import { recentEquity } from './equity.ts';
import type { EquityStore } from './equity-store.ts';
import type { DayRow, OwnedAgentRow, OwnerReads } from './owner-reads.ts';

export interface OwnedStateNeeds extends AgentStateNeeds {
  readonly facts: AgentFacts;
  readonly ownerReads: OwnerReads;
}

export interface AgentDetailNeeds extends OwnedStateNeeds {
  readonly equity: EquityStore;
  readonly agents: AgentStore;
}

/** An agent of the owner with all that its record is made of. */
export interface OwnedState extends AgentState {
  readonly facts: BriefingFacts;
}

const DAY_MS = 24 * 3_600_000;
const ORDERS_NAMED = 5;

const sumOf = <T>(items: readonly T[], of: (item: T) => Micro): Micro =>
  items.reduce((sum, item) => sum + of(item), 0n);

/** A Solana address that the agent only names may be anybody's: what it holds is not the owner's. */
const provedOnly = (facts: BriefingFacts): BriefingFacts => ({ ...facts, solAddress: null });

export async function ownedState(needs: OwnedStateNeeds, agent: ActingAgent): Promise<OwnedState> {
  const at = needs.clock.now();
  const facts = await needs.facts.briefing({
    caller: agent,
    user: null,
    at,
    staleBefore: at - STALE_ORDER_MS,
    doubtBefore: inDoubtBefore(at),
    venue: null,
    changedAfter: null,
    notIn: null,
    changesLimit: 0,
  });
  return {
    facts,
    ...(await agentState(needs, agent, {
      facts: provedOnly(facts),
      scope: scopeOf(needs, {}),
      reader: 'owner',
    })),
  };
}

const firstDay = (now: number): number =>
  Math.floor(now / DAY_MS) * DAY_MS - (OWNER_LIMITS.daysShown - 1) * DAY_MS;

/** The first of the days that are shown. */
export const daysSince = (now: number): string => utcDay(firstDay(now));

/** One entry for each day that is shown, also where nothing was realised. */
export function dayResults(rows: readonly DayRow[], now: number): DayResult[] {
  const sums = new Map<string, { realized: Micro; fees: Micro }>();
  for (const { day, realized, fees } of rows) {
    const sum = sums.get(day) ?? { realized: 0n, fees: 0n };
    sums.set(day, { realized: sum.realized + realized, fees: sum.fees + fees });
  }
  return Array.from({ length: OWNER_LIMITS.daysShown }, (_, i) => {
    const day = utcDay(firstDay(now) + i * DAY_MS);
    const { realized, fees } = sums.get(day) ?? { realized: 0n, fees: 0n };
    return {
      day,
      realizedPnl: microToNumber(realized),
      fees: microToNumber(fees),
      net: microToNumber(realized - fees),
    };
  });
}

/** Alerts name markets by id, as text of strangers has no place in a sentence: here the title stands beside it. */
function withTitles({ alerts, states }: OwnedState): OwnerAlert[] {
  const held = states.flatMap(({ positions, openOrders }) => [...positions, ...openOrders]);
  const titles = new Map(
    held.flatMap(({ market }) =>
      market === null ? [] : [market.id, market.conditionId].map((id) => [id, market.question] as const),
    ),
  );
  return (alerts as RiskAlert[]).map((alert) => {
    const title = alert.marketId === undefined ? undefined : titles.get(alert.marketId);
    return title === undefined ? alert : { ...alert, marketTitle: plainText(title, TITLE_CHARS) };
  });
}

const positionsValueOf = ({ states }: OwnedState): Micro =>
  sumOf(states, ({ positionsValue }) => positionsValue);

/** Collateral and positions on the wallets within reach. */
export const equityOf = (state: OwnedState): Micro =>
  sumOf(state.states, ({ balance }) => balance) + positionsValueOf(state);

interface HomeAgentParts {
  readonly state: OwnedState;
  readonly days: readonly DayRow[];
  readonly recentEquity: readonly number[];
  readonly now: number;
}

export function homeAgent(
  { agentId, lastCalledAt }: Pick<OwnedAgentRow, 'agentId' | 'lastCalledAt'>,
  { state, days, recentEquity, now }: HomeAgentParts,
): HomeAgent {
  const { facts, states } = state;
  const { limits } = facts;
  const value = positionsValueOf(state);
  const inDoubt = facts.openOrders.flatMap((orders) => orders.inDoubt);
  const limited = (limit: number) => (limits.tradeLimitEnabled ? limit : null);
  return {
    agentId,
    name: plainText(facts.name, LIMITS.agentNameChars),
    status: STATUS_WORDS[onlineStatus(lastCalledAt, now)],
    lastCalledAt: new Date(lastCalledAt).toISOString(),
    tradingPaused: limits.tradingPaused,
    pausedBy: limits.ownerPaused ? 'owner' : limits.tradingPaused ? 'agent' : null,
    equity: microToNumber(equityOf(state)),
    availableBalance: microToNumber(sumOf(states, ({ available }) => available)),
    positionsValue: microToNumber(value),
    unrealizedPnl: microToNumber(value - sumOf(facts.positions, ({ cost }) => cost)),
    positionsCount: facts.positions.length,
    isCurrent: states.every(({ isCurrent }) => isCurrent),
    openOrdersCount: facts.openOrders.reduce((sum, { count }) => sum + count, 0),
    ordersInDoubt: {
      count: facts.openOrders.reduce((sum, { inDoubtCount }) => sum + inDoubtCount, 0),
      orderIds: inDoubt.slice(0, ORDERS_NAMED),
    },
    alerts: withTitles(state),
    recentEquity: [...recentEquity],
    quota: {
      trades: { used: limits.usage.trades, limit: limited(limits.maxTradesPerDay) },
      amount: {
        used: microToNumber(limits.usage.amount),
        limit: limited(microToNumber(limits.dailyTradeAmountLimit)),
      },
      realizedToday: microToNumber(limits.realizedToday),
      resetsAt: quotaResetsAt(now),
    },
    days: dayResults(days, now),
  };
}

/** @throws Refusal agent_not_found */
export async function agentDetail(
  needs: AgentDetailNeeds,
  owner: Owner,
  agentId: string,
): Promise<OwnerAgentDetail> {
  const row = await ownedAgent(needs, owner, agentId);
  const now = needs.clock.now();
  const [state, days] = await Promise.all([
    ownedState(needs, row),
    needs.ownerReads.days(owner.userId, row.agentId, daysSince(now)),
  ]);
  const { limits } = state.facts;
  const recent = await recentEquity(needs, owner, new Map([[row.agentId, equityOf(state)]]));
  return {
    ...homeAgent(row, { state, days, recentEquity: recent.get(row.agentId) ?? [], now }),
    description: plainText(row.description, LIMITS.agentDescriptionChars),
    claimedAt: row.claimedAt === null ? null : new Date(row.claimedAt).toISOString(),
    walletAddress: row.walletAddress,
    solAddress: row.solAddress,
    settings: settingsRecord(limits),
    lockedByOwner: lockedByOwner(limits),
    venues: state.states.map((one) => ({
      venue: one.venue.id,
      balance: microToNumber(one.balance),
      availableBalance: microToNumber(one.available),
      positionsValue: microToNumber(one.positionsValue),
      positionsCount: one.positionsCount,
      openOrdersCount: one.openOrders.reduce((sum, { count }) => sum + count, 0),
      isCurrent: one.isCurrent,
    })),
  };
}
