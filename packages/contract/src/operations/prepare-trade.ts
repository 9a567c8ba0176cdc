/** An order made ready for signing: from an intent in named fields to exactly what is signed and posted. */
import { type Static, Type } from 'typebox';
import {
  Address,
  CancelAfterMs,
  ClientOrderId,
  ExchangeV3,
  formed,
  HEX,
  Iso,
  LAST_SECOND,
  LIMITS,
  label,
  MARKET_NAMES,
  Notice,
  Nullable,
  namesMarket,
  note,
  OrderType,
  Outcome,
  OutcomeName,
  OutcomeWord,
  Problem,
  Side,
  SignatureType,
  text,
  VenueRefusalCode,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { SignedOrder, TradeRequest } from './trading.ts';

const quantity = (description: string) =>
  Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1e12, description }));
const limit = (description: string) =>
  Type.Optional(Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, description }));

export const TradeIntent = Type.Object(
  {
    clientOrderId: {
      ...ClientOrderId,
      description:
        'your own name for this order. The salt is the first 53 bits of keccak256("bellwether order salt v1\\n" + agentId + "\\n" + clientOrderId), so the same intent is the same order, and placing it again places nothing new. Another order under this name is refused while the first one is recorded, unless that was refused',
    },
    venue: Type.Optional(text(LIMITS.venueChars, { minLength: 1 })),
    ...MARKET_NAMES,
    outcome: OutcomeWord,
    side: Side,
    price: limit('makes a limit order: on the tick grid, nothing is rounded. Either this or worstPrice'),
    worstPrice: limit(
      'makes a market order: the worst price to accept, on the tick grid. Either this or price',
    ),
    size: quantity('shares, cut to 2 decimals: of every order but a market BUY'),
    amount: quantity('collateral to spend at most, fees apart, cut to 2 decimals: of a market BUY'),
    orderType: Type.Optional(OrderType),
    expiration: Type.Optional(
      Type.Integer({ minimum: 1, maximum: LAST_SECOND, description: 'epoch seconds, of a GTD order' }),
    ),
    cancelAfterMs: Type.Optional(CancelAfterMs),
    postOnly: Type.Optional(Type.Boolean({ default: false })),
    deferExec: Type.Optional(Type.Boolean({ default: false })),
    walletAddress: Type.Optional({
      ...Address,
      description: "whose money it is: the EOA or a wallet derived from it. Default: the agent's own wallet",
    }),
    signer: Type.Optional({
      ...Address,
      description:
        'the EOA that will sign. Default: that of the registered credential, else walletAddress itself',
    }),
    signatureType: Type.Optional(SignatureType),
    wrapped: Type.Optional(
      Type.Boolean({
        description:
          "of signatureType 3: the wallet signs by ERC-7739. Default: true under the order profile 'polymarket', else false",
      }),
    ),
    orderVersion: Type.Optional(Type.Union([Type.Literal(1), Type.Literal(2)], { default: 2 })),
    builder: Type.Optional(
      formed('^0x[a-fA-F0-9]{64}$', 'a builder code: 0x and 64 hex digits', {
        ...HEX,
        description:
          'a builder code, 0x and 64 hex digits: the venue pays its owner a fee of the order. Only the one that the operator allows, and only where orders sign such a field',
      }),
    ),
    timestamp: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "epoch milliseconds. Signed by version 2 under the order profile 'polymarket', and in markets of version v2 always, and required there: repeat the value of the first try",
      }),
    ),
    reasoning: note(LIMITS.reasoningChars),
    source: label(LIMITS.sourceChars, 'suggested form sdk:<strategy-name>'),
    skillSlug: label(LIMITS.skillSlugChars),
  },
  namesMarket(['clientOrderId', 'outcome', 'side']),
);

const TypedDataField = Type.Object({ name: Type.String(), type: Type.String() });

export const TypedDataRecord = Type.Object(
  {
    domain: Type.Object({
      name: Type.String(),
      version: Type.String(),
      chainId: Type.Integer(),
      verifyingContract: Type.Optional(Type.String()),
    }),
    primaryType: Type.String(),
    types: Type.Record(Type.String(), Type.Array(TypedDataField)),
    message: Type.Object({}, { additionalProperties: true }),
  },
  { description: 'EIP-712 typed data, as wallets and signing libraries take it' },
);

const { signature: _signature, ...unsignedFields } = SignedOrder.properties;
const { order: _order, validateOnly: _validateOnly, ...tradeFields } = TradeRequest.properties;

export const UnsignedTrade = Type.Object(
  { ...tradeFields, outcome: Outcome, order: Type.Object(unsignedFields) },
  { description: 'the body of POST /markets/trade; order.signature is missing' },
);

export const TradeCheck = Type.Object({
  code: Type.String({ description: 'the error code with which the trade would be refused' }),
  passed: Type.Boolean(),
  applies: Type.Boolean({ description: 'false: this check does not bind an order that only sells' }),
  limit: Nullable(Type.Number({ description: 'null: without a limit, or a check without figures' })),
  used: Nullable(Type.Number()),
  asked: Nullable(Type.Number({ description: 'what this order takes of it' })),
  left: Nullable(Type.Number({ description: 'before this order' })),
  message: Type.Optional(Type.String({ description: 'of a check that is not passed' })),
  fix: Type.Optional(Type.String()),
});

export const PreparedTrade = Type.Object({
  clientOrderId: Type.String(),
  preparedAt: Iso,
  venue: Type.String(),
  agentId: Type.String({ description: 'the salt is derived from it' }),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  tokenId: Type.String(),
  outcome: Outcome,
  outcomeName: OutcomeName,
  side: Side,
  orderId: Type.String({ description: 'EIP-712 digest of the order' }),
  orderVersion: Type.Union([Type.Literal(1), Type.Literal(2)]),
  exchangeVersion: Type.Optional(ExchangeV3),
  orderProfile: Type.Union([Type.Literal('interface'), Type.Literal('polymarket')]),
  verifyingContract: Type.String(),
  negRisk: Type.Boolean(),
  tickSize: Type.String(),
  maker: Type.String(),
  signer: Type.String({ description: 'whose address the order names as its signer' }),
  eoa: Type.String({ description: 'whose key signs' }),
  signatureType: SignatureType,
  typedData: TypedDataRecord,
  digest: Type.String({
    description: 'of typedData: what the key signs. The orderId itself, except of a wrapped signature',
  }),
  signatureSuffix: Nullable(
    Type.String({
      description:
        'of a wrapped signature (ERC-7739): order.signature is your 65 bytes followed by these. null: the 65 bytes alone',
    }),
  ),
  amounts: Type.Object({
    makerAmount: Type.String({ description: 'micro-units, as signed' }),
    takerAmount: Type.String({ description: 'micro-units, as signed' }),
    shares: Type.Number(),
    collateral: Type.Number(),
    limit: Type.Number({ description: 'the worst price that the signed amounts allow' }),
    cut: Type.Optional(
      Type.Number({
        description:
          'where the order leaves something out: that much of the size, or of the amount of a market BUY, of which it has 2 decimals. Of shares that are held it stays in the wallet, and is redeemed if the outcome wins',
      }),
    ),
  }),
  fill: Type.Object(
    {
      shares: Type.Number(),
      averagePrice: Nullable(Type.Number()),
      worstPrice: Nullable(Type.Number()),
      cost: Type.Number({ description: 'collateral, before the fee' }),
      fee: Type.Number({ description: 'the fee expected' }),
      complete: Type.Boolean({ description: 'the book would fill the whole order' }),
      rests: Type.Number({ description: 'shares that would wait on the book' }),
      sequence: Type.Integer({ description: "the book's" }),
    },
    { description: 'what the book would fill now; a post-only order fills nothing' },
  ),
  expectedRefusal: Nullable(
    Type.String({ ...VenueRefusalCode, description: 'why the venue would refuse it on the present book' }),
  ),
  feeAtMost: Type.Number({ description: 'the most that the fee can be, at the limit or any better price' }),
  counted: Type.Number({
    description:
      'collateral that the safeguards count: of a BUY what it spends, of a SELL what it may bring on the book of now',
  }),
  checks: Type.Array(TradeCheck, {
    description: 'the verdict of every safeguard, and of the balance, in the order of refusal',
  }),
  warnings: Type.Array(Notice, {
    description: 'what the venue does to orders of this market, and what its price does not tell',
  }),
  accepted: Type.Boolean({
    description: 'every check is passed now, and the venue would not refuse it on the present book',
  }),
  body: UnsignedTrade,
});

const errors = [
  'unknown_venue',
  'wrong_venue_route',
  'market_not_found',
  'market_not_active',
  'market_version_not_supported',
  'tick_size_not_supported',
  'fee_terms_not_supported',
  'outcome_name_mismatch',
  'amount_out_of_range',
  'price_off_tick_grid',
  'price_out_of_range',
  'size_below_minimum',
  'amount_below_minimum',
  'order_type_mismatch',
  'post_only_mismatch',
  'expiration_required',
  'expiration_too_soon',
  'expiration_not_allowed',
  'credentials_not_registered',
  'wallet_owner_mismatch',
  'service_unavailable',
] as const;

const ADVICE =
  'Reserves nothing and stores nothing. Do not sign blindly: hash the typed data yourself, and compare domain and contract with /venues/{id}/signing, maker with your wallet, tokenId with the market that you looked up, and amounts with your intent (verifyPrepared of the SDK does all of it). Fill, fee and checks are what holds now; the trade is judged again.';

/** Makes an order ready for signing. Retries give the same order. */
export const prepareTrade = operation({
  id: 'prepareTrade',
  method: 'POST',
  path: '/markets/trade/prepare',
  repeatable: true,
  summary: 'From an intent to exactly what to sign and to post, with the verdict of every safeguard',
  description: ADVICE,
  tag: 'trading',
  permission: 'agent',
  rateClass: 'search',
  body: TradeIntent,
  unknownFields: 'refuse',
  status: 200,
  response: PreparedTrade,
  errors,
});

export const PrepareBatchResult = Type.Object({
  index: Type.Integer({ description: 'position in intents' }),
  status: Type.Integer({ description: 'HTTP status that POST /markets/trade/prepare would have answered' }),
  prepared: Nullable(PreparedTrade),
  problem: Nullable(Problem),
});

/** Makes up to 20 orders ready for signing, each judged as if it were the only one. */
export const prepareBatch = operation({
  id: 'prepareBatch',
  method: 'POST',
  path: '/markets/batch-trade/prepare',
  repeatable: true,
  summary: 'Prepare up to 20 orders, each judged as if it were the only one',
  description: `${ADVICE} The budgets that the orders before it would use are not counted.`,
  tag: 'trading',
  permission: 'agent',
  rateClass: 'search',
  tokensPerItemOf: 'intents',
  bodyBytes: LIMITS.batchBodyBytes,
  body: Type.Object({
    intents: Type.Array(TradeIntent, { minItems: 1, maxItems: LIMITS.ordersPerBatch }),
  }),
  unknownFields: 'refuse',
  checkedSeparately: 'intents',
  status: 200,
  response: Type.Object({
    total: Type.Integer(),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
    results: Type.Array(PrepareBatchResult, { description: 'in the order of the request' }),
  }),
  errors: ['service_unavailable'],
});

export type TradeIntent = Static<typeof TradeIntent>;
export type UnsignedTrade = Static<typeof UnsignedTrade>;
export type TradeCheck = Static<typeof TradeCheck>;
export type PreparedTrade = Static<typeof PreparedTrade>;
export type PrepareBatchResult = Static<typeof PrepareBatchResult>;
