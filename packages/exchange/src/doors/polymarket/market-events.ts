/** The market channel's messages. Pure. Wire reference 4.1. */
import { formatMicro, formatPips, microToNumber, type Pips } from '@bellwether/contract/decimals';
import type { BookView, EngineEvent, Level, MarketView, Outcome } from '../../paper-exchange.ts';
import { nameOf, tokenOf, type WireBook, wireBook } from './wire.ts';

export type BookEvent = WireBook & { readonly event_type: 'book' };

const OUTCOMES = ['YES', 'NO'] as const satisfies readonly Outcome[];
const FEE_FLAG_BPS = '1000';

/** Frames of Protocol V2 leave out what a market's record says. */
export function bookEvent(market: MarketView, outcome: Outcome, book: BookView): BookEvent {
  const wire = wireBook(market, outcome, book);
  if (market.version === 'v1') return { ...wire, event_type: 'book' };
  const { min_order_size: _size, neg_risk: _risk, ...rest } = wire;
  return { ...rest, event_type: 'book' };
}

const mirror = (price: Pips): Pips => 10_000 - price;

export interface Change {
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
  fee_rate_bps: fee > 0n ? FEE_FLAG_BPS : '0',
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
  taker_base_fee: market.feeRate > 0n ? Number(FEE_FLAG_BPS) : 0,
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
