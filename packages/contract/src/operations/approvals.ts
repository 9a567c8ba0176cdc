/**
 * Approvals: a trade above the safeguard `approvalAbove` waits until the agent's owner has decided on it with a passkey. An
 * approval is for one order id; the agent then sends the same signed order again, which goes through every check.
 */
import { type Static, Type } from 'typebox';
import {
  HEX,
  Iso,
  LIMITS,
  label,
  lines,
  Nullable,
  note,
  OrderOutcome,
  OutcomeName,
  OwnedAgent,
  PRINTABLE,
  pageQuery,
  Side,
  Uuid,
  words,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { PasskeyOptions, PasskeySignIn } from './owners.ts';
import { TradeCheck } from './prepare-trade.ts';
import { QUOTE_DENIALS } from './quoted-orders.ts';

export const APPROVAL_LIMITS = {
  /** How long an undecided approval waits, unless its order ends before. */
  waitsMs: 24 * 3_600_000,
  /** How long an approved order can be sent, unless it ends before. */
  approvedMs: 10 * 60_000,
  /** Undecided ones of an agent; one more is not asked for. */
  waitingPerAgent: 20,
  /** The most approvals of an agent, decided or not; the oldest are forgotten. */
  keptPerAgent: 200,
  /** New approvals of an agent that are sent by event and webhook; further ones are only listed. */
  toldPerTenMinutes: 30,
  reasonChars: 300,
  perPage: 100,
} as const;

export const APPROVAL_STATUSES = ['waiting', 'approved', 'used', 'declined', 'expired'] as const;

const OF_EARLIER = 'null: asked for by an earlier release';

export const Approval = Type.Object({
  approvalId: Type.String(),
  agentId: Type.String(),
  agentName: Type.String({ description: 'plain text; the agent’s own word' }),
  orderId: Type.String({ description: 'the one order that it is for, with the terms of this record' }),
  status: words(
    APPROVAL_STATUSES,
    'waiting: for the owner; approved: send the same order until approvedUntil; used: that order was placed; expired: not decided, or approved and not sent, in time',
  ),
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: OrderOutcome,
  outcomeName: OutcomeName,
  side: Side,
  orderType: Type.String(),
  isLimitOrder: Nullable(
    Type.Boolean({ description: `false: it executes at once or not at all; ${OF_EARLIER}` }),
  ),
  postOnly: Nullable(Type.Boolean({ description: `it never takes what rests; ${OF_EARLIER}` })),
  deferExec: Nullable(Type.Boolean({ description: `the venue may execute it later; ${OF_EARLIER}` })),
  price: Type.Number({ description: 'the worst price that the order allows' }),
  orderSize: Type.Number({ description: 'shares' }),
  amount: Type.Number({
    description:
      'collateral, fees apart: what approvalAbove limits. Of a SELL what it may bring at the book of this moment',
  }),
  feeAtMost: Type.Number(),
  walletAddress: Type.String({ description: 'the account that pays' }),
  approvalAbove: Type.Number({ description: 'the limit when it was asked' }),
  book: Nullable(
    Type.Object(
      {
        shares: Type.Number({ description: 'of the order, that the book would have filled' }),
        averagePrice: Nullable(Type.Number()),
        worstPrice: Nullable(Type.Number()),
        cost: Type.Number({ description: 'collateral, before the fee' }),
        fee: Type.Number(),
        bestBid: Nullable(Type.Number()),
        bestAsk: Nullable(Type.Number()),
      },
      {
        description:
          'what the book showed when it was asked; of a quote what was quoted; null: the book could not be read',
      },
    ),
  ),
  checks: Type.Array(TradeCheck, { description: 'the verdict of the other safeguards, with their figures' }),
  untrustedText: Type.Object(
    {
      notice: Type.String(),
      marketQuestion: Type.String({ description: "the venue's title" }),
      agentsMarketQuestion: Nullable(
        Type.String({
          description: 'the marketQuestion of the request: the words of the agent; null: of a quote',
        }),
      ),
      reasoning: Nullable(Type.String()),
      source: Nullable(Type.String()),
      skillSlug: Nullable(Type.String()),
    },
    { description: 'texts of third parties and of the agent' },
  ),
  askedAt: Iso,
  waitsUntil: Type.String({ format: 'date-time', description: 'an owner can decide until then' }),
  orderEndsAt: Nullable(
    Type.String({ format: 'date-time', description: "the order's own end; null: it has none" }),
  ),
  decidedAt: Nullable(Iso),
  approvedUntil: Nullable(Iso),
  declineReason: Nullable(Type.String({ description: "the owner's words" })),
});

/** As its agent sees it. */
export const AgentApproval = Type.Object({
  ...Approval.properties,
  unsignedTransaction: Type.Optional(
    Type.String({ description: 'base64; of a quote, once it is approved and until it expires' }),
  ),
});

const ApprovalParams = Type.Object({
  approvalId: Uuid,
});

const page = {
  status: Type.Optional(words(APPROVAL_STATUSES, 'only those')),
  ...pageQuery(APPROVAL_LIMITS.perPage),
};

const ofAgent = { tag: 'trading', permission: 'agent', rateClass: 'read', status: 200 } as const;

export const listApprovals = operation({
  ...ofAgent,
  id: 'listApprovals',
  method: 'GET',
  path: '/agents/approvals',
  summary: 'Trades that this agent asked its owner to approve, newest first',
  description: `The last ${APPROVAL_LIMITS.keptPerAgent} are kept.`,
  query: Type.Object(page),
  unknownFields: 'refuse',
  response: Type.Array(Approval),
  errors: ['contradictory_filter'],
});

export const getApproval = operation({
  ...ofAgent,
  id: 'getApproval',
  method: 'GET',
  path: '/agents/approvals/{approvalId}',
  summary: 'Whether a trade is approved; of an approved quote with its transaction',
  description:
    'Approved: send the same signed order with the same options again before approvedUntil. An order that differs in a term, signed or not, asks again. A declined order stays declined.',
  params: ApprovalParams,
  response: AgentApproval,
  errors: ['approval_not_found'],
});

/** Asked explicitly: prices are quoted much more often than they are traded. */
export const askQuoteApproval = operation({
  ...ofAgent,
  id: 'askQuoteApproval',
  method: 'POST',
  path: '/venueb/agent/approval',
  tag: 'venue-b',
  rateClass: 'trade',
  idempotent: true,
  summary: 'Ask the owner to approve a quote whose quoteErrorCode is approval_required',
  description:
    'The quote ends with its blockhash, about a minute after it was made: the owner decides and the transaction is submitted before its expiresAt, or a new quote asks again. The same quote gets the same approval.',
  body: Type.Object({
    quoteId: Type.String({ minLength: 1, maxLength: 64, pattern: PRINTABLE, ...HEX }),
    reasoning: note(LIMITS.reasoningChars),
    source: label(LIMITS.sourceChars, 'suggested form sdk:<strategy-name>'),
    skillSlug: label(LIMITS.skillSlugChars),
  }),
  unknownFields: 'refuse',
  response: AgentApproval,
  errors: [
    'quote_not_found',
    'quote_not_executable',
    'quote_expired',
    'quote_already_used',
    ...QUOTE_DENIALS,
    'approval_not_required',
    'service_unavailable',
  ],
});

/** The service's own pages send the browser's record unchanged. */
const ofOwner = { tag: 'owners', permission: 'owner', status: 200, sameOrigin: true } as const;
const read = { ...ofOwner, sameOrigin: false, rateClass: 'read' } as const;

export const listOwnerApprovals = operation({
  ...read,
  id: 'listOwnerApprovals',
  method: 'GET',
  path: '/owner/approvals',
  summary: "What the signed-in owner's agents asked to approve, newest first",
  query: Type.Object({ ...page, agentId: Type.Optional(ApprovalParams.properties.approvalId) }),
  unknownFields: 'refuse',
  response: Type.Array(Approval),
  errors: ['agent_not_found', 'contradictory_filter'],
});

export const getOwnerApproval = operation({
  ...read,
  id: 'getOwnerApproval',
  method: 'GET',
  path: '/owner/approvals/{approvalId}',
  summary: 'One of them',
  params: ApprovalParams,
  response: Approval,
  errors: ['approval_not_found'],
});

export const approvalPasskeyOptions = operation({
  ...ofOwner,
  id: 'approvalPasskeyOptions',
  method: 'POST',
  path: '/owner/approvals/{approvalId}/passkey-options',
  summary: 'Begin to approve: what the browser needs for the passkey, for this approval alone',
  rateClass: 'exit',
  params: ApprovalParams,
  response: PasskeyOptions,
  errors: ['approval_not_found', 'approval_gone'],
});

/** An approval needs the person, not only the browser's session. */
export const approveTrade = operation({
  ...ofOwner,
  id: 'approveTrade',
  method: 'POST',
  path: '/owner/approvals/{approvalId}/approve',
  summary: 'Approve this order with a passkey of the owner',
  description: `The answer of the passkey to the challenge of passkey-options. The same signed order can then be placed for ten minutes, or until it ends. Approving what is approved answers the same.`,
  rateClass: 'exit',
  repeatable: true,
  params: ApprovalParams,
  body: PasskeySignIn,
  unknownFields: 'ignore',
  response: Approval,
  errors: ['approval_not_found', 'approval_gone', 'passkey_challenge_expired', 'passkey_rejected'],
});

export const declineTrade = operation({
  ...ofOwner,
  id: 'declineTrade',
  method: 'POST',
  path: '/owner/approvals/{approvalId}/decline',
  summary: 'Decline this order; the agent reads the reason',
  rateClass: 'exit',
  duringRecovery: true,
  repeatable: true,
  params: ApprovalParams,
  body: Type.Object({ reason: Type.Optional(Nullable(lines(APPROVAL_LIMITS.reasonChars))) }),
  bodyOptional: true,
  unknownFields: 'refuse',
  response: Approval,
  errors: ['approval_not_found', 'approval_gone'],
});

/** For an agent that floods its owner: one act. */
export const declineAllTrades = operation({
  ...ofOwner,
  id: 'declineAllTrades',
  method: 'POST',
  path: '/owner/agents/{agentId}/decline-all',
  summary: 'Pause an agent, and decline everything of it that waits for approval',
  description:
    'A declined order stays declined, however many others were asked since. The agent reads the reason.',
  rateClass: 'exit',
  duringRecovery: true,
  idempotent: true,
  params: OwnedAgent,
  body: declineTrade.body,
  bodyOptional: true,
  unknownFields: 'refuse',
  response: Type.Object({ declined: Type.Integer(), paused: Type.Boolean() }),
  errors: ['agent_not_found'],
});

export type Approval = Static<typeof Approval>;
export type AgentApproval = Static<typeof AgentApproval>;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
