/**
 * Converts trades to the venue's record, which `/data/trades` and the user socket share. Pure. Wire reference 2.8.
 *
 * Accounts and orders of the house have no address and no digest; on the wire they have some that follow from their names. The API
 * key behind another's order is shown as a UUID that follows from its account: the venue shows real ones, which tell nothing more.
 */
import { createHash } from 'node:crypto';
import { formatDecimal, formatMicro, formatPips, type Micro } from '@bellwether/contract/decimals';
import type { AccountId, MarketFacts, OrderId, Side } from '../../paper-exchange.ts';
import type { TradeMatch, TradeRecord } from '../../trade-history.ts';
import { nameOf, tokenOf } from './wire.ts';

/** The venue's fee column is a flag: a thousand where there is a fee. */
const FEE_FLAG_BPS = '1000';
const HOUSE = 'house:';
const PRICE_DECIMALS = 6;

export interface WireMakerOrder {
  readonly order_id: string;
  readonly owner: string;
  readonly maker_address: string;
  readonly matched_amount: string;
  readonly price: string;
  readonly fee_rate_bps: string;
  readonly asset_id: string;
  readonly outcome: string;
  readonly outcome_index: 0 | 1;
  readonly side: Side;
}

export interface WireTrade {
  readonly id: string;
  readonly taker_order_id: string;
  readonly market: string;
  readonly asset_id: string;
  readonly side: Side;
  readonly size: string;
  readonly fee_rate_bps: string;
  readonly price: string;
  readonly status: string;
  /** Epoch seconds. */
  readonly match_time: string;
  readonly match_time_nano: string;
  readonly last_update: string;
  readonly outcome: string;
  readonly bucket_index: number;
  readonly owner: string;
  readonly maker_address: string;
  /** '' until it is mined. */
  readonly transaction_hash: string;
  readonly trader_side: 'TAKER' | 'MAKER';
  readonly maker_orders: readonly WireMakerOrder[];
}

/** Who reads: the accounts of a key, and the key. */
export interface Viewer {
  readonly accounts: ReadonlySet<AccountId>;
  readonly apiKey: string;
}

/** A trade as one of its accounts sees it: at its top is the taker's part, in `maker_orders` every maker's. */
export function wireTrade(trade: TradeRecord, viewer: Viewer): WireTrade {
  const { taker, matches, market, settlement } = trade;
  const size = sum(matches.map((match) => match.size));
  const cost = sum(matches.map((match) => match.takerCost));
  const ownerOf = (account: AccountId): string =>
    viewer.accounts.has(account) ? viewer.apiKey : pseudonym(account);
  return {
    id: trade.id,
    taker_order_id: wireOrderId(taker.orderId),
    market: trade.conditionId,
    asset_id: tokenOf(market, taker.outcome),
    side: taker.side,
    size: formatMicro(size),
    fee_rate_bps: matches.some(({ takerFee }) => takerFee > 0n) ? FEE_FLAG_BPS : '0',
    price: takerPrice(trade, size, cost),
    status: settlement.status,
    match_time: seconds(trade.at),
    match_time_nano: `${trade.at}000000`,
    last_update: seconds(settlement.since),
    outcome: nameOf(market, taker.outcome),
    bucket_index: 0,
    owner: ownerOf(taker.account),
    maker_address: wireAddress(taker.account),
    transaction_hash: settlement.transactionHash ?? '',
    trader_side: viewer.accounts.has(taker.account) ? 'TAKER' : 'MAKER',
    maker_orders: matches.map((match) => makerOrder(match, market, ownerOf(match.account))),
  };
}

const makerOrder = (match: TradeMatch, market: MarketFacts, owner: string): WireMakerOrder => ({
  order_id: wireOrderId(match.orderId),
  owner,
  maker_address: wireAddress(match.account),
  matched_amount: formatMicro(match.size),
  price: formatPips(match.price),
  fee_rate_bps: '0',
  asset_id: tokenOf(market, match.outcome),
  outcome: nameOf(market, match.outcome),
  outcome_index: match.outcome === 'YES' ? 0 : 1,
  side: match.side,
});

/** Price for the taker's own token: the makers' one price, else the ratio of its amounts. */
function takerPrice({ taker, matches }: TradeRecord, size: Micro, cost: Micro): string {
  const prices = new Set(
    matches.map(({ outcome, price }) => (outcome === taker.outcome ? price : 10_000 - price)),
  );
  const [only] = prices;
  if (prices.size === 1 && only !== undefined) return formatPips(only);
  return formatDecimal((cost * 1_000_000n) / size, PRICE_DECIMALS);
}

const sum = (amounts: readonly Micro[]): Micro => amounts.reduce((total, amount) => total + amount, 0n);
const seconds = (ms: number): string => String(Math.floor(ms / 1000));
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

export const wireAddress = (account: AccountId): string =>
  account.startsWith(HOUSE) ? `0x${digest(`account ${account}`).slice(0, 40)}` : account;

export const wireOrderId = (orderId: OrderId): string =>
  orderId.startsWith(HOUSE) ? `0x${digest(`order ${orderId}`)}` : orderId;

/** A version 8 UUID. */
function pseudonym(account: AccountId): string {
  const hex = digest(`owner ${account}`);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
