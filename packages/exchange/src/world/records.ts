/** The world's records of events and markets: plain data, so that a snapshot is a list of them. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { ConditionId, OrderId, Payout, TokenId } from '../engine/types.ts';
import type { V2Share } from './slots.ts';
import type { OutcomeNames } from './types.ts';

/** A probability in millionths. */
export type Millionths = number;
export const CERTAIN: Millionths = 1_000_000;

/** One of the maker's orders on the book. */
export interface Quote {
  readonly orderId: OrderId;
  readonly side: QuoteSide;
  /** YES price. */
  readonly price: Pips;
  /** Size that the live level of a mirrored market still has, taken here or not. */
  size: Micro;
  remaining: Micro;
}

/** `bid` buys YES; `ask` buys NO, which on the unified book offers YES. */
export type QuoteSide = 'bid' | 'ask';

export interface WorldMarket {
  readonly id: string;
  readonly conditionId: ConditionId;
  readonly tokenIds: readonly [TokenId, TokenId];
  readonly slug: string;
  readonly question: string;
  readonly description: string;
  /** Absent: `YES_NO`. */
  outcomes?: OutcomeNames | undefined;
  tickSize: Pips;
  readonly createdAt: number;
  updatedAt: number;
  status: 'open' | 'closed' | 'resolved';
  payout: Payout | undefined;
  resolvedAt: number | undefined;

  /** Hidden: the chance that the market resolves YES. */
  probability: Millionths;
  /** Hidden: how far the probability moves at a time. */
  readonly moveSize: Millionths;

  /** Ticks that the maker backs off from fair, per side, because that side was filled. Decays. */
  pressure: { bid: number; ask: number };
  quotes: Quote[];
  /** Shares of each side when it was last quoted: the reference of `thin`. */
  quoted: { bid: Micro; ask: Micro };
  /** Volume at the start of each of the last hours, newest last; at most 24. */
  hourlyVolumes: Micro[];
}

/** Facts that a slot gives to its markets, for a market that is another venue's. */
export interface MirrorTerms {
  readonly category: string;
  readonly negRisk: boolean;
  readonly feeRate: Micro;
  readonly feeExponent: number;
  minOrderSize: Micro;
  /** The live book is not known. */
  isPaused: boolean;
}

export interface WorldEvent {
  readonly id: string;
  readonly title: string;
  /** Index into SLOTS; of a mirrored market −1. */
  readonly slot: number;
  /** Its markets are of the venue's Protocol V2. Absent: of V1. */
  readonly version?: 'v2';
  /** Terms of a mirrored market, which is alone in its event here. */
  readonly mirror?: MirrorTerms;
  endDate: number;
  /** Time at which the event is due for its outcome (closed) or for the archive (resolved). */
  dueAt: number;
  /** Time of the maker's next visit. */
  nextQuoteAt: number;
  /** Not yet archived. */
  markets: WorldMarket[];
}

/** The world's state besides the engine's. */
export interface WorldState {
  readonly seed: string;
  /** In thousandths. */
  speed: number;
  /** Whole hours since the epoch at the last step: a change starts a new hour of volume. */
  hour: number;
  /** A command removes a bounded number of orders of closed markets and expired ones. */
  hasBoundedSweeps: boolean;
  /** The token ids of what is listed follow from the condition; worlds of earlier releases drew them. */
  hasDerivedTokens: boolean;
  /** Fixed at the founding; worlds of earlier releases have none. */
  readonly v2Share: V2Share | undefined;
  /** By slot: every slot always has an event. */
  readonly open: WorldEvent[];
  /** Closed, waiting for the outcome; oldest first. */
  readonly closed: WorldEvent[];
  /** Resolved, waiting for the archive; next due first. */
  readonly resolved: WorldEvent[];
  /** Events of a live venue, in the order of listing, until they are archived. */
  mirrored: WorldEvent[];
}
