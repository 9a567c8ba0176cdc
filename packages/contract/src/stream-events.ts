/**
 * Every type of event of `GET /events` and `GET /markets/stream` with its meaning and the schema of its data. Amounts are
 * JSON numbers, times ISO 8601. What webhooks send has the same types, ids and data here. New types and fields may be
 * added; a client ignores what it does not know.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { Iso, Nullable, OLDER_WORD, Outcome, OutcomeName } from './fields.ts';
import { WEBHOOK_EVENTS } from './webhook-events.ts';

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

interface StreamEventKind {
  readonly description: string;
  readonly data: TSchema;
}

const { 'webhook.test': _, ...reported } = WEBHOOK_EVENTS;

/** Recorded events: sent once to each stream, in one order, with an id to resume from. */
export const RECORDED_STREAM_EVENTS: Readonly<Record<string, StreamEventKind>> = {
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
export const CURRENT_STREAM_EVENTS: Readonly<Record<string, StreamEventKind>> = {
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
export const MARKET_STREAM_EVENTS: Readonly<Record<string, StreamEventKind>> = {
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
