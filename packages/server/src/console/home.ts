/**
 * All agents of an owner at a glance. What an agent has is counted over the wallets within its reach; two agents may reach
 * the same wallet, so the sums beside them count wallets, each once.
 */
import {
  CAP_NAMES,
  CAPS,
  type CapName,
  type DayResult,
  type Decision,
  type HomeAgent,
  type JudgedCap,
  LIMITS,
  OWNER_LIMITS,
  type OwnerAgentDetail,
  type OwnerAlert,
  type OwnerHome,
  type OwnerMarket,
  type RiskAlert,
  type SafeguardRow,
} from '@bellwether/contract';
import { MICRO, type Micro, microToNumber, pipsToNumber } from '@bellwether/contract/decimals';
import { lockedByOwner, onlineStatus, STATUS_WORDS, settingsRecord } from '../agents/index.ts';
import {
  type AgentState,
  agentState,
  type BriefingFacts,
  exposure,
  quotaResetsAt,
} from '../briefing/index.ts';
import { inDoubtBefore } from '../domain/lifecycle.ts';
import type { ActingAgent, Owner } from '../domain/records.ts';
import { STALE_ORDER_MS } from '../domain/risk-alerts.ts';
import { DEFAULT_SAFEGUARDS, meetsExits, utcDay } from '../domain/safeguards.ts';
import { plainText, UNTRUSTED_NOTICE } from '../domain/untrusted-text.ts';
import { orderBook, requireMarket, TITLE_CHARS, untrustedTexts } from '../markets/index.ts';
import {
  type AttemptRow,
  type JournalQuery,
  journalPage,
  listFills,
  listOpenOrders,
  resultOf,
} from '../orders/index.ts';
import { ownedAgent } from '../owners/index.ts';
import type { Page } from '../platform/http/page.ts';
import { holdings, positionRecords, type Valued } from '../positions/index.ts';
import { scopeOf } from '../venues/asking.ts';
import { type ConsoleNeeds, recentEquity, type Worth, worthOf } from './equity.ts';
import type { DayRow, OwnedAgentRow } from './store.ts';

/** Agents that are read at the same time: their facts then share statements. */
const READ_AT_ONCE = 32;

export async function ownerHome(needs: ConsoleNeeds, owner: Owner): Promise<OwnerHome> {
  const now = needs.clock.now();
  const [{ rows, total, paused }, days, worth] = await Promise.all([
    needs.ownerReads.agents(owner.userId, OWNER_LIMITS.agentsShown),
    needs.ownerReads.days(owner.userId, null, daysSince(now)),
    ownersWorth(needs, owner),
  ]);
  const states: OwnedState[] = [];
  for (let from = 0; from < rows.length; from += READ_AT_ONCE) {
    const group = rows.slice(from, from + READ_AT_ONCE);
    states.push(
      ...(await Promise.all(
        group.map(({ agentId }) => ownedState(needs, { agentId, userId: owner.userId })),
      )),
    );
  }
  const recent = await recentEquity(
    needs,
    owner,
    new Map(rows.map(({ agentId }, i) => [agentId, equityOf(states[i] as OwnedState)])),
  );
  return {
    timestamp: new Date(now).toISOString(),
    agentsTotal: total,
    agents: rows.map((row, i) =>
      homeAgent(row, {
        state: states[i] as OwnedState,
        days: days.filter(({ agentId }) => agentId === row.agentId),
        recentEquity: recent.get(row.agentId) ?? [],
        now,
      }),
    ),
    allPaused: total > 0 && paused === total,
    equity: microToNumber(worth.equity),
    unrealizedPnl: microToNumber(worth.held.reduce((sum, { value, row }) => sum + value - row.cost, 0n)),
    isCurrent: worth.isCurrent,
    days: dayResults(days, now),
    exposure: exposureRecord(worth.held),
  };
}

async function ownersWorth(needs: ConsoleNeeds, owner: Owner): Promise<Worth> {
  const { evm, solana } = await needs.ownerReads.wallets(owner.userId);
  return worthOf(needs, [...evm, ...solana]);
}

function grouped(held: readonly Valued[], keyOf: (one: Valued) => string): [string, Valued[]][] {
  const groups = new Map<string, Valued[]>();
  for (const one of held) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return [...groups];
}

const figuresOf = (held: readonly Valued[]) => ({
  value: microToNumber(held.reduce((sum, { value }) => sum + value, 0n)),
  exposure: microToNumber(exposure(held.map(({ row }) => row))),
  positionsCount: held.length,
});

function exposureRecord(held: readonly Valued[]): OwnerHome['exposure'] {
  const byMarket = grouped(held, ({ venue, row }) => `${venue.id} ${row.conditionId}`).flatMap(
    ([, group]) => {
      const [first] = group;
      if (first === undefined) return [];
      const { venue, row, market } = first;
      return [
        {
          venue: venue.id,
          marketId: market?.id ?? row.market?.marketId ?? row.conditionId,
          marketConditionId: row.conditionId,
          title: plainText(market?.question ?? row.market?.question ?? '', TITLE_CHARS),
          ...figuresOf(group),
        },
      ];
    },
  );
  return {
    total: microToNumber(exposure(held.map(({ row }) => row))),
    byVenue: grouped(held, ({ venue }) => venue.id).map(([venue, group]) => ({ venue, ...figuresOf(group) })),
    byMarket: byMarket
      .sort((a, b) => b.exposure - a.exposure || b.value - a.value)
      .slice(0, OWNER_LIMITS.marketsShown),
  };
}

// One agent as its owner looks at it: where it stands, what it may still do today, and what needs attention.

/** An agent of the owner with all that its record is made of. */
interface OwnedState extends AgentState {
  readonly facts: BriefingFacts;
}

const DAY_MS = 24 * 3_600_000;
const ORDERS_NAMED = 5;

const sumOf = <T>(items: readonly T[], of: (item: T) => Micro): Micro =>
  items.reduce((sum, item) => sum + of(item), 0n);

/** A Solana address that the agent only names may be anybody's: what it holds is not the owner's. */
const provedOnly = (facts: BriefingFacts): BriefingFacts => ({ ...facts, solAddress: null });

async function ownedState(needs: ConsoleNeeds, agent: ActingAgent): Promise<OwnedState> {
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
const daysSince = (now: number): string => utcDay(firstDay(now));

/** One entry for each day that is shown, also where nothing was realised. */
function dayResults(rows: readonly DayRow[], now: number): DayResult[] {
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
const equityOf = (state: OwnedState): Micro =>
  sumOf(state.states, ({ balance }) => balance) + positionsValueOf(state);

/** What the owner's pause would do to them now, beside the day after a recovery, on which it suspends all. */
function exitCounts({ exits }: OwnedState): HomeAgent['exits'] {
  const armed = exits.filter(({ status }) => status === 'armed');
  const toSend = armed.filter(({ firesOnPause }) => firesOnPause).map(({ group, exitId }) => group ?? exitId);
  return {
    suspended: exits.filter(({ status }) => status === 'suspended').length,
    toSuspend: armed.filter(({ firesOnPause }) => !firesOnPause).length,
    toSend: new Set(toSend).size,
  };
}

interface HomeAgentParts {
  readonly state: OwnedState;
  readonly days: readonly DayRow[];
  readonly recentEquity: readonly number[];
  readonly now: number;
}

function homeAgent(
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
    exits: exitCounts(state),
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
  needs: ConsoleNeeds,
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

// A market as an owner looks at it, with what the owner's agents have in it.

/** Agents whose orders and fills are looked for, the latest claimed first. */
const AGENTS_READ = 50;

/** @throws Refusal unknown_venue, market_not_found, service_unavailable */
export async function ownerMarket(
  needs: ConsoleNeeds,
  owner: Owner,
  id: string,
  venueName: string | undefined,
): Promise<OwnerMarket> {
  const located = await requireMarket(needs, id, venueName);
  const { venue, market } = located;
  const [agentIds, { evm, solana }, reach] = await Promise.all([
    needs.ownerReads.agentsIn(owner.userId, market.conditionId, AGENTS_READ),
    needs.ownerReads.wallets(owner.userId),
    needs.ownerReads.reach(owner.userId),
  ]);
  const query = { marketConditionId: market.conditionId, limit: LIMITS.ordersPerPage };
  const agents = agentIds.map((agentId) => ({ agentId, userId: owner.userId }));
  const [yes, no, { held }, orders, fills] = await Promise.all([
    orderBook(located, 'YES', market.tokenIds[0]),
    orderBook(located, 'NO', market.tokenIds[1]),
    holdings(needs, [...evm, ...solana], [venue]),
    Promise.all(
      agents.map(async (agent) => ofAgent(agent.agentId, await listOpenOrders(needs, agent, query))),
    ),
    Promise.all(agents.map(async (agent) => ofAgent(agent.agentId, await listFills(needs, agent, query)))),
  ]);
  return {
    market: needs.shownMarkets.plain(venue.id, market),
    books: { yes, no },
    orders: newest(orders.flat(), ({ createdAt }) => createdAt),
    fills: newest(fills.flat(), ({ filledAt }) => filledAt),
    positions: positionRecords(held.filter(({ row }) => row.conditionId === market.conditionId)).map(
      (position) => ({
        ...position,
        agentIds: reach
          .filter(({ wallet }) => wallet.toLowerCase() === position.walletAddress.toLowerCase())
          .map(({ agentId }) => agentId),
      }),
    ),
    untrustedText: untrustedTexts(market),
  };
}

const ofAgent = <T extends object>(agentId: string, { items }: { readonly items: readonly T[] }) =>
  items.map((item) => ({ ...item, agentId }));

/** ISO times of one zone sort as texts. */
const newest = <T>(items: readonly T[], timeOf: (item: T) => string): T[] =>
  items.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(0, LIMITS.ordersPerPage);

// An agent's decision journal as its owner reads it. The agent's words are strangers' text here.

export const decisions = (
  needs: ConsoleNeeds,
  agent: ActingAgent,
  query: JournalQuery,
): Promise<Page<Decision>> => journalPage(needs, agent, query, decision);

const plainOrNull = (text: string | null, maxChars: number): string | null =>
  text === null ? null : plainText(text, maxChars);

function decision(row: AttemptRow): Decision {
  const { placed } = row;
  const { status, errorCode, errorMessage } = resultOf(row);
  return {
    at: new Date(row.at).toISOString(),
    orderId: placed?.orderId ?? null,
    venue: row.venue,
    marketConditionId: row.conditionId,
    walletAddress: row.walletAddress,
    wanted: {
      side: row.side,
      outcome: plainText(row.outcome, LIMITS.outcomeChars),
      outcomeName: row.outcomeName,
      size: microToNumber(row.shares),
      amount: microToNumber(row.money),
      price: placed === null ? null : pipsToNumber(placed.price),
      orderType: placed?.timeInForce ?? null,
    },
    result: {
      status,
      code: errorCode,
      message: errorMessage,
      filledSize: microToNumber(placed?.filled ?? 0n),
      avgPrice:
        placed === null || placed.filled === 0n ? null : microToNumber((placed.cost * MICRO) / placed.filled),
      feePaid: microToNumber(placed?.fees ?? 0n),
    },
    skillCode: row.skillCode,
    untrustedText: {
      notice: UNTRUSTED_NOTICE,
      question: plainText(row.question, LIMITS.marketQuestionChars),
      reasoning: plainOrNull(row.reasoning, LIMITS.reasoningChars),
      source: plainOrNull(row.source, LIMITS.sourceChars),
      skillSlug: plainOrNull(row.skillSlug, LIMITS.skillSlugChars),
    },
  };
}

// The table of safeguards as data, from which a form can be made that knows every row.

const MICRO_DECIMALS = 6;

function capRow(name: CapName): SafeguardRow {
  const { unit, minimum, maximum, optional, label, hint, denial } = CAPS[name];
  const initial = DEFAULT_SAFEGUARDS[name];
  const isCount = unit === 'count';
  return {
    name,
    kind: 'cap',
    unit,
    range: {
      minimum,
      exclusiveMinimum: !isCount,
      maximum,
      decimals: isCount ? 0 : MICRO_DECIMALS,
    },
    default: typeof initial === 'bigint' ? microToNumber(initial) : initial,
    isOptional: optional,
    lockable: true,
    label,
    explanation: hint,
    denial,
    bindsExits: denial !== null && meetsExits(name as JudgedCap),
  };
}

const CAPS_SWITCH: SafeguardRow = {
  name: 'tradeLimitEnabled',
  kind: 'switch',
  unit: null,
  range: null,
  default: DEFAULT_SAFEGUARDS.tradeLimitEnabled,
  isOptional: false,
  lockable: true,
  label: 'Caps apply',
  explanation:
    'Off lifts every cap, never the pause. While a cap is locked, the caps cannot be switched off.',
  denial: null,
  bindsExits: false,
};

const TABLE: readonly SafeguardRow[] = [...CAP_NAMES.map(capRow), CAPS_SWITCH];

/** In the order in which forms show them. */
export const safeguardTable = (): SafeguardRow[] => [...TABLE];
