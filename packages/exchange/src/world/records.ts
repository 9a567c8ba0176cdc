/** What the world remembers of its events and markets: plain records, so that a snapshot is their list. */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import type { ConditionId, OrderId, Payout, TokenId } from '../engine/types.ts';

/** A probability in millionths. */
export type Millionths = number;
export const CERTAIN: Millionths = 1_000_000;

/** One of the maker's orders on the book. */
export interface Quote {
  readonly orderId: OrderId;
  readonly side: QuoteSide;
  /** YES price. */
  readonly price: Pips;
  readonly size: Micro;
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
  readonly tickSize: Pips;
  readonly createdAt: number;
  updatedAt: number;
  status: 'open' | 'closed' | 'resolved';
  payout: Payout | undefined;
  resolvedAt: number | undefined;

  /** Hidden: the chance that the market resolves YES. */
  probability: Millionths;
  /** Hidden: how far the probability moves at a time. */
  readonly moveSize: Millionths;

  /** How many ticks the maker backs off from fair, per side, because that side was taken. Decays. */
  pressure: { bid: number; ask: number };
  quotes: Quote[];
  /** Shares that each side held when it was last quoted: what `thin` is measured against. */
  quoted: { bid: Micro; ask: Micro };
  /** Volume at the start of each of the last hours, newest last; at most 24. */
  hourlyVolumes: Micro[];
}

export interface WorldEvent {
  readonly id: string;
  readonly title: string;
  /** Index into SLOTS. */
  readonly slot: number;
  endDate: number;
  /** When the event is next due for its outcome (closed) or for the archive (resolved). */
  dueAt: number;
  /** When the maker is next due here. */
  nextQuoteAt: number;
  /** Those not yet archived. */
  markets: WorldMarket[];
}

/** Everything the world remembers beside the engine's own state. */
export interface WorldState {
  readonly seed: string;
  /** In thousandths. */
  speed: number;
  /** Whole hours since the epoch at the last step: when the hourly volumes turn. */
  hour: number;
  /** By slot: every slot always has its event. */
  readonly open: WorldEvent[];
  /** Closed, waiting for the outcome; oldest first. */
  readonly closed: WorldEvent[];
  /** Resolved, waiting for the archive; next due first. */
  readonly resolved: WorldEvent[];
}
