/**
 * Guarded exits: exit orders that an agent signed ahead and left with the desk. When a trigger holds, and by which price the order must
 * sell then. Pure; prices in pips, prices per share that a size gets in micro collateral.
 */
import { formatPips, MICRO, type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { sweep } from './book-sweep.ts';
import type { Denial } from './denial.ts';
import { type Draft, isImmediate } from './draft.ts';
import { type Book, isCrossed } from './market.ts';

export type ExitTrigger =
  /** The book pays so little, or so much, for the exit's size. */
  | { readonly kind: 'price_at_or_below' | 'price_at_or_above'; readonly price: Pips }
  | { readonly kind: 'time'; readonly at: number }
  | { readonly kind: 'before_end'; readonly minutes: number }
  /** The agent has made no request for its `silenceSeconds`. */
  | { readonly kind: 'silence' };

export type ExitStatus = 'armed' | 'suspended' | 'firing' | 'fired' | 'canceled' | 'expired' | 'failed';

/** Not ended. */
export const OPEN_EXITS: readonly ExitStatus[] = ['armed', 'suspended', 'firing'];

/** A price must hold so long, at looks that are at most so far apart: a longer gap was a pause of the desk. */
const PRICE_HOLDS_MS = 2_000;
const LOOKS_APART_MS = 1_500;

/** What the book pays for a size now. */
export interface ExitQuote {
  readonly bid: Pips;
  /** Average per share, rounded down; where the book is too thin for the whole size, of what it takes. */
  readonly price: Micro;
  readonly isComplete: boolean;
}

/** `null`: a book that is crossed, or without a bid, is not believed. */
export const believedBid = (book: Book | null): Pips | null =>
  book === null || isCrossed(book) ? null : (book.bids[0]?.[0] ?? null);

const NO_FEE = { feeRate: 0n, feeExponent: 0 };

export function exitQuote(book: Book | null, shares: Micro): ExitQuote | null {
  const bid = believedBid(book);
  if (book === null || bid === null) return null;
  const sold = sweep(NO_FEE, book, { side: 'SELL', outcome: book.outcome, amount: shares });
  if (sold.shares === 0n) return null;
  return { bid, price: (sold.cost * MICRO) / sold.shares, isComplete: sold.complete };
}

const MICRO_PER_PIP = MICRO / BigInt(PIPS);

/** A trigger's price as prices of sizes are counted. */
export const triggerMicro = (price: Pips): Micro => BigInt(price) * MICRO_PER_PIP;

export interface TriggerFacts {
  readonly now: number;
  /** `null`: no book is believed. */
  readonly quote: ExitQuote | null;
  /** When the market is due to end. */
  readonly endsAt: number;
  readonly isSilent: boolean;
}

/** Whether a trigger holds at this moment. A price must hold for some time besides. */
export function triggerHolds(trigger: ExitTrigger, { now, quote, endsAt, isSilent }: TriggerFacts): boolean {
  switch (trigger.kind) {
    case 'price_at_or_below':
      // What a thin book takes is its best part: all of the size gets no more.
      return quote !== null && quote.price <= triggerMicro(trigger.price);
    case 'price_at_or_above':
      return quote?.isComplete === true && quote.price >= triggerMicro(trigger.price);
    case 'time':
      return now >= trigger.at;
    case 'before_end':
      return now >= endsAt - trigger.minutes * 60_000;
    case 'silence':
      return isSilent;
  }
}

/** The price of a trigger that has one. */
export const triggerPrice = (trigger: ExitTrigger): Pips | null =>
  'price' in trigger ? trigger.price : null;

/** Remembers since when each trigger has held without a gap. In memory: who takes over begins anew. */
export class HeldTriggers {
  readonly #held = new Map<string, { readonly since: number; readonly seen: number }>();

  /** @returns since when, once that is long enough; else `null` */
  look(exitId: string, holds: boolean, now: number): number | null {
    if (!holds) {
      this.#held.delete(exitId);
      return null;
    }
    const before = this.#held.get(exitId);
    const since = before === undefined || now - before.seen > LOOKS_APART_MS ? now : before.since;
    this.#held.set(exitId, { since, seen: now });
    return now - since >= PRICE_HOLDS_MS ? since : null;
  }

  /** Forgets all others. */
  keep(exitIds: ReadonlySet<string>): void {
    for (const id of this.#held.keys()) if (!exitIds.has(id)) this.#held.delete(id);
  }
}

/** How an exit is judged beside the safeguards. */
export interface ExitTerms {
  /** `left`: handed in, to be sent later. */
  readonly moment: 'left' | 'sent';
  /** Price of its trigger. */
  readonly trigger: Pips | null;
  /** Places of the day's trades that it has, or takes from another exit. */
  readonly places: number;
  /** The owner has given a passkey's word for it. */
  readonly hasOwnersWord: boolean;
}

/** Whether a worst price keeps the distance, in percent, to a price. */
const keeps = (limit: Pips, to: Pips, distance: number): boolean => limit * 100 >= to * (100 - distance);

/** Without a believed bid nothing is near it. @param distance in percent */
export function isNearBid(limit: Pips, book: Book | null, distance: number): boolean {
  const bid = believedBid(book);
  return bid !== null && keeps(limit, bid, distance);
}

export interface ExitOrder extends Pick<Draft, 'shares' | 'timeInForce'> {
  /** Its worst price, as signed. */
  readonly limit: Pips;
  /** In percent. */
  readonly distance: number;
  readonly book: Book | null;
}

/**
 * Refuses an exit that would sell too cheaply: whoever signs a worst price far below the market arranges a gift.
 * @param book that the order would meet; not looked at where it is only left
 */
export function exitPriceDenial(
  { limit, shares, timeInForce, distance, book }: ExitOrder,
  { moment, trigger }: ExitTerms,
): Denial | null {
  if (trigger !== null && !keeps(limit, trigger, distance))
    return tooCheap(limit, trigger, distance, "trigger's price");
  if (moment === 'left') return null;
  const bid = believedBid(book);
  if (bid === null)
    return {
      code: 'believed_bid_required',
      detail: 'There is no bid that the desk believes now, so nothing is sold.',
    };
  if (!keeps(limit, bid, distance)) return tooCheap(limit, bid, distance, 'best bid');
  return isSpent(book, { limit, shares, timeInForce }) ? noMatch(limit, bid) : null;
}

/** An order that executes at once or not at all, and would find nothing to take: it could not be placed a second time. */
function isSpent(
  book: Book | null,
  { limit, shares, timeInForce }: Pick<ExitOrder, 'limit' | 'shares' | 'timeInForce'>,
): boolean {
  if (book === null || !isImmediate(timeInForce)) return false;
  const sold = sweep(NO_FEE, book, { side: 'SELL', outcome: book.outcome, amount: shares }, { limit });
  return timeInForce === 'FOK' ? !sold.complete : sold.shares === 0n;
}

const noMatch = (limit: Pips, bid: Pips): Denial => ({
  code: 'exit_liquidity_required',
  detail: `The book does not take it at ${formatPips(limit)} or better now; the best bid is ${formatPips(bid)}.`,
  context: { limit: limit / PIPS, price: bid / PIPS },
});

const tooCheap = (limit: Pips, of: Pips, distance: number, what: string): Denial => ({
  code: 'exit_price_out_of_range',
  detail: `The worst price ${formatPips(limit)} is more than ${distance} % below the ${what}, ${formatPips(of)}.`,
  context: { limit: limit / PIPS, price: of / PIPS, exitDistancePercent: distance },
});
