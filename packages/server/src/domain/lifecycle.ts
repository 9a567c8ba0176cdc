/**
 * The lifecycle of an order as one table: (kind, status, event) → status. All code that changes a status uses this
 * table, and the database refuses any other change: `functions/order-lifecycle.sql` is generated from the table.
 *
 * An order is recorded as `submitting` before it is sent to its venue. Only evidence changes its status.
 *
 * A signed order is a message that a venue executes. The venue accepts it (`live`), refuses it (`rejected`), or gives no
 * answer (`unknown`), which stays until there is proof of what happened. Fills, cancels, expiry and the market's
 * resolution then lead to a terminal status; `partially_filled_closed` means that a part was filled and the rest killed.
 *
 * A live venue settles its trades on a chain after it has matched them, and a settlement can fail. Such an order is
 * `matched` from the moment when nothing of it rests until each of its trades is confirmed or has failed; fills of a
 * trade that failed are reversed, and the order ends as `settlement_failed`. A trade can also fail while the rest of its
 * order still rests.
 *
 * A quoted order is a Solana transaction that a venue quoted and the agent signed. Once the transaction has landed the
 * order is `delayed`: the venue fills it or sends the money back in later transactions. Before the first send to a node
 * it can still be canceled.
 *
 * A split, a merge or a conversion is an order of sets, which is executed completely or not at all: by its venue at once, or by the owner
 * of the wallet, who has the transactions to sign. Then it is `live` until one of them is seen on the chain, or for too long.
 *
 * No event changes a terminal status. A refusal that is an attempt of a guarded exit is no answer to its order: the order may be sent anew,
 * and is `submitting` again.
 */
export const ORDER_KINDS = ['signed', 'quoted', 'split', 'merge', 'convert'] as const;
export type OrderKind = (typeof ORDER_KINDS)[number];

export const ORDER_STATUSES = [
  'submitting',
  'unknown',
  'live',
  'delayed',
  'unmatched',
  'partially_filled',
  'matched',
  'partially_filled_closed',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
  'settlement_failed',
] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** The status of a new record. */
export const FIRST_STATUS: OrderStatus = 'submitting';

export const ORDER_EVENTS = [
  'accepted',
  /** Quoted: the transaction is on the chain, which fills nothing yet. */
  'landed',
  /** Proof that nothing was executed. */
  'rejected',
  'no_answer',
  /** Split, merge: the transactions that the wallet's owner signs were given out. */
  'handed_out',
  /** Signed: the venue holds a marketable order back before it matches it. */
  'held_back',
  'filled_partly',
  /** Signed, live: nothing of it rests, and a trade is not final yet. */
  'matched',
  /** Signed, live: some of its fills were reversed, because their settlement failed. */
  'fills_reversed',
  /** Signed, live: all of them were. */
  'all_fills_reversed',
  'filled_completely',
  /** Signed: the unfilled rest of an immediate order; a part was filled before. */
  'rest_killed',
  /** Quoted: the venue filled a part and sent the rest of the money back. */
  'rest_reverted',
  /** Quoted: the venue sent all of the money back. */
  'reverted',
  'canceled',
  'expired',
  'market_resolved',
  /** Signed, live: nothing of it rests, every trade is final, and at least one failed. */
  'settlement_failed',
] as const;

export type OrderEventKind = (typeof ORDER_EVENTS)[number];

type Row = Readonly<Partial<Record<OrderEventKind, OrderStatus>>>;

const ANSWERED: Row = { accepted: 'live', held_back: 'delayed', rejected: 'rejected' };
const SETS: Readonly<Partial<Record<OrderStatus, Row>>> = {
  submitting: {
    handed_out: 'live',
    filled_completely: 'filled',
    rejected: 'rejected',
    no_answer: 'unknown',
  },
  unknown: { filled_completely: 'filled', rejected: 'rejected' },
  live: { filled_completely: 'filled', expired: 'expired', rejected: 'rejected' },
};
const ENDING: Row = {
  filled_completely: 'filled',
  rest_killed: 'partially_filled_closed',
  canceled: 'canceled',
  expired: 'expired',
  market_resolved: 'market_resolved',
};
const AT_VENUE: Row = { ...ENDING, filled_partly: 'partially_filled', matched: 'matched' };
const ON_CHAIN: Row = {
  filled_partly: 'partially_filled',
  filled_completely: 'filled',
  rest_reverted: 'partially_filled_closed',
};

const TABLE: Readonly<Record<OrderKind, Readonly<Partial<Record<OrderStatus, Row>>>>> = {
  signed: {
    submitting: { ...ANSWERED, no_answer: 'unknown' },
    unknown: ANSWERED,
    live: AT_VENUE,
    // A live venue may hold an order back before it matches it, and refuse it then.
    delayed: { ...AT_VENUE, accepted: 'live', rejected: 'rejected' },
    unmatched: AT_VENUE,
    partially_filled: {
      ...AT_VENUE,
      fills_reversed: 'partially_filled',
      all_fills_reversed: 'live',
    },
    matched: {
      ...ENDING,
      // A trade that the desk learns of late.
      filled_partly: 'matched',
      fills_reversed: 'matched',
      all_fills_reversed: 'matched',
      settlement_failed: 'settlement_failed',
    },
  },
  quoted: {
    submitting: { landed: 'delayed', rejected: 'rejected', canceled: 'canceled' },
    delayed: { ...ON_CHAIN, reverted: 'rejected' },
    partially_filled: ON_CHAIN,
  },
  split: SETS,
  merge: SETS,
  convert: SETS,
};

const rowOf = (kind: OrderKind, status: OrderStatus): Row => TABLE[kind][status] ?? {};

/** @returns the next status, or `null` when the event cannot happen to an order of this kind in this status. */
export const transition = (kind: OrderKind, status: OrderStatus, event: OrderEventKind): OrderStatus | null =>
  rowOf(kind, status)[event] ?? null;

/** @throws when the event cannot happen to it */
export function requireTransition(kind: OrderKind, status: OrderStatus, event: OrderEventKind): OrderStatus {
  const next = transition(kind, status, event);
  if (next === null) throw new Error(`a ${kind} order that is ${status} cannot be ${event}`);
  return next;
}

/** The statuses that one or more events lead to: one piece of evidence may contain several events. */
export function reachable(kind: OrderKind, from: OrderStatus): readonly OrderStatus[] {
  const found = new Set<OrderStatus>();
  const walk = (status: OrderStatus): void => {
    for (const next of Object.values(rowOf(kind, status))) {
      if (found.has(next)) continue;
      found.add(next);
      walk(next);
    }
  };
  walk(from);
  return ORDER_STATUSES.filter((status) => found.has(status));
}

/** No event can change the status. */
export const isTerminal = (status: OrderStatus): boolean =>
  ORDER_KINDS.every((kind) => Object.keys(rowOf(kind, status)).length === 0);

/** There is no evidence yet: budgets stay reserved and a resolver is at work. */
export const isInDoubt = (status: OrderStatus): boolean => status === 'submitting' || status === 'unknown';

/** Nothing of it rests at the venue; only the settlement of its trades is not final. */
export const isSettling = (status: OrderStatus): boolean => status === 'matched';

/** It can still be filled, as far as is known: it counts as open. */
export const mayFill = (status: OrderStatus): boolean => !isTerminal(status) && !isSettling(status);

/** Rests at the venue and can be filled or canceled. */
export const isOpen = (status: OrderStatus): boolean => mayFill(status) && !isInDoubt(status);

/**
 * How long an order may be `submitting` before its agent gets an alert. A quoted order's transaction either lands or
 * expires with its blockhash: after 150 blocks of at most 800 ms, and 32 more.
 */
const IN_DOUBT_AFTER_MS = { signed: 5_000, quoted: 150_000 };

/** Orders without an answer that were created before this time are in doubt; `signed`: all but quoted ones. */
export const inDoubtBefore = (now: number): Readonly<Record<'signed' | 'quoted', number>> => ({
  signed: now - IN_DOUBT_AFTER_MS.signed,
  quoted: now - IN_DOUBT_AFTER_MS.quoted,
});

// An order's status on the wire: a status text, and the integer of the interface's records (1 live, 2 matched,
// 3 canceled, 4 market resolved, 5 invalid). Signed orders, splits and merges use the texts of their venue's protocol; quoted orders use
// submitted → open → filled, partially_filled or reverted, or expired, failed, canceled.

type StatusNumber = 1 | 2 | 3 | 4 | 5;
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

interface OrderStanding {
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
