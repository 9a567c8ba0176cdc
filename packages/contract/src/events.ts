/**
 * Every type of event with its meaning and the schema of its data: those of webhooks, then those of the streams.
 * Amounts are JSON numbers, times ISO 8601. New types and fields may be added; a receiver ignores what it does not
 * know.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Iso, Nullable, OLDER_WORD, OrderOutcome, Outcome, OutcomeName, Side } from './fields.ts';

export const WEBHOOK_ORDER_STATUSES = [
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
  'settlement_failed',
  'unknown',
] as const;

/** One outcome of a market. */
const TOKEN = {
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: Outcome,
  outcomeName: OutcomeName,
};

export const OrderEventData = Type.Object({
  orderId: Type.String(),
  status: Type.String({ description: 'the word after "order." in the type' }),
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: OrderOutcome,
  outcomeName: OutcomeName,
  side: Side,
  orderType: Type.String(),
  price: Type.Number(),
  orderSize: Type.Number(),
  filledSize: Type.Number({ description: 'over all its fills' }),
  filledAmount: Type.Number({ description: 'collateral over all its fills, fees apart' }),
  feePaid: Type.Number({ description: 'over all its fills' }),
  errorCode: Nullable(Type.String({ description: 'why the venue refused' })),
  source: Nullable(Type.String()),
  skillSlug: Nullable(Type.String()),
});

export const FillEventData = Type.Object({
  orderId: Type.String(),
  tradeId: Type.String(),
  ...TOKEN,
  side: Side,
  price: Type.Number(),
  size: Type.Number(),
  cost: Type.Number({ description: 'collateral, fee apart' }),
  fee: Type.Number(),
  liquidity: Type.String({ description: 'maker or taker' }),
  walletAddress: Type.String({ description: 'the account that traded' }),
});

export const FillReversedEventData = Type.Object({
  orderId: Type.String(),
  tradeId: Type.String({ description: 'of the fill that does not count any more' }),
  ...TOKEN,
  side: Side,
  size: Type.Number(),
  cost: Type.Number({ description: 'collateral, fee apart' }),
  fee: Type.Number(),
  walletAddress: Type.String({ description: 'the account whose position is without it again' }),
});

export const MarketResolvedEventData = Type.Object({
  marketId: Nullable(Type.String()),
  marketConditionId: Type.String(),
  marketQuestion: Nullable(Type.String({ description: 'written by third parties' })),
  payout: Type.Union(
    [
      Type.Literal('YES'),
      Type.Literal('NO'),
      Type.Literal('HALF'),
      Type.String({ pattern: '^0\\.\\d{1,6}$' }),
    ],
    {
      description:
        'which outcome pays 1; HALF: both pay 0.5; a decimal like 0.24: YES pays that, and NO the rest of 1',
    },
  ),
  outcomes: Nullable(
    Type.Array(Type.String(), {
      description: "the venue's names, YES's first: written by third parties, as plain text",
    }),
  ),
});

export const RiskEventData = Type.Object({
  code: Type.String({ description: 'as in riskAlerts of GET /markets/briefing' }),
  severity: Type.String(),
  message: Type.String(),
  marketId: Type.Optional(Type.String()),
  exitIds: Type.Optional(Type.Array(Type.String())),
});

/** What becomes of a guarded exit, with its meaning. */
export const EXIT_EVENTS = {
  sent: "A guarded exit's order was placed.",
  filled: "A guarded exit's order has sold all of it.",
  filled_in_part: "A guarded exit's order has sold a part of it, and nothing of it waits any more.",
  suspended: 'A guarded exit is suspended: it sells nothing until it is resumed.',
  resumed: 'A suspended exit is armed again.',
  failed: 'A guarded exit has ended, and its order has sold nothing.',
  expired: 'A guarded exit has ended without having been sent.',
  canceled: 'A guarded exit was canceled: by the agent, its owner or the desk.',
  in_trouble:
    'A guarded exit could not be sent as it stands for ten seconds. Told once for each code of trouble until it is over.',
} as const;
type ExitEvent = keyof typeof EXIT_EVENTS;

export const ExitEventData = Type.Object({
  exitId: Type.String(),
  status: Type.String({ description: 'as of GET /markets/exits, at that moment' }),
  because: Nullable(Type.String({ description: 'why it has this status' })),
  trouble: Nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'what stops its order; of in_trouble: what has stopped it for ten seconds' },
    ),
  ),
  ...TOKEN,
  walletAddress: Type.String(),
  orderId: Type.String(),
  orderType: Type.String(),
  size: Type.Number({ description: 'shares that it was left for' }),
  filledSize: Type.Number({ description: 'shares that its order had sold by then' }),
  message: Type.String({ description: 'the same in one sentence' }),
});

export const FeeEventData = Type.Object({
  venue: Type.String(),
  orderId: Nullable(Type.String()),
  tradeId: Nullable(Type.String({ description: 'the fill that the fee belongs to' })),
  amount: Type.Number({ description: 'collateral' }),
});

export const WalletLeftEventData = Type.Object({
  walletAddress: Type.String({
    description: 'a wallet of the key, as its new agent registered, linked or used it',
  }),
  keyAddress: Type.String({ description: 'the key: its EOA, or the Solana wallet itself' }),
  paused: Type.Boolean({ description: "the owner's pause of this agent, which binds the wallet outside" }),
  restrictionsMoved: Type.Boolean({
    description: "this agent's pause and locks bind the wallet outside, until its owner lifts them",
  }),
});

export const ApprovalEventData = Type.Object({
  approvalId: Type.String(),
  orderId: Type.String(),
  status: Type.String({ description: 'waiting, approved or declined' }),
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  outcome: OrderOutcome,
  outcomeName: OutcomeName,
  side: Side,
  amount: Type.Number({ description: 'collateral, fees apart' }),
  waitsUntil: Type.String({ format: 'date-time', description: 'the owner can decide until then' }),
  approvedUntil: Nullable(
    Type.String({ format: 'date-time', description: 'send the same order again before' }),
  ),
});

export const ReceiptsHeadEventData = Type.Object({
  sequence: Type.Integer({ description: 'of the last receipt at that moment' }),
  hash: Type.String({ description: 'its SHA-256: keep both, outside the service' }),
});

export const TestEventData = Type.Object({ webhookId: Type.String(), message: Type.String() });

interface EventKind {
  readonly description: string;
  readonly data: TSchema;
}

const orderKind = (status: string): EventKind => ({
  description: `An order of the agent became \`${status}\`. Changes of the same moment make one event.`,
  data: OrderEventData,
});

export const WEBHOOK_EVENTS: Readonly<Record<string, EventKind>> = {
  ...Object.fromEntries(WEBHOOK_ORDER_STATUSES.map((status) => [`order.${status}`, orderKind(status)])),
  fill: { description: "A part of one of the agent's orders was executed.", data: FillEventData },
  'fill.reversed': {
    description:
      'The settlement of a fill failed on the chain: it never happened, and positions, results and budget are without it.',
    data: FillReversedEventData,
  },
  'market.resolved': {
    description:
      "A market was decided in which a wallet within the agent's reach holds a position, or the agent has an order open at that moment.",
    data: MarketResolvedEventData,
  },
  risk: { description: 'A risk alert of the briefing was raised.', data: RiskEventData },
  fee: { description: 'A fee was charged.', data: FeeEventData },
  'wallet.left': {
    description:
      "A wallet that the agent registered, linked or traded with is used by an agent of another owner now. The owner's console lists it, and what binds it there.",
    data: WalletLeftEventData,
  },
  'approval.asked': {
    description: 'A trade above approvalAbove waits for the owner.',
    data: ApprovalEventData,
  },
  'approval.decided': {
    description: 'The owner approved or declined an order. Approved: send the same order again.',
    data: ApprovalEventData,
  },
  ...Object.fromEntries(
    Object.entries(EXIT_EVENTS).map(([word, description]) => [
      `exit.${word}`,
      { description, data: ExitEventData },
    ]),
  ),
  'receipts.head': {
    description: "The end of the agent's chain of receipts, with the first receipts of each further UTC day.",
    data: ReceiptsHeadEventData,
  },
  'webhook.test': {
    description:
      'Requested with POST /webhooks/{id}/test; sent to every endpoint, also without a subscription.',
    data: TestEventData,
  },
};

/** Subscriptions of an endpoint. */
export const WEBHOOK_SUBSCRIPTIONS = [
  '*',
  'order.*',
  ...WEBHOOK_ORDER_STATUSES.map((status) => `order.${status}` as const),
  'fill',
  'fill.reversed',
  'market.resolved',
  'risk',
  'fee',
  'wallet.left',
  'approval.*',
  'approval.asked',
  'approval.decided',
  'exit.*',
  ...(Object.keys(EXIT_EVENTS) as ExitEvent[]).map((word) => `exit.${word}` as const),
  'receipts.head',
] as const;

const event = {
  id: Type.String({
    format: 'uuid',
    description: 'the same in every attempt: an event that was seen before is to be ignored',
  }),
  type: Type.String({ examples: ['order.filled'] }),
  createdAt: Iso,
  agentId: Type.String(),
  data: Type.Record(Type.String(), Type.Unknown(), { description: 'as described for its type' }),
};

/** An event as it is recorded. */
export const RecordedEvent = Type.Object(event);

/** The body that is sent, with its data as described for its type. */
export const WebhookEvent = Type.Object({
  ...event,
  sentAt: Type.String({
    format: 'date-time',
    description: 'of this attempt, under the signature: refuse a body that is older than five minutes',
  }),
});

/** A body sent longer ago is a replay, or very late. */
export const WEBHOOK_FRESH_MS = 5 * 60_000;

export type RecordedEvent = Static<typeof RecordedEvent>;
export type WebhookEvent = Static<typeof WebhookEvent>;

// Events of `GET /events` and `GET /markets/stream`. What webhooks send has the same types, ids and data here.

export const STREAM_LIMITS = {
  /** The most of both kinds together, on one replica. */
  streamsPerAgent: 10,
  streamsPerOwner: 10,
  /** That an owner's stream of events covers: the latest claimed. */
  agentsPerStream: 500,
  tokensPerStream: 50,
  cursorChars: 100,
  /** A stream on which nothing happens sends a comment so often. */
  heartbeatSeconds: 15,
} as const;

const POSITION_REASONS = [
  'trade',
  'redemption',
  'resolution',
  'split',
  'merge',
  'conversion',
  'reversal',
] as const;

export const PositionEventData = Type.Object({
  walletAddress: Type.String(),
  venue: Nullable(Type.String()),
  marketId: Nullable(Type.String()),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: Outcome,
  outcomeName: OutcomeName,
  reason: Type.Unsafe<(typeof POSITION_REASONS)[number]>(
    Type.Union(
      POSITION_REASONS.map((word) => Type.Literal(word)),
      { description: 'what changed it' },
    ),
  ),
  size: Type.Number({ description: 'held when the event was sent: a later change may be in it already' }),
  cost: Type.Number({ description: 'collateral paid for what is held' }),
  avgPrice: Type.Number({ description: 'cost for one share; 0 when nothing is held' }),
  realizedPnl: Type.Number(),
});

export const BalanceEventData = Type.Object({
  walletAddress: Type.String(),
  change: Type.Number({ description: 'collateral that came (positive) or went (negative), fees included' }),
  reason: Type.String({ description: 'trade, redemption, split, merge, reversal, or the kind of deposit' }),
  orderId: Nullable(Type.String()),
  tradeId: Nullable(Type.String()),
});

export const RedemptionEventData = Type.Object({
  walletAddress: Type.String(),
  venue: Nullable(Type.String()),
  marketId: Nullable(Type.String()),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: Outcome,
  outcomeName: OutcomeName,
  size: Type.Number({ description: 'tokens that were redeemed' }),
  payout: Type.Number({ description: 'collateral received for them' }),
});

export const SafeguardsEventData = Type.Object({
  tradingPaused: Type.Boolean({ description: "by the agent's own setting or by its owner" }),
  settings: Type.Record(Type.String(), Type.Unknown(), {
    description: 'the settings that changed, with their new values, by the names of GET /agents/settings',
  }),
  locks: Type.Record(Type.String(), Type.Unknown(), {
    description: "the owner's ceilings that changed; null: lifted",
  }),
});

export const VenueEventData = Type.Object({
  venue: Type.String(),
  ready: Type.Boolean(),
  status: Type.String({ description: '`ready`, or a sentence that says what is wrong' }),
});

export const ReadyEventData = Type.Object({
  resumed: Type.Boolean({ description: 'false: the stream begins now' }),
});

export const EndingEventData = Type.Object({
  reason: Type.String({
    description:
      'slow_consumer: more waited than is kept for one stream; cursor_gone: the log was cut while the stream caught up; key_revoked; reauthorised: the key is valid, its agent was claimed or released; session_ended; agents_changed: the owner has claimed another agent, or the account was recovered or that was undone; service_stopping',
  }),
  message: Type.String(),
});

const { 'webhook.test': _, ...reported } = WEBHOOK_EVENTS;

/** Recorded events: sent once to each stream, in one order, with an id to resume from. */
export const RECORDED_STREAM_EVENTS: Readonly<Record<string, EventKind>> = {
  ...reported,
  position: {
    description: 'A position of a wallet within reach changed, by any trader.',
    data: PositionEventData,
  },
  balance: {
    description: 'Collateral came to a wallet within reach, or left it.',
    data: BalanceEventData,
  },
  redemption: { description: 'Resolved tokens were paid out.', data: RedemptionEventData },
  safeguards: {
    description: "Safeguards of the agent changed: settings, owner's locks, a pause.",
    data: SafeguardsEventData,
  },
};

/** About the stream and the moment: not recorded. Their id is that of the last recorded event. */
export const CURRENT_STREAM_EVENTS: Readonly<Record<string, EventKind>> = {
  ready: {
    description: 'The first event. Everything that is recorded after it will follow.',
    data: ReadyEventData,
  },
  venue: {
    description: "A venue's status: of every venue when the stream begins, then of each change.",
    data: VenueEventData,
  },
  cursor: {
    description:
      'Nothing happened for a while; its id is newer, so that an idle client resumes without reading the past.',
    data: Type.Object({}),
  },
  dropped: {
    description: 'The stream ends, because the client or its cursor fell behind. Resume with the last id.',
    data: EndingEventData,
  },
  closing: {
    description: 'The stream ends. Resume with the last id unless the key was revoked or the session ended.',
    data: EndingEventData,
  },
};

const Level = Type.Object({ price: Type.String(), size: Type.String() });

const bookFields = {
  tokenId: Type.String(),
  sequence: Type.Integer({
    description: 'of the book after this event: rises with every change, not always by one',
  }),
  changedAt: Iso,
  checkedAt: Type.String({
    format: 'date-time',
    description: 'when the service last saw that nothing is newer',
  }),
};

export const BookEventData = Type.Object({
  ...bookFields,
  venue: Type.String(),
  marketConditionId: Type.String(),
  conditionId: OLDER_WORD,
  outcome: Outcome,
  outcomeName: OutcomeName,
  bids: Type.Array(Level, { description: 'best first' }),
  asks: Type.Array(Level, { description: 'best first' }),
  lastTrade: Nullable(Type.String()),
});

export const DeltaEventData = Type.Object({
  ...bookFields,
  previousSequence: Type.Integer({ description: 'of the event that this one continues' }),
  bids: Type.Array(Level, {
    description: 'levels that changed, with their new size; "0": the level is gone',
  }),
  asks: Type.Array(Level, { description: 'as in bids' }),
  lastTrade: Nullable(Type.String()),
});

export const GapEventData = Type.Object({
  tokenId: Type.String(),
  reason: Type.Union([Type.Literal('unavailable'), Type.Literal('ended'), Type.Literal('restarted')], {
    description:
      'unavailable: the venue or the leading replica does not answer; restarted: the venue counts anew; both: a `book` follows. ended: the market has no book any more',
  }),
  message: Type.String(),
});

export const FreshEventData = Type.Object({
  books: Type.Array(Type.Pick(BookEventData, ['tokenId', 'sequence', 'checkedAt']), {
    description: 'every followed book that can be read now',
  }),
});

/** The events of `GET /markets/stream`. They have no ids: a new stream begins with whole books. */
export const MARKET_STREAM_EVENTS: Readonly<Record<string, EventKind>> = {
  book: { description: 'A whole book: at the beginning and after a gap.', data: BookEventData },
  delta: { description: 'What changed in a book since the event before.', data: DeltaEventData },
  gap: { description: 'Continuity was lost: what is known of this book may be wrong.', data: GapEventData },
  fresh: { description: 'Nothing changed for a while: how recent each book is.', data: FreshEventData },
  dropped: { description: 'The stream ends, because the client did not keep up.', data: EndingEventData },
  closing: { description: 'The stream ends.', data: EndingEventData },
};

export type BookEventData = Static<typeof BookEventData>;
export type DeltaEventData = Static<typeof DeltaEventData>;
export type GapEventData = Static<typeof GapEventData>;
export type FreshEventData = Static<typeof FreshEventData>;
