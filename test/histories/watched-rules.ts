/**
 * Rules for what the desk ends by itself, and for what it asks an owner. An order with a time of its own rests until then and no longer; a
 * silent agent's orders do not rest, and one that speaks keeps them; an order above the owner's limit is sent with that order's approval.
 */
import type { Call, History } from './history.ts';
import { named, short } from './sentences.ts';
import type { DeskApproval, WatchedFacts, WatchedOrder } from './watched-facts.ts';

/** Clocks of two replicas differ by so much, and once more for the recorder's. */
const SKEW_MS = 9_000;
/** At rest, after the time of an order. */
const LATEST_MS = 5_000;
/** The shortest minimum for the time of a GTD order makes its venue act so much earlier. */
const EARLY_MS = 60_000;
/** After the silence: until the desk has seen it, and its watch has begun anew. */
const NOTICED_MS = 20_000;
const OPEN: ReadonlySet<string> = new Set(['live', 'partially_filled', 'unmatched']);

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function isRefused({ outcome }: Call): boolean {
  return outcome.kind === 'refused';
}

const callsOn = (orderId: string, kind: Call['operation']['kind'], calls: readonly Call[]): Call[] =>
  calls.filter(
    ({ operation }) => operation.kind === kind && 'orderId' in operation && operation.orderId === orderId,
  );

function ofTime(order: WatchedOrder, { now }: WatchedFacts, hasReason: boolean): string[] {
  const { orderId, status, cancelAt, expiresAt, goneAt, why, isOfSilence } = order;
  const name = `Order ${short(orderId)}`;
  // Of a GTD order without it nothing is said: a paper world that stands still expires nothing by itself.
  const end = cancelAt ?? Number.POSITIVE_INFINITY;
  const says: string[] = [];
  if (OPEN.has(status) && end + LATEST_MS < now)
    says.push(`${name} still rests, and its time was over ${seconds(now - end)} ago.`);
  if (goneAt === null || hasReason || isOfSilence) return says;
  const begins = status === 'expired' ? (expiresAt ?? goneAt) - EARLY_MS : cancelAt;
  if (status === 'canceled' && cancelAt === null) says.push(`${name} was canceled, and nobody asked for it.`);
  else if (begins !== null && goneAt + SKEW_MS < begins)
    says.push(`${name} is ${status}, ${seconds(begins - goneAt)} before its time was over.`);
  if (status === 'canceled' && cancelAt !== null && goneAt >= cancelAt && why === null)
    says.push(`${name} was canceled when its time was over, and its journal does not say why.`);
  return says;
}

/** An order with a time rests until then, and no longer, and its journal says why it ended. */
export function checkTimes({ calls, facts: { watched, venueOrders } }: History): string[] {
  const ended = new Set(venueOrders.filter((one) => one.isEndedThere).map(({ orderId }) => orderId));
  return watched.orders.flatMap((order) => {
    if (order.cancelAt === null && order.expiresAt === null) return [];
    const asked = callsOn(order.orderId, 'cancel', calls);
    const isAskedFor = asked.some((call) => !isRefused(call));
    return ofTime(order, watched, isAskedFor || ended.has(order.orderId));
  });
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Of an agent: the longest time without an answered call, while it wanted to be watched, and what it wants in the end. */
function silenceOf(agent: string, { calls, facts }: History) {
  const own = calls
    .filter(({ operation, outcome }) => operation.agent === agent && outcome.kind !== 'unknown')
    .sort((a, b) => a.returnedAt - b.returnedAt);
  const setting = own.filter(
    ({ operation, outcome }) =>
      operation.kind === 'change settings' &&
      operation.changes.silenceSeconds !== undefined &&
      outcome.kind === 'ok',
  );
  const wanted = setting.map(({ operation }) =>
    operation.kind === 'change settings' ? (operation.changes.silenceSeconds ?? null) : null,
  );
  const most = Math.max(0, ...wanted.map((limit) => limit ?? 0));
  const spans: Span[] = own.map(({ returnedAt }, at) => ({
    from: returnedAt,
    to: own[at + 1]?.invokedAt ?? facts.watched.endedAt,
  }));
  const longest = Math.max(0, ...spans.map(({ from, to }) => to - from));
  return { limitMs: most * 1_000, isWatched: (wanted.at(-1) ?? null) !== null, longest, last: spans.at(-1) };
}

/** What rests of a silent agent is canceled and its exits are sent; one that speaks in time loses nothing. */
export function checkSilence(history: History): string[] {
  const { watched } = history.facts;
  const agents = new Set(
    [...watched.orders.filter(({ isOfSilence }) => isOfSilence), ...watched.exits].map(({ agent }) => agent),
  );
  for (const { operation } of history.calls)
    if (operation.kind === 'change settings' && operation.changes.silenceSeconds !== undefined)
      agents.add(operation.agent);
  return [...agents].flatMap((agent) => {
    const { limitMs, isWatched, longest, last } = silenceOf(agent, history);
    const own = watched.orders.filter((order) => order.agent === agent);
    const exits = watched.exits.filter((exit) => exit.agent === agent);
    const hasSpoken = limitMs === 0 || longest + SKEW_MS < limitMs;
    const isSilent = isWatched && last !== undefined && last.to - last.from > limitMs + NOTICED_MS;
    return [
      ...own
        .filter(({ isOfSilence }) => isOfSilence && hasSpoken)
        .map(
          ({ orderId }) =>
            `Order ${short(orderId)} was canceled for silence, and its agent was silent for ${seconds(longest)} at most.`,
        ),
      ...exits
        .filter(({ status }) => (status === 'fired' || status === 'firing') && hasSpoken)
        .map(
          ({ exitId }) =>
            `Exit ${short(exitId)} was sent for silence, and its agent was silent for ${seconds(longest)} at most.`,
        ),
      ...own
        .filter(({ status, isOfExit }) => OPEN.has(status) && !isOfExit && isSilent)
        .map(({ orderId }) => `Order ${short(orderId)} still rests, and its agent is silent.`),
      ...exits
        .filter(({ status, trouble }) => status === 'armed' && trouble === null && isSilent)
        .map(({ exitId }) => `Exit ${short(exitId)} waits for silence, and its agent is silent.`),
    ];
  });
}

const decisionsOn = (approvalId: string, calls: readonly Call[]): Call[] =>
  calls.filter(({ operation }) => 'approvalId' in operation && operation.approvalId === approvalId);

const isOf = (kind: Call['operation']['kind'], { operation }: Call): boolean => operation.kind === kind;

const endOf = ({ returnedAt, outcome }: Call): number =>
  outcome.kind === 'unknown' ? Number.POSITIVE_INFINITY : returnedAt;

/** Whether the approval can have let an order of this type pass, which some of these calls have sent. */
function letsPass(
  { approvalId, type, decision, approvedUntil }: DeskApproval,
  { calls }: History,
  order: WatchedOrder,
  placing: readonly Call[],
): boolean {
  if (decision !== 'approved' || type !== order.type || approvedUntil === null) return false;
  const about = decisionsOn(approvalId, calls);
  const approving = about.filter((call) => isOf('approve', call) && !isRefused(call));
  const shortened = about.filter((call) => isOf('shorten approval', call)).map(endOf);
  const isRead = placing.every(({ invokedAt }) => shortened.some((at) => at < invokedAt));
  return (
    approving.some(({ invokedAt }) => placing.some((call) => invokedAt < endOf(call))) &&
    // The clock that wrote the one has judged the other.
    (!isRead || order.createdAt < approvedUntil)
  );
}

/** An order above the limit is there only with its own approval, and never once it was declined. */
function ofSent(order: WatchedOrder, history: History): string[] {
  const { calls, facts } = history;
  const placing = callsOn(order.orderId, 'place', calls).filter((call) => !isRefused(call));
  const isKnown = facts.venueOrders.some(({ orderId, isKnown: known }) => orderId === order.orderId && known);
  if (!isKnown || placing.length === 0) return [];
  const own = facts.watched.approvals.filter(({ orderId }) => orderId === order.orderId);
  const declining = own
    .flatMap(({ approvalId }) => decisionsOn(approvalId, calls))
    .filter((call) => isOf('decline', call) && call.outcome.kind === 'ok');
  const declined = declining.find((call) => placing.every(({ invokedAt }) => call.returnedAt < invokedAt));
  return [
    ...(own.some((approval) => letsPass(approval, history, order, placing))
      ? []
      : [`Order ${short(order.orderId)} (${order.type}) was sent without an approval that lets it pass.`]),
    ...(declined === undefined
      ? []
      : [`Order ${short(order.orderId)} was sent after it was declined: ${named(declined)}.`]),
  ];
}

/** The first decision stays, and is told once. */
function ofDecision({ approvalId, decision, told }: DeskApproval, calls: readonly Call[]): string[] {
  const done = decisionsOn(approvalId, calls).filter(({ outcome }) => outcome.kind === 'ok');
  const [approved, declined] = (['approve', 'decline'] as const).map((kind) =>
    done.find((call) => isOf(kind, call)),
  );
  const name = `Approval ${short(approvalId)}`;
  const other = decision === 'approved' ? declined : approved;
  return [
    ...(approved !== undefined && declined !== undefined
      ? [`${name} was decided twice: ${named(approved)} and ${named(declined)}.`]
      : other === undefined
        ? []
        : [`${name} is ${decision ?? 'undecided'}, and was answered otherwise: ${named(other)}.`]),
    ...(told.length === (decision === null ? 0 : 1) && told.every((word) => word === decision)
      ? []
      : [`${name} is ${decision ?? 'undecided'}, and was told as ${told.join(', ') || 'nothing'}.`]),
  ];
}

/** An order that is approved, and sent in time, does not wait for its owner again. */
function ofApproved({ approvalId, orderId, type }: DeskApproval, calls: readonly Call[]): string[] {
  const about = decisionsOn(approvalId, calls);
  const given = about.filter((call) => isOf('approve', call) && call.outcome.kind === 'ok');
  if (about.some((call) => !isOf('approve', call))) return [];
  return callsOn(orderId, 'place', calls)
    .filter(
      ({ operation, outcome, invokedAt }) =>
        operation.kind === 'place' &&
        operation.type === type &&
        outcome.kind === 'refused' &&
        outcome.code === 'approval_required' &&
        given.some(({ returnedAt }) => returnedAt < invokedAt),
    )
    .map((call) => `Approval ${short(approvalId)} was given, and its order is refused: ${named(call)}.`);
}

/** What waits for an owner is decided once, for one order of one type, and until its end. */
export function checkApprovals(history: History): string[] {
  const { calls, facts } = history;
  const { approvals, orders } = facts.watched;
  const limits = new Map<string, bigint>();
  for (const { operation } of calls)
    if (operation.kind === 'change settings' && operation.changes.approvalAbove !== undefined)
      limits.set(operation.agent, operation.changes.approvalAbove);
  const isAbove = ({ orderId, agent }: WatchedOrder): boolean => {
    const limit = limits.get(agent);
    if (limit === undefined) return false;
    return callsOn(orderId, 'place', calls).some(
      ({ operation }) => operation.kind === 'place' && (operation.amount ?? 0n) > limit,
    );
  };
  const declined = new Set(
    approvals.filter(({ decision }) => decision === 'declined').map(({ orderId }) => orderId),
  );
  return [
    ...orders.filter(isAbove).flatMap((order) => ofSent(order, history)),
    ...approvals.flatMap((approval) => ofDecision(approval, calls)),
    ...approvals
      .filter(({ orderId }) => !declined.has(orderId))
      .flatMap((approval) => ofApproved(approval, calls)),
  ];
}
