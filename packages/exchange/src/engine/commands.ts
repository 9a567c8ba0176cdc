/**
 * The engine's commands and events. All of them are plain data, so that a command can be journalled and replayed, and
 * an event recorded, without translation.
 *
 * Units: money and shares are bigint micro-units; prices are integer pips (ten-thousandths of one collateral);
 * times are integer epoch milliseconds that arrive with the command, never read from a clock.
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { Payout } from '@bellwether/contract/positions';

/** A funder: the lower-case 0x address of the order's maker, or `house:<name>` for the world's own accounts. */
export type AccountId = string;
/** The EIP-712 digest of a signed order (lower-case 0x hex), or `house:<n>` for the world's own quotes. */
export type OrderId = string;
export type ConditionId = string;
export type TokenId = string;

export type Outcome = 'YES' | 'NO';
export type Side = 'BUY' | 'SELL';
export type TimeInForce = 'GTC' | 'GTD' | 'FOK' | 'FAK';
export type { Payout };

/** The engine's specification of a market. Titles and categories belong to the world. */
export interface MarketSpec {
  readonly conditionId: ConditionId;
  /** [YES, NO] */
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly tickSize: Pips;
  /** Smallest GTC/GTD order, in micro-shares. */
  readonly minOrderSize: Micro;
  /** Taker fee: shares × rate × (p(1−p))^exponent. The rate in millionths; 0n is free. */
  readonly feeRate: Micro;
  readonly feeExponent: number;
}

/**
 * A signed instruction, already verified. The size leg is `size` shares; the money leg follows from `limit`,
 * except for an immediate BUY (FOK/FAK), which spends at most `spend` and may receive more than `size`.
 */
export interface NewOrder {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly conditionId: ConditionId;
  readonly outcome: Outcome;
  readonly side: Side;
  /** Limit price of `outcome`'s own token, on the market's tick grid. */
  readonly limit: Pips;
  /** Micro-shares. */
  readonly size: Micro;
  /** Immediate BUY only: the budget in micro collateral, fees apart. */
  readonly spend?: Micro;
  readonly timeInForce: TimeInForce;
  readonly postOnly: boolean;
  /** GTD only: when the order leaves the book (the venue's 60 s early expiry is already taken off). */
  readonly expiresAt?: number;
  /** Only of an order that its signer posted at a door of the exchange. A label: the engine ignores it. */
  readonly posted?: PostedLabel;
}

/** Makes full sets of collateral, or collateral of full sets. */
export interface SetCommand {
  readonly kind: 'split' | 'merge';
  readonly account: AccountId;
  readonly conditionId: ConditionId;
  readonly amount: Micro;
  /** A name among the ids of orders: then its events tell of it, a refusal like that of an order. */
  readonly orderId?: OrderId;
}

/**
 * Turns NO shares of one market of a negative-risk event into as many YES shares of each of the other markets: exactly one
 * market of the event resolves YES, so both pay the same.
 */
export interface ConvertCommand {
  readonly kind: 'convert';
  readonly account: AccountId;
  /** Market of the NO shares. */
  readonly conditionId: ConditionId;
  readonly amount: Micro;
  /** As of a split. */
  readonly orderId?: OrderId;
}

/** A command of sets that is recorded like an order: one effect under its id, permanently. */
export type SetOrder = (SetCommand | ConvertCommand) & { readonly orderId: OrderId };

/** Fields that a door shows of an order that was posted there, and the engine does not need. */
export interface PostedLabel {
  /** The API key that posted it: its owner's address and its nonce. */
  readonly key: { readonly address: string; readonly nonce: string };
  /** As the signer stated it, in epoch seconds; 0 for none. */
  readonly expiration: number;
}

export type EngineCommand =
  | {
      readonly kind: 'deposit';
      readonly account: AccountId;
      readonly amount: Micro;
      /** A label for readers of the journal; the engine ignores it. */
      readonly reason?: 'simulation' | 'faucet';
      /** A name among the ids of orders: one deposit under it, permanently. */
      readonly orderId?: OrderId;
    }
  | { readonly kind: 'list'; readonly market: MarketSpec }
  | { readonly kind: 'place'; readonly order: NewOrder }
  /** Only the order's own account may cancel it. */
  | { readonly kind: 'cancel'; readonly account: AccountId; readonly orderIds: readonly OrderId[] }
  /**
   * Takes shares off a resting order of the account, which keeps its place in the queue. Fewer than its rest: all others
   * change nothing. Without an event.
   */
  | {
      readonly kind: 'reduce';
      readonly account: AccountId;
      readonly orderId: OrderId;
      readonly size: Micro;
    }
  | SetCommand
  /** `pool` gives the YES shares, out of sets that it splits with its own collateral, and keeps every NO share. */
  | (ConvertCommand & { readonly others: readonly ConditionId[]; readonly pool: AccountId })
  /** Removes every GTD order that is due at the command's time from its book. */
  | { readonly kind: 'expire' }
  /** Stops trading and cancels resting orders; the market can still be resolved. */
  | { readonly kind: 'close'; readonly conditionId: ConditionId }
  /** Closes an open market, then sets the payout. */
  | { readonly kind: 'resolve'; readonly conditionId: ConditionId; readonly payout: Payout }
  | { readonly kind: 'redeem'; readonly account: AccountId; readonly conditionId: ConditionId }
  /** Undoes a trade that failed to settle. `trade` is a label: the engine does not remember trades. */
  | {
      readonly kind: 'reverse';
      readonly conditionId: ConditionId;
      readonly trade: number;
      readonly legs: readonly ReversedLeg[];
    };

/** One order's part in a trade that is undone, as its fills said. */
export interface ReversedLeg {
  readonly account: AccountId;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly size: Micro;
  readonly cost: Micro;
  readonly fee: Micro;
}

/** Why the venue refused an order. Stable words: they become `errorCode` on the wire. */
export type RejectReason =
  | 'duplicate_order'
  | 'market_not_found'
  | 'market_closed'
  | 'price_off_tick_grid'
  | 'price_out_of_range'
  | 'size_below_minimum'
  | 'amount_below_minimum'
  | 'insufficient_balance'
  /** Not of an event of which exactly one market resolves YES, or not all of its markets are listed here. */
  | 'conversion_not_supported'
  | 'size_above_maximum'
  | 'already_expired'
  | 'post_only_would_cross'
  | 'post_only_needs_gtc_or_gtd'
  | 'fok_not_filled'
  | 'fak_no_match'
  /** It had not reached the exchange when its sender asked, and is refused if it still does. */
  | 'not_received';

/** Why an accepted order is no longer open. */
export type DoneReason =
  | 'filled'
  /** The unfilled rest of a FAK order. */
  | 'killed'
  | 'canceled'
  | 'expired'
  | 'self_trade'
  | 'market_closed'
  | 'market_resolved';

export type CancelRefusal = 'order_not_found';
export type MatchKind = 'COMPLEMENTARY' | 'MINT' | 'MERGE';

interface OrderRef {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly conditionId: ConditionId;
}

export type EngineEvent =
  | {
      readonly kind: 'deposited';
      readonly account: AccountId;
      readonly amount: Micro;
      /** Of a command that has one. */
      readonly orderId?: OrderId;
    }
  | { readonly kind: 'market_listed'; readonly conditionId: ConditionId }
  | { readonly kind: 'market_closed'; readonly conditionId: ConditionId }
  | { readonly kind: 'market_resolved'; readonly conditionId: ConditionId; readonly payout: Payout }
  /** Comes before the order's fills. */
  | ({ readonly kind: 'order_accepted' } & OrderRef)
  /** Proof that nothing happened. `needed` and `available` (micro) only for insufficient_balance. */
  | ({
      readonly kind: 'order_rejected';
      readonly reason: RejectReason;
      readonly needed?: Micro;
      readonly available?: Micro;
    } & OrderRef)
  /** One order's part in a match. Every match gives exactly two, taker first. */
  | ({
      readonly kind: 'fill';
      /** Number of the match; the two fills share it. Counts up over the life of the exchange. */
      readonly matchId: number;
      readonly matchKind: MatchKind;
      readonly liquidity: 'maker' | 'taker';
      readonly outcome: Outcome;
      readonly side: Side;
      /** Price of this order's own token. */
      readonly price: Pips;
      readonly size: Micro;
      /** Collateral paid (BUY) or received (SELL) for the tokens, before the fee. */
      readonly cost: Micro;
      readonly fee: Micro;
    } & OrderRef)
  /** `filled` and `remaining` in micro-shares; `cost` and `fees` in micro collateral over all its fills. */
  | ({
      readonly kind: 'order_done';
      readonly reason: DoneReason;
      readonly filled: Micro;
      readonly remaining: Micro;
      readonly cost: Micro;
      readonly fees: Micro;
    } & OrderRef)
  | { readonly kind: 'trade_reversed'; readonly conditionId: ConditionId; readonly trade: number }
  /** Nothing changed: somebody no longer has what must be given back, or the market has its outcome. */
  | {
      readonly kind: 'reversal_refused';
      readonly conditionId: ConditionId;
      readonly trade: number;
      readonly reason: 'market_not_found' | 'market_resolved' | 'insufficient_balance';
    }
  | { readonly kind: 'cancel_refused'; readonly orderId: OrderId; readonly reason: CancelRefusal }
  | {
      readonly kind: 'split' | 'merged';
      readonly account: AccountId;
      readonly conditionId: ConditionId;
      readonly amount: Micro;
      /** Of a named command. */
      readonly orderId?: OrderId;
      /** With it: the price of YES at that moment, by which the collateral is divided between the two outcomes. */
      readonly yesPrice?: Pips;
    }
  | {
      readonly kind: 'converted';
      readonly account: AccountId;
      readonly conditionId: ConditionId;
      readonly amount: Micro;
      readonly orderId?: OrderId;
      /** Collateral that the NO shares were worth at the middle of their book. */
      readonly worth: Micro;
      /** The other markets, with the parts of `worth` by the middles of their books. */
      readonly made: readonly { readonly conditionId: ConditionId; readonly worth: Micro }[];
    }
  /** A refused split, merge, conversion or redeem without a name; nothing changed. */
  | {
      readonly kind: 'refused';
      readonly command: 'deposit' | 'list' | 'split' | 'merge' | 'convert' | 'close' | 'resolve' | 'redeem';
      readonly reason:
        | 'market_not_found'
        | 'market_exists'
        | 'market_closed'
        | 'conversion_not_supported'
        | 'market_not_resolved'
        | 'market_resolved'
        | 'insufficient_balance'
        | 'amount_not_positive';
    }
  /** `yes` and `no` are the tokens burnt; `payout` the collateral received (0n for a loser, or for nothing held). */
  | {
      readonly kind: 'redeemed';
      readonly account: AccountId;
      readonly conditionId: ConditionId;
      readonly yes: Micro;
      readonly no: Micro;
      readonly payout: Micro;
    };

/** An order on the book, for readers. */
export interface OpenOrder {
  readonly orderId: OrderId;
  readonly account: AccountId;
  readonly conditionId: ConditionId;
  readonly outcome: Outcome;
  readonly side: Side;
  readonly limit: Pips;
  readonly size: Micro;
  readonly filled: Micro;
  readonly cost: Micro;
  readonly fees: Micro;
  readonly timeInForce: TimeInForce;
  readonly expiresAt?: number;
  readonly acceptedAt: number;
}

/** [price in pips, micro-shares at it]; best first. */
export type Level = readonly [price: Pips, size: Micro];

/** One outcome's side of the unified book: the NO book is the exact mirror of the YES book. */
export interface BookView {
  readonly conditionId: ConditionId;
  readonly outcome: Outcome;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly lastTrade?: Pips;
  /** Side of the last trade's taker, in terms of this outcome: buying NO counts as selling YES. */
  readonly lastTakerSide?: Side;
  /** Incremented with every change of this market's book. */
  readonly sequence: number;
  /** Time of the last change. */
  readonly changedAt: number;
}

/** An account's tokens of one market, those behind open SELL orders included. */
export interface HolderView {
  readonly account: AccountId;
  readonly yes: Micro;
  readonly no: Micro;
}

export interface AccountView {
  readonly account: AccountId;
  /** Free collateral: what a new order can use. */
  readonly available: Micro;
  /** Collateral set aside for open BUY orders. */
  readonly held: Micro;
  /** Tokens by market; `held` is set aside for open SELL orders and is part of neither `yes` nor `no`. */
  readonly tokens: ReadonlyMap<
    ConditionId,
    { readonly yes: Micro; readonly no: Micro; readonly yesHeld: Micro; readonly noHeld: Micro }
  >;
}
