/**
 * Books of the tokens that somebody asks for: by socket where its book stands beyond doubt, else by a question to the CLOB,
 * else not at all. Tokens of YES only: the book of NO is the mirror.
 *
 * A book from the socket is answered only while its connection speaks, and only for a minute after the CLOB's own answer
 * agreed with it, because a socket can go on answering PINGs while it no longer says what happens. What callers can make
 * it keep is bounded: the tokens that were asked for last have the subscriptions.
 */
import { type Micro, PIPS, type Pips } from '@bellwether/contract/decimals';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { Book, Level, MarketRecord } from '../../domain/market.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { VenueHttp } from './http.ts';
import { openReconnectingSocket, type SocketTimes } from './reconnecting-socket.ts';
import {
  isTokenId,
  type ListedTick,
  listedTick,
  microOf,
  millisecondsOf,
  pipsOf,
  READ,
  type WireBook,
  type WirePriceChanges,
} from './translate-market.ts';

const TOKENS_PER_SHARD = 200;
const MAX_TOKENS = 600;
const BOOKS_PER_QUESTION = 100;
const TOPS_KEPT = 5_000;
const TOP_LIFE_MS = 10_000;
/** Many readers of one book share an answer for this long. */
const BOOK_LIFE_MS = 500;

export interface BookTimes {
  /** A socket's book that no answer of the CLOB has confirmed for so long is not used. */
  readonly confirmedWithinMs: number;
  /** So often, some of the books are compared; all of them well within the time above. */
  readonly compareEveryMs: number;
  /** The socket must say within this what the CLOB knows already. */
  readonly graceMs: number;
  readonly heardWithinMs: number;
}

const TIMES: BookTimes = {
  confirmedWithinMs: 60_000,
  compareEveryMs: 3_000,
  graceMs: 3_000,
  heardWithinMs: 15_000,
};
const COMPARED_AT_ONCE = 50;

/** A book as a list of markets shows it. */
export interface BookTop {
  readonly terms: BookTerms;
  readonly bestBid?: Pips;
  readonly bestAsk?: Pips;
  readonly lastTrade?: LastTrade;
}

export interface LiveBooks {
  /** `null`: the CLOB has no book of this token. @throws VenueUnavailable */
  book(tokenId: string): Promise<TokenBook | null>;
  /** Tops of many tokens, some seconds old at most; those without a book are left out. @throws VenueUnavailable */
  tops(tokenIds: readonly string[]): Promise<ReadonlyMap<string, BookTop>>;
  /** Calls with every trade and change of a token until the returned function is called. Its subscription is never given up. */
  follow(tokenId: string, listener: BookListener): () => void;
  /** The socket's book now, without a question; `null` while it is in doubt. */
  known(tokenId: string): TokenBook | null;
  /** Since the start, for operators. */
  counts(): { readonly followed_books: number; readonly doubted_books: number };
  close(): Promise<void>;
}

interface BookListener {
  readonly onBook: (book: TokenBook | null) => void;
  readonly onTrade: (trade: TradeSeen) => void;
}

interface LiveBooksOptions {
  readonly clob: VenueHttp;
  readonly socketUrl: string;
  readonly log: OutboundLog;
  readonly times?: Partial<BookTimes>;
  readonly socketTimes?: SocketTimes;
}

export function createLiveBooks(options: LiveBooksOptions): LiveBooks {
  const { clob, log } = options;
  const times = { ...TIMES, ...options.times };
  const asked = createQuestions(clob);
  const shards: BookShard[] = [];
  /** Least recently asked for first. */
  const shardOf = new Map<string, BookShard>();
  const confirmedAt = new Map<string, number>();
  const listeners = new Map<string, Set<BookListener>>();

  let doubted = 0;

  const known = (tokenId: string): TokenBook | null => {
    const at = confirmedAt.get(tokenId);
    const isConfirmed = at !== undefined && performance.now() - at <= times.confirmedWithinMs;
    return isConfirmed ? (shardOf.get(tokenId)?.book(tokenId) ?? null) : null;
  };
  const openShard = (): BookShard => {
    const shard: BookShard = openBookShard({
      url: options.socketUrl,
      log,
      heardWithinMs: times.heardWithinMs,
      ...(options.socketTimes === undefined ? {} : { times: options.socketTimes }),
      onBook: (tokenId) => {
        const book = shard.book(tokenId);
        // A first snapshot is what the venue says now; later ones repeat what the socket knows.
        if (book === null) confirmedAt.delete(tokenId);
        else if (!confirmedAt.has(tokenId)) confirmedAt.set(tokenId, performance.now());
        for (const { onBook } of listeners.get(tokenId) ?? []) onBook(known(tokenId));
      },
      onTrade: (trade) => {
        for (const { onTrade } of listeners.get(trade.tokenId) ?? []) onTrade(trade);
      },
      onTickSize: asked.forget,
      onDoubt: () => {
        doubted += 1;
      },
    });
    shards.push(shard);
    return shard;
  };
  const giveUpOldest = (): void => {
    for (const [tokenId, shard] of shardOf) {
      if (listeners.has(tokenId)) continue;
      shardOf.delete(tokenId);
      confirmedAt.delete(tokenId);
      shard.remove(tokenId);
      return;
    }
  };
  const subscribed = (tokenId: string): void => {
    const shard = shardOf.get(tokenId);
    if (shard !== undefined) {
      shardOf.delete(tokenId);
      shardOf.set(tokenId, shard);
      return;
    }
    if (shardOf.size >= MAX_TOKENS) giveUpOldest();
    const free = shards.find((one) => one.size() < TOKENS_PER_SHARD) ?? openShard();
    shardOf.set(tokenId, free);
    free.add(tokenId);
  };

  const comparison = createComparison({ asked, shardOf, confirmedAt, times });
  return {
    known,
    tops: asked.tops,
    counts: () => ({ followed_books: shardOf.size, doubted_books: doubted }),
    close: async () => {
      comparison.stop();
      await Promise.all(shards.map((shard) => shard.close()));
    },
    async book(tokenId) {
      subscribed(tokenId);
      return known(tokenId) ?? asked.book(tokenId);
    },
    follow(tokenId, listener) {
      const all = listeners.get(tokenId) ?? new Set();
      listeners.set(tokenId, all.add(listener));
      subscribed(tokenId);
      return () => {
        all.delete(listener);
        if (all.size === 0) listeners.delete(tokenId);
      };
    },
  };
}

interface Questions {
  book(tokenId: string): Promise<TokenBook | null>;
  books(tokenIds: readonly string[]): Promise<readonly TokenBook[]>;
  tops: LiveBooks['tops'];
  forget(tokenId: string): void;
}

/** Books by the CLOB's REST, shared by callers for a moment. */
function createQuestions(clob: VenueHttp): Questions {
  const kept = { entries: TOPS_KEPT, weight: TOPS_KEPT, weightOf: () => 1 };
  const single = new BoundedCache<{ readonly at: number; readonly answer: Promise<TokenBook | null> }>(kept);
  const tops = new BoundedCache<{ readonly at: number; readonly answer: Promise<BookTop | null> }>(kept);

  const one = async (tokenId: string): Promise<TokenBook | null> => {
    const wire = await clob.read({ path: '/book', query: { token_id: tokenId } }, READ.book);
    return wire === null ? null : TokenBook.read(wire);
  };
  const books = async (tokenIds: readonly string[]): Promise<readonly TokenBook[]> => {
    const body = JSON.stringify(tokenIds.map((token_id) => ({ token_id })));
    const list = (await clob.read({ method: 'POST', path: '/books', body }, READ.list)) ?? [];
    return list.flatMap((item) => {
      const wire = READ.book(item);
      return (wire === null ? null : TokenBook.read(wire)) ?? [];
    });
  };
  const outdate = (tokenId: string): void =>
    tops.set(tokenId, { at: Number.NEGATIVE_INFINITY, answer: Promise.resolve(null) });
  const askTops = (tokenIds: readonly string[], at: number): void => {
    const found = books(tokenIds).then((all) => new Map(all.map((book) => [book.tokenId, topOf(book)])));
    for (const tokenId of tokenIds)
      tops.set(tokenId, { at, answer: found.then((all) => all.get(tokenId) ?? null) });
    found.catch(() => tokenIds.forEach(outdate));
  };

  return {
    books,
    forget: outdate,
    book(tokenId) {
      const now = performance.now();
      const recent = single.get(tokenId);
      if (recent !== undefined && now - recent.at < BOOK_LIFE_MS) return recent.answer;
      const answer = one(tokenId);
      single.set(tokenId, { at: now, answer });
      // A failure is not kept; the caller hears of it.
      answer.catch(() => single.set(tokenId, { at: Number.NEGATIVE_INFINITY, answer }));
      return answer;
    },
    async tops(tokenIds) {
      const now = performance.now();
      const missing = tokenIds.filter(
        (id) => now - (tops.get(id)?.at ?? Number.NEGATIVE_INFINITY) >= TOP_LIFE_MS,
      );
      for (let start = 0; start < missing.length; start += BOOKS_PER_QUESTION)
        askTops(missing.slice(start, start + BOOKS_PER_QUESTION), now);
      const found = await Promise.all(
        tokenIds.map(async (tokenId) => [tokenId, (await tops.get(tokenId)?.answer) ?? null] as const),
      );
      return new Map(found.flatMap(([tokenId, top]) => (top === null ? [] : [[tokenId, top] as const])));
    },
  };
}

export const topOf = ({ terms, bestBid, bestAsk, lastTrade }: TokenBook): BookTop => ({
  terms,
  ...(bestBid === undefined ? {} : { bestBid }),
  ...(bestAsk === undefined ? {} : { bestAsk }),
  ...(lastTrade === null ? {} : { lastTrade }),
});

interface ComparisonParts {
  readonly asked: Questions;
  readonly shardOf: ReadonlyMap<string, BookShard>;
  readonly confirmedAt: Map<string, number>;
  readonly times: BookTimes;
}

/** Compares the socket's books with the CLOB's answers, the longest unconfirmed first. */
function createComparison({ asked, shardOf, confirmedAt, times }: ComparisonParts): { stop(): void } {
  let isRunning = false;
  const later = new Set<NodeJS.Timeout>();
  /** Tokens whose last comparison disagreed. One can disagree by chance: changes of one millisecond have no order. */
  const disagreed = new Set<string>();

  const judge = (shard: BookShard, ours: TokenBook, fresh: TokenBook): void => {
    const { tokenId } = fresh;
    const isLike = ours.wasLike(fresh);
    if (isLike === true) {
      disagreed.delete(tokenId);
      confirmedAt.set(tokenId, performance.now());
    } else if (isLike === false && disagreed.delete(tokenId)) {
      shard.doubt(tokenId, 'it is not the book that the CLOB knows');
    } else if (isLike === false) disagreed.add(tokenId);
  };
  const compare = (fresh: TokenBook): void => {
    const { tokenId } = fresh;
    const shard = shardOf.get(tokenId);
    const ours = shard?.book(tokenId) ?? null;
    if (shard === undefined || !shard.isOpen()) return;
    if (ours === null) {
      shard.doubt(tokenId, 'the socket sent no snapshot');
      return;
    }
    if (fresh.at <= ours.at || ours.wasLike(fresh) === true) {
      judge(shard, ours, fresh);
      return;
    }
    // One of both is always a little ahead: the CLOB being ahead counts only if the socket does not follow.
    const timer = setTimeout(() => {
      later.delete(timer);
      const now = shardOf.get(tokenId)?.book(tokenId) ?? null;
      if (now === null) return;
      if (now.at >= fresh.at) judge(shard, now, fresh);
      else shard.doubt(tokenId, 'the socket did not say what the CLOB knows');
    }, times.graceMs);
    later.add(timer);
  };
  const round = async (): Promise<void> => {
    for (const tokenId of disagreed) if (!shardOf.has(tokenId)) disagreed.delete(tokenId);
    const oldest = [...shardOf.keys()]
      .map((tokenId) => [tokenId, confirmedAt.get(tokenId) ?? Number.NEGATIVE_INFINITY] as const)
      .sort(([, a], [, b]) => a - b)
      .slice(0, COMPARED_AT_ONCE)
      .map(([tokenId]) => tokenId);
    if (oldest.length > 0) for (const book of await asked.books(oldest)) compare(book);
  };
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    // Without an answer nothing is confirmed, and the books age.
    round()
      .catch(() => {})
      .finally(() => {
        isRunning = false;
      });
  }, times.compareEveryMs);

  return {
    stop() {
      clearInterval(timer);
      for (const one of later) clearTimeout(one);
    },
  };
}

// One connection to the venue's market socket, for some tokens: beyond a few hundred the venue sends no snapshots. A book is
// known only between its snapshot and the first doubt: a change that does not lead to the best prices that the venue
// names, a new tick size, or the end of the connection.

/** A socket that still answers PINGs says something at least so often. */
const HEARD_WITHIN_MS = 15_000;

export interface TradeSeen {
  readonly tokenId: string;
  readonly price: unknown;
  readonly size: unknown;
  /** The taker's. */
  readonly side: string;
  readonly at: number | null;
}

interface ShardOptions {
  readonly url: string;
  readonly log: OutboundLog;
  readonly times?: SocketTimes;
  readonly heardWithinMs?: number;
  /** After a token's book became known, changed or unknown. */
  readonly onBook: (tokenId: string) => void;
  readonly onTrade: (trade: TradeSeen) => void;
  readonly onTickSize: (tokenId: string) => void;
  /** A book that was known is asked for again. */
  readonly onDoubt?: () => void;
}

interface BookShard {
  readonly size: () => number;
  readonly add: (tokenId: string) => void;
  readonly remove: (tokenId: string) => void;
  /** The book as the socket says it, while nothing speaks against it. */
  readonly book: (tokenId: string) => TokenBook | null;
  /** Forgets the book and asks for a new snapshot. */
  readonly doubt: (tokenId: string, reason: string) => void;
  readonly isOpen: () => boolean;
  readonly close: () => Promise<void>;
}

function openBookShard(options: ShardOptions): BookShard {
  const { url, log, onBook, onTrade, onTickSize, heardWithinMs = HEARD_WITHIN_MS } = options;
  const tokens = new Set<string>();
  const books = new Map<string, TokenBook>();
  /** The last books, for what a later snapshot leaves out. */
  const terms = new Map<string, TokenBook>();

  const subscribe = (operation: 'subscribe' | 'unsubscribe', tokenIds: readonly string[]): void => {
    socket.send(JSON.stringify({ operation, assets_ids: tokenIds }));
  };
  const forget = (tokenId: string): void => {
    if (books.delete(tokenId)) onBook(tokenId);
  };
  const doubt = (tokenId: string, reason: string): void => {
    if (!tokens.has(tokenId)) return;
    log.info({ reason }, "a book of the venue's socket is asked for again");
    options.onDoubt?.();
    forget(tokenId);
    subscribe('unsubscribe', [tokenId]);
    subscribe('subscribe', [tokenId]);
  };

  const readBook = (frame: unknown): void => {
    const wire = READ.book(frame);
    if (wire === null || !tokens.has(wire.asset_id)) return;
    const book = TokenBook.read(wire);
    if (book === null) {
      forget(wire.asset_id);
      return;
    }
    // Snapshots repeat; one that was made before a change that is known already would undo it.
    const known = books.get(wire.asset_id);
    if (known !== undefined && book.at < known.at) return;
    books.set(wire.asset_id, book.withTermsOf(terms.get(wire.asset_id)));
    terms.set(wire.asset_id, book);
    onBook(wire.asset_id);
  };
  const readChanges = (frame: unknown): void => {
    const wire = READ.priceChanges(frame);
    if (wire === null) {
      socket.reconnect('a change that cannot be read');
      return;
    }
    const at = millisecondsOf(wire.timestamp);
    for (const [tokenId, changes] of Map.groupBy(wire.price_changes, (change) => change.asset_id)) {
      const book = books.get(tokenId);
      if (book === undefined || (at !== null && at < book.at)) continue;
      if (book.apply(changes, at)) onBook(tokenId);
      else doubt(tokenId, 'it does not follow from the one before');
    }
  };
  const readTrade = (frame: unknown): void => {
    const wire = READ.lastTrade(frame);
    if (wire === null) return;
    const at = millisecondsOf(wire.timestamp);
    books.get(wire.asset_id)?.traded(wire.price, at);
    onTrade({ tokenId: wire.asset_id, price: wire.price, size: wire.size, side: wire.side, at });
  };
  const readTickSize = (frame: unknown): void => {
    const wire = READ.tickSizeChange(frame);
    if (wire === null) return;
    terms.delete(wire.asset_id);
    onTickSize(wire.asset_id);
    doubt(wire.asset_id, 'its tick size changed');
  };
  const readers: Readonly<Record<string, (frame: unknown) => void>> = {
    book: readBook,
    price_change: readChanges,
    last_trade_price: readTrade,
    tick_size_change: readTickSize,
  };
  const readEvent = (frame: unknown): void => {
    const type = READ.typed(frame)?.event_type;
    if (type !== undefined && Object.hasOwn(readers, type)) readers[type]!(frame);
  };

  const socket = openReconnectingSocket({
    url,
    name: 'the market socket',
    log,
    ...(options.times === undefined ? {} : { times: options.times }),
    onOpen: () => {
      if (tokens.size > 0)
        socket.send(JSON.stringify({ type: 'market', assets_ids: [...tokens], initial_dump: true }));
    },
    onFrame: (text) => {
      const frame: unknown = JSON.parse(text);
      for (const one of Array.isArray(frame) ? frame : [frame]) readEvent(one);
    },
    onDown: () => {
      for (const tokenId of [...books.keys()]) forget(tokenId);
    },
  });

  const isHeard = (): boolean => {
    const at = socket.lastFrameAt();
    return at !== null && performance.now() - at <= heardWithinMs;
  };

  return {
    size: () => tokens.size,
    add(tokenId) {
      if (tokens.has(tokenId) || !isTokenId(tokenId)) return;
      const isFirst = tokens.size === 0;
      tokens.add(tokenId);
      if (isFirst) socket.send(JSON.stringify({ type: 'market', assets_ids: [tokenId], initial_dump: true }));
      else subscribe('subscribe', [tokenId]);
    },
    remove(tokenId) {
      if (!tokens.delete(tokenId)) return;
      books.delete(tokenId);
      terms.delete(tokenId);
      subscribe('unsubscribe', [tokenId]);
    },
    book: (tokenId) => (isHeard() ? (books.get(tokenId) ?? null) : null),
    doubt,
    isOpen: socket.isOpen,
    close: socket.close,
  };
}

// The book of one token, as the venue last said it. Levels are kept by price; a change names the new total of a level. A
// book that cannot be read exactly is no book: a wrong price is worse than none.

type PriceChange = WirePriceChanges['price_changes'][number];

interface BookTerms {
  readonly tick: ListedTick | null;
  readonly minOrderSize: Micro | null;
  readonly negRisk: boolean | null;
}

/** Snapshots of both tokens say it of the outcome that the venue lists first, trades of their own token. */
interface LastTrade {
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
