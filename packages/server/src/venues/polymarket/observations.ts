/** Words of the venue about one order, in the desk's terms. Each may be late, repeated and out of order. */
import type { VenueRefusal } from '@bellwether/contract';
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { OrderEnd, TradeStatus } from '../live-orders.ts';

/** The part that an order has in a trade. */
export interface TradePart {
  readonly tradeId: string;
  readonly status: TradeStatus;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
  readonly price: Pips;
  readonly liquidity: 'maker' | 'taker';
  /** Epoch milliseconds of the match, as the venue says. */
  readonly matchedAt: number;
}

export type Observation = { readonly orderId: string; readonly at: number } & (
  | {
      /** The venue has the order. */
      readonly kind: 'accepted';
      /** The word of its answer; `null`: heard of in another way than by the answer to the order. */
      readonly word: 'live' | 'matched' | 'delayed' | 'unmatched' | null;
      /** Amounts of that answer. */
      readonly filled: Micro;
      readonly cost: Micro;
      readonly fees: Micro;
    }
  | { readonly kind: 'rejected'; readonly reason: VenueRefusal; readonly detail: string | null }
  | {
      readonly kind: 'standing';
      /** Shares matched so far; `null`: not said. */
      readonly matched: Micro | null;
      /** `undecided`: it is over, and how must be read from its trades and terms. */
      readonly end: OrderEnd | 'undecided' | null;
      /** `matched` is final: it is over and all of its trades are known to the teller. */
      readonly isCounted: boolean;
      readonly detail: string | null;
    }
  | { readonly kind: 'trade'; readonly part: TradePart }
  /** An operator's decision about a trade that is kept aside. */
  | { readonly kind: 'decision'; readonly tradeId: string; readonly decision: 'release' | 'discard' }
  /** Asked by its id, the venue knew nothing of an order that it has accepted. */
  | { readonly kind: 'missing' }
);
