/**
 * Converts our market records to the venue's. Pure; field order is the venue's, since its book hash depends on it.
 * Wire reference 2.9.
 */
import { createHash } from 'node:crypto';
import {
  formatDecimal,
  formatMicro,
  formatPips,
  microToNumber,
  pipsToNumber,
} from '@bellwether/contract/decimals';
import { paysOf } from '@bellwether/contract/positions';
import type { BookView, Level, MarketFacts, MarketView, Outcome } from '../../paper-exchange.ts';

const OUTCOMES = ['YES', 'NO'] as const satisfies readonly Outcome[];

/** The venue's `base_fee` on markets with fees: a flag, not the fee. */
const FEE_FLAG_BPS = 1000;

export interface WireLevel {
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
