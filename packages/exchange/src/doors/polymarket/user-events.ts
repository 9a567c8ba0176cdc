/** The user channel's messages. Pure. Wire reference 4.2. */
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import type {
  AccountId,
  ConditionId,
  EngineEvent,
  MarketFacts,
  NewOrder,
  OpenOrder,
  OrderId,
  Outcome,
  Side,
  TimeInForce,
} from '../../paper-exchange.ts';
import type { TradeRecord } from '../../trade-history.ts';
import { nameOf, tokenOf } from './wire.ts';
import { type Viewer, wireTrade } from './wire-trade.ts';

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
