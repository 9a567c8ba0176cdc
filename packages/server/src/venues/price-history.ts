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
  /** Maximum number of points; one more is returned when there are more. */
  readonly limit: number;
}

export interface PriceHistory {
  /** Locates a token's history, also of archived markets; `null` when the token never had a price. */
  locate(
    tokenId: string,
  ): Promise<{ readonly yesTokenId: string; readonly mirrored: boolean; readonly first: number } | null>;
  /** The last price of every bucket that has one, oldest first, and the last price before the range. */
  read(
    range: PriceRange,
  ): Promise<{ readonly before: PricePoint | null; readonly points: readonly PricePoint[] }>;
}
