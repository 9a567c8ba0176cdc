/** The world's markets as others see them, their categories, and the commands of others. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { ConditionId, ConvertCommand, EngineCommand, Payout, TokenId } from '../engine/commands.ts';

/** What the venue calls [YES, NO]. */
export type OutcomeNames = readonly [yes: string, no: string];
/** The names of the outcomes of a market that records none, as in worlds of earlier releases. */
export const YES_NO: OutcomeNames = ['Yes', 'No'];

/** The public view of a market, without the hidden probability. */
export interface MarketView {
  /** Short decimal text, like the venue's own ids. */
  readonly id: string;
  readonly conditionId: ConditionId;
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly slug: string;
  readonly question: string;
  /** The resolution rules. */
  readonly description: string;
  readonly outcomes: OutcomeNames;
  readonly category: string;
  /** Further topics, as single words. */
  readonly tags: readonly string[];
  readonly eventId: string;
  readonly eventTitle: string;
  /** Version of the venue's protocol: says which exchange contract takes its orders. */
  readonly version: 'v1' | 'v2';
  /** Exactly one market of a negative-risk event resolves YES. */
  readonly negRisk: boolean;
  readonly tickSize: Pips;
  readonly minOrderSize: Micro;
  readonly feeRate: Micro;
  readonly feeExponent: number;
  readonly createdAt: number;
  readonly endDate: number;
  /** Time of the last change to anything in this record, prices included. */
  readonly updatedAt: number;
  readonly status: 'open' | 'closed' | 'resolved';
  readonly payout?: Payout;
  readonly resolvedAt?: number;
  /** YES prices. */
  readonly bestBid?: Pips;
  readonly bestAsk?: Pips;
  readonly lastTrade?: Pips;
  /** Collateral traded, over all time and over the last 24 h. */
  readonly volume: Micro;
  readonly volume24h: Micro;
  /** Collateral value of the resting orders. */
  readonly liquidity: Micro;
}

/**
 * Which markets there are, with counters for readers that keep what they derived from the views: it is out of date once
 * the counter has moved. A counter that moves takes those below it along.
 */
export interface Catalogue {
  /** Moves when a market is listed or archived. */
  readonly listings: number;
  /** Moves also when a market's status or end changes. */
  readonly lives: number;
  /** Moves also when anything else in a view changes, such as a price. */
  readonly changes: number;
  /** Lists every market that is not archived, newest last. */
  conditionIds(): Iterable<ConditionId>;
  /** Facts that decide about a market's life; does not read its book. */
  life(conditionId: ConditionId): MarketLife | undefined;
  /**
   * Markets that have changed since `changes` had this value, of those whose view was read after their last change before
   * it. `undefined`: too much has changed to tell.
   */
  changedSince(changes: number): ReadonlySet<ConditionId> | undefined;
}

export type MarketLife = Pick<MarketView, 'status' | 'category' | 'endDate'>;

/** A market's identifiers and payout: for records that are kept after it is archived. */
export interface MarketFacts {
  readonly id: string;
  readonly conditionId: ConditionId;
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly slug: string;
  readonly question: string;
  readonly outcomes: OutcomeNames;
  readonly endDate: number;
  readonly payout?: Payout;
}

/** The commands of an embedder; the world's own steps are not included. */
export type PublicCommand =
  | Extract<EngineCommand, { kind: 'deposit' | 'place' | 'cancel' | 'split' | 'merge' | 'redeem' }>
  /** The world knows the other markets of the event. */
  | ConvertCommand;

// The categories of the paper world and their taker fees (the venue's own table, exponent 1).

/** Taker fee rates in millionths of shares × p(1−p). */
export const CATEGORY_FEE_RATES = {
  Politics: 40_000n,
  Sports: 50_000n,
  Crypto: 70_000n,
  Finance: 40_000n,
  Economics: 50_000n,
  Tech: 40_000n,
  Culture: 50_000n,
  Weather: 50_000n,
  Geopolitics: 0n,
} as const satisfies Record<string, Micro>;

export type Category = keyof typeof CATEGORY_FEE_RATES;

export const FEE_EXPONENT = 1;
