/**
 * The life of an order as one table: (status, event) → status. Everything else reads the predicates below.
 *
 * An order is written as `submitting` before the venue hears of it. Only evidence moves it on: the venue accepted it
 * (`live`), took it at once (`filled`, or `matched` when the rest was killed), refused it (`rejected`), or gave no
 * answer (`unknown`), which stays until somebody proves what happened. From `live` and `partially_filled` fills,
 * cancels, expiry and resolution lead to an end, and an end is never left again.
 *
 * An order of venue B is a transaction of the agent's own: when it has landed it is `delayed`, for the venue fills or
 * reverts it later, by a transaction of its own. What no node has been given yet can still be canceled.
 */
/** Signed: a message that a venue executes. Quoted: a transaction that a venue quoted and the agent signed. */
export type OrderKind = 'signed' | 'quoted';

export const ORDER_STATUSES = [
  'submitting',
  'unknown',
  'live',
  'delayed',
  'unmatched',
  'partially_filled',
  'matched',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
] as const;

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export type OrderEventKind =
  | 'accepted'
  /** Venue B: on the chain, and not filled by that. */
  | 'landed'
  | 'rejected'
  | 'no_answer'
  | 'filled_partly'
  | 'filled_completely'
  /** The unfilled rest of an immediate order; something was filled before. */
  | 'rest_killed'
  | 'canceled'
  | 'expired'
  | 'market_resolved';

const OPEN = {
  filled_partly: 'partially_filled',
  filled_completely: 'filled',
  rest_killed: 'matched',
  canceled: 'canceled',
  expired: 'expired',
  market_resolved: 'market_resolved',
} as const satisfies Partial<Record<OrderEventKind, OrderStatus>>;

type Row = Partial<Record<OrderEventKind, OrderStatus>>;

const TABLE: Readonly<Record<OrderStatus, Row>> = {
  submitting: {
    accepted: 'live',
    landed: 'delayed',
    rejected: 'rejected',
    no_answer: 'unknown',
    canceled: 'canceled',
  },
  unknown: { accepted: 'live', rejected: 'rejected', no_answer: 'unknown' },
  live: OPEN,
  delayed: { ...OPEN, rejected: 'rejected' },
  unmatched: OPEN,
  partially_filled: OPEN,
  matched: {},
  filled: {},
  canceled: {},
  expired: {},
  rejected: {},
  market_resolved: {},
};

/** @returns the next status, or `null` when the event cannot happen to an order in this status. */
export const transition = (status: OrderStatus, event: OrderEventKind): OrderStatus | null =>
  TABLE[status][event] ?? null;

/** Nothing can happen to it any more. */
export const isTerminal = (status: OrderStatus): boolean => Object.keys(TABLE[status]).length === 0;

/** No evidence yet: budgets stay reserved and a resolver is at work. */
export const isInDoubt = (status: OrderStatus): boolean => status === 'submitting' || status === 'unknown';

/** Rests at the venue and can be filled or canceled. */
export const isOpen = (status: OrderStatus): boolean => !isTerminal(status) && !isInDoubt(status);

/** The integer of the interface's records: 1 live, 2 matched, 3 canceled, 4 market resolved, 5 invalid. */
export function orderStatusNumber(status: OrderStatus): 1 | 2 | 3 | 4 | 5 {
  switch (status) {
    case 'matched':
    case 'filled':
      return 2;
    case 'canceled':
    case 'expired':
      return 3;
    case 'market_resolved':
      return 4;
    case 'rejected':
      return 5;
    default:
      return 1;
  }
}
