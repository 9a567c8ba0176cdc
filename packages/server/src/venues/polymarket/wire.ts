/**
 * Shapes of the venue's public answers; wire reference 1.4, 2.9, 2.10, 3.2 and 4.1. The venue's numbers flip
 * between JSON types and are left out rather than null, so that every amount is a number or a text and most fields may be
 * missing; what each means is for the translation to say.
 */
import { LAST_SECOND } from '@bellwether/contract';
import { type Static, type TSchema, Type } from 'typebox';
import { checkedBy } from '../../platform/outbound/json.ts';

const MAX_TEXT = 100_000;
const MAX_LIST = 10_000;

const maybe = <T extends TSchema>(type: T) => Type.Optional(Type.Union([Type.Null(), type]));
const Text = Type.String({ maxLength: MAX_TEXT });
const Amount = Type.Union([Type.Number(), Type.String({ maxLength: 80 })]);
const Listed = Type.Array(Type.Unknown(), { maxItems: MAX_LIST });
/** A list, mostly as JSON text within the JSON. */
const EncodedList = Type.Union([Text, Listed]);
const Hex = Type.String({ pattern: '^0x[0-9a-fA-F]{62,64}$' });
const EpochSeconds = Type.Integer({ minimum: 0, maximum: LAST_SECOND });
const TokenId = Type.String({ pattern: '^\\d{1,78}$' });
/** A side that is empty is "", "0" or missing. */
const MaybePrice = maybe(Type.Union([Type.Number(), Type.String({ maxLength: 32 })]));

const GammaMarket = Type.Object({
  id: Type.Union([Type.String({ pattern: '^\\d{1,15}$' }), Type.Integer({ minimum: 0 })]),
  conditionId: Hex,
  slug: Text,
  question: Text,
  description: maybe(Text),
  /** "v2": of Protocol V2. */
  version: maybe(Text),
  outcomes: maybe(EncodedList),
  outcomePrices: maybe(EncodedList),
  clobTokenIds: maybe(EncodedList),
  positionIds: maybe(EncodedList),
  orderPriceMinTickSize: maybe(Amount),
  orderMinSize: maybe(Amount),
  feesEnabled: maybe(Type.Boolean()),
  feeSchedule: Type.Optional(Type.Unknown()),
  active: maybe(Type.Boolean()),
  closed: maybe(Type.Boolean()),
  archived: maybe(Type.Boolean()),
  acceptingOrders: maybe(Type.Boolean()),
  enableOrderBook: maybe(Type.Boolean()),
  negRisk: maybe(Type.Boolean()),
  automaticallyResolved: maybe(Type.Boolean()),
  umaResolutionStatus: maybe(Text),
  resolutionStatus: maybe(Text),
  category: maybe(Text),
  createdAt: maybe(Text),
  startDate: maybe(Text),
  endDate: maybe(Text),
  endDateIso: maybe(Text),
  secondsDelay: Type.Optional(Type.Unknown()),
  gameStartTime: Type.Optional(Type.Unknown()),
  eventStartTime: Type.Optional(Type.Unknown()),
  clearBookOnStart: Type.Optional(Type.Unknown()),
  negRiskOther: Type.Optional(Type.Unknown()),
  resolutionSource: Type.Optional(Type.Unknown()),
  updatedAt: maybe(Text),
  volume: maybe(Amount),
  volumeNum: maybe(Amount),
  volume24hr: maybe(Amount),
  liquidity: maybe(Amount),
  liquidityNum: maybe(Amount),
  events: maybe(Listed),
  tags: maybe(Listed),
});

const GammaEvent = Type.Object({
  id: Type.Union([Text, Type.Integer()]),
  title: maybe(Text),
  markets: maybe(Listed),
  tags: maybe(Listed),
});
const Tag = Type.Object({ label: Text });

const Level = Type.Object({ price: Amount, size: Amount });
const Levels = Type.Array(Level, { maxItems: MAX_LIST });
const Book = Type.Object({
  market: Text,
  asset_id: TokenId,
  timestamp: maybe(Amount),
  bids: Levels,
  asks: Levels,
  min_order_size: maybe(Amount),
  tick_size: maybe(Amount),
  neg_risk: maybe(Type.Boolean()),
  last_trade_price: MaybePrice,
});

const ClobMarket = Type.Object({
  condition_id: Text,
  closed: maybe(Type.Boolean()),
  is_50_50_outcome: maybe(Type.Boolean()),
  tokens: Type.Array(
    Type.Object({ token_id: Type.String({ maxLength: 80 }), winner: maybe(Type.Boolean()) }),
  ),
});

const Resolution = Type.Object({
  condition_id: Text,
  status: maybe(Text),
  payouts: maybe(Type.Array(Amount)),
});

const PriceChange = Type.Object({
  asset_id: TokenId,
  price: Amount,
  size: Amount,
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]),
  best_bid: MaybePrice,
  best_ask: MaybePrice,
});
const PriceChanges = Type.Object({ timestamp: maybe(Amount), price_changes: Type.Array(PriceChange) });
const LastTrade = Type.Object({
  asset_id: TokenId,
  price: Amount,
  size: Amount,
  side: Type.String({ maxLength: 10 }),
  timestamp: maybe(Amount),
});
const TickSizeChange = Type.Object({ asset_id: TokenId, new_tick_size: Amount });

const Allowance = Type.String({ pattern: '^\\d{1,80}$' });
const BalanceAllowance = Type.Object({
  balance: Allowance,
  allowances: maybe(Type.Record(Text, Allowance)),
});

const OpenOrder = Type.Object({
  id: maybe(Text),
  asset_id: TokenId,
  maker_address: Text,
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL')]),
  original_size: Amount,
  size_matched: maybe(Amount),
  price: Amount,
});

const DataPosition = Type.Object({
  token_id: TokenId,
  condition_id: Text,
  current_size: maybe(Amount),
});

const Activity = Type.Object({
  type: Type.String({ maxLength: 40 }),
  proxy_wallet: Text,
  condition_id: Text,
  token_id: TokenId,
  size: Amount,
  /** The time of its block. */
  timestamp: EpochSeconds,
  transaction_hash: maybe(Text),
});

/** A split or a merge is of both outcomes: its row names no token. A conversion has a row for each token. */
const SetActivity = Type.Object({
  type: Type.String({ maxLength: 40 }),
  proxy_wallet: Text,
  condition_id: Text,
  token_id: maybe(Text),
  size: Amount,
  timestamp: EpochSeconds,
  transaction_hash: Text,
});

/** Relayer; wire reference 5.7. */
const Nonce = Type.Union([Type.String({ pattern: '^\\d{1,78}$' }), Type.Integer({ minimum: 0 })]);
const RelayTransaction = Type.Object({
  transactionID: maybe(Text),
  transactionHash: maybe(Text),
  state: Type.String({ maxLength: 40 }),
  from: maybe(Text),
  type: maybe(Text),
  nonce: maybe(Nonce),
  signature: maybe(Text),
});

const MAX_POINTS = 100_000;
const PriceHistory = Type.Object({
  history: Type.Array(Type.Object({ t: EpochSeconds, p: Amount }), { maxItems: MAX_POINTS }),
});

const Geoblock = Type.Object({
  blocked: Type.Boolean(),
  country: maybe(Type.String({ maxLength: 100 })),
  region: maybe(Type.String({ maxLength: 100 })),
});

export type WireMarket = Static<typeof GammaMarket>;
export type WireEvent = Static<typeof GammaEvent>;
export type WireBook = Static<typeof Book>;
export type WirePriceChanges = Static<typeof PriceChanges>;
export type WireClobMarket = Static<typeof ClobMarket>;
export type WireResolution = Static<typeof Resolution>;

/** Lists are checked item by item, so that a malformed one is left out and does not hide the others. */
export const READ = {
  gammaMarket: checkedBy(GammaMarket),
  gammaMarkets: checkedBy(Type.Object({ markets: Listed, next_cursor: maybe(Text) })),
  gammaEvent: checkedBy(GammaEvent),
  searchPage: checkedBy(
    Type.Object({ events: Listed, pagination: maybe(Type.Object({ hasMore: maybe(Type.Boolean()) })) }),
  ),
  tag: checkedBy(Tag),
  book: checkedBy(Book),
  list: checkedBy(Listed),
  clobMarket: checkedBy(ClobMarket),
  resolution: checkedBy(Resolution),
  dataPage: checkedBy(
    Type.Object({
      data: Type.Union([Listed, Type.Null()]),
      pagination: maybe(Type.Object({ next_cursor: maybe(Text) })),
    }),
  ),
  dataPosition: checkedBy(DataPosition),
  activity: checkedBy(Activity),
  setActivity: checkedBy(SetActivity),
  relayNonce: checkedBy(Type.Object({ nonce: Nonce })),
  relayPayload: checkedBy(Type.Object({ nonce: Nonce, address: Text })),
  relayTaken: checkedBy(Type.Object({ transactionID: Type.String({ minLength: 1, maxLength: 200 }) })),
  relayError: checkedBy(Type.Object({ error: Text })),
  relayTransactions: checkedBy(Listed),
  relayTransaction: checkedBy(RelayTransaction),
  priceHistory: checkedBy(PriceHistory),
  openOrder: checkedBy(OpenOrder),
  ordersPage: checkedBy(Type.Object({ data: Listed, next_cursor: maybe(Text) })),
  balanceAllowance: checkedBy(BalanceAllowance),
  geoblock: checkedBy(Geoblock),
  priceChanges: checkedBy(PriceChanges),
  lastTrade: checkedBy(LastTrade),
  tickSizeChange: checkedBy(TickSizeChange),
  typed: checkedBy(Type.Object({ event_type: Type.String({ maxLength: 100 }) })),
} as const;

/** A list that may be encoded as text; `null` when it is neither. */
export function listOf(value: string | readonly unknown[] | null | undefined): readonly unknown[] | null {
  if (typeof value !== 'string') return value ?? null;
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list : null;
  } catch {
    return null;
  }
}
