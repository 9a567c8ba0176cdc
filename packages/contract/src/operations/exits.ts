/**
 * Guarded exits: SELL orders that an agent signed ahead and left with the desk, each with the trigger that sends it. The desk sends one
 * when its trigger holds in a book that it believes, with at most one effect, also when the agent is gone.
 */
import { type Static, Type } from 'typebox';
import {
  EitherVenueQuery,
  formed,
  HEX,
  Iso,
  Notice,
  Nullable,
  OutcomeName,
  OutcomeWord,
  OwnedAgent,
  PRINTABLE,
  pageQuery,
  text,
  Uuid,
  words,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { RESUMABLE_BY } from './agents.ts';
import { PasskeyOptions, PasskeySignIn } from './owners.ts';
import { placeTrade, SignedOrder, TradeRequest } from './trading.ts';

export const EXIT_LIMITS = {
  /** Exits of an agent that have not ended. */
  openPerAgent: 50,
  /** Ended ones that are kept; the oldest are forgotten. */
  keptPerAgent: 500,
  groupChars: 64,
  perPage: 100,
  seenAtOnce: 100,
  resumedAtOnce: 100,
  mostMinutesBeforeEnd: 7 * 24 * 60,
  /** Levels of the book that the record of a sent exit names. */
  bookLevels: 10,
} as const;

export const EXIT_TRIGGERS = [
  'price_at_or_below',
  'price_at_or_above',
  'time',
  'before_end',
  'silence',
] as const;
export const EXIT_STATUSES = [
  'armed',
  'suspended',
  'firing',
  'fired',
  'canceled',
  'expired',
  'failed',
] as const;

export const ExitTrigger = Type.Object(
  {
    kind: Type.Unsafe<(typeof EXIT_TRIGGERS)[number]>(
      words(
        EXIT_TRIGGERS,
        'price_at_or_below and price_at_or_above: what the book pays for the size of this exit, for two seconds; silence: the agent has made no request for its silenceSeconds',
      ),
    ),
    price: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        exclusiveMaximum: 1,
        description: 'of the two price triggers; collateral per share, at most four decimals',
      }),
    ),
    at: Type.Optional({ ...Iso, description: 'of a time trigger' }),
    minutes: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: EXIT_LIMITS.mostMinutesBeforeEnd,
        description: "of before_end: minutes before the market's endDate, which must be ahead",
      }),
    ),
  },
  { description: 'when the desk sends the order' },
);
export type ExitTrigger = Static<typeof ExitTrigger>;

export const ExitIdText = formed('^[\\w-]+$', 'the exitId of an answer, unchanged', {
  minLength: 1,
  maxLength: 64,
});

const { signature, ...unsignedFields } = SignedOrder.properties;

export const ExitRequest = Type.Object({
  ...TradeRequest.properties,
  validateOnly: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'checks the exit as it would be left and answers 200 with status "validated", without an exitId and without any effect. It takes the order without order.signature: who checks need hand out no signature',
    }),
  ),
  order: Type.Object({
    ...unsignedFields,
    signature: Type.Optional({
      ...signature,
      description:
        'as of POST /markets/trade; may be missing where validateOnly is true, and is not checked then',
    }),
  }),
  trigger: ExitTrigger,
  group: Type.Optional(
    text(EXIT_LIMITS.groupChars, {
      minLength: 1,
      description:
        'your own name, of one market and outcome, such as "101 YES": of the exits with it, the first whose order is placed cancels the rest',
    }),
  ),
  expiresAt: Type.Optional({ ...Iso, description: 'the desk forgets the exit then' }),
  replaces: Type.Optional({
    ...ExitIdText,
    description: 'exitId of an open exit that is canceled in the same commit',
  }),
});
export type ExitRequest = Static<typeof ExitRequest>;

const Price = (description: string) => Nullable(Type.Number({ description }));

export const GuardedExit = Type.Object({
  exitId: Type.String(),
  agentId: Type.String(),
  status: words(
    EXIT_STATUSES,
    'armed: it waits for its trigger; suspended: it protects nothing until it is resumed (resumableBy); firing: its order is being placed; fired: its order was placed',
  ),
  because: Nullable(
    Type.String({
      description:
        'why it has this status: pause, key_revoked or restored (suspended); by_agent, by_owner, replaced, group, position_closed, order_placed (canceled); market_ended (expired), or why the venue refused it (failed)',
    }),
  ),
  resumableBy: Nullable(
    words(
      RESUMABLE_BY,
      'of a suspended exit: agent, by POST /markets/exits/{exitId}/resume; owner, on the console. null: it is not suspended',
    ),
  ),
  trouble: Nullable(
    Type.Object(
      { code: Type.String(), message: Type.String() },
      { description: 'what would stop its order now, or stopped it last; the desk tries again' },
    ),
  ),
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: Type.String({ description: 'YES or NO' }),
  outcomeName: OutcomeName,
  walletAddress: Type.String(),
  orderId: Type.String({ description: 'of its order, once that is placed' }),
  orderType: Type.String(),
  size: Type.Number({ description: 'shares' }),
  worstPrice: Type.Number({ description: 'as it is signed' }),
  trigger: ExitTrigger,
  group: Nullable(Type.String()),
  endsAt: Nullable({
    ...Iso,
    description:
      'when it ends without having been sent: its own expiry or that of its order, whichever comes first',
  }),
  firesOnPause: Type.Boolean({
    description:
      "armed by the owner's passkey: while it is armed, a pause by the owner sends it, and none by the agent suspends it",
  }),
  needsApproval: Type.Optional(
    Type.Literal(true, {
      description: 'it is above approvalAbove: its owner is asked when its trigger holds',
    }),
  ),
  watch: Nullable(
    Type.Object(
      {
        bid: Price('best bid that the desk believes; null: none, so nothing is sold'),
        price: Price('average price that the book pays for the size, or for what it takes of it'),
        distance: Price("price less the trigger's price; null where one of them is missing"),
        note: Nullable(Type.String({ description: 'why the trigger cannot hold now' })),
      },
      { description: 'of an exit that has not ended; null: its venue does not answer' },
    ),
  ),
  fired: Nullable(
    Type.Object(
      {
        cause: words(['trigger', 'pause', 'owner'], 'what sent it'),
        at: Iso,
        heldSince: Nullable(Iso),
        bid: Price('best bid then'),
        price: Price('what the book paid for the size then'),
        sequence: Nullable(Type.Integer({ description: 'of the book' })),
        bids: Type.Array(
          Type.Object({ price: Type.Number(), size: Type.Number({ description: 'shares' }) }),
          {
            description: `of the book, best first; at most ${EXIT_LIMITS.bookLevels}`,
          },
        ),
      },
      { description: 'what triggered it, with the prices and the book of that moment' },
    ),
  ),
  createdAt: Iso,
  updatedAt: Iso,
});
export type GuardedExit = Static<typeof GuardedExit>;

/** The exit that is left, or, where it was only checked, as it would be. */
export const LeftExit = Type.Object({
  ...GuardedExit.properties,
  exitId: Type.Optional(Type.String({ description: 'missing where nothing was left: of a check' })),
  status: words(
    [...EXIT_STATUSES, 'validated'],
    'as of every exit; validated: it was checked, and nothing was left',
  ),
  signatureChecked: Type.Optional(
    Type.Boolean({ description: 'of a check: false where it had no signature to check' }),
  ),
  warnings: Type.Array(Notice, {
    description: 'what its terms do that may not be meant; nothing of it stops the exit',
  }),
});
export type LeftExit = Static<typeof LeftExit>;

/** Leaves a signed exit with the desk. The same signed order with the same trigger is idempotent. */
export const leaveExit = operation({
  id: 'leaveExit',
  method: 'POST',
  path: '/markets/exits',
  summary: 'Leave a signed SELL order with the desk, and say what sends it',
  description:
    'The body is that of POST /markets/trade with a trigger. The order is checked now as if it were placed, and again when it is sent; it is sealed like a credential. An armed exit keeps one of the trades of the day.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'trade',
  idempotent: true,
  repeatable: true,
  body: ExitRequest,
  unknownFields: 'refuse',
  validatesOnly: { when: 'validateOnly', status: 200, isUnsigned: true },
  status: 200,
  response: LeftExit,
  errors: [
    ...placeTrade.errors,
    'exit_price_out_of_range',
    'exit_trigger_out_of_range',
    'exit_order_already_used',
    'exit_group_mismatch',
    'exit_not_found',
    'exit_gone',
    'exit_limit_reached',
  ],
});

export const listExits = operation({
  id: 'listExits',
  method: 'GET',
  path: '/markets/exits',
  summary: 'Guarded exits of this agent, newest first, with the distance to their triggers',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object({
    venue: EitherVenueQuery,
    marketConditionId: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, pattern: PRINTABLE, ...HEX }),
    ),
    outcome: Type.Optional(OutcomeWord),
    status: Type.Optional(
      words(
        [...EXIT_STATUSES, 'open', 'ended'],
        'open: armed, suspended or firing; ended: all others. Without it both are listed',
      ),
    ),
    ...pageQuery(EXIT_LIMITS.perPage),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(GuardedExit),
  errors: ['unknown_venue', 'market_not_found', 'outcome_name_mismatch', 'contradictory_filter'],
});

export const getExit = operation({
  id: 'getExit',
  method: 'GET',
  path: '/markets/exits/{exitId}',
  summary: 'One guarded exit of this agent',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'read',
  params: Type.Object({ exitId: ExitIdText }),
  status: 200,
  response: GuardedExit,
  errors: ['exit_not_found'],
});

export const cancelExit = operation({
  id: 'cancelExit',
  method: 'POST',
  path: '/markets/exits/cancel',
  summary: 'Take a guarded exit back; its signed order is deleted',
  description: 'An exit that is being sent cannot be taken back: cancel its order.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  repeatable: true,
  body: Type.Object({ exitId: ExitIdText }),
  unknownFields: 'ignore',
  status: 200,
  response: GuardedExit,
  errors: ['exit_not_found', 'exit_gone'],
});

/** Arms an own exit again. The one that is armed already answers the same. */
export const resumeOwnExit = operation({
  id: 'resumeOwnExit',
  method: 'POST',
  path: '/markets/exits/{exitId}/resume',
  summary: 'Arm a suspended exit of an agent without an owner',
  description:
    'One exit at a time, so that each is looked at. A trigger that held while the exit was suspended must hold anew: the desk begins to watch now. Of a claimed agent only the owner resumes exits.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  repeatable: true,
  params: Type.Object({ exitId: ExitIdText }),
  status: 200,
  response: GuardedExit,
  errors: ['exit_not_found', 'exit_gone', 'locked_by_owner', 'trading_paused', 'max_trades_per_day_exceeded'],
});

export const SeenExits = Type.Object({
  exitIds: Type.Array(Type.String(), {
    description: 'those of the request that have ended: they are seen. An open exit is not',
  }),
});

export const seeExits = operation({
  id: 'seeExits',
  method: 'POST',
  path: '/markets/exits/seen',
  summary: 'Say that it was seen how exits ended: their exit_unguarded alert goes',
  description:
    "The agent's alert alone: the owner's stays until the owner has seen it. What the exits guarded stays unguarded.",
  tag: 'trading',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  repeatable: true,
  body: Type.Object({
    exitIds: Type.Array(ExitIdText, { minItems: 1, maxItems: EXIT_LIMITS.seenAtOnce }),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: SeenExits,
  errors: ['exit_not_found'],
});
export type SeenExits = Static<typeof SeenExits>;

const ofOwner = {
  tag: 'owners',
  permission: 'owner',
  sameOrigin: true,
  rateClass: 'exit',
  status: 200,
} as const;
const OwnedExit = Type.Object({ ...OwnedAgent.properties, exitId: ExitIdText });

export const OwnerExit = Type.Object({
  ...GuardedExit.properties,
  agentName: Type.String({ description: "the agent's own word, as plain text" }),
  marketTitle: Nullable(
    Type.String({
      description: "the market's question, written by third parties, as plain text; null: not known",
    }),
  ),
});
export type OwnerExit = Static<typeof OwnerExit>;

export const listOwnerExits = operation({
  id: 'listOwnerExits',
  method: 'GET',
  path: '/owner/exits',
  summary: 'Guarded exits of every agent of the signed-in owner, or of one, newest first',
  tag: 'owners',
  permission: 'owner',
  rateClass: 'read',
  query: Type.Object({
    agentId: Type.Optional(Uuid),
    status: listExits.query.properties.status,
    ...pageQuery(EXIT_LIMITS.perPage),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(OwnerExit),
  errors: ['agent_not_found', 'contradictory_filter'],
});

export const resumeExit = operation({
  ...ofOwner,
  id: 'resumeExit',
  method: 'POST',
  path: '/owner/agents/{agentId}/exits/{exitId}/resume',
  summary: 'Arm a suspended exit again',
  description:
    'A trigger that held while the exit was suspended must hold anew: the desk begins to watch now.',
  repeatable: true,
  params: OwnedExit,
  unknownFields: 'refuse',
  response: GuardedExit,
  errors: ['agent_not_found', 'exit_not_found', 'exit_gone', 'trading_paused', 'max_trades_per_day_exceeded'],
});

export const EXIT_ACTS = ['sell', 'arm_for_pause', 'disarm_for_pause'] as const;
const ExitAct = {
  act: words(
    EXIT_ACTS,
    'sell: send its order now; arm_for_pause: send it when the owner pauses the agent, which arms a suspended one again by the rules of resume; disarm_for_pause: take that back',
  ),
};

export const exitPasskeyOptions = operation({
  ...ofOwner,
  id: 'exitPasskeyOptions',
  method: 'POST',
  path: '/owner/agents/{agentId}/exits/{exitId}/passkey-options',
  summary: 'Begin to act on an exit: what the browser needs for the passkey, for this act alone',
  params: OwnedExit,
  body: Type.Object(ExitAct),
  unknownFields: 'refuse',
  response: PasskeyOptions,
  errors: ['agent_not_found', 'exit_not_found', 'exit_gone', 'trading_paused'],
});

export const actOnExit = operation({
  ...ofOwner,
  id: 'actOnExit',
  method: 'POST',
  path: '/owner/agents/{agentId}/exits/{exitId}/act',
  summary: 'Send an exit now, or arm it for a pause, with a passkey of the owner',
  description:
    'The desk holds no key: it can send only what the agent has signed. The passkey is the word for this very order: no pause of this owner and no approvalAbove stops it; everything else is judged, and without a believed bid nothing is sold.',
  repeatable: true,
  params: OwnedExit,
  // The browser's record is sent unchanged.
  body: Type.Object({ ...ExitAct, ...PasskeySignIn.properties }),
  unknownFields: 'ignore',
  response: GuardedExit,
  errors: [
    ...placeTrade.errors,
    'agent_not_found',
    'exit_not_found',
    'exit_gone',
    'exit_price_out_of_range',
    'believed_bid_required',
    'exit_liquidity_required',
    'passkey_challenge_expired',
    'passkey_rejected',
  ],
});

const resumed = {
  exitIds: Type.Array(ExitIdText, {
    minItems: 1,
    maxItems: EXIT_LIMITS.resumedAtOnce,
    description: 'those that the owner was shown: no other one is resumed',
  }),
  resumeTrading: Type.Boolean({
    description: 'true: trading goes on, too, as by POST /owner/pause; of agentId, or of every agent',
  }),
  agentId: Type.Optional({ ...Uuid, description: 'whose exits they are; without it, of every agent' }),
};
export const ResumedSet = Type.Object(resumed);
export type ResumedSet = Static<typeof ResumedSet>;

export const exitsPasskeyOptions = operation({
  ...ofOwner,
  id: 'exitsPasskeyOptions',
  method: 'POST',
  path: '/owner/exits/resume/passkey-options',
  summary: 'Begin to resume exits: what the browser needs for the passkey, for these exits alone',
  body: ResumedSet,
  unknownFields: 'refuse',
  response: PasskeyOptions,
  errors: ['agent_not_found', 'exit_not_found'],
});

export const ResumedExits = Type.Object({
  exitIds: Type.Array(Type.String(), { description: 'they are armed' }),
  notResumed: Type.Array(
    Type.Object({
      exitId: Type.String(),
      code: Type.String({ description: 'as POST /owner/agents/{agentId}/exits/{exitId}/resume refuses it' }),
      message: Type.String(),
    }),
  ),
});
export type ResumedExits = Static<typeof ResumedExits>;

export const resumeExits = operation({
  ...ofOwner,
  id: 'resumeExits',
  method: 'POST',
  path: '/owner/exits/resume',
  summary: 'Arm suspended exits again, and let trading go on, in one act with a passkey of the owner',
  description:
    'In one commit: agents do not trade before their exits are armed. Each exit is judged by itself, the oldest first, as by its own resume; one that cannot be armed holds up no other one. A trigger that held while an exit was suspended must hold anew.',
  repeatable: true,
  body: Type.Object({ ...resumed, ...PasskeySignIn.properties }),
  unknownFields: 'ignore',
  response: ResumedExits,
  errors: [
    'agent_not_found',
    'exit_not_found',
    'passkey_challenge_expired',
    'passkey_rejected',
    'service_unavailable',
  ],
});
