/**
 * Converts our records of markets and trades to the venue's. Pure; field order is the venue's, since its book hash
 * depends on it. Wire reference 2.8 and 2.9.
 */
import { createHash } from 'node:crypto';
import {
  formatDecimal,
  formatMicro,
  formatPips,
  type Micro,
  microToNumber,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { paysOf } from '@bellwether/contract/positions';
import type {
  AccountId,
  BookView,
  Level,
  MarketFacts,
  MarketView,
  OrderId,
  Outcome,
  Side,
} from '../../paper-exchange.ts';
import type { TradeMatch, TradeRecord } from '../../trade-history.ts';

const OUTCOMES = ['YES', 'NO'] as const satisfies readonly Outcome[];

/** The venue's `base_fee` on markets with fees, and the fee column of their trades: a flag, not the fee. */
export const FEE_FLAG_BPS = 1000;

interface WireLevel {
  readonly price: string;
  readonly size: string;
}

export interface WireBook {
  readonly market: string;
  readonly asset_id: string;
  /** Epoch milliseconds. */
  readonly timestamp: string;
  /** SHA-1 of this record's JSON with an empty hash. */
  readonly hash: string;
  /** Ascending: the best is the last. */
  readonly bids: readonly WireLevel[];
  /** Descending: the best is the last. */
  readonly asks: readonly WireLevel[];
  /** Absent of frames about markets of Protocol V2, as `neg_risk`. */
  readonly min_order_size?: string;
  readonly tick_size: string;
  readonly neg_risk?: boolean;
  /** In terms of YES on both books; '' before the first trade. */
  readonly last_trade_price: string;
  readonly version?: 'v2';
}

const worstFirst = (levels: readonly Level[]): WireLevel[] =>
  levels.map(([price, size]) => ({ price: formatPips(price), size: formatMicro(size) })).reverse();

export function wireBook(market: MarketView, outcome: Outcome, book: BookView): WireBook {
  const record = {
    market: market.conditionId,
    asset_id: tokenOf(market, outcome),
    timestamp: String(book.changedAt),
    hash: '',
    bids: worstFirst(book.bids),
    asks: worstFirst(book.asks),
    min_order_size: formatMicro(market.minOrderSize),
    tick_size: formatPips(market.tickSize),
    neg_risk: market.negRisk,
    last_trade_price: market.lastTrade === undefined ? '' : formatPips(market.lastTrade),
    ...saysVersion(market),
  };
  record.hash = createHash('sha1').update(JSON.stringify(record)).digest('hex');
  return record;
}

/** Records of V1 markets say nothing. */
const saysVersion = ({ version }: MarketView): { readonly version?: 'v2' } =>
  version === 'v2' ? { version } : {};

type Sides = Pick<MarketFacts, 'tokenIds' | 'outcomes'>;
export const tokenOf = ({ tokenIds }: Sides, outcome: Outcome): string => tokenIds[outcome === 'YES' ? 0 : 1];
/** What the market calls a side. */
export const nameOf = ({ outcomes }: Sides, outcome: Outcome): string => outcomes[outcome === 'YES' ? 0 : 1];

export const wireTickSize = (market: MarketView) => ({ minimum_tick_size: pipsToNumber(market.tickSize) });
export const wireNegRisk = (market: MarketView) => ({ neg_risk: market.negRisk });
export const wireFeeRate = (market: MarketView) => ({ base_fee: baseFee(market) });

const baseFee = (market: MarketView): number => (market.feeRate > 0n ? FEE_FLAG_BPS : 0);

/** Midpoint of the book, exact to half a ten-thousandth; `null` unless both sides have orders. */
export function wireMidpoint(book: BookView): { readonly mid: string } | null {
  const [bid, ask] = [book.bids[0]?.[0], book.asks[0]?.[0]];
  if (bid === undefined || ask === undefined) return null;
  return { mid: formatDecimal(BigInt(bid + ask) * 5n, 5) };
}

export function wireSpread(book: BookView): { readonly spread: string } | null {
  const [bid, ask] = [book.bids[0]?.[0], book.asks[0]?.[0]];
  return bid === undefined || ask === undefined ? null : { spread: formatPips(ask - bid) };
}

/** As on the wire, not as in the docs: BUY gives the best bid, SELL the best ask. */
export function wirePrice(book: BookView, side: 'BUY' | 'SELL'): { readonly price: string } | null {
  const best = (side === 'BUY' ? book.bids : book.asks)[0]?.[0];
  return best === undefined ? null : { price: formatPips(best) };
}

/** Price of the token's last trade, and its taker's side; '' before the first. */
export const wireLastTrade = (book: BookView): { readonly price: string; readonly side: string } => ({
  price: book.lastTrade === undefined ? '0.5' : formatPips(book.lastTrade),
  side: book.lastTakerSide ?? '',
});

export const wireMarketOfToken = ({ conditionId, tokenIds: [yes, no] }: MarketView) => ({
  condition_id: conditionId,
  primary_token_id: yes,
  secondary_token_id: no,
});

/** The record of `GET /clob-markets/{conditionId}`; omits fields that are false or free, like the venue. */
export const wireCompactMarket = (market: MarketView) => ({
  c: market.conditionId,
  t: OUTCOMES.map((outcome) => ({ t: tokenOf(market, outcome), o: nameOf(market, outcome) })),
  mos: microToNumber(market.minOrderSize),
  mts: pipsToNumber(market.tickSize),
  mbf: market.version === 'v2' ? baseFee(market) : 0,
  tbf: baseFee(market),
  ...(market.negRisk ? { nr: true } : {}),
  ...(market.feeRate > 0n
    ? { fd: { r: microToNumber(market.feeRate), e: market.feeExponent, to: true } }
    : {}),
  r: null,
  ao: market.status === 'open',
  aot: new Date(market.createdAt).toISOString(),
  ...(market.version === 'v2' ? { itode: false, cbos: false } : {}),
  v: market.version,
});

function tokenPrice(market: MarketView, outcome: Outcome): number {
  if (market.payout !== undefined) return microToNumber(paysOf(market.payout, outcome));
  const { bestBid, bestAsk, lastTrade } = market;
  const yes = bestBid !== undefined && bestAsk !== undefined ? (bestBid + bestAsk) / 2 : (lastTrade ?? 5_000);
  return pipsToNumber(outcome === 'YES' ? yes : 10_000 - yes);
}

const tokensOf = (market: MarketView) =>
  OUTCOMES.map((outcome) => ({
    token_id: tokenOf(market, outcome),
    outcome: nameOf(market, outcome),
    price: tokenPrice(market, outcome),
    winner: market.payout === outcome,
  }));

const NO_REWARDS = { rates: null, min_size: 0, max_spread: 0 };

/** The record of the simplified lists. */
export const wireSimplifiedMarket = (market: MarketView) => ({
  condition_id: market.conditionId,
  rewards: NO_REWARDS,
  tokens: tokensOf(market),
  // The venue leaves `active` true on closed markets.
  active: true,
  closed: market.status !== 'open',
  archived: false,
  accepting_orders: market.status === 'open',
});

/** The record of `GET /markets/{conditionId}`. */
export function wireMarket(market: MarketView) {
  const open = market.status === 'open';
  return {
    enable_order_book: open,
    // The venue leaves `active` true on closed markets.
    active: true,
    closed: !open,
    archived: false,
    accepting_orders: open,
    accepting_order_timestamp: new Date(market.createdAt).toISOString(),
    minimum_order_size: microToNumber(market.minOrderSize),
    minimum_tick_size: pipsToNumber(market.tickSize),
    condition_id: market.conditionId,
    // The paper world has no oracle; a market's question is its condition.
    question_id: market.conditionId,
    question: market.question,
    description: market.description,
    market_slug: market.slug,
    end_date_iso: new Date(market.endDate).toISOString(),
    game_start_time: null,
    seconds_delay: 0,
    fpmm: '',
    maker_base_fee: 0,
    taker_base_fee: baseFee(market),
    notifications_enabled: false,
    neg_risk: market.negRisk,
    neg_risk_market_id: market.negRisk ? market.eventId : '',
    neg_risk_request_id: '',
    icon: '',
    image: '',
    rewards: NO_REWARDS,
    is_50_50_outcome: market.payout === 'HALF',
    tokens: tokensOf(market),
    tags: [market.category],
  };
}

// Trades: the record that `/data/trades` and the user socket share. Wire reference 2.8.
//
// Accounts and orders of the house have no address and no digest; on the wire they have some that follow from their names. The API
// key behind another's order is shown as a UUID that follows from its account: the venue shows real ones, which tell nothing more.

const HOUSE = 'house:';
const PRICE_DECIMALS = 6;

interface WireMakerOrder {
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
    fee_rate_bps: matches.some(({ takerFee }) => takerFee > 0n) ? String(FEE_FLAG_BPS) : '0',
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
