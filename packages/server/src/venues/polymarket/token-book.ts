/**
 * The book of one token, as the venue last said it. Levels are kept by price; a change names the new total of a level. A
 * book that cannot be read exactly is no book: a wrong price is worse than none.
 */
import type { Micro, Pips } from '@bellwether/contract/decimals';
import { PIPS } from '@bellwether/contract/decimals';
import type { Book, Level, MarketRecord } from '../../domain/market.ts';
import { type ListedTick, listedTick, microOf, millisecondsOf, pipsOf } from './translate-market.ts';
import type { WireBook, WirePriceChanges } from './wire.ts';

type PriceChange = WirePriceChanges['price_changes'][number];

export interface BookTerms {
  readonly tick: ListedTick | null;
  readonly minOrderSize: Micro | null;
  readonly negRisk: boolean | null;
}

/** Snapshots of both tokens say it of the outcome that the venue lists first, trades of their own token. */
export interface LastTrade {
  readonly price: Pips;
  readonly isOfFirst: boolean;
}

/** In terms of the token of YES. */
export const lastPrice = (
  { price, isOfFirst }: LastTrade,
  { isTurned }: Pick<MarketRecord, 'isTurned'>,
): Pips => (isOfFirst && isTurned === true ? PIPS - price : price);

/** Changes that a book remembers: more than come while an answer of the CLOB is on its way. */
const CHANGES_KEPT = 256;

interface AppliedChange {
  readonly at: number;
  readonly levels: Map<Pips, Micro>;
  readonly price: Pips;
  readonly before: Micro;
}

export class TokenBook {
  readonly tokenId: string;
  readonly terms: BookTerms;
  readonly #bids: Map<Pips, Micro>;
  readonly #asks: Map<Pips, Micro>;
  #lastTrade: LastTrade | null;
  /** The venue's time of its newest change that is in here, epoch milliseconds. */
  #at: number;
  /** Oldest first. */
  readonly #recent: AppliedChange[] = [];
  /** Every change after this time is among the recent ones. */
  #recentSince: number;

  /** @returns `null` for a book with a level that cannot be read */
  static read(wire: WireBook): TokenBook | null {
    const bids = levelsOf(wire.bids);
    const asks = levelsOf(wire.asks);
    return bids === null || asks === null ? null : new TokenBook(wire, bids, asks);
  }

  private constructor(wire: WireBook, bids: Map<Pips, Micro>, asks: Map<Pips, Micro>) {
    this.tokenId = wire.asset_id;
    this.#bids = bids;
    this.#asks = asks;
    this.#at = millisecondsOf(wire.timestamp) ?? 0;
    this.#recentSince = this.#at;
    const last = insidePrice(wire.last_trade_price);
    this.#lastTrade = last === null ? null : { price: last, isOfFirst: true };
    this.terms = {
      tick: listedTick(wire.tick_size),
      minOrderSize: microOf(wire.min_order_size) || null,
      negRisk: wire.neg_risk ?? null,
    };
  }

  get at(): number {
    return this.#at;
  }

  get bestBid(): Pips | undefined {
    return best(this.#bids.keys(), 'highest');
  }

  get bestAsk(): Pips | undefined {
    return best(this.#asks.keys(), 'lowest');
  }

  get lastTrade(): LastTrade | null {
    return this.#lastTrade;
  }

  /** Terms that only the first snapshot carried stay known. */
  withTermsOf(older: TokenBook | undefined): TokenBook {
    if (older === undefined) return this;
    const { tick, minOrderSize, negRisk } = this.terms;
    Object.assign(this.terms, {
      tick: tick ?? older.terms.tick,
      minOrderSize: minOrderSize ?? older.terms.minOrderSize,
      negRisk: negRisk ?? older.terms.negRisk,
    });
    this.#lastTrade ??= older.#lastTrade;
    return this;
  }

  /** @returns whether the book, changed, has the best prices that the venue names: otherwise something was missed */
  apply(changes: readonly PriceChange[], at: number | null): boolean {
    for (const { price, size, side } of changes) {
      const pips = insidePrice(price);
      if (pips === null) return false;
      const left = microOf(size);
      const levels = side === 'BUY' ? this.#bids : this.#asks;
      this.#remember({ at: at ?? this.#at, levels, price: pips, before: levels.get(pips) ?? 0n });
      setLevel(levels, pips, left);
    }
    this.#at = Math.max(this.#at, at ?? 0);
    const last = changes.at(-1);
    return (
      last === undefined ||
      (agrees(last.best_bid, this.bestBid, 0) && agrees(last.best_ask, this.bestAsk, PIPS))
    );
  }

  traded(price: unknown, at: number | null): void {
    const own = insidePrice(price);
    if (own !== null) this.#lastTrade = { price: own, isOfFirst: false };
    this.#at = Math.max(this.#at, at ?? 0);
  }

  /**
   * Whether this book was like `fresh` at the time of `fresh`: every change since then is undone for the comparison.
   * `null`: that time is too long ago to say.
   */
  wasLike(fresh: TokenBook): boolean | null {
    const bids = new Map(this.#bids);
    const asks = new Map(this.#asks);
    for (const change of this.#recent.toReversed()) {
      if (change.at <= fresh.at) break;
      setLevel(change.levels === this.#bids ? bids : asks, change.price, change.before);
    }
    if (isSame(bids, fresh.#bids) && isSame(asks, fresh.#asks)) return true;
    return fresh.at < this.#recentSince ? null : false;
  }

  #remember(change: AppliedChange): void {
    this.#recent.push(change);
    if (this.#recent.length <= CHANGES_KEPT) return;
    const oldest = this.#recent.shift()!;
    this.#recentSince = Math.max(this.#recentSince, oldest.at);
  }

  /** This token's book is that of YES; the book of NO is its mirror. */
  view(market: Pick<MarketRecord, 'conditionId' | 'isTurned'>, outcome: 'YES' | 'NO', depth: number): Book {
    const mirror = outcome === 'NO';
    const bids = sorted(mirror ? mirrored(this.#asks) : this.#bids, 'highest');
    const asks = sorted(mirror ? mirrored(this.#bids) : this.#asks, 'lowest');
    const last = this.#lastTrade === null ? null : lastPrice(this.#lastTrade, market);
    return {
      conditionId: market.conditionId,
      outcome,
      bids: bids.slice(0, depth),
      asks: asks.slice(0, depth),
      ...(last === null ? {} : { lastTrade: mirror ? PIPS - last : last }),
      // The venue numbers nothing; its milliseconds grow with every change, on each replica alike.
      sequence: this.#at,
      changedAt: this.#at,
    };
  }
}

function setLevel(levels: Map<Pips, Micro>, price: Pips, size: Micro): void {
  if (size === 0n) levels.delete(price);
  else levels.set(price, size);
}

function levelsOf(wire: WireBook['bids']): Map<Pips, Micro> | null {
  const levels = new Map<Pips, Micro>();
  for (const { price, size } of wire) {
    const pips = insidePrice(price);
    if (pips === null) return null;
    const left = microOf(size);
    if (left > 0n) levels.set(pips, left);
  }
  return levels;
}

/** Strictly between 0 and 1. */
function insidePrice(price: unknown): Pips | null {
  const pips = price === '' ? null : pipsOf(price);
  return pips !== null && pips > 0 && pips < PIPS ? pips : null;
}

/** @param none what the venue says of a side that is empty; any other price outside of the book says nothing */
const agrees = (said: unknown, found: Pips | undefined, none: Pips): boolean => {
  const named = said === null || said === undefined || said === '' ? null : pipsOf(said);
  if (named === none) return found === undefined;
  return named === null || named <= 0 || named >= PIPS || named === found;
};

function best(prices: Iterable<Pips>, which: 'highest' | 'lowest'): Pips | undefined {
  let found: Pips | undefined;
  for (const price of prices)
    if (found === undefined || (which === 'highest' ? price > found : price < found)) found = price;
  return found;
}

const mirrored = (levels: ReadonlyMap<Pips, Micro>): Map<Pips, Micro> =>
  new Map([...levels].map(([price, size]) => [PIPS - price, size]));

const sorted = (levels: ReadonlyMap<Pips, Micro>, first: 'highest' | 'lowest'): Level[] =>
  [...levels].sort(([a], [b]) => (first === 'highest' ? b - a : a - b));

const isSame = (some: ReadonlyMap<Pips, Micro>, others: ReadonlyMap<Pips, Micro>): boolean =>
  some.size === others.size && [...some].every(([price, size]) => others.get(price) === size);
