/** A trade as the venue shows it: the same record for its parties and in the streams. Wire reference 2.8. */
import {
  divide,
  formatDecimal,
  formatMicro,
  formatPips,
  PIPS,
  type Pips,
} from '@bellwether/contract/decimals';
import type { AccountId, MarketFacts, OrderId, Outcome, Side } from '../../paper-exchange.ts';
import type { TradeMatch, TradeRecord, TradeStatus } from '../../trade-history.ts';
import { addressOfAccount, digestOfOrder } from '../house-names.ts';

export interface WireMakerOrder {
  readonly order_id: string;
  /** API key; '' where none is known. */
  readonly owner: string;
  readonly maker_address: string;
  readonly matched_amount: string;
  readonly price: string;
  readonly fee_rate_bps: string;
  readonly asset_id: string;
  readonly outcome: string;
  readonly side: Side;
}

/** Size, price, side and outcome at the top are the taker's, also for a maker. */
export interface WireTrade {
  readonly id: string;
  readonly taker_order_id: string;
  readonly market: string;
  readonly asset_id: string;
  readonly side: Side;
  readonly size: string;
  readonly fee_rate_bps: string;
  readonly price: string;
  readonly status: TradeStatus;
  /** Epoch seconds. */
  readonly match_time: string;
  readonly match_time_nano: string;
  readonly last_update: string;
  readonly outcome: string;
  readonly bucket_index: number;
  readonly owner: string;
  readonly maker_address: string;
  /** '' before the trade is mined. */
  readonly transaction_hash: string;
  readonly trader_side: 'TAKER' | 'MAKER';
  readonly maker_orders: readonly WireMakerOrder[];
}

export interface TradeViewer {
  isOwn(account: AccountId): boolean;
  /** The API key that an order is shown with. */
  ownerOf(orderId: OrderId, account: AccountId): string;
}

export const OUTCOME_LABELS = { YES: 'Yes', NO: 'No' } as const;

/** The venue's flag for a market with fees, in basis points; the fee follows from the market's schedule. */
const FEE_FLAG = '1000';
/** A price over several matches may lie between two ticks. */
const PRICE_DECIMALS = 6;
const SECOND_MS = 1_000;

export const tokenOfFacts = ({ tokenIds }: Pick<MarketFacts, 'tokenIds'>, outcome: Outcome): string =>
  tokenIds[outcome === 'YES' ? 0 : 1];

/** What the taker paid or got for a token in one match: the maker's price, or its mirror. */
const takersPrice = (match: TradeMatch, outcome: Outcome): Pips =>
  match.outcome === outcome ? match.price : PIPS - match.price;

function averagePrice({ taker, matches }: TradeRecord, size: bigint): string {
  const sum = matches.reduce(
    (total, match) => total + match.size * BigInt(takersPrice(match, taker.outcome)),
    0n,
  );
  const scale = 10n ** BigInt(PRICE_DECIMALS);
  return formatDecimal(divide(sum * scale, size * BigInt(PIPS), 'floor'), PRICE_DECIMALS);
}

const seconds = (at: number): string => String(Math.floor(at / SECOND_MS));

export function wireTrade(trade: TradeRecord, viewer: TradeViewer): WireTrade {
  const { taker, matches, market, settlement } = trade;
  const size = matches.reduce((sum, match) => sum + match.size, 0n);
  const hasFee = matches.some((match) => match.takerFee > 0n);
  return {
    id: trade.id,
    taker_order_id: digestOfOrder(taker.orderId),
    market: trade.conditionId,
    asset_id: tokenOfFacts(market, taker.outcome),
    side: taker.side,
    size: formatMicro(size),
    fee_rate_bps: hasFee ? FEE_FLAG : '0',
    price: averagePrice(trade, size),
    status: settlement.status,
    match_time: seconds(trade.at),
    match_time_nano: String(BigInt(trade.at) * 1_000_000n),
    last_update: seconds(settlement.since),
    outcome: OUTCOME_LABELS[taker.outcome],
    bucket_index: 0,
    owner: viewer.ownerOf(taker.orderId, taker.account),
    maker_address: addressOfAccount(taker.account),
    transaction_hash: settlement.transactionHash ?? '',
    trader_side: viewer.isOwn(taker.account) ? 'TAKER' : 'MAKER',
    maker_orders: matches.map((match) => makerOrder(match, trade, viewer)),
  };
}

const makerOrder = (match: TradeMatch, { market }: TradeRecord, viewer: TradeViewer): WireMakerOrder => ({
  order_id: digestOfOrder(match.orderId),
  owner: viewer.ownerOf(match.orderId, match.account),
  maker_address: addressOfAccount(match.account),
  matched_amount: formatMicro(match.size),
  price: formatPips(match.price),
  fee_rate_bps: '0',
  asset_id: tokenOfFacts(market, match.outcome),
  outcome: OUTCOME_LABELS[match.outcome],
  side: match.side,
});
