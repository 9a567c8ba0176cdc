/**
 * An order's status on the wire: a status text, and the integer of the interface's records (1 live, 2 matched,
 * 3 canceled, 4 market resolved, 5 invalid). Signed orders, splits and merges use the texts of their venue's protocol; quoted orders use
 * submitted → open → filled, partially_filled or reverted, or expired, failed, canceled.
 */
import { ORDER_KINDS, ORDER_STATUSES, type OrderKind, type OrderStatus } from './lifecycle.ts';

export type StatusNumber = 1 | 2 | 3 | 4 | 5;
type Reading = readonly [word: string, number: StatusNumber];

type Readings = Readonly<Record<OrderStatus, Reading>>;

const SIGNED: Readings = {
  submitting: ['submitting', 1],
  unknown: ['unknown', 1],
  live: ['live', 1],
  delayed: ['delayed', 1],
  unmatched: ['unmatched', 1],
  partially_filled: ['partially_filled', 1],
  matched: ['matched', 2],
  partially_filled_closed: ['matched', 2],
  filled: ['filled', 2],
  canceled: ['canceled', 3],
  expired: ['expired', 3],
  rejected: ['rejected', 5],
  market_resolved: ['market_resolved', 4],
  settlement_failed: ['settlement_failed', 5],
};

const READINGS: Readonly<Record<OrderKind, Readings>> = {
  signed: SIGNED,
  split: SIGNED,
  merge: SIGNED,
  convert: SIGNED,
  quoted: {
    submitting: ['submitted', 1],
    unknown: ['submitted', 1],
    live: ['open', 1],
    delayed: ['open', 1],
    unmatched: ['open', 1],
    partially_filled: ['open', 1],
    // Never occurs for a quoted order: only what has landed on the chain is its fill.
    matched: ['open', 1],
    settlement_failed: ['open', 1],
    partially_filled_closed: ['partially_filled', 2],
    filled: ['filled', 2],
    canceled: ['canceled', 3],
    expired: ['expired', 3],
    rejected: ['failed', 5],
    // Never occurs for a quoted order: another quoted order pays out its tokens.
    market_resolved: ['open', 1],
  },
};

/** Quoted orders that were rejected without a fault in the order, by error code. */
const WITHOUT_EFFECT: Readonly<Record<string, Reading>> = {
  reverted: ['reverted', 3],
  not_landed: ['expired', 3],
};

export interface OrderStanding {
  readonly kind: OrderKind;
  readonly status: OrderStatus;
  readonly errorCode: string | null;
}

function readingOf({ kind, status, errorCode }: OrderStanding): Reading {
  const withoutEffect =
    kind === 'quoted' && status === 'rejected' && errorCode !== null ? WITHOUT_EFFECT[errorCode] : undefined;
  return withoutEffect ?? READINGS[kind][status];
}

export const statusWord = (order: OrderStanding): string => readingOf(order)[0];

export const statusNumber = (order: OrderStanding): StatusNumber => readingOf(order)[1];

/** Webhooks use the status texts of signed orders for both kinds. */
export const eventWord = (status: OrderStatus): string => SIGNED[status][0];

/** Error codes that change the text of a rejected quoted order. */
export const WITHOUT_EFFECT_CODES: readonly string[] = Object.keys(WITHOUT_EFFECT);

/** Every combination that has this number; an unlisted error code counts as `null`. */
export const standingsOf = (number: number): readonly OrderStanding[] =>
  ORDER_KINDS.flatMap((kind) =>
    ORDER_STATUSES.flatMap((status) => {
      const codes = kind === 'quoted' && status === 'rejected' ? WITHOUT_EFFECT_CODES : [];
      return [null, ...codes].map((errorCode) => ({ kind, status, errorCode }));
    }),
  ).filter((standing) => statusNumber(standing) === number);
