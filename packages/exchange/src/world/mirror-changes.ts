/**
 * Turns events of a live venue into commands of a world that mirrors it. Sizes and prices are those of YES. Nothing here is read
 * from anywhere: who follows the venue sends it, and the journal keeps it.
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { ConditionId, Payout, Side, TokenId } from '../engine/types.ts';
import type { QuoteSide } from './records.ts';
import type { OutcomeNames } from './types.ts';

/** A market of the live venue, with the terms that change while it is open. */
export interface MirroredMarket extends MirroredTerms {
  readonly id: string;
  readonly conditionId: ConditionId;
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly eventId: string;
  readonly eventTitle: string;
  /** Absent: `v1`. */
  readonly version?: 'v2';
  readonly negRisk: boolean;
  readonly feeRate: Micro;
  readonly feeExponent: number;
  readonly createdAt: number;
}

export interface MirroredTerms {
  readonly tickSize: Pips;
  readonly minOrderSize: Micro;
  readonly endDate: number;
  /** Absent: Yes and No, of a market that is listed; of one that is known, its present names. */
  readonly outcomes?: OutcomeNames;
}

/** The size that rests at a price in all; 0n: nothing. */
export type MirroredLevel = readonly [side: QuoteSide, price: Pips, size: Micro];

export type MirrorChange =
  | { readonly kind: 'list'; readonly market: MirroredMarket }
  | { readonly kind: 'terms'; readonly conditionId: ConditionId; readonly terms: MirroredTerms }
  /** Levels that changed; with `isWhole` all that there are. The market trades from here on. */
  | {
      readonly kind: 'levels';
      readonly conditionId: ConditionId;
      readonly levels: readonly MirroredLevel[];
      readonly isWhole: boolean;
    }
  /** The live book is not known: no order is taken until it is. What rests keeps its place. */
  | { readonly kind: 'pause'; readonly conditionId: ConditionId }
  /** A trade of others there, by a taker of this side. */
  | {
      readonly kind: 'trade';
      readonly conditionId: ConditionId;
      readonly side: Side;
      readonly price: Pips;
      readonly size: Micro;
    }
  | { readonly kind: 'resolve'; readonly conditionId: ConditionId; readonly payout: Payout };
