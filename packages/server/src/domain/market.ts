/** A market and its book in the desk's form, the same for all venues. Prices in pips of YES, money in micro-units. */
import { LAST_MS, type OutcomeNames } from '@bellwether/contract';
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
  /** The venue lists NO's token, name and price first. */
  readonly isTurned?: boolean;
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
  /** When it is due to end, which need be no cutoff of its trading; `null`: the venue names no time. */
  readonly endDate: number | null;
  readonly updatedAt: number;
  readonly status: 'open' | 'closed' | 'resolved';
  readonly payout?: Payout;
  /** What a share of YES pays by a result that the venue has named and not made final, in pips. */
  readonly decided?: Pips;
  /** An order that would take is held so long at the venue before it is matched, and cannot be canceled meanwhile. */
  readonly takerDelaySeconds?: number;
  readonly gameStartTime?: number;
  /** Of a market about a window of time: when that begins. */
  readonly eventStartTime?: number;
  /** The venue cancels what rests when the game starts. */
  readonly ordersCanceledAtStart?: true;
  /** The outcome of all that its event does not name: it means another thing with each that is added. */
  readonly isOtherOutcome?: true;
  /** Text of strangers. */
  readonly resolutionSource?: string;
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
 * The current value of a share of an outcome, in pips: the payout once resolved, else what a result pays that is not final,
 * else the middle of a book that is not crossed, else the last trade, else what the book says. Half pips are rounded down.
 * `null`: nothing says it, and a position is worth what it cost.
 */
export function knownPrice(market: MarketRecord, outcome: 'YES' | 'NO'): Pips | null {
  if (market.payout !== undefined) return payoutPrice(market.payout, outcome);
  const yes = yesPrice(market);
  return yes === null || outcome === 'YES' ? yes : WHOLE - yes;
}

/** The same; the half of a collateral where nothing is known, for what is shown of a market and never of a position. */
export const markPrice = (market: MarketRecord, outcome: 'YES' | 'NO'): Pips =>
  knownPrice(market, outcome) ?? HALF;

function yesPrice(market: MarketRecord): Pips | null {
  const { bestBid, bestAsk, lastTrade, decided } = market;
  if (decided !== undefined) return decided;
  if (bestBid === undefined || bestAsk === undefined) return lastTrade ?? bestBid ?? bestAsk ?? null;
  const middle = Math.floor((bestBid + bestAsk) / 2);
  return bestBid < bestAsk ? middle : (lastTrade ?? middle);
}

/** The venue's name in requests, answers and stored orders: `polymarket`, `kalshi`. */
export type VenueId = string;

/** As answers say it, in which it is a date: later than every other where the venue names none. */
export const endText = (endDate: number | null): string =>
  new Date(endDate === null || endDate === UNKNOWN_END ? LAST_MS : endDate).toISOString();

/** For what counts in numbers alone, as the paper exchange and stored facts do: a time that is past for every clock. */
export const UNKNOWN_END = 0;

/**
 * How long until an end that is ahead. `null`: the venue names none, or it is past. Then nothing is said about it: a venue may let
 * a market trade beyond it.
 */
export const untilEnd = ({ endDate }: Pick<MarketRecord, 'endDate'>, now: number): number | null =>
  endDate === null || endDate <= now ? null : endDate - now;

export interface Warning {
  readonly code: string;
  readonly severity: 'critical' | 'warning' | 'info';
  readonly message: string;
}

/** What the venue does to orders of an open market, and what else its price does not tell. Without untrusted text. */
export function marketNotices(market: MarketRecord, now: number): Warning[] {
  const { takerDelaySeconds, ordersCanceledAtStart, gameStartTime, isOtherOutcome } = market;
  const start = gameStartTime === undefined ? '' : `, at ${new Date(gameStartTime).toISOString()}`;
  const found: (false | readonly [code: string, message: string])[] = [
    takerDelaySeconds !== undefined && [
      'taker_delay',
      `The venue holds an order that takes from the book for ${takerDelaySeconds} s before it is matched: it cannot be canceled meanwhile, and may be refused at the end.`,
    ],
    ordersCanceledAtStart === true &&
      (gameStartTime === undefined || gameStartTime > now) && [
        'orders_canceled_at_start',
        `The venue cancels every order that rests here when the game starts${start}.`,
      ],
    isOtherOutcome === true && [
      'other_outcome',
      'This is the outcome of all that the event does not name: its meaning changes when an outcome is added to the event.',
    ],
  ];
  return found
    .filter((one) => one !== false)
    .map(([code, message]) => ({ code, severity: 'warning', message }));
}
