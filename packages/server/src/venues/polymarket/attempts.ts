/** Proof that one attempt to send an order gives, and how the venue's answer is read for it. */
import type { VenueRefusal } from '@bellwether/contract';
import type { Micro } from '@bellwether/contract/decimals';
import type { SignedMessage, VenueOrder } from '../venue.ts';
import { legVerdict } from './order-refusals.ts';
import { microOf } from './order-wire.ts';
import { DUST } from './signed-bounds.ts';

export type Attempt =
  | { readonly kind: 'accepted'; readonly reply: Accepted }
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail: string | null }
  | { readonly kind: 'unknown'; readonly mayRepeat: boolean };

export interface Accepted {
  readonly word: 'live' | 'matched' | 'delayed' | 'unmatched';
  readonly making: Micro;
  readonly taking: Micro;
  readonly tradeIds: readonly string[];
}

/** An order and what its agent signed. */
export interface Outgoing {
  readonly order: VenueOrder;
  readonly message: SignedMessage;
}

/** Less time than this is none for another attempt. */
export const MIN_ATTEMPT_MS = 250;

export const rejected = (reason: VenueRefusal): Attempt => ({ kind: 'rejected', reason, detail: null });
export const UNKNOWN: Attempt = { kind: 'unknown', mayRepeat: false };

const WORDS: ReadonlySet<unknown> = new Set(['live', 'matched', 'delayed', 'unmatched']);

export interface AnswerReading {
  readonly onUnmapped: (text: string) => void;
  readonly log: { warn(context: object, message: string): void };
}

/** Taken only where success, an empty errorMsg and this order's id are there; what is half understood proves nothing. */
export function readAnswer(
  value: unknown,
  { order: { orderId }, message }: Outgoing,
  { onUnmapped, log }: AnswerReading,
): Attempt {
  if (typeof value !== 'object' || value === null) return UNKNOWN;
  const row = value as Readonly<Record<string, unknown>>;
  const text = row.errorMsg ?? '';
  if (typeof text !== 'string') return UNKNOWN;
  if (text !== '') {
    // Words beside an order that is there contradict it.
    if (WORDS.has(row.status)) return UNKNOWN;
    const verdict = legVerdict(text, onUnmapped);
    return verdict.kind === 'rejected' ? verdict : UNKNOWN;
  }
  const isTaken = row.success === true && typeof row.orderID === 'string' && WORDS.has(row.status);
  if (!isTaken || (row.orderID as string).toLowerCase() !== orderId) return UNKNOWN;
  const word = row.status as Accepted['word'];
  const amount = (field: unknown): Micro | null =>
    field === '' || field === undefined ? 0n : microOf(field);
  const making = amount(row.makingAmount);
  const taking = amount(row.takingAmount);
  if (making === null || taking === null || (word === 'matched' && (making === 0n || taking === 0n)))
    return UNKNOWN;
  if (making > message.fields.makerAmount + DUST) {
    // The venue has it, and its amounts are wrong: its trades will say the right ones, or be kept aside.
    log.warn({ orderId }, 'the venue answers that an order gave more than it signed');
    return UNKNOWN;
  }
  return { kind: 'accepted', reply: { word, making, taking, tradeIds: idsIn(row.tradeIDs) } };
}

/** None where one of them is not understood: the others would stand for the whole match. */
function idsIn(value: unknown): readonly string[] {
  const isId = (id: unknown): id is string => typeof id === 'string' && id !== '';
  return Array.isArray(value) && value.every(isId) ? [...new Set(value)] : [];
}
