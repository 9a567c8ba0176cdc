/**
 * Judges a group of trades in memory, one after another. A trade sees what the trades of its agent before it in the
 * group have reserved, as it would see their orders in the database.
 */

import type { Standing } from '../domain/records.ts';
import type { VenueAnswer, VenueOrder, VenueSet } from '../venues/venue.ts';
import { type Admission, isTrade, mayRest, nameKey, type Recorded, type TradeScope } from './admission.ts';
import type { GroupFacts, LockedAgent } from './admission-reads.ts';
import type { Accepted, UsedBudget } from './admission-writes.ts';
import { orderRow } from './order-rows.ts';
import type { CallerFacts } from './trade-callers.ts';

type Restrictions = Standing['restrictions'];

/** The venue, where its journal shares the group's commit. */
export interface VenueInCommit {
  balance: NonNullable<TradeScope['balance']>;
  book: NonNullable<TradeScope['book']>;
  place(order: VenueOrder | VenueSet): VenueAnswer;
}

/**
 * Course of a trade. `locked`: others hold its agent or its order's id. `restricted`: locks of other owners bind its
 * wallet. Neither was judged.
 */
export type Verdict =
  | { readonly kind: 'locked' | 'restricted' }
  | {
      readonly kind: 'refused';
      readonly reason: unknown;
      /** Right only if the group's commit succeeds. */
      readonly isProvisional: boolean;
    }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'accepted'; readonly answer: VenueAnswer | null };

/** Reserved amounts of the group's earlier trades of an agent. */
interface Reserved {
  trades: number;
  amount: bigint;
  openOrders: number;
  /** Possible cost of the agent's BUYs, by market. */
  readonly buys: Map<string, bigint>;
  /** Order ids by client order id. */
  readonly names: ReadonlyMap<string, string>;
}

export interface JudgedGroup {
  readonly verdicts: readonly Verdict[];
  readonly accepted: readonly Accepted[];
  readonly budgets: readonly UsedBudget[];
}

/** @param restrictions of a trade that waits alone, with every agent that restricts it locked */
export function judgeGroup(
  admissions: readonly Admission[],
  facts: GroupFacts,
  { venue, restrictions }: { readonly venue: VenueInCommit | null; readonly restrictions?: Restrictions },
): JudgedGroup {
  const reserved = new Map<string, Reserved>();
  const accepted: Accepted[] = [];
  const verdicts = admissions.map((admission, place): Verdict => {
    const agent = facts.agents.get(admission.caller.agentId);
    const caller = facts.callers[place];
    if (agent === undefined || caller === undefined || facts.takenIds.has(admission.orderId))
      return { kind: 'locked' };
    if (caller.key.is_restricted && restrictions === undefined) return { kind: 'restricted' };
    const before = reserved.get(admission.caller.agentId) ?? NOTHING_RESERVED;
    let recorded: Recorded | null;
    try {
      recorded = admission.judge(scopeOf({ admission, facts, caller, agent, before, venue, restrictions }));
    } catch (reason) {
      return { kind: 'refused', reason, isProvisional: before !== NOTHING_RESERVED };
    }
    if (recorded === null) return { kind: 'nothing' };
    const answer = venue === null ? null : placeAt(venue, admission, recorded);
    if (answer?.kind !== 'rejected') reserved.set(admission.caller.agentId, withOrder(before, recorded));
    accepted.push({
      question: admission,
      recorded,
      day: agent.day,
      isKnown: caller.key.is_known,
      others: (restrictions ?? []).map(({ agentId }) => agentId),
      isAgain: facts.orders.has(admission.orderId),
    });
    admission.trace?.enter('commit', admissions.length);
    return { kind: 'accepted', answer };
  });
  return { verdicts, accepted, budgets: budgetsOf(facts, accepted) };
}

const NOTHING_RESERVED: Reserved = {
  trades: 0,
  amount: 0n,
  openOrders: 0,
  buys: new Map(),
  names: new Map(),
};

function placeAt(venue: VenueInCommit, { toVenue }: Admission, { order }: Recorded): VenueAnswer {
  if (toVenue === undefined) throw new Error('an order that joins its venue has no form for it');
  return venue.place(toVenue(order));
}

function withOrder(
  { trades, amount, openOrders, buys, names: before }: Reserved,
  recorded: Recorded,
): Reserved {
  const { order } = recorded;
  const { side, conditionId, money, clientOrderId, orderId } = order;
  const names = clientOrderId === null ? before : new Map(before).set(clientOrderId, orderId);
  const open = openOrders + (mayRest(order) ? 1 : 0);
  if (!isTrade(order)) return { trades, amount, openOrders: open, buys, names };
  return {
    names,
    trades: trades + 1,
    amount: amount + recorded.reserves,
    openOrders: open,
    buys: side === 'BUY' ? new Map(buys).set(conditionId, (buys.get(conditionId) ?? 0n) + money) : buys,
  };
}

interface JudgedScope {
  readonly admission: Admission;
  readonly facts: GroupFacts;
  readonly caller: CallerFacts;
  readonly agent: LockedAgent;
  readonly before: Reserved;
  readonly venue: VenueInCommit | null;
  readonly restrictions: Restrictions | undefined;
}

function scopeOf({ admission, facts, caller, agent, before, venue, restrictions }: JudgedScope): TradeScope {
  const { key, settings, credentials, hasUnreachable } = caller;
  const existing = facts.orders.get(admission.orderId);
  return {
    claimed: key.claimed,
    safeguards: settings,
    usage: {
      ...agent.usage,
      trades: agent.usage.trades + before.trades,
      amount: agent.usage.amount + before.amount,
    },
    realizedToday: agent.realizedToday,
    positionValue: key.position_value + (before.buys.get(admission.conditionId) ?? 0n),
    openOrders: agent.openOrders + before.openOrders,
    restrictions: restrictions ?? [],
    keyActive: key.status === 1,
    // Read under the lock: a claim may have moved the agent since its key was looked up.
    userId: key.user_id,
    credentials,
    hasUnreachable,
    existing: existing === undefined ? null : orderRow(existing),
    namedOrder: namedOrder(admission, facts, before),
    quoteWithdrawn: key.is_withdrawn,
    balance: venue?.balance ?? null,
    book: venue?.book ?? null,
  };
}

const namedOrder = (
  { caller, clientOrderId }: Admission,
  { named }: GroupFacts,
  { names }: Reserved,
): string | null =>
  clientOrderId === null
    ? null
    : (names.get(clientOrderId) ?? named.get(nameKey(caller.agentId, clientOrderId)) ?? null);

/**
 * The agents whose rows change: those with accepted orders, and those whose returned budget was read, because reading
 * deletes it.
 */
function budgetsOf(facts: GroupFacts, accepted: readonly Accepted[]): UsedBudget[] {
  const used = new Map<string, { trades: number; amount: bigint }>();
  for (const [agentId, { hasReturns }] of facts.agents)
    if (hasReturns) used.set(agentId, { trades: 0, amount: 0n });
  for (const { recorded } of accepted) {
    const { trades, amount } = used.get(recorded.order.agentId) ?? { trades: 0, amount: 0n };
    const counts = isTrade(recorded.order) ? 1 : 0;
    used.set(recorded.order.agentId, { trades: trades + counts, amount: amount + recorded.reserves });
  }
  return [...used].map(([agentId, more]) => {
    const agent = facts.agents.get(agentId);
    if (agent === undefined) throw new Error('an agent that is not locked has an accepted order');
    const { day, usage } = agent;
    return { agentId, day, trades: usage.trades + more.trades, amount: usage.amount + more.amount };
  });
}
