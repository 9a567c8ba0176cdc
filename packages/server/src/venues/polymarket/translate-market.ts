/**
 * Shapes of the venue's public answers; wire reference 1.4, 2.9, 2.10, 3.2 and 4.1. The venue's numbers flip
 * between JSON types and are left out rather than null, so that every amount is a number or a text and most fields may be
 * missing; what each means is for the translation to say.
 */
import { LAST_SECOND, LIMITS, listsNoFirst, type OutcomeNames } from '@bellwether/contract';
import {
  MICRO,
  type Micro,
  PIPS,
  type Pips,
  parseDecimal,
  parsePips,
  parseTick,
  type Rounding,
} from '@bellwether/contract/decimals';
import { type Payout, payoutOf } from '@bellwether/contract/positions';
import { isPositionId, positionIds } from '@bellwether/protocol';
import { type Static, type TSchema, Type } from 'typebox';
import type { MarketRecord } from '../../domain/market.ts';
import { timeAt } from '../../domain/safeguards.ts';
import { microSaid, plainText, wordOf } from '../../domain/untrusted-text.ts';
import { checkedBy } from '../../platform/outbound/http.ts';

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

type WireMarket = Static<typeof GammaMarket>;
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

// The venue's markets in the desk's terms. Pure. A market whose tokens or outcomes cannot be read is left out; one that
// cannot be traded is listed as closed. Gamma's prices are minutes old and are never a market's prices here.

const DEFAULT_TICK: Pips = 100;
const DEFAULT_MIN_SIZE: Micro = 5n * MICRO;
const CONDITION_HEX_DIGITS = 64;
const MAX_DELAY_S = 86_400;
const MAX_SOURCE_CHARS = 2_000;
const UMA_FINAL: ReadonlySet<string> = new Set(['resolved', 'settled']);

/** Whether a market's outcomes stay in the venue's order. @param first the token that the venue lists first */
export type KeepsOrder = (conditionId: string, first: string) => boolean;

/** A market as Gamma lists it, without the CLOB's terms and prices. */
export interface ListedMarket {
  readonly record: MarketRecord;
  /** Gamma's price of YES, for a rough first choice only. */
  readonly roughPrice: Pips | null;
  /** Payout of the market by Gamma; believed only when another source agrees. */
  readonly saidPayout: Payout | null;
  readonly readAt: number;
}

/** @returns `null` when it cannot be a market of this desk: not two outcomes, or tokens that cannot be read */
export function toListedMarket(
  wire: WireMarket,
  context: {
    readonly now: number;
    readonly event?: WireEvent;
    readonly keepsOrder?: KeepsOrder;
  },
): ListedMarket | null {
  const tokens = tokensOf(wire);
  const names = namesOf(wire);
  if (tokens === null || names === null) return null;
  const conditionId = conditionOf(wire.conditionId);
  const isTurned = listsNoFirst(names) && context.keepsOrder?.(conditionId, tokens[0]) !== true;
  const inOrder = <T>([first, second]: readonly [T, T]) =>
    isTurned ? ([second, first] as const) : ([first, second] as const);
  const [yes, no] = inOrder(names);
  const event = context.event ?? firstEvent(wire);
  const version = versionOf(wire, tokens);
  const createdAt = timeOf(wire.createdAt) || timeOf(wire.startDate);
  const fees = feesOf(wire);
  const untradable = version === null ? 'contract_version' : fees === null ? 'fee_terms' : null;
  const prices = pricesOf(wire);
  return {
    roughPrice: prices === null ? null : inOrder(prices)[0],
    saidPayout: saidPayout(wire, isTurned),
    readAt: context.now,
    record: {
      id: String(wire.id),
      conditionId,
      tokenIds: inOrder(tokens),
      outcomes: [yes || 'YES', no || 'NO'],
      ...(isTurned ? { isTurned } : {}),
      slug: wire.slug,
      question: wire.question,
      description: wire.description ?? '',
      category: categoryOf(wire, event),
      eventId: event === null ? '' : String(event.id),
      eventTitle: event?.title ?? wire.question,
      negRisk: wire.negRisk ?? false,
      ...(listedTick(wire.orderPriceMinTickSize) ?? { tickSize: DEFAULT_TICK }),
      minOrderSize: microOf(wire.orderMinSize) || DEFAULT_MIN_SIZE,
      ...(fees ?? FREE),
      createdAt,
      endDate: timeOf(wire.endDate) || endOfDay(wire.endDateIso),
      updatedAt: timeOf(wire.updatedAt) || context.now,
      status: untradable === null && takesOrders(wire) ? 'open' : 'closed',
      ...(version === null ? {} : { version }),
      ...(untradable === null ? {} : { untradable }),
      ...rarelySaid(wire),
      volume: microOf(wire.volumeNum ?? wire.volume),
      volume24h: microOf(wire.volume24hr),
      liquidity: microOf(wire.liquidityNum ?? wire.liquidity),
    },
  };
}

/** The venue writes 31 bytes for Protocol V2, in some places with a byte of zeros after them. */
export const conditionOf = (text: string): string =>
  `0x${text.slice(2).toLowerCase().padEnd(CONDITION_HEX_DIGITS, '0')}`;

/**
 * The version that a market says, if its ids have the layout of that version; `null`: it is not known here for which contract
 * its orders are.
 */
function versionOf(wire: WireMarket, tokens: readonly [string, string]): 'v1' | 'v2' | null {
  const said = saidVersion(wire);
  const positions = positionIds(conditionOf(wire.conditionId));
  if (said === 'v2') return positions !== null && positions.join() === tokens.join() ? said : null;
  return said === 'v1' && !tokens.some((token) => isPositionId(BigInt(token))) ? said : null;
}

const saidVersion = ({ version }: WireMarket): string => wordOf(version) || 'v1';

/**
 * Wire reference 1.4. A market that UMA looks at has no book any more; one of Protocol V2 says so itself. What is left out says
 * nothing: whether there is a book then decides.
 */
const takesOrders = (wire: WireMarket): boolean =>
  wire.active !== false &&
  wire.closed !== true &&
  wire.archived !== true &&
  wire.enableOrderBook !== false &&
  wire.acceptingOrders !== false &&
  wordOf(wire.umaResolutionStatus) === '' &&
  ['', 'active'].includes(wordOf(wire.resolutionStatus));

function tokensOf(wire: WireMarket): readonly [string, string] | null {
  const said = saidVersion(wire);
  const positions = said === 'v1' ? null : listOf(wire.positionIds);
  // Either list may be filled where the version is not known.
  const ids = said === 'v2' || (positions?.length ?? 0) > 0 ? positions : listOf(wire.clobTokenIds);
  const [yes, no, ...others] = (ids ?? []).map((id) => (typeof id === 'string' ? id : ''));
  const areTokens = others.length === 0 && isTokenId(yes) && isTokenId(no) && yes !== no;
  return areTokens ? [yes, no] : null;
}

export const isTokenId = (text: string | undefined): text is string =>
  text !== undefined && /^[1-9]\d{0,77}$/.test(text);

/** In the venue's order; empty where it cannot be read. */
function namesOf(wire: WireMarket): OutcomeNames | null {
  const [first, second, ...others] = listOf(wire.outcomes) ?? [];
  if (first === undefined || second === undefined || others.length > 0) return null;
  const plain = (name: unknown) =>
    typeof name === 'string' ? plainText(name, LIMITS.outcomeChars).trim() : '';
  return [plain(first), plain(second)];
}

function firstEvent(wire: WireMarket): WireEvent | null {
  const [first] = listOf(wire.events) ?? [];
  return READ.gammaEvent(first);
}

function categoryOf(wire: WireMarket, event: WireEvent | null): string {
  if ((wire.category ?? '') !== '') return wire.category!;
  const tags = listOf(wire.tags) ?? listOf(event?.tags) ?? [];
  return tags.map(READ.tag).find((tag) => tag !== null)?.label ?? 'Other';
}

const pricesOf = (wire: WireMarket): readonly [Pips, Pips] | null => {
  const [yes, no] = (listOf(wire.outcomePrices) ?? []).map((price) => pipsOf(price, 'floor'));
  return yes === undefined || no === undefined || yes === null || no === null ? null : [yes, no];
};

function saidPayout(wire: WireMarket, isTurned: boolean): Payout | null {
  const isFinal =
    wire.closed === true &&
    (UMA_FINAL.has(wordOf(wire.umaResolutionStatus)) ||
      wordOf(wire.resolutionStatus) === 'resolved' ||
      wire.automaticallyResolved === true);
  if (!isFinal) return null;
  const [yes, no] = (listOf(wire.outcomePrices) ?? []).map(exactOf);
  if (yes == null || no == null) return null;
  // Parts may be rounded, a whole collateral is not.
  const rounded = yes === 0n || no === 0n ? 0n : EXACT_ONE / BigInt(PIPS);
  const off = yes + no - EXACT_ONE;
  return off <= rounded && off >= -rounded ? proportionOf([yes, no], isTurned) : null;
}

/** @param pair what the outcomes pay, in the venue's order and a unit of both; `null` where it cannot be read */
export function proportionOf(
  [first, second, ...others]: readonly (bigint | null)[],
  isTurned: boolean,
): Payout | null {
  if (first == null || second == null || others.length > 0 || first + second === 0n) return null;
  return payoutOf(((isTurned ? second : first) * MICRO) / (first + second));
}

const EXACT_DIGITS = 18;
const EXACT_ONE = 10n ** BigInt(EXACT_DIGITS);

/** In a unit that is fine enough for every text of the venue; `null` when it is no number, or below zero. */
export function exactOf(text: unknown): bigint | null {
  if (typeof text !== 'string' && typeof text !== 'number') return null;
  try {
    const exact = parseDecimal(text, EXACT_DIGITS, 'floor');
    return exact < 0n ? null : exact;
  } catch {
    return null;
  }
}

type Fees = Pick<MarketRecord, 'feeRate' | 'feeExponent'>;
const FREE: Fees = { feeRate: 0n, feeExponent: 1 };
/** The venue's greatest is 2; a power without a bound would be computed for ever. */
const MAX_FEE_EXPONENT = 8;

/** Wire reference 6.3. @returns `null` for terms by which the desk cannot tell what an order costs */
function feesOf({ feesEnabled, feeSchedule }: WireMarket): Fees | null {
  if (feesEnabled === false || feeSchedule == null) return FREE;
  if (typeof feeSchedule !== 'object') return null;
  const { rate, exponent, takerOnly } = feeSchedule as Readonly<Record<string, unknown>>;
  const said = microSaid(rate);
  const feeRate = said !== null && said >= 0n && said <= MICRO ? said : null;
  if (feeRate === 0n) return FREE;
  const feeExponent = Number(exponent ?? 1);
  const isKnown =
    Number.isInteger(feeExponent) &&
    feeExponent >= 0 &&
    feeExponent <= MAX_FEE_EXPONENT &&
    (takerOnly ?? true) === true;
  return feeRate === null || !isKnown ? null : { feeRate, feeExponent };
}

/** 0 when unreadable: for display only. */
export function microOf(amount: string | number | null | undefined): Micro {
  const micro = microSaid(amount, 'floor');
  return micro !== null && micro > 0n ? micro : 0n;
}

/** From 0 to 1; `null` when it is none, or finer than a pip and the caller names no rounding. */
export function pipsOf(price: unknown, rounding?: Rounding): Pips | null {
  if (typeof price !== 'string' && typeof price !== 'number') return null;
  try {
    const pips = parsePips(price, rounding);
    return pips >= 0 && pips <= PIPS ? pips : null;
  } catch {
    return null;
  }
}

export type ListedTick = Pick<MarketRecord, 'tickSize' | 'unknownTick'>;

/** `null` where the venue names none. */
export function listedTick(tick: string | number | null | undefined): ListedTick | null {
  if (tick === null || tick === undefined || tick === '') return null;
  const known = parseTick(tick);
  return known === null
    ? { tickSize: DEFAULT_TICK, unknownTick: String(tick).slice(0, 40) }
    : { tickSize: known };
}

type Rare =
  | 'takerDelaySeconds'
  | 'gameStartTime'
  | 'eventStartTime'
  | 'ordersCanceledAtStart'
  | 'isOtherOutcome'
  | 'resolutionSource';

/** Facts of games, of windows of time and of augmented events: whatever is said there loses no market. */
function rarelySaid(wire: WireMarket): Pick<MarketRecord, Rare> {
  const takerDelaySeconds = Number(wire.secondsDelay ?? 0);
  const [gameStartTime, eventStartTime] = [wire.gameStartTime, wire.eventStartTime].map((said) =>
    typeof said === 'string' ? timeOf(said) : 0,
  );
  const { resolutionSource } = wire;
  return {
    ...(takerDelaySeconds > 0 && takerDelaySeconds <= MAX_DELAY_S ? { takerDelaySeconds } : {}),
    ...(gameStartTime ? { gameStartTime } : {}),
    ...(eventStartTime ? { eventStartTime } : {}),
    ...(wire.clearBookOnStart === true ? { ordersCanceledAtStart: true } : {}),
    ...(wire.negRiskOther === true ? { isOtherOutcome: true } : {}),
    ...(typeof resolutionSource === 'string' && resolutionSource.trim() !== ''
      ? { resolutionSource: resolutionSource.slice(0, MAX_SOURCE_CHARS) }
      : {}),
  };
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** The venue's day has no zone: its last moment in UTC. `null` when it is no day. */
const endOfDay = (day: string | null | undefined): number | null =>
  (DAY.test(day ?? '') && timeOf(`${day}T23:59:59.999Z`)) || null;

/** The venue writes some times like "2026-05-28 05:29:05+00". */
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d)(?::?(\d\d))?$/;

/** Epoch milliseconds; 0 when it is no time. */
function timeOf(text: string | null | undefined): number {
  const [, day, time, zone, minutes = '00'] = SPACED.exec(text ?? '') ?? [];
  return timeAt(Date.parse(day === undefined ? (text ?? '') : `${day}T${time}${zone}:${minutes}`)) ?? 0;
}

/** The venue's milliseconds, which come as text or as number. */
export function millisecondsOf(value: string | number | null | undefined): number | null {
  if (value === null || value === undefined) return null;
  try {
    return timeAt(Number(parseDecimal(value, 0, 'floor')));
  } catch {
    return null;
  }
}
