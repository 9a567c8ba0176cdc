/** The messages of the market and the user channel. Pure. Wire reference 4.1 and 4.2. */
import { formatMicro, formatPips, microToNumber, type Pips } from '@bellwether/contract/decimals';
import type {
  AccountId,
  BookView,
  ConditionId,
  EngineEvent,
  Level,
  MarketFacts,
  MarketView,
  NewOrder,
  OpenOrder,
  OrderId,
  Outcome,
  Side,
  TimeInForce,
} from '../../paper-exchange.ts';
import type { TradeRecord } from '../../trade-history.ts';
import { FEE_FLAG_BPS, nameOf, tokenOf, type Viewer, type WireBook, wireBook, wireTrade } from './wire.ts';

type BookEvent = WireBook & { readonly event_type: 'book' };

const OUTCOMES = ['YES', 'NO'] as const satisfies readonly Outcome[];

/** Frames of Protocol V2 leave out what a market's record says. */
export function bookEvent(market: MarketView, outcome: Outcome, book: BookView): BookEvent {
  const wire = wireBook(market, outcome, book);
  if (market.version === 'v1') return { ...wire, event_type: 'book' };
  const { min_order_size: _size, neg_risk: _risk, ...rest } = wire;
  return { ...rest, event_type: 'book' };
}

const mirror = (price: Pips): Pips => 10_000 - price;

interface Change {
  readonly side: 'BUY' | 'SELL';
  /** Price of YES. */
  readonly price: Pips;
  /** New total; 0 removes the level. */
  readonly size: bigint;
}

/** Changes that turn one YES book into another. */
export function changesBetween(
  before: Pick<BookView, 'bids' | 'asks'>,
  after: Pick<BookView, 'bids' | 'asks'>,
): Change[] {
  return [
    ...changedLevels(before.bids, after.bids).map((change) => ({ side: 'BUY' as const, ...change })),
    ...changedLevels(before.asks, after.asks).map((change) => ({ side: 'SELL' as const, ...change })),
  ];
}

function changedLevels(before: readonly Level[], after: readonly Level[]): Omit<Change, 'side'>[] {
  const old = new Map(before);
  const changes: Omit<Change, 'side'>[] = [];
  for (const [price, size] of after) {
    if (old.get(price) !== size) changes.push({ price, size });
    old.delete(price);
  }
  for (const price of old.keys()) changes.push({ price, size: 0n });
  return changes;
}

/** Both tokens' view of the changes: NO is the mirror of YES. */
export function priceChangeEvent(
  market: MarketView,
  changes: readonly Change[],
  books: readonly [yes: WireBook, no: WireBook],
): object {
  const tops = books.map(topOf);
  return {
    market: market.conditionId,
    price_changes: changes.flatMap(({ side, price, size }) =>
      OUTCOMES.map((outcome, at) => ({
        asset_id: tokenOf(market, outcome),
        price: formatPips(at === 0 ? price : mirror(price)),
        size: formatMicro(size),
        side: at === 0 ? side : side === 'BUY' ? 'SELL' : 'BUY',
        hash: books[at]!.hash,
        best_bid: tops[at]!.bid,
        best_ask: tops[at]!.ask,
      })),
    ),
    timestamp: books[0].timestamp,
    event_type: 'price_change',
  };
}

/** The best is the last; '0' and '1' for an empty side. */
const topOf = ({ bids, asks }: WireBook): { readonly bid: string; readonly ask: string } => ({
  bid: bids.at(-1)?.price ?? '0',
  ask: asks.at(-1)?.price ?? '1',
});

export const topText = (book: WireBook): string => `${topOf(book).bid} ${topOf(book).ask}`;

export function bestBidAskEvent(book: WireBook): object {
  const { bid, ask } = topOf(book);
  const spread = Math.round((Number(ask) - Number(bid)) * 10_000);
  return {
    event_type: 'best_bid_ask',
    market: book.market,
    asset_id: book.asset_id,
    best_bid: bid,
    best_ask: ask,
    spread: formatPips(spread),
    timestamp: book.timestamp,
  };
}

type Fill = Extract<EngineEvent, { readonly kind: 'fill' }>;

export const lastTradeEvent = (
  tokenId: string,
  { conditionId, price, size, side, fee }: Fill,
  at: number,
): object => ({
  market: conditionId,
  asset_id: tokenId,
  price: formatPips(price),
  size: formatMicro(size),
  fee_rate_bps: fee > 0n ? String(FEE_FLAG_BPS) : '0',
  side,
  timestamp: String(at),
  event_type: 'last_trade_price',
  transaction_hash: null,
});

export const tickSizeEvents = (market: MarketView, before: Pips, at: number): object[] =>
  market.tokenIds.map((tokenId) => ({
    event_type: 'tick_size_change',
    market: market.conditionId,
    asset_id: tokenId,
    old_tick_size: formatPips(before),
    new_tick_size: formatPips(market.tickSize),
    timestamp: String(at),
  }));

export const newMarketEvent = (market: MarketView, at: number): object => ({
  id: market.id,
  question: market.question,
  market: market.conditionId,
  slug: market.slug,
  description: market.description,
  assets_ids: market.tokenIds,
  outcomes: market.outcomes,
  event_message: {
    id: market.eventId,
    ticker: market.slug,
    slug: market.slug,
    title: market.eventTitle,
    description: market.description,
  },
  timestamp: String(at),
  event_type: 'new_market',
  tags: [market.category, ...market.tags],
  condition_id: market.conditionId,
  active: market.status === 'open',
  clob_token_ids: market.tokenIds,
  order_price_min_tick_size: formatPips(market.tickSize),
  taker_base_fee: market.feeRate > 0n ? FEE_FLAG_BPS : 0,
  fees_enabled: market.feeRate > 0n,
  fee_schedule: {
    exponent: market.feeExponent,
    rate: microToNumber(market.feeRate),
    taker_only: true,
    rebate_rate: 0,
  },
});

/** No outcome wins where each pays a part. */
export function resolvedEvent(market: MarketView, at: number): object {
  const winner = market.payout === 'YES' || market.payout === 'NO' ? market.payout : null;
  return {
    id: market.id,
    market: market.conditionId,
    assets_ids: market.tokenIds,
    winning_asset_id: winner === null ? '' : tokenOf(market, winner),
    winning_outcome: winner === null ? '' : nameOf(market, winner),
    timestamp: String(at),
    event_type: 'market_resolved',
    tags: [market.category, ...market.tags],
  };
}

// The user channel. Wire reference 4.2.

/** An order that a user may hear about, as far as its entries said. */
export interface KnownOrder {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly conditionId: ConditionId;
  readonly tokenId: string;
  readonly outcomeName: string;
  readonly side: Side;
  readonly limit: number;
  /** Size; of an immediate BUY its budget. */
  readonly originalSize: bigint;
  readonly timeInForce: TimeInForce;
  /** Epoch seconds, '0' for none. */
  readonly expiration: string;
  readonly createdAt: number;
  filled: bigint;
  readonly tradeIds: string[];
}

export type OrderEventType = 'PLACEMENT' | 'UPDATE' | 'CANCELLATION';
/** How long before its stated expiration the venue removes an order. */
const EARLY_S = 60;

const expirationOf = (expiresAt: number | undefined): string =>
  expiresAt === undefined ? '0' : String(Math.floor(expiresAt / 1_000) + EARLY_S);

/** '' of a market that is not known. */
const sideOf = ({ outcome }: { readonly outcome: Outcome }, market: MarketFacts | undefined) =>
  market === undefined
    ? { tokenId: '', outcomeName: '' }
    : { tokenId: tokenOf(market, outcome), outcomeName: nameOf(market, outcome) };

export const knownFromOpen = (order: OpenOrder, market: MarketFacts | undefined): KnownOrder => ({
  ...order,
  ...sideOf(order, market),
  originalSize: order.size,
  expiration: expirationOf(order.expiresAt),
  createdAt: order.acceptedAt,
  tradeIds: [],
});

export const knownFromNew = (order: NewOrder, market: MarketFacts | undefined, at: number): KnownOrder => ({
  ...order,
  ...sideOf(order, market),
  originalSize: order.side === 'BUY' && order.spend !== undefined ? order.spend : order.size,
  expiration: order.posted === undefined ? expirationOf(order.expiresAt) : String(order.posted.expiration),
  createdAt: at,
  filled: 0n,
  tradeIds: [],
});

export function orderEvent(
  order: KnownOrder,
  type: OrderEventType,
  { status, apiKey, at }: { readonly status: string; readonly apiKey: string; readonly at: number },
): object {
  return {
    asset_id: order.tokenId,
    associate_trades: order.tradeIds.length === 0 ? null : order.tradeIds,
    created_at: String(Math.floor(order.createdAt / 1_000)),
    event_type: 'order',
    expiration: order.expiration,
    id: order.orderId,
    maker_address: order.account,
    market: order.conditionId,
    order_owner: apiKey,
    order_type: order.timeInForce,
    original_size: formatMicro(order.originalSize),
    outcome: order.outcomeName,
    owner: apiKey,
    price: formatPips(order.limit),
    side: order.side,
    size_matched: formatMicro(order.filled),
    status,
    timestamp: String(at),
    type,
  };
}

type DoneReason = Extract<EngineEvent, { readonly kind: 'order_done' }>['reason'];

/** The status of an order that left the book without being filled; null for one that was. */
export function cancelledStatus(reason: DoneReason): string | null {
  if (reason === 'filled' || reason === 'killed') return null;
  return reason === 'market_closed' || reason === 'market_resolved' ? 'CANCELED_MARKET_RESOLVED' : 'CANCELED';
}

/** An immediate order that was killed carries the reason in its status. */
export const KILLED_TEXTS: Readonly<Record<string, string>> = {
  fok_not_filled: "order couldn't be fully filled. FOK orders are fully filled or killed.",
  fak_no_match:
    'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
};

export const tradeEvent = (trade: TradeRecord, viewer: Viewer): object => {
  const { match_time_nano: _, transaction_hash: hash, ...wire } = wireTrade(trade, viewer);
  return {
    ...wire,
    event_type: 'trade',
    type: 'TRADE',
    trade_owner: viewer.apiKey,
    transaction_hash: hash === '' ? null : hash,
    timestamp: String(trade.settlement.since),
  };
};
