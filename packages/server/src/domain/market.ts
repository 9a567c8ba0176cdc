/** A market and its book in the desk's form, the same for all venues. Prices in pips of YES, money in micro-units. */
import type { OutcomeNames } from '@bellwether/contract';
import { formatPips, MICRO, type Micro, type Pips } from '@bellwether/contract/decimals';
import { type Payout, paysOf } from '@bellwether/contract/positions';
import type { MarketTerms, Untradable } from './coherence.ts';

export interface MarketRecord {
  readonly id: string;
  readonly conditionId: string;
  /** [YES, NO] */
  readonly tokenIds: readonly [string, string];
  /** The venue's names of these, plain and bounded. */
  readonly outcomes: OutcomeNames;
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly eventId: string;
  readonly eventTitle: string;
  readonly negRisk: boolean;
  /** Version of the venue's protocol; absent where there is one only. */
  readonly version?: 'v1' | 'v2';
  readonly tickSize: Pips;
  /** The venue's own words for a tick in which no price can be counted here; `tickSize` then means nothing. */
  readonly unknownTick?: string;
  readonly minOrderSize: Micro;
  /** Taker fee = shares × rate × (p(1−p))^exponent, the rate in millionths. */
  readonly feeRate: Micro;
  readonly feeExponent: number;
  readonly createdAt: number;
  readonly endDate: number;
  readonly updatedAt: number;
  readonly status: 'open' | 'closed' | 'resolved';
  readonly payout?: Payout;
  /** Why the desk cannot trade it although the venue lists it; its status is then never `open`. */
  readonly untradable?: Untradable;
  /** The venue's word for how it ended, where the desk does not know what that pays; its status is then `closed`. */
  readonly unknownResult?: string;
  readonly bestBid?: Pips;
  readonly bestAsk?: Pips;
  readonly lastTrade?: Pips;
  readonly volume: Micro;
  readonly volume24h: Micro;
  readonly liquidity: Micro;
}

export type Level = readonly [price: Pips, size: Micro];

export interface Book {
  readonly conditionId: string;
  readonly outcome: 'YES' | 'NO';
  /** Best first. */
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly lastTrade?: Pips;
  readonly sequence: number;
  readonly changedAt: number;
}

export const resultIsUnknown = (word: string): string =>
  `The venue says that the market ended as "${word}", which this desk does not know: it redeems nothing of it until it knows what that pays. Ask the desk's operator.`;

/** A bid at or above an ask would have traded: it, or the ask, is no longer there. */
export const isCrossed = ({ bids: [bid], asks: [ask] }: Pick<Book, 'bids' | 'asks'>): boolean =>
  bid !== undefined && ask !== undefined && ask[0] <= bid[0];

export const termsOf = (market: MarketRecord): MarketTerms => ({
  conditionId: market.conditionId,
  tokenIds: market.tokenIds,
  outcomes: market.outcomes,
  tickSize: market.tickSize,
  minOrderSize: market.minOrderSize,
  negRisk: market.negRisk,
  tradable: market.status === 'open',
  ...(market.untradable === undefined ? {} : { untradable: market.untradable }),
});

/** As the venue lists it. */
export const tickSizeText = ({ tickSize, unknownTick }: MarketRecord): string =>
  unknownTick ?? formatPips(tickSize);

const HALF = 5_000;
const WHOLE = 10_000;

/** What a share of an outcome pays once the market is resolved, in pips, rounded down. */
export const payoutPrice = (payout: Payout, outcome: 'YES' | 'NO'): Pips =>
  Number((paysOf(payout, outcome) * BigInt(WHOLE)) / MICRO);

/**
 * The current value of a share of an outcome, in pips: the payout once resolved, else the middle of a book that is not
 * crossed, else the last trade, else what the book says. Half pips are rounded down.
 */
export function markPrice(market: MarketRecord, outcome: 'YES' | 'NO'): Pips {
  if (market.payout !== undefined) return payoutPrice(market.payout, outcome);
  const yes = yesPrice(market);
  return outcome === 'YES' ? yes : WHOLE - yes;
}

function yesPrice(market: MarketRecord): Pips {
  const { bestBid, bestAsk, lastTrade } = market;
  if (bestBid === undefined || bestAsk === undefined) return lastTrade ?? bestBid ?? bestAsk ?? HALF;
  const middle = Math.floor((bestBid + bestAsk) / 2);
  return bestBid < bestAsk ? middle : (lastTrade ?? middle);
}

/** The venue's name in requests, answers and stored orders: `polymarket`, `kalshi`. */
export type VenueId = string;
