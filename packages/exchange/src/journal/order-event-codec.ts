/**
 * Converts the events of one order to lines and back. The row has the order's and the account's id, and the first line the
 * market's, so a line holds only what its event adds: an array that begins with the event's letter. Amounts are decimal
 * strings. Rows of earlier releases hold whole events as objects, also above lines of this form.
 */
import type { AccountId, ConditionId, EngineEvent, OrderId } from '../engine/types.ts';

type Named = { readonly orderId: OrderId };

/** An event about one order that names its account; sets and deposits of a command that has such an id are among them. */
export type OrderEvent =
  | Extract<EngineEvent, Named & { readonly account: AccountId }>
  | (Extract<EngineEvent, { readonly kind: 'split' | 'merged' | 'converted' | 'deposited' }> & Named);
type Of<Kind> = Extract<OrderEvent, { readonly kind: Kind }>;

export const isOfOrder = (event: EngineEvent): event is OrderEvent =>
  'account' in event && 'orderId' in event && event.orderId !== undefined;

const text = (amount: bigint): string => amount.toString();

export function encodeOrderEvent(event: OrderEvent): string {
  switch (event.kind) {
    case 'order_accepted':
      return JSON.stringify(['a', event.conditionId]);
    case 'order_rejected': {
      const { conditionId, reason, needed, available } = event;
      const money = needed === undefined || available === undefined ? [] : [text(needed), text(available)];
      return JSON.stringify(['r', conditionId, reason, ...money]);
    }
    case 'fill': {
      const { matchId, matchKind, liquidity, outcome, side, price, size, cost, fee } = event;
      const amounts = [text(size), text(cost), text(fee)];
      return JSON.stringify(['f', matchId, matchKind, liquidity, outcome, side, price, ...amounts]);
    }
    case 'order_done': {
      const { reason, filled, remaining, cost, fees } = event;
      return JSON.stringify(['d', reason, text(filled), text(remaining), text(cost), text(fees)]);
    }
    case 'split':
    case 'merged':
      return JSON.stringify([
        ...([SET_LETTERS[event.kind], event.conditionId, text(event.amount)] as const),
        ...(event.yesPrice === undefined ? [] : [event.yesPrice]),
      ]);
    case 'converted': {
      const { conditionId, amount, worth, made } = event;
      const parts = made.map((one) => [one.conditionId, text(one.worth)]);
      return JSON.stringify(['c', conditionId, text(amount), text(worth), parts]);
    }
    case 'deposited':
      return JSON.stringify(['p', text(event.amount)]);
  }
}

const SET_LETTERS = { split: 's', merged: 'm' } as const;

type EventLine =
  | readonly ['s' | 'm', ConditionId, amount: string, yesPrice?: number]
  | readonly [
      'c',
      ConditionId,
      amount: string,
      worth: string,
      made: readonly (readonly [ConditionId, string])[],
    ]
  | readonly ['p', amount: string]
  | readonly ['a', ConditionId]
  | readonly ['r', ConditionId, Of<'order_rejected'>['reason'], needed?: string, available?: string]
  | readonly [
      'f',
      matchId: number,
      Of<'fill'>['matchKind'],
      Of<'fill'>['liquidity'],
      Of<'fill'>['outcome'],
      Of<'fill'>['side'],
      price: number,
      size: string,
      cost: string,
      fee: string,
    ]
  | readonly ['d', Of<'order_done'>['reason'], filled: string, remaining: string, cost: string, fees: string];

/** @throws Error for a line that no release has written */
export function decodeOrderEvents(
  lines: string,
  order: { readonly orderId: OrderId; readonly account: AccountId },
): OrderEvent[] {
  let conditionId: ConditionId | undefined;
  return lines.split('\n').map((line) => {
    const parsed: unknown = JSON.parse(line, asAmount);
    const event = Array.isArray(parsed)
      ? eventOf(parsed as unknown as EventLine, { ...order, conditionId: conditionId ?? '' })
      : (parsed as OrderEvent);
    if ('conditionId' in event) conditionId ??= event.conditionId;
    return event;
  });
}

const AMOUNTS: ReadonlySet<string> = new Set(
  'size cost fee fees filled remaining needed available'.split(' '),
);
/** In an object, as earlier releases wrote it, an amount is recognised by its field. */
const asAmount = (name: string, part: unknown): unknown =>
  typeof part === 'string' && AMOUNTS.has(name) ? BigInt(part) : part;

function eventOf(
  line: EventLine,
  ref: { readonly orderId: OrderId; readonly account: AccountId; readonly conditionId: ConditionId },
): OrderEvent {
  switch (line[0]) {
    case 'a':
      return { kind: 'order_accepted', ...ref, conditionId: line[1] };
    case 'r': {
      const [, conditionId, reason, needed, available] = line;
      const refused = { kind: 'order_rejected', ...ref, conditionId, reason } as const;
      if (needed === undefined || available === undefined) return refused;
      return { ...refused, needed: BigInt(needed), available: BigInt(available) };
    }
    case 'f': {
      const [, matchId, matchKind, liquidity, outcome, side, price, size, cost, fee] = line;
      const amounts = { size: BigInt(size), cost: BigInt(cost), fee: BigInt(fee) };
      return { kind: 'fill', ...ref, matchId, matchKind, liquidity, outcome, side, price, ...amounts };
    }
    case 'd': {
      const [, reason, filled, remaining, cost, fees] = line;
      return {
        ...{ kind: 'order_done', ...ref, reason },
        ...{ filled: BigInt(filled), remaining: BigInt(remaining), cost: BigInt(cost), fees: BigInt(fees) },
      };
    }
    case 's':
    case 'm': {
      const [letter, conditionId, amount, yesPrice] = line;
      return {
        ...{ kind: letter === 's' ? 'split' : 'merged', ...ref, conditionId, amount: BigInt(amount) },
        ...(yesPrice === undefined ? {} : { yesPrice }),
      };
    }
    case 'c': {
      const [, conditionId, amount, worth, made] = line;
      return {
        ...{ kind: 'converted', ...ref, conditionId, amount: BigInt(amount), worth: BigInt(worth) },
        made: made.map(([other, part]) => ({ conditionId: other, worth: BigInt(part) })),
      };
    }
    case 'p':
      return { kind: 'deposited', orderId: ref.orderId, account: ref.account, amount: BigInt(line[1]) };
    default:
      throw new Error(`an order's record has an unknown line: ${JSON.stringify(line)}`);
  }
}
