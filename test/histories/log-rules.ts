/**
 * Rules for listeners of an agent's log. A stream is the log from where it began, nothing lost, nothing twice, in its order. A webhook is
 * delivered at least once, and tells of one order in the log's order. Briefings that follow one another tell every change of an order once.
 */
import type { DeskOrder, FinalFacts } from './final-facts.ts';
import type { Call, Heard, History, LoggedEvent } from './history.ts';
import { list, named, short } from './sentences.ts';

/** Events that only streams carry. */
const STREAM_ONLY: ReadonlySet<string> = new Set(['position', 'balance', 'redemption', 'safeguards']);

const nameOf = ({ type, orderId, id }: LoggedEvent): string =>
  `${type}${orderId === undefined ? '' : ` of ${short(orderId)}`} (event ${short(id)})`;

const logOf = (facts: FinalFacts, agent: string): readonly LoggedEvent[] =>
  facts.logs.find((one) => one.agent === agent)?.events ?? [];

function checkStream(listener: string, heard: readonly LoggedEvent[], log: readonly LoggedEvent[]): string[] {
  const seen = new Set<string>();
  for (const event of heard) {
    if (seen.has(event.id)) return [`Stream ${listener} heard twice of ${nameOf(event)}.`];
    seen.add(event.id);
  }
  const lost = log.filter(({ id }) => !seen.has(id));
  if (lost.length > 0) return [`Stream ${listener} never heard of ${list(lost.map(nameOf))}.`];
  const at = heard.findIndex(({ id }, index) => id !== log[index]?.id);
  const [event, instead] = [heard[at], log[at]];
  if (event === undefined) return [];
  const known = log.some(({ id }) => id === event.id);
  if (!known) return [`Stream ${listener} heard of ${nameOf(event)}, which is not in the log.`];
  return [
    `Stream ${listener} heard of ${nameOf(event)} where the log has ${instead === undefined ? 'its end' : nameOf(instead)}: another order.`,
  ];
}

function checkWebhook(
  listener: string,
  heard: readonly LoggedEvent[],
  log: readonly LoggedEvent[],
): string[] {
  const first = new Map(heard.map((event) => [event.id, event]));
  const due = log.filter(({ type }) => !STREAM_ONLY.has(type));
  const lost = due.filter(({ id }) => !first.has(id));
  if (lost.length > 0) return [`Webhook ${listener} never got ${list(lost.map(nameOf))}.`];
  const places = new Map(due.map(({ id }, at) => [id, at]));
  const furthest = new Map<string, { readonly at: number; readonly event: LoggedEvent }>();
  for (const event of first.values()) {
    const at = places.get(event.id);
    if (at === undefined || event.orderId === undefined) continue;
    const before = furthest.get(event.orderId);
    if (before !== undefined && before.at > at)
      return [
        `Webhook ${listener} got ${nameOf(before.event)} before ${nameOf(event)}: the log has the other order.`,
      ];
    furthest.set(event.orderId, { at, event });
  }
  return [];
}

export function checkListeners({ heard, facts }: History): string[] {
  const byListener = Map.groupBy(heard, ({ listener }) => listener);
  return [...byListener].flatMap(([listener, own]) => {
    const { agent, via } = own[0] as Heard;
    const check = via === 'stream' ? checkStream : checkWebhook;
    return check(
      listener,
      own.map(({ event }) => event),
      logOf(facts, agent),
    );
  });
}

/** The log's last word about each order is the desk's, and each fill that counts is sent once. */
export function checkLogs({ facts }: History): string[] {
  return facts.logs.flatMap(({ agent, events }) => {
    const own = facts.orders.filter((order) => order.agent === agent);
    return own.flatMap((order) => {
      const reported = events.filter(({ orderId }) => orderId === order.orderId);
      const last = reported.findLast(({ type }) => type.startsWith('order.'));
      const count = (type: string): number => reported.filter((event) => event.type === type).length;
      const fills = facts.fills.filter(({ orderId }) => orderId === order.orderId).length;
      const counted = count('fill') - count('fill.reversed');
      return [
        ...(last?.type === `order.${order.word}`
          ? []
          : [
              `The log ends with ${last === undefined ? 'nothing' : last.type} for order ${short(order.orderId)}, which is ${order.word}.`,
            ]),
        ...(counted === fills
          ? []
          : [`The log tells of ${counted} fills of order ${short(order.orderId)}, which has ${fills}.`]),
      ];
    });
  });
}

type Briefing = readonly (readonly [orderId: string, status: string])[];

function checkChain(
  calls: readonly Call[],
  orders: readonly DeskOrder[],
  log: readonly LoggedEvent[],
): string[] {
  const answers = calls.flatMap((call) =>
    call.outcome.kind === 'ok' ? [{ call, changed: (call.outcome.answer.changed ?? []) as Briefing }] : [],
  );
  const isWhole = calls.every(({ outcome }) => outcome.kind !== 'ok' || outcome.answer.isWhole !== false);
  const last = answers.at(-1);
  if (last === undefined) return [];
  return orders.flatMap((order) => {
    const reported = answers.flatMap(({ call, changed }) =>
      changed.filter(([orderId]) => orderId === order.orderId).map(([, status]) => ({ call, status })),
    );
    // That it was recorded is in briefings alone.
    const changes = log.filter(({ orderId }) => orderId === order.orderId).length + 1;
    const end = reported.at(-1);
    if (reported.length > changes)
      return [
        `Briefings showed ${reported.length} times the order ${short(order.orderId)}, which changed ${changes} times: ${list(reported.map(({ call }) => named(call)))}.`,
      ];
    if (!isWhole || end?.status === order.word) return [];
    return [
      `The last briefing about order ${short(order.orderId)} said ${end?.status ?? 'nothing'}, and it is ${order.word}: ${named(end?.call ?? last.call)}.`,
    ];
  });
}

export function checkBriefings({ calls, facts }: History): string[] {
  const briefings = calls.filter(({ operation }) => operation.kind === 'briefing');
  const byChain = Map.groupBy(briefings, ({ operation }) => (operation as { readonly chain: string }).chain);
  return [...byChain.values()].flatMap((own) => {
    const { agent } = (own[0] as Call).operation;
    const orders = facts.orders.filter((order) => order.agent === agent);
    return checkChain(own, orders, logOf(facts, agent));
  });
}
