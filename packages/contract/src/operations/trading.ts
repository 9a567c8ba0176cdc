/** Signed orders: placed alone or together, read, and canceled; and their fills. */
import { type Static, Type } from 'typebox';
import {
  Address,
  Amount,
  alias,
  CancelAfterMs,
  CHAIN_STATUS_WORDS,
  ClientOrderId,
  EitherVenueQuery,
  ExchangeV3,
  formed,
  HEX,
  Iso,
  LIMITS,
  label,
  lines,
  Nullable,
  note,
  ORDER_STATUS_WORDS,
  OrderType,
  OutcomeName,
  OutcomeWord,
  PRINTABLE,
  Problem,
  pageQuery,
  refusedBecause,
  SignatureType,
  TickSizeText,
  text,
  UintText,
  unused,
  VenueRefusalCode,
  words,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { CAP_DENIALS } from '../safeguards.ts';

/** Judged by the order profile: one drops the field with any value, the other signs it. */
const deprecatedField = <T>(form: string) =>
  Type.Optional(
    Type.Unsafe<T>({
      deprecated: true,
      description: `dropped under the order profile 'interface', with any content; required under 'polymarket': ${form}`,
    }),
  );

/** Interface 2.6. `salt` may also come as text and `side` as 0 or 1: the venue's own client sends these. */
export const SignedOrder = Type.Object({
  maker: Address,
  signer: Address,
  taker: Type.Optional(Address),
  tokenId: UintText,
  makerAmount: UintText,
  takerAmount: UintText,
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL'), Type.Literal(0), Type.Literal(1)]),
  expiration: Type.Optional(UintText),
  nonce: Type.Optional(UintText),
  feeRateBps: Type.Optional(UintText),
  signature: formed('^0x([a-fA-F0-9]{2})+$', '0x and hex digits, two for each byte', {
    maxLength: 4096,
    description: 'EIP-712 signature: 65 bytes, or the wrapped ERC-7739 form for deposit wallets',
  }),
  salt: Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), UintText], {
    description: 'random, at most 2^53−1',
  }),
  signatureType: SignatureType,
  timestamp: deprecatedField<string | number>('epoch milliseconds, as text or number'),
  metadata: deprecatedField<string>('0x and 64 hex digits'),
  builder: deprecatedField<string>('0x and 64 hex digits'),
});

/** Interface 2.5. */
export const TradeRequest = Type.Object({
  venue: Type.Optional(text(LIMITS.venueChars, { minLength: 1 })),
  marketConditionId: Type.String({ minLength: 1, maxLength: 100, pattern: PRINTABLE, ...HEX }),
  marketQuestion: lines(LIMITS.marketQuestionChars),
  outcome: OutcomeWord,
  orderSize: Type.Number({
    exclusiveMinimum: 0,
    maximum: 1e12,
    description:
      'shares: takerAmount of a BUY, makerAmount of a SELL, from which it may differ by less than 0.01. The signed amounts are what is executed',
  }),
  price: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, description: 'collateral per share' }),
  isLimitOrder: Type.Optional(Type.Boolean({ default: true })),
  orderType: Type.Optional(OrderType),
  walletAddress: Type.Optional(Address),
  owner: Type.Optional(text(LIMITS.ownerChars)),
  deferExec: Type.Optional(Type.Boolean({ default: false })),
  orderVersion: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)])),
  tickSize: Type.Optional(TickSizeText),
  negRisk: Type.Optional(Type.Boolean()),
  funderAddress: Type.Optional(Address),
  postOnly: Type.Optional(Type.Boolean({ default: false })),
  feeAmount: Type.Optional(Amount('recorded for market orders, ignored for limit orders')),
  reasoning: note(LIMITS.reasoningChars),
  source: label(LIMITS.sourceChars, 'suggested form sdk:<strategy-name>'),
  skillSlug: label(LIMITS.skillSlugChars),
  cancelAfterMs: Type.Optional(CancelAfterMs),
  clientOrderId: Type.Optional({
    ...ClientOrderId,
    description:
      'your own name for this order. It belongs to the first order that is recorded under it, for as long as the desk keeps that order: another one under it is 409 client_order_id_already_used, unless the first was refused',
  }),
  expirationTime: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'GTD expiration in milliseconds',
      default: 0,
    }),
  ),
  validateOnly: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'checks everything up to the venue and answers 200 with status "validated", without any effect: nothing is recorded, reserved or sent',
    }),
  ),
  order: SignedOrder,
});

const FILLED_SIZE =
  'shares. An immediate BUY spends makerAmount, so at better prices than its limit it receives more shares than orderSize says';

/** Interface 2.7, with the venue's reason when it refuses. */
export const TradeResponse = Type.Object({
  success: Type.Boolean({ description: 'false: the venue refused; errorCode says why' }),
  orderId: Type.String({ description: 'the EIP-712 digest of the signed order' }),
  status: words(
    ['live', 'matched', 'delayed', 'unmatched', 'rejected', 'validated'],
    'of the first answer; rejected when success is false; validated when nothing was sent',
  ),
  validateOnly: Type.Optional(
    Type.Literal(true, { description: 'present where the request asked for checks only' }),
  ),
  orderVersion: Type.Integer(),
  exchangeVersion: Type.Optional(ExchangeV3),
  collateralSymbol: Type.String(),
  walletAddress: Type.String(),
  signatureType: SignatureType,
  aiAgentId: Type.String(),
  userId: Type.String(),
  syncedToMkOrder: Type.Boolean({ description: 'the outcome is recorded' }),
  syncedToStrategyLog: Type.Boolean({ description: 'the journal row is written' }),
  submittedAt: Iso,
  filledSize: Type.Number({ description: FILLED_SIZE }),
  avgPrice: Nullable(Type.Number()),
  feePaid: Type.Number(),
  ...refusedBecause,
});

export const Fill = Type.Object({
  tradeId: Type.String(),
  price: Type.Number(),
  size: Type.Number(),
  cost: Type.Number({ description: 'collateral, before the fee' }),
  fee: Type.Number(),
  liquidity: Type.String({ description: 'maker or taker' }),
  matchKind: Type.String({
    description:
      'COMPLEMENTARY, MINT or MERGE; SPLIT or MERGED: a share of full sets; CONVERTED: a part of a conversion; on venue B DFLOW or REDEEM',
  }),
  filledAt: Iso,
});

/** A fill with its order: what an agent bought or sold, on any venue. */
export const AgentFill = Type.Object({
  ...Fill.properties,
  orderId: Type.String(),
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: Type.String(),
  outcomeName: OutcomeName,
  side: Type.String(),
  walletAddress: Type.String({ description: 'the account whose position it moved' }),
  txSignature: Nullable(
    Type.String({
      description: "the venue's transaction; null where fills are no transactions of their own",
    }),
  ),
});

export const JournalEntry = Type.Object({
  at: Iso,
  event: Type.String(),
  status: Type.String(),
  detail: Type.Optional(Type.String()),
  checked: Type.Optional(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      description:
        'what the order was judged by: [limit, used, asked] of each safeguard with a limit that bound it, and [approvalId] of the approval it needed',
    }),
  ),
});

export const Order = Type.Object({
  orderId: Type.String(),
  venue: Type.String(),
  status: words(
    [...new Set([...ORDER_STATUS_WORDS, ...CHAIN_STATUS_WORDS])],
    `on venue B one of ${CHAIN_STATUS_WORDS.join(', ')}`,
  ),
  orderStatus: Type.Integer({ description: '1 live, 2 matched, 3 canceled, 4 market resolved, 5 invalid' }),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  marketQuestion: Type.String(),
  tokenId: Type.String({ description: 'empty: of full sets' }),
  outcome: Type.String({ description: 'YES or NO; BOTH: full sets' }),
  outcomeName: OutcomeName,
  side: Type.String({ description: 'a split buys and a merge sells full sets, for one collateral each' }),
  orderType: Type.String({ description: 'GTC, GTD, FOK or FAK; SPLIT, MERGE or CONVERT' }),
  isLimitOrder: Type.Boolean(),
  postOnly: Type.Boolean(),
  price: Type.Number(),
  orderSize: Type.Number(),
  filledSize: Type.Number({ description: FILLED_SIZE }),
  remainingSize: Type.Number(),
  avgPrice: Nullable(Type.Number()),
  filledAmount: Type.Number({ description: 'collateral paid or received, before fees' }),
  feePaid: Type.Number(),
  feeAmount: Type.Number({
    description: 'as the agent sent it for a market order; 0 for limit orders. Nothing is charged by it',
  }),
  walletAddress: Type.String(),
  signatureType: Nullable(SignatureType),
  orderVersion: Nullable(Type.Integer({ description: 'null on venue B, whose orders are transactions' })),
  exchangeVersion: Type.Optional(ExchangeV3),
  expiration: Nullable(Iso),
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

export const OrderDetail = Type.Object({
  ...Order.properties,
  counted: Type.Number({
    description:
      'collateral that the safeguards counted: of a SELL what it could bring when it was judged; a redemption or a merge: 0',
  }),
  fills: Type.Array(Fill),
  journal: Type.Array(JournalEntry),
});

export const OrderIdText = {
  ...formed(
    '^(0x[a-fA-F0-9]{64}|[a-fA-F0-9]{8}(-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12})$',
    'an order id: 0x and 64 hex digits; on venue B the id of its quote, 32 hex digits in groups of 8-4-4-4-12',
    { description: "order id: 0x and 64 hex digits; on venue B the quote's id" },
  ),
  ...HEX,
};
const NotCanceled = Type.Record(Type.String(), Type.String());

/**
 * Sends a signed order. After a broken connection, 429 or `order_outcome_unknown` the client sends the same body
 * again: it has one effect, and the answer is that of the order.
 */
export const placeTrade = operation({
  id: 'placeTrade',
  method: 'POST',
  path: '/markets/trade',
  repeatable: true,
  summary: 'Place a signed limit or market order on venue A',
  description:
    'The same signed order with the same options is idempotent: it gives the first answer and has one effect.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'trade',
  idempotent: true,
  body: TradeRequest,
  unknownFields: 'refuse',
  validatesOnly: { when: 'validateOnly', status: 200 },
  status: 201,
  response: TradeResponse,
  errors: [
    'unknown_venue',
    'wrong_venue_route',
    'unknown_market',
    'market_not_active',
    'market_version_not_supported',
    'tick_size_not_supported',
    'fee_terms_not_supported',
    'token_market_mismatch',
    'outcome_name_mismatch',
    'outcome_token_mismatch',
    'taker_not_supported',
    'salt_out_of_range',
    'fee_rate_out_of_range',
    'builder_not_allowed',
    'amount_out_of_range',
    'order_size_mismatch',
    'price_mismatch',
    'price_off_tick_grid',
    'price_out_of_range',
    'immediate_buy_precision',
    'sell_decimals_not_allowed',
    'resting_amounts_mismatch',
    'size_below_minimum',
    'amount_below_minimum',
    'order_type_mismatch',
    'post_only_mismatch',
    'expiration_required',
    'expiration_too_soon',
    'expiration_not_allowed',
    'expiration_mismatch',
    'wallet_address_mismatch',
    'funder_address_mismatch',
    'owner_mismatch',
    'tick_size_mismatch',
    'neg_risk_mismatch',
    'invalid_order_payload',
    'credential_type_mismatch',
    'insufficient_balance',
    'trading_paused',
    'credentials_not_registered',
    'claim_required',
    ...CAP_DENIALS,
    'order_already_placed',
    'client_order_id_already_used',
    'order_outcome_unknown',
    'service_unavailable',
  ],
});

const page = {
  venue: EitherVenueQuery,
  marketConditionId: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: PRINTABLE,
      ...HEX,
      description: 'on venue B the ticker',
    }),
  ),
  ...pageQuery(LIMITS.ordersPerPage),
};

export const listOpenOrders = operation({
  id: 'listOpenOrders',
  method: 'GET',
  path: '/markets/orders/open',
  summary: 'Open orders of this agent, newest first',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object(page),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(Order),
  errors: ['unknown_venue', 'contradictory_filter'],
});

export const listOrders = operation({
  id: 'listOrders',
  method: 'GET',
  path: '/markets/orders',
  summary: 'Order history of this agent, newest first',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'search',
  query: Type.Object({
    ...page,
    orderStatus: Type.Optional(Type.Integer({ minimum: 1, maximum: 5 })),
    clientOrderId: Type.Optional({
      ...ClientOrderId,
      description: 'orders that were sent under this name: at most one of them was not refused',
    }),
  }),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(Order),
  errors: ['unknown_venue', 'contradictory_filter'],
});

export const listFills = operation({
  id: 'listFills',
  method: 'GET',
  path: '/markets/fills',
  summary: 'Fills of this agent on all venues, newest first',
  description:
    'Each fill is on one page, also while new ones arrive: those are on the first page of a later request. Kept permanently; not counted.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'search',
  query: Type.Object(page),
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(AgentFill),
  errors: ['unknown_venue', 'contradictory_filter'],
});

export const getOrder = operation({
  id: 'getOrder',
  method: 'GET',
  path: '/markets/orders/{orderId}',
  summary: 'One order with its fills and the journal of what happened',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'read',
  params: Type.Object({ orderId: OrderIdText }),
  query: Type.Object({ venue: unused, walletAddress: unused }),
  status: 200,
  response: OrderDetail,
  errors: ['order_not_found'],
});

export const CancelResponse = Type.Object({
  success: Type.Boolean({ description: 'the order is canceled by this call; else notCanceled says why not' }),
  canceled: Type.Array(Type.String()),
  notCanceled: NotCanceled,
  syncedToMkOrder: Type.Boolean(),
});

export const cancelOrder = operation({
  id: 'cancelOrder',
  method: 'POST',
  path: '/markets/orders/cancel',
  summary: 'Cancel one order; never blocked by a safeguard',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  body: Type.Object({ orderId: OrderIdText, venue: unused, walletAddress: unused }),
  unknownFields: 'ignore',
  status: 200,
  response: CancelResponse,
  errors: ['order_not_found', 'service_unavailable'],
});

export const CancelMarketResponse = Type.Object({
  canceled: Type.Array(Type.String()),
  notCanceled: NotCanceled,
  totalCanceled: Type.Integer(),
  syncedToMkOrder: Type.Boolean(),
});

const narrowedTo = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: PRINTABLE, description, ...HEX }));

/** Cancels this agent's open orders in a market, or everywhere when none is named. */
export const cancelMarket = operation({
  id: 'cancelMarket',
  method: 'POST',
  path: '/markets/orders/cancel-market',
  summary: 'Cancel the open orders of this agent in a market, or all of them when none is named',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  body: Type.Object(
    {
      venue: EitherVenueQuery,
      marketConditionId: narrowedTo('on venue B the ticker'),
      tokenId: narrowedTo('token id, or mint'),
      walletAddress: narrowedTo('of either venue'),
      address: narrowedTo('the same as walletAddress'),
    },
    alias('address', 'walletAddress'),
  ),
  unknownFields: 'refuse',
  bodyFix:
    'To cancel every open order of this agent send {}; to narrow it, name marketConditionId, tokenId, walletAddress or venue. DELETE /markets/orders takes no body and cancels those of the whole owner.',
  status: 200,
  response: CancelMarketResponse,
  errors: ['unknown_venue', 'service_unavailable'],
});

export const CancelAllResponse = Type.Object({
  results: Type.Array(
    Type.Object({
      walletAddress: Type.String(),
      canceled: Type.Array(Type.String()),
      notCanceled: NotCanceled,
    }),
  ),
  totalCanceled: Type.Integer(),
  syncedCount: Type.Integer(),
});

const notNarrowed = Type.Optional(
  Type.Unknown({
    'x-refused': 'this cancels everything; POST /markets/orders/cancel-market narrows it',
    description: 'refused: POST /markets/orders/cancel-market narrows it',
  }),
);

/** Cancels every open order of the owner, on every wallet. */
export const cancelAll = operation({
  id: 'cancelAll',
  method: 'DELETE',
  path: '/markets/orders',
  summary: "Cancel the agent's open orders, and every other of the owner's on wallets within its reach",
  tag: 'trading',
  permission: 'agent',
  rateClass: 'exit',
  idempotent: true,
  // The only refusal of this exit: a caller that sends a filter, in any form, expects its other orders to stay open.
  query: Type.Object({
    venue: notNarrowed,
    marketConditionId: notNarrowed,
    tokenId: notNarrowed,
    walletAddress: notNarrowed,
  }),
  unknownFields: 'refuse',
  bodyFix:
    'Nothing was canceled. POST /markets/orders/cancel-market narrows what is canceled; to cancel everything, send DELETE /markets/orders without a body and without parameters.',
  status: 200,
  response: CancelAllResponse,
  errors: ['service_unavailable'],
});

export type SignedOrder = Static<typeof SignedOrder>;
export type TradeRequest = Static<typeof TradeRequest>;
export type TradeResponse = Static<typeof TradeResponse>;
export type Order = Static<typeof Order>;
export type OpenOrdersQuery = Static<(typeof listOpenOrders)['query']>;
export type OrdersQuery = Static<(typeof listOrders)['query']>;
export type OrderDetail = Static<typeof OrderDetail>;
export type Fill = Static<typeof Fill>;
export type AgentFill = Static<typeof AgentFill>;
export type FillsQuery = Static<(typeof listFills)['query']>;
export type CancelResponse = Static<typeof CancelResponse>;
export type CancelMarketResponse = Static<typeof CancelMarketResponse>;
export type CancelAllResponse = Static<typeof CancelAllResponse>;

// Several signed orders in one request.

export const BatchTradeResult = Type.Object({
  index: Type.Integer({ description: 'position in orders' }),
  success: Type.Boolean({ description: 'the venue took the order' }),
  status: Type.Integer({ description: 'HTTP status that POST /markets/trade would have answered' }),
  orderId: Nullable(Type.String()),
  trade: Nullable(TradeResponse),
  problem: Nullable(Problem),
});

export const BatchTradeResponse = Type.Object({
  total: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  results: Type.Array(BatchTradeResult, { description: 'in the order of the request' }),
});

/** Up to 20 signed orders, each checked separately. Repeated after a broken connection like `placeTrade`. */
export const batchTrade = operation({
  id: 'batchTrade',
  method: 'POST',
  path: '/markets/batch-trade',
  repeatable: true,
  summary: 'Place up to 20 signed orders, judged one after the other, each checked separately',
  description:
    'No order depends on another, except that they draw on the same budgets in the order given: one that is malformed ' +
    'is refused alone. A live venue is sent them together, once all are judged: none counts what another one of the batch would ' +
    'bring. The request as a whole is refused only where it is no array of 1 to 20 orders.',
  tag: 'trading',
  permission: 'agent',
  rateClass: 'trade',
  tokensPerItemOf: 'orders',
  idempotent: true,
  bodyBytes: LIMITS.batchBodyBytes,
  body: Type.Object({
    orders: Type.Array(TradeRequest, { minItems: 1, maxItems: LIMITS.ordersPerBatch }),
    validateOnly: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'of every order: checks it, each as if it were the only one, without any effect',
      }),
    ),
  }),
  unknownFields: 'refuse',
  checkedSeparately: 'orders',
  validatesOnly: { when: 'validateOnly', status: 200 },
  status: 200,
  response: BatchTradeResponse,
  errors: ['service_unavailable'],
});

export type BatchTradeResult = Static<typeof BatchTradeResult>;
export type BatchTradeResponse = Static<typeof BatchTradeResponse>;
