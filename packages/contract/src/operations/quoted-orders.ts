/**
 * Quoted orders, for markets that are Solana tokens. Quote → signed on the agent's machine → submitted; then the fee. Interface
 * 2.9–2.11, 4.12 and 4.13.
 */
import { type Static, Type } from 'typebox';
import {
  alias,
  CancelAfterMs,
  CHAIN_STATUS_WORDS,
  ClientOrderId,
  formed,
  HEX,
  Iso,
  LIMITS,
  label,
  Nullable,
  note,
  OutcomeName,
  PRINTABLE,
  pageQuery,
  refusedBecause,
  text,
  VenueRefusalCode,
  words,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { QUOTE_ERRORS } from '../quote-errors.ts';
import { CAP_DENIALS } from '../safeguards.ts';
import { Position } from './markets.ts';
import { JournalEntry } from './trading.ts';

/** The safeguards of quoted orders. A quote answers them as its `quoteErrorCode`, a submit as its refusal. */
export const QUOTE_DENIALS = ['trading_paused', 'claim_required', ...CAP_DENIALS] as const;

const Base58Address = (description: string) =>
  Type.String({ minLength: 1, maxLength: LIMITS.solanaAddressChars, pattern: PRINTABLE, description });

const Atoms = (description: string) => Type.String({ description: `${description}, in millionths` });

/** A union typed by its literals, which a mapped array would lose. */
const oneOf = <const Word extends string>(...words: readonly Word[]) =>
  Type.Unsafe<Word>(Type.Union(words.map((word) => Type.Literal(word))));

/** Interface 2.9. Six decimals at most. */
export const QuoteRequest = Type.Object({
  marketTicker: text(LIMITS.marketTickerChars, { minLength: 1 }),
  side: oneOf('YES', 'NO', 'yes', 'no'),
  action: oneOf('BUY', 'SELL', 'buy', 'sell'),
  amount: Type.Optional(
    Type.Number({
      minimum: 0.000001,
      maximum: 1e12,
      description: 'BUY: collateral to spend at most, fees included',
    }),
  ),
  shares: Type.Optional(Type.Number({ minimum: 0.000001, maximum: 1e12, description: 'SELL: contracts' })),
  userPublicKey: Type.Optional(
    Base58Address("the wallet that pays and signs; the agent's solAddress when left out"),
  ),
  destinationWallet: Type.Optional(Base58Address('who receives; the paying wallet when left out')),
});

const OF_A_MARKET = 'absent where the venue named no market';

/** Interface 2.10. */
export const Quote = Type.Object({
  quoteId: Type.String({ description: 'valid until expiresAt, for this agent, once' }),
  venue: Type.String(),
  marketTicker: Type.String(),
  marketId: Type.String(),
  title: Type.Optional(Type.String({ description: `written by third parties; ${OF_A_MARKET}` })),
  status: Type.Optional(Type.String({ description: `active, inactive, closed or settled; ${OF_A_MARKET}` })),
  side: Type.String(),
  outcomeName: OutcomeName,
  action: Type.String(),
  amount: Type.Optional(Type.String()),
  shares: Type.Optional(Type.String()),
  yesPrice: Type.Optional(Type.String({ description: OF_A_MARKET })),
  noPrice: Type.Optional(Type.String({ description: OF_A_MARKET })),
  yesMint: Type.Optional(Type.String({ description: OF_A_MARKET })),
  noMint: Type.Optional(Type.String({ description: OF_A_MARKET })),
  inputMint: Type.Optional(Type.String({ description: OF_A_MARKET })),
  outputMint: Type.Optional(Type.String({ description: OF_A_MARKET })),
  scaledAmount: Atoms('the amount of the request'),
  inAmount: Type.Optional(Atoms('the most that is taken')),
  outAmount: Type.Optional(Atoms('expected, after fees')),
  minOutAmount: Type.Optional(Atoms('less than this reverts')),
  priceImpactPercent: Type.Optional(
    Type.Number({
      description: 'how far the order would move the price; absent where the venue does not say',
    }),
  ),
  unsignedTransaction: Type.Optional(
    Type.String({ description: 'base64; absent from previews and where quoteErrorCode is present' }),
  ),
  expiresAt: Type.Number({
    description:
      'epoch milliseconds; about two minutes ahead, less where the blockhash of the transaction ends sooner. There is no renewal: ask for a new quote',
  }),
  previewOnly: Type.Boolean({ description: 'true: no wallet is known, so there is nothing to sign' }),
  isRedemption: Type.Boolean({ description: 'true: the market is settled and the tokens are paid out' }),
  kycRequired: Type.Boolean(),
  geoblocked: Type.Boolean(),
  quoteErrorCode: Type.Optional(
    Type.String({ description: [...Object.keys(QUOTE_ERRORS), ...QUOTE_DENIALS].join(', ') }),
  ),
  quoteErrorMessage: Type.Optional(Type.String()),
});

const shared = { tag: 'venue-b', permission: 'agent' } as const;

export const quoteVenueB = operation({
  ...shared,
  id: 'quoteVenueB',
  method: 'POST',
  path: '/venueb/agent/quote',
  summary: 'Ask for a price and the transaction that would trade at it',
  description:
    'BUY takes amount (collateral), SELL takes shares. Nothing is promised by a quote: the fill comes later, by the venue, at no less than minOutAmount or not at all. What the safeguards would deny now is answered without a transaction, with their code as quoteErrorCode. A SELL of the winning outcome of a settled market redeems it, and no safeguard stands in its way.',
  rateClass: 'search',
  deadlineMs: 30_000,
  idempotent: true,
  body: QuoteRequest,
  unknownFields: 'refuse',
  status: 200,
  response: Quote,
  errors: [
    'amount_required',
    'shares_required',
    'amount_not_allowed',
    'shares_not_allowed',
    'too_many_decimals',
    'invalid_solana_address',
  ],
});

const quotedAtoms = Type.Optional(
  formed('^[0-9]{1,20}$', 'a whole number as text', {
    description: 'as the quote says it; checked when sent',
  }),
);

export const SubmitRequest = Type.Object({
  quoteId: Type.String({ minLength: 1, maxLength: 64, pattern: PRINTABLE, ...HEX }),
  signedTransaction: Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: PRINTABLE,
    description: 'base64',
  }),
  marketTicker: Type.Optional(text(LIMITS.marketTickerChars)),
  side: Type.Optional(QuoteRequest.properties.side),
  action: Type.Optional(QuoteRequest.properties.action),
  amount: Type.Optional(QuoteRequest.properties.amount),
  shares: Type.Optional(QuoteRequest.properties.shares),
  userPublicKey: QuoteRequest.properties.userPublicKey,
  destinationWallet: QuoteRequest.properties.destinationWallet,
  inAmount: quotedAtoms,
  outAmount: quotedAtoms,
  minOutAmount: quotedAtoms,
  reasoning: note(LIMITS.reasoningChars),
  source: label(LIMITS.sourceChars, 'suggested form sdk:<strategy-name>'),
  skillSlug: label(LIMITS.skillSlugChars),
  cancelAfterMs: Type.Optional(CancelAfterMs),
  clientOrderId: Type.Optional({
    ...ClientOrderId,
    description:
      'your own name for this order. It belongs to the first order that is recorded under it, for as long as the desk keeps that order: another one under it is 409 client_order_id_already_used, unless the first was refused or ended unsent',
  }),
});

export const SubmitResponse = Type.Object({
  success: Type.Boolean({ description: 'false: it was proved at once that nothing will be executed' }),
  orderId: Type.String(),
  venueOrderId: Type.String({ description: 'the signature of the transaction' }),
  status: words(['submitted', 'failed'], 'submitted: on its way; a landed transaction is not a fill yet'),
  orderStatus: Type.Integer({ description: '1 live, 2 matched, 3 canceled, 4 market resolved, 5 invalid' }),
  txSignature: Type.String(),
  txHash: Type.String({ description: 'the same as txSignature' }),
  filledSize: Type.Number(),
  avgPrice: Nullable(Type.Number()),
  syncedToMkOrder: Type.Boolean(),
  syncedToStrategyLog: Type.Boolean(),
  venue: Type.String(),
  aiAgentId: Type.String(),
  userId: Type.String(),
  submittedAt: Iso,
  ...refusedBecause,
});

/** A signed transaction has one effect, so the client repeats it after a broken connection. */
export const submitVenueB = operation({
  ...shared,
  id: 'submitVenueB',
  method: 'POST',
  path: '/venueb/agent/submit',
  repeatable: true,
  summary: 'Submit the signed transaction of a quote',
  description:
    'It is broadcast only if its message is, byte for byte, the one that was quoted, and every signature is present and valid. The same signed transaction gets the same answer again. Its outcome: GET /venueb/agent/orders/{orderId}.',
  rateClass: 'trade',
  deadlineMs: 25_000,
  idempotent: true,
  body: SubmitRequest,
  unknownFields: 'refuse',
  status: 200,
  response: SubmitResponse,
  errors: [
    'quote_not_found',
    'quote_not_executable',
    'quote_expired',
    'order_already_placed',
    'quote_already_used',
    'client_order_id_already_used',
    'quote_mismatch',
    'transaction_malformed',
    'transaction_version_not_supported',
    'transaction_mismatch',
    'transaction_not_signed',
    'transaction_signature_invalid',
    'transaction_would_fail',
    ...QUOTE_DENIALS,
    'idempotency_in_flight',
  ],
});

export const QuotedOrder = Type.Object({
  orderId: Type.String(),
  venueOrderId: Type.String(),
  quoteId: Type.String(),
  venue: Type.String(),
  status: words(CHAIN_STATUS_WORDS, 'a landed transaction is open until the venue has filled or reverted it'),
  orderStatus: Type.Integer({ description: '1 live, 2 matched, 3 canceled, 4 market resolved, 5 invalid' }),
  marketTicker: Type.String(),
  title: Type.String(),
  side: Type.String({ description: 'YES or NO' }),
  outcomeName: OutcomeName,
  action: Type.String({ description: 'BUY or SELL' }),
  isRedemption: Type.Boolean(),
  inputMint: Type.String(),
  outputMint: Type.String(),
  inAmount: Atoms('the most that is taken'),
  outAmount: Atoms('quoted'),
  minOutAmount: Atoms('less than this reverts'),
  filledSize: Type.Number({ description: 'contracts' }),
  filledAmount: Type.Number({ description: 'collateral paid or received for them, fees apart' }),
  avgPrice: Nullable(Type.Number()),
  feePaid: Type.Number({ description: "the venue's; the platform's fee is charged apart" }),
  walletAddress: Type.String(),
  txSignature: Type.String(),
  txHash: Type.String(),
  lastValidBlockHeight: Type.Integer(),
  cancelAt: Nullable(Iso),
  reasoning: Nullable(Type.String()),
  source: Nullable(Type.String()),
  skillSlug: Nullable(Type.String()),
  clientOrderId: Nullable(Type.String({ description: 'the name that the agent gave it' })),
  errorCode: Nullable(VenueRefusalCode),
  errorMessage: Nullable(Type.String()),
  fix: Nullable(Type.String({ description: 'what to do next about errorCode' })),
  createdAt: Iso,
  updatedAt: Iso,
});

export const QuotedOrderDetail = Type.Object({
  ...QuotedOrder.properties,
  fills: Type.Array(
    Type.Object({
      txSignature: Type.String(),
      price: Type.Number(),
      size: Type.Number(),
      cost: Type.Number({ description: 'collateral, before the fee' }),
      fee: Type.Number(),
      filledAt: Iso,
    }),
  ),
  reverts: Type.Array(
    Type.Object({ txSignature: Type.String(), mint: Type.String(), amount: Atoms('what came back') }),
  ),
  journal: Type.Array(JournalEntry),
});

export const listVenueBOrders = operation({
  ...shared,
  id: 'listVenueBOrders',
  method: 'GET',
  path: '/venueb/agent/orders',
  summary: "The agent's orders on venue B, newest first",
  rateClass: 'read',
  query: Type.Object({
    marketTicker: Type.Optional(text(LIMITS.marketTickerChars, { minLength: 1 })),
    orderStatus: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    clientOrderId: Type.Optional(ClientOrderId),
    ...pageQuery(LIMITS.ordersPerPage),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(QuotedOrder),
  errors: ['contradictory_filter'],
});

/** @param orderId the quote's id, or the transaction's signature */
export const getVenueBOrder = operation({
  ...shared,
  id: 'getVenueBOrder',
  method: 'GET',
  path: '/venueb/agent/orders/{orderId}',
  summary: 'One order with its fills, its reverts, and the journal of what happened',
  rateClass: 'read',
  params: Type.Object({
    orderId: Type.String({ minLength: 1, maxLength: 128, ...HEX, description: 'orderId or venueOrderId' }),
  }),
  status: 200,
  response: QuotedOrderDetail,
  errors: ['order_not_found'],
});

export const QuotedCancelRequest = Type.Object({
  orderId: Type.Optional(Type.String({ minLength: 1, maxLength: 128, pattern: PRINTABLE, ...HEX })),
  venueOrderId: Type.Optional(Type.String({ minLength: 1, maxLength: 128, pattern: PRINTABLE })),
});

export const QuotedCancelResponse = Type.Object({
  canceled: Type.Array(Type.String()),
  notCanceled: Type.Record(Type.String(), Type.String(), { description: 'order id → reason' }),
  syncedToMkOrder: Type.Boolean(),
});

export const cancelVenueBOrder = operation({
  ...shared,
  id: 'cancelVenueBOrder',
  method: 'POST',
  path: '/venueb/agent/cancel',
  summary: 'Cancel orders that have not reached the chain',
  description:
    'A quote that was not submitted is withdrawn. A transaction that may have been broadcast cannot be called back: it lands, or dies with its blockhash soon after the quote’s expiresAt. Never blocked by a safeguard.',
  rateClass: 'exit',
  idempotent: true,
  body: QuotedCancelRequest,
  unknownFields: 'ignore',
  status: 200,
  response: QuotedCancelResponse,
  errors: ['order_not_found', 'order_id_required'],
});

export const ChainPosition = Type.Object({
  ...Position.properties,
  marketTicker: Type.String(),
  mint: Type.String({ description: 'the outcome token; the same as tokenId' }),
  marketStatus: Type.String({
    description:
      'active, inactive, closed or settled; unknown: the venue calls the token its own and names no market of it that can be read. Then names and price are those of what this desk traded, or empty and 0',
  }),
});

const positionsResponse = {
  unknownFields: 'refuse',
  rateClass: 'read',
  status: 200,
  response: Type.Array(ChainPosition),
  errors: ['wallet_not_found', 'invalid_solana_address', 'service_unavailable'],
} as const;
const userPublicKey = Type.Optional(
  Base58Address("a wallet within the agent's reach; all of them and the agent's solAddress when left out"),
);

export const listVenueBPositions = operation({
  ...shared,
  ...positionsResponse,
  id: 'listVenueBPositions',
  method: 'GET',
  path: '/venueb/agent/positions',
  summary: 'What a wallet holds on venue B, read from the chain',
  description:
    'size is what the wallet holds on chain now, however it came there; cost and P&L are of what this desk traded.',
  query: Type.Object({ userPublicKey }),
});

export const listVenueBPositionsByPost = operation({
  ...shared,
  ...positionsResponse,
  id: 'listVenueBPositionsByPost',
  method: 'POST',
  path: '/venueb/agent/positions',
  repeatable: true,
  summary: 'The same by POST, for clients of this field',
  body: Type.Object({ userPublicKey }),
});

/** Interface 2.11. The schema accepts any value, so that each fault gets its own error code. */
export const FeeChargeRequest = Type.Object({
  amount: Type.Optional(Type.Unknown({ description: 'collateral as a decimal text, at most 6 decimals' })),
  fromAddress: Type.Optional(
    Type.Unknown({ description: "the user's wallet: owner of the collateral account" }),
  ),
});

export const FeeChargeResponse = Type.Object({
  id: Type.String({ description: "the signing provider's id of the transaction" }),
  status: Type.String({ description: 'BROADCASTED' }),
  txSignature: Type.String(),
  fromAddress: Type.String(),
  toAddress: Type.String({ description: "the platform's wallet" }),
  amount: Type.String(),
});

const feeCharge = {
  ...shared,
  method: 'POST',
  rateClass: 'trade',
  deadlineMs: 75_000,
  idempotent: true,
  body: FeeChargeRequest,
  unknownFields: 'refuse',
  status: 200,
  response: FeeChargeResponse,
  errors: [
    'fee_amount_required',
    'invalid_fee_amount',
    'fee_amount_too_large',
    'from_address_required',
    'invalid_solana_address',
    'delegate_equals_owner',
    'token_account_not_found',
    'delegation_insufficient',
    'insufficient_balance',
    'blocked_by_policy',
    'wallet_not_yours',
    'signing_failed',
    'broadcast_failed',
    'fee_outcome_unknown',
    'service_unavailable',
  ],
} as const;

/** Without an idempotencyKey every call charges. */
export const chargeFee = operation({
  ...feeCharge,
  id: 'chargeFee',
  path: '/venueb/charge-fee',
  summary: 'Charge the platform fee of a venue B order by the delegation that the wallet granted',
  description:
    'The caller says how much; nothing is recomputed. Without an Idempotency-Key every call charges; with one, the same charge happens once, also when a call fails and is repeated.',
});

/** Without an idempotencyKey every call charges. */
export const chargeFeeByAgent = operation({
  ...feeCharge,
  id: 'chargeFeeByAgent',
  path: '/venueb/agent/charge-fee',
  summary: 'The same for agents',
});

export const Delegation = Type.Object({
  walletAddress: Type.String(),
  delegate: Type.String({ description: 'the platform key that charges the fee: what to approve' }),
  feeWallet: Type.String({ description: 'where fees go' }),
  mint: Type.String({ description: 'collateral' }),
  tokenProgram: Type.String(),
  decimals: Type.Integer(),
  tokenAccount: Type.String({ description: "the wallet's associated token account" }),
  exists: Type.Boolean(),
  balance: Type.String({ description: 'collateral in the account' }),
  delegatedAmount: Type.String({
    description: 'what the platform may still take; 0 when another delegate is set',
  }),
  maxFeeCharge: Type.String(),
  rpcUrl: Nullable(
    Type.String({
      description: 'the JSON-RPC of the paper chain; null on a live one, where you bring your own',
    }),
  ),
});

export const getDelegation = operation({
  ...shared,
  id: 'getDelegation',
  method: 'GET',
  path: '/venueb/agent/delegation',
  summary: 'What a wallet has delegated to the platform, and to whom to delegate',
  rateClass: 'read',
  query: Type.Object(
    {
      walletAddress: Type.Optional(Base58Address("the agent's solAddress when left out")),
      address: Type.Optional(Base58Address('the same as walletAddress')),
    },
    alias('address', 'walletAddress'),
  ),
  status: 200,
  response: Delegation,
  errors: ['from_address_required', 'invalid_solana_address', 'service_unavailable'],
});

export type QuoteRequest = Static<typeof QuoteRequest>;
export type Quote = Static<typeof Quote>;
export type SubmitRequest = Static<typeof SubmitRequest>;
export type SubmitResponse = Static<typeof SubmitResponse>;
export type QuotedOrder = Static<typeof QuotedOrder>;
export type QuotedOrderDetail = Static<typeof QuotedOrderDetail>;
export type QuotedCancelRequest = Static<typeof QuotedCancelRequest>;
export type QuotedCancelResponse = Static<typeof QuotedCancelResponse>;
export type ChainPosition = Static<typeof ChainPosition>;
export type FeeChargeRequest = Static<typeof FeeChargeRequest>;
export type FeeChargeResponse = Static<typeof FeeChargeResponse>;
export type Delegation = Static<typeof Delegation>;
