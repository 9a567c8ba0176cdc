/** Prices as a venue recorded them. Times are epoch milliseconds, prices pips of the YES token. */
import type { Pips } from '@bellwether/contract/decimals';

export interface PricePoint {
  readonly at: number;
  readonly price: Pips;
}

export interface PriceRange {
  /** The market's YES token. */
  readonly tokenId: string;
  /** Both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Width of a bucket; buckets begin at its multiples since the epoch. */
  readonly bucketMs: number;
  /** Points at most; one more is returned when there are more. */
  readonly limit: number;
}

export interface PriceHistory {
  /** Where the history of a token lies, `null` when it never had a price. Knows archived markets, too. */
  locate(
    tokenId: string,
  ): Promise<{ readonly yesTokenId: string; readonly mirrored: boolean; readonly first: number } | null>;
  /** The last price of every bucket that has one, oldest first, and the price that held just before the range. */
  read(
    range: PriceRange,
  ): Promise<{ readonly before: PricePoint | null; readonly points: readonly PricePoint[] }>;
}
