/** A market inside the engine: its rules, its book, and the sets of tokens that were made and not yet unwound. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import { TICK_SIZES } from '@bellwether/contract/decimals';
import { feeDenominator } from './amounts.ts';
import { Book } from './book.ts';
import type { MarketSpec, Payout, Side } from './types.ts';

/** `closed`: no longer trading, outcome open. `resolved`: final. */
export type MarketStatus = 'open' | 'closed' | 'resolved';

export class Market {
  readonly spec: MarketSpec;
  readonly book: Book;
  readonly feeDenominator: bigint;
  status: MarketStatus = 'open';
  payout: Payout | undefined = undefined;
  /** Tokens in existence, held or not. Equal to each other until redemption starts. */
  yesSupply: Micro = 0n;
  noSupply: Micro = 0n;
  /** Collateral behind the tokens. */
  backing: Micro = 0n;
  /** Collateral traded: the sum of the takers' costs. */
  volume: Micro = 0n;
  /** YES price of the last match. */
  lastTrade: Pips | undefined = undefined;
  /** What its taker did, in terms of YES; unknown of trades from before this was kept. */
  lastTakerSide: Side | undefined = undefined;

  /** @throws RangeError for a specification that no market can have: a bug of the caller, nothing to refuse. */
  constructor(spec: MarketSpec, listedAt: number) {
    if (!Object.values<number>(TICK_SIZES).includes(spec.tickSize))
      throw new RangeError(
        `tick size ${spec.tickSize} of market ${spec.conditionId} is none of the known ones`,
      );
    if (!Number.isSafeInteger(spec.feeExponent) || spec.feeExponent < 0 || spec.feeRate < 0n)
      throw new RangeError(
        `fee ${spec.feeRate}, ${spec.feeExponent} of market ${spec.conditionId} is no fee`,
      );
    this.spec = spec;
    this.book = new Book(spec, listedAt);
    this.feeDenominator = feeDenominator(spec.feeExponent);
  }

  /** Makes (or, negative, unwinds) full sets at one collateral each. */
  changeSets(amount: Micro): void {
    this.yesSupply += amount;
    this.noSupply += amount;
    this.backing += amount;
  }
}
