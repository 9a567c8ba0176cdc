/**
 * Books of the tokens that somebody asks for: by socket where its book stands beyond doubt, else by a question to the CLOB,
 * else not at all. Tokens of YES only: the book of NO is the mirror.
 *
 * A book from the socket is answered only while its connection speaks, and only for a minute after the CLOB's own answer
 * agreed with it, because a socket can go on answering PINGs while it no longer says what happens. What callers can make
 * it keep is bounded: the tokens that were asked for last have the subscriptions.
 */
import type { Pips } from '@bellwether/contract/decimals';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import type { OutboundLog } from '../../platform/outbound/http.ts';
import { type BookShard, openBookShard, type TradeSeen } from './book-shard.ts';
import type { VenueHttp } from './http.ts';
import type { SocketTimes } from './reconnecting-socket.ts';
import { type BookTerms, type LastTrade, TokenBook } from './token-book.ts';
import { READ } from './wire.ts';

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

export interface BookListener {
  readonly onBook: (book: TokenBook | null) => void;
  readonly onTrade: (trade: TradeSeen) => void;
}

export interface LiveBooksOptions {
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
