/** Markets: found, looked at, their books and their price history; and what the agent holds in them now. */
import { type Static, Type } from 'typebox';
import {
  ALL_VENUES,
  EitherVenueQuery,
  HEX,
  Iso,
  LAST_SECOND,
  LIMITS,
  MARKET_NAMES,
  Notice,
  Nullable,
  namesMarket,
  OLDER_WORD,
  OutcomeName,
  PRINTABLE,
  Side,
  VenueQuery,
  WalletOfEitherVenue,
} from '../fields.ts';
import { operation } from '../operation.ts';
import { CAP_ALLOWANCES, EXIT_RULE } from '../safeguards.ts';
import { GuardedExit } from './exits.ts';

const EndDate = Type.String({
  format: 'date-time',
  description:
    'when it is due to end: ISO 8601 with zone; the last moment of the year 9999 where the venue names no end. A market of venue A may trade beyond it',
});

/** Interface 2.8, both tables. */
export const Market = Type.Object({
  id: Type.String({ description: 'on venue B the ticker that quotes take' }),
  venue: Type.String(),
  title: Type.String(),
  question: Type.String(),
  slug: Type.String(),
  conditionId: Type.String({
    description: 'requests may also write the 31 bytes of version v2 without the zeros at the end',
  }),
  eventId: Type.String(),
  category: Type.String(),
  description: Type.String({ description: 'the resolution rules; written by third parties' }),
  endDate: EndDate,
  createdAt: Iso,
  lastUpdatedAt: Iso,
  status: Type.String({ description: 'active, closed or resolved' }),
  active: Type.Boolean(),
  resolved: Type.Boolean(),
  outcomes: Type.Array(Type.String(), {
    description:
      "the venue's names, YES's first: written by third parties, as plain text. YES is the outcome that is called Yes; else, if one is called No, the other; else the venue's first",
  }),
  clobTokenIds: Type.Array(Type.String(), { description: '[YES, NO]; of version v2 the position ids' }),
  bestBid: Type.String({ description: 'of YES; "0" when there is none' }),
  bestAsk: Type.String({ description: 'of YES; "0" when there is none' }),
  yesPrice: Type.Number({
    description: 'middle of the book, else last trade; payout once resolved: 1, 0 or a part',
  }),
  noPrice: Type.Number(),
  volume24hr: Type.String(),
  volume: Type.Number(),
  liquidity: Type.String(),
  tickSize: Type.String({ description: 'the least step of a price, as the venue lists it' }),
  minOrderSize: Type.Number({ description: 'shares' }),
  negRisk: Type.Boolean(),
  version: Type.Optional(
    Type.String({
      description:
        "of venue A's protocol: v1 or v2. Orders in markets of v2 are for the contract ExchangeV3 and have the struct of 11 fields; GET /venues/{venue}/signing shows both",
    }),
  ),
  takerDelaySeconds: Type.Optional(
    Type.Number({
      description:
        'an order that takes from the book is held so long at the venue before it is matched, and cannot be canceled meanwhile',
    }),
  ),
  gameStartTime: Type.Optional(Iso),
  eventStartTime: Type.Optional({
    ...Iso,
    description: 'when the window of time begins that the market is about: ISO 8601 with zone',
  }),
  ordersCanceledAtStart: Type.Optional(
    Type.Boolean({ description: 'the venue cancels every resting order at gameStartTime' }),
  ),
  isOtherOutcome: Type.Optional(
    Type.Boolean({
      description:
        'the outcome of all that its event does not name: its meaning changes when an outcome is added to the event',
    }),
  ),
  resolutionSource: Type.Optional(
    Type.String({ description: 'where its result is looked up; written by third parties' }),
  ),
  untradable: Type.Optional(
    Type.String({
      description:
        'why orders for it are refused although the venue trades it. contract_version: it is of a version of the protocol that the desk does not know; tick_size: the desk cannot count in its ticks; fee_terms: the desk cannot tell its fee',
    }),
  ),
  unknownResult: Type.Optional(
    Type.String({
      description:
        "the venue's word for how it ended, where the desk does not know what that pays: it is not resolved here, and nothing of it is redeemed",
    }),
  ),
});

export const MARKET_SORT_FIELDS = ['volume24hr', 'liquidity', 'volume', 'endDate', 'createdAt'] as const;

export const MarketsQuery = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: LIMITS.searchChars,
    pattern: PRINTABLE,
    'x-not-blank': 'send some words, or * for every market',
    description:
      'search keywords, compared with titles and tags before the rules; or a market id, condition id, token id or event id; * finds everything',
  }),
  category: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.categoryChars,
      pattern: PRINTABLE,
      description: "only markets of this category, in any case, as a market's `category` spells it",
    }),
  ),
  minPrice: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'only where yesPrice is at least this' }),
  ),
  maxPrice: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'only where yesPrice is at most this' }),
  ),
  endsBefore: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      pattern: PRINTABLE,
      description:
        'only markets whose endDate is before this time: ISO 8601 with zone, or epoch seconds or milliseconds',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 20 })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
  order: Type.Optional(
    Type.String({
      maxLength: LIMITS.sortChars,
      description: `one of ${MARKET_SORT_FIELDS.join(', ')}; none means relevance`,
    }),
  ),
  ascending: Type.Optional(Type.Boolean({ default: false })),
  eventsStatus: Type.Optional(
    Type.Union([Type.Literal('active'), Type.Literal('resolved'), Type.Literal('closed')]),
  ),
  closed: Type.Optional(Type.Boolean({ default: false })),
  venue: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LIMITS.venueChars,
      pattern: PRINTABLE,
      description: `venue name; default venue A; "${ALL_VENUES}" searches both, and the header X-Venues-Silent names one that did not answer`,
    }),
  ),
});

const Level = Type.Object({ price: Type.String(), size: Type.String() });

export const OrderBook = Type.Object({
  tokenId: Type.String(),
  marketConditionId: Type.String(),
  conditionId: OLDER_WORD,
  outcome: Type.String(),
  outcomeName: OutcomeName,
  bids: Type.Array(Level, { description: 'best first' }),
  asks: Type.Array(Level, { description: 'best first' }),
  tickSize: Type.String({ description: 'the least step of a price, as the venue lists it' }),
  minOrderSize: Type.String(),
  negRisk: Type.Boolean(),
  lastTrade: Nullable(Type.String()),
  timestamp: Iso,
  sequence: Type.Integer({ description: 'rises with every change of the book' }),
});

/** A warning or alert: a stable code, how bad, and a sentence. */
const Slippage = Type.Object({
  side: Type.String(),
  outcome: Type.String(),
  outcomeName: OutcomeName,
  amount: Type.Number({ description: 'collateral spent (BUY) or shares sold (SELL)' }),
  counted: Type.Number({
    description: 'collateral that the safeguards would count of an order of this size, at any worst price',
  }),
  price: Nullable(Type.Number({ description: 'of the best order on the book' })),
  averagePrice: Nullable(Type.Number()),
  worstPrice: Nullable(Type.Number({ description: 'the limit that a market order of this size needs' })),
  priceImpact: Nullable(Type.Number({ description: 'how much worse than the best price the average is' })),
  filledShares: Type.Number(),
  cost: Type.Number({ description: 'collateral, before the fee' }),
  fee: Type.Number(),
  complete: Type.Boolean({ description: 'false: the book is too thin for the whole amount' }),
});

const SizedEdge = Type.Object({
  side: Type.String(),
  outcome: Type.String(),
  outcomeName: OutcomeName,
  amount: Type.Number({ description: 'collateral spent (BUY) or shares sold (SELL)' }),
  shares: Type.Number({ description: 'what the book gives for it' }),
  expectedProfit: Type.Number({ description: 'over all shares, after fees; a SELL against keeping them' }),
  perShare: Nullable(Type.Number()),
});

export const Position = Type.Object({
  venue: Type.String(),
  marketId: Type.String(),
  marketConditionId: Type.String(),
  conditionId: OLDER_WORD,
  tokenId: Type.String(),
  title: Type.String(),
  outcome: Type.String(),
  outcomeName: OutcomeName,
  size: Type.Number({ description: 'shares, what open SELL orders hold included' }),
  avgPrice: Type.Number({ description: 'cost of a share, fees apart' }),
  currentPrice: Type.Number(),
  initialValue: Type.Number(),
  currentValue: Type.Number(),
  unrealizedPnl: Type.Number(),
  realizedPnl: Type.Number({ description: 'of the shares sold so far, before fees' }),
  fees: Type.Number({ description: 'paid on this position so far' }),
  percentPnl: Type.Number(),
  redeemable: Type.Boolean(),
  mergeable: Type.Boolean(),
  endDate: EndDate,
  walletAddress: Type.String(),
});

export const MarketContext = Type.Object({
  market: Market,
  orderbook: Type.Object({
    bestBid: Nullable(Type.String()),
    bestAsk: Nullable(Type.String()),
    spread: Nullable(Type.Number()),
    yes: Type.Object({ bids: Type.Array(Level), asks: Type.Array(Level) }),
    no: Type.Object({ bids: Type.Array(Level), asks: Type.Array(Level) }),
    sequence: Type.Integer(),
    timestamp: Iso,
  }),
  fees: Type.Object({
    rate: Type.Number({ description: 'taker fee = shares × rate × (p(1−p))^exponent; makers pay nothing' }),
    exponent: Type.Number(),
  }),
  account: Nullable(
    Type.Object({
      walletAddress: Type.String({ description: 'the account that pays' }),
      available: Type.Number({ description: 'collateral that a new order can use' }),
      yesShares: Type.Number({ description: 'free to sell' }),
      noShares: Type.Number({ description: 'free to sell' }),
    }),
  ),
  positions: Type.Array(Position),
  exits: Type.Array(GuardedExit, {
    description: 'your guarded exits of this market that have not ended, with the distance to their triggers',
  }),
  warnings: Type.Array(Notice, {
    description: 'a trade that would be refused has the code of that refusal',
  }),
  safeguards: Type.Object({
    tradingPaused: Type.Boolean(),
    ...CAP_ALLOWANCES,
    ...EXIT_RULE,
  }),
  slippage: Type.Array(Slippage),
  edge: Nullable(
    Type.Object({
      myProbability: Type.Number(),
      buyYes: Nullable(
        Type.Number({ description: 'expected gain per share bought at the best ask, after the fee' }),
      ),
      buyNo: Nullable(Type.Number()),
      sellYes: Nullable(
        Type.Number({
          description: 'expected gain per share sold at the best bid instead of kept, after the fee',
        }),
      ),
      sellNo: Nullable(Type.Number()),
      best: Nullable(Type.String({ description: 'YES or NO: the better buy, null when neither gains' })),
      sized: Type.Array(SizedEdge, { description: 'for `size`, on the side asked for or on both' }),
    }),
  ),
  recommendation: Type.Optional(
    Type.String({ description: 'with myProbability, or when a trade would be refused' }),
  ),
  untrustedText: Type.Object({
    notice: Type.String(),
    event: Type.String(),
    title: Type.String(),
    rules: Type.String(),
    outcomes: Type.Array(Type.String(), { description: "YES's first" }),
  }),
});

export const listMarkets = operation({
  id: 'listMarkets',
  method: 'GET',
  path: '/markets',
  summary: 'Search markets',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'search',
  query: MarketsQuery,
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(Market),
  errors: ['unknown_venue', 'unknown_sort_field', 'contradictory_filter', 'service_unavailable'],
});

/** @param id market id, condition id, slug or token id */
export const getMarket = operation({
  id: 'getMarket',
  method: 'GET',
  path: '/markets/{id}',
  summary: 'One market by id, condition id, slug or token id; of venue B by ticker or mint',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'read',
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, ...HEX }) }),
  query: Type.Object({ venue: VenueQuery }),
  status: 200,
  response: Market,
  errors: ['unknown_venue', 'market_not_found', 'service_unavailable'],
});

export const getMarketContext = operation({
  id: 'getMarketContext',
  method: 'GET',
  path: '/markets/context/{marketId}',
  summary: 'Everything to look at before a trade',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'search',
  params: Type.Object({ marketId: Type.String({ minLength: 1, maxLength: 200, ...HEX }) }),
  query: Type.Object({
    venue: VenueQuery,
    user: Type.Optional(WalletOfEitherVenue),
    myProbability: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'your probability of YES' }),
    ),
    side: Type.Optional(Side),
    size: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1e9,
        description: 'an amount of your own for the slippage table',
      }),
    ),
  }),
  status: 200,
  response: MarketContext,
  errors: ['unknown_venue', 'market_not_found', 'wallet_not_found', 'service_unavailable'],
});

export const getOrderBook = operation({
  id: 'getOrderBook',
  method: 'GET',
  path: '/markets/orderbook/{tokenId}',
  summary: 'The order book of one outcome token',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'read',
  params: Type.Object({ tokenId: Type.String({ minLength: 1, maxLength: 100 }) }),
  query: Type.Object({ venue: VenueQuery }),
  status: 200,
  response: OrderBook,
  errors: ['unknown_venue', 'market_not_found', 'service_unavailable'],
});

/** Filters and sort orders of positions, as other public clients know them. */
export const POSITION_SORT_FIELDS = {
  TOKENS: 'size',
  CURRENT: 'currentValue',
  INITIAL: 'initialValue',
  CASHPNL: 'unrealizedPnl',
  REALIZEDPNL: 'realizedPnl',
  PERCENTPNL: 'percentPnl',
  PRICE: 'currentPrice',
  AVGPRICE: 'avgPrice',
  TITLE: 'title',
  RESOLVING: 'endDate',
} as const;

export const positionFilters = {
  market: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: PRINTABLE,
      ...HEX,
      description: 'only of this market: condition id, market id, or ticker',
    }),
  ),
  title: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      pattern: PRINTABLE,
      description: 'only titles with this text',
    }),
  ),
  sortBy: Type.Optional(
    Type.String({
      maxLength: LIMITS.sortChars,
      description: `one of ${Object.keys(POSITION_SORT_FIELDS).join(', ')}, or the name of the field`,
    }),
  ),
  sortDirection: Type.Optional(Type.Union([Type.Literal('ASC'), Type.Literal('DESC')], { default: 'DESC' })),
};

export const CurrentPositionsQuery = Type.Object({
  venue: EitherVenueQuery,
  user: Type.Optional(WalletOfEitherVenue),
  ...positionFilters,
  sizeThreshold: Type.Optional(
    Type.Number({ minimum: 0, description: 'only positions of at least so many shares' }),
  ),
  redeemable: Type.Optional(Type.Boolean()),
  mergeable: Type.Optional(Type.Boolean()),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMITS.currentPositionsPerPage, description: 'all when left out' }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0 })),
});

export const getCurrentPositions = operation({
  id: 'getCurrentPositions',
  method: 'GET',
  path: '/markets/current-positions',
  summary: 'Positions held now',
  tag: 'positions',
  permission: 'agent',
  rateClass: 'read',
  query: CurrentPositionsQuery,
  unknownFields: 'refuse',
  status: 200,
  response: Type.Array(Position),
  errors: ['unknown_venue', 'unknown_sort_field', 'wallet_not_found', 'service_unavailable'],
});

export type Market = Static<typeof Market>;
export type OrderBook = Static<typeof OrderBook>;
export type Position = Static<typeof Position>;
export type MarketContext = Static<typeof MarketContext>;
export type CurrentPositionsQuery = Static<typeof CurrentPositionsQuery>;
export type MarketsQuery = Static<typeof MarketsQuery>;

// Whether a market exists, and its price history.

/** `1m` is one month of 30 days; `max` and `all` cover the whole history. */
export type HistoryInterval = 'max' | 'all' | '1m' | '1w' | '1d' | '6h' | '1h';

/** A request for more points is refused; the refusal names a coarser fidelity that fits. */
export const MAX_HISTORY_POINTS = 10_000;
/** One month. */
export const MAX_FIDELITY_MINUTES = 43_200;

export const PricesHistoryQuery = Type.Object({
  market: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: PRINTABLE,
    description: 'token id, one of the market’s clobTokenIds; a NO token has the mirrored prices',
  }),
  interval: Type.Optional(
    Type.Union(
      [
        Type.Literal('max'),
        Type.Literal('all'),
        Type.Literal('1m'),
        Type.Literal('1w'),
        Type.Literal('1d'),
        Type.Literal('6h'),
        Type.Literal('1h'),
      ],
      {
        description:
          'back from now: 1m is one month, max and all are everything; instead of startTs and endTs',
      },
    ),
  ),
  startTs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LAST_SECOND,
      description: 'epoch seconds; the beginning when only endTs is given',
    }),
  ),
  endTs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: LAST_SECOND,
      description: 'epoch seconds; now when only startTs is given',
    }),
  ),
  fidelity: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_FIDELITY_MINUTES,
      description:
        'minutes between points; left out, 1 for 1h and 6h, 5 for 1d, 30 for 1w, 180 for 1m, and for other ranges what gives at most 500 points',
    }),
  ),
  venue: VenueQuery,
});

export const PricesHistory = Type.Object({
  history: Type.Array(
    Type.Object({
      t: Type.Integer({ description: 'epoch seconds of the price' }),
      p: Type.Number({ description: 'middle of the book, of the token asked for' }),
    }),
    {
      description:
        'oldest first: the last price of every bucket of `fidelity` minutes in which it moved by a tick; in between it stayed as it was',
    },
  ),
});

export const checkMarket = operation({
  id: 'checkMarket',
  method: 'GET',
  path: '/markets/check',
  summary: 'Does the venue list this market?',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'read',
  query: Type.Object({ ...MARKET_NAMES, venue: VenueQuery }, namesMarket()),
  status: 200,
  response: Type.Object({
    exists: Type.Boolean({ description: 'by market id, condition id, slug or token id' }),
  }),
  errors: ['unknown_venue', 'service_unavailable'],
});

/** Either `interval`, or `startTs` and `endTs` in epoch seconds; `fidelity` in minutes. */
export const getPricesHistory = operation({
  id: 'getPricesHistory',
  method: 'GET',
  path: '/markets/prices-history',
  summary: 'Prices of an outcome token over time',
  description:
    'Either `interval`, or `startTs` with or without `endTs`. A range begins with the price at its start; one that reaches to the present ends with the current price. Resolved and archived markets keep their history. Only for venue A: a market of venue B has none (400).',
  tag: 'markets',
  permission: 'agent',
  rateClass: 'search',
  query: PricesHistoryQuery,
  status: 200,
  response: PricesHistory,
  errors: [
    'unknown_venue',
    'market_not_found',
    'contradictory_filter',
    'history_too_fine',
    'service_unavailable',
  ],
});

export type PricesHistoryQuery = Static<typeof PricesHistoryQuery>;
export type PricesHistory = Static<typeof PricesHistory>;
