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

/** A price must hold so long. Of the time between two looks so much counts: what the price was in a longer one is not known. */
const PRICE_HOLDS_MS = 2_000;
const LOOK_COUNTS_MS = 1_500;

/** What the book pays for a size now. */
interface ExitQuote {
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

interface TriggerFacts {
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

/**
 * Remembers how long each trigger has held, at every look: a look that comes late delays an exit by what is not counted of it, and never
 * begins anew. In memory: who takes over does.
 */
export class HeldTriggers {
  readonly #held = new Map<string, { readonly forMs: number; readonly seen: number }>();

  /** @returns since when, once that is long enough; else `null` */
  look(exitId: string, holds: boolean, now: number): number | null {
    if (!holds) {
      this.#held.delete(exitId);
      return null;
    }
    const before = this.#held.get(exitId);
    const forMs = before === undefined ? 0 : before.forMs + Math.min(LOOK_COUNTS_MS, now - before.seen);
    this.#held.set(exitId, { forMs, seen: now });
    return forMs >= PRICE_HOLDS_MS ? now - forMs : null;
  }

  forget(exitId: string): void {
    this.#held.delete(exitId);
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

interface ExitOrder extends Pick<Draft, 'shares' | 'timeInForce'> {
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

/** The terms of an exit that say what its price comes to once its trigger holds. */
interface StopTerms extends Pick<ExitOrder, 'limit' | 'timeInForce'> {
  readonly trigger: ExitTrigger;
}

/** By how much a stop's worst price is above its trigger; `null`: it is no stop. */
const aboveTrigger = ({ limit, trigger }: StopTerms): number | null =>
  trigger.kind === 'price_at_or_below' ? limit - trigger.price : null;

/** Refuses a stop that could never sell: once its trigger holds, the book pays less than its worst price. */
export function stopDenial(terms: StopTerms): Denial | null {
  const { limit, timeInForce, trigger } = terms;
  if (trigger.kind !== 'price_at_or_below' || !isImmediate(timeInForce)) return null;
  if ((aboveTrigger(terms) ?? 0) <= 0) return null;
  const [worst, stop] = [formatPips(limit), formatPips(trigger.price)];
  return {
    code: 'exit_price_out_of_range',
    path: 'price',
    detail: `The worst price ${worst} is above the trigger's price, ${stop}: once the book pays ${stop} or less a share, an order that executes at once finds nothing at ${worst} or more, so this stop could not sell.`,
    fix: `Sign a worst price below ${stop}, at most exitDistancePercent of it (GET /agents/settings); or a GTC order, which then rests on the book at ${worst}.`,
    context: { limit: limit / PIPS, price: trigger.price / PIPS },
  };
}

interface ExitWarning {
  readonly code: string;
  readonly severity: 'info' | 'warning';
  readonly message: string;
}

/** What the terms of an exit do that may not be meant. @param facts of now */
export function exitWarnings(terms: StopTerms, facts: TriggerFacts): ExitWarning[] {
  const { limit, trigger, timeInForce } = terms;
  const above = aboveTrigger(terms);
  const worst = formatPips(limit);
  const warnings: ExitWarning[] = [];
  const warn = (code: string, message: string) => warnings.push({ code, severity: 'warning', message });
  if (triggerHolds(trigger, facts))
    warn('trigger_holds_already', 'Its trigger holds now: the order is sent within seconds, not later.');
  if (above !== null && above === 0 && isImmediate(timeInForce))
    warn(
      'exit_may_fill_in_part',
      `Its worst price is the price of its trigger, ${worst}: where the book pays less for a part of the size, that part is not sold.`,
    );
  if (above !== null && above > 0)
    warn(
      'exit_rests',
      `It is a resting order and no stop: once the book pays ${formatPips(limit - above)} or less, it waits on the book at ${worst}, and sells only if the price comes back to that.`,
    );
  return warnings;
}
