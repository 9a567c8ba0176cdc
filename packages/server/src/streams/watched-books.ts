/**
 * The books that streams of this process follow: each is read once for all of them, at short intervals, from whichever place
 * has it (this process, the replica that leads, a live venue), and what changed since the last reading is sent. So a
 * delta always leads from the book that a client has to the one that it gets; where the book could not be read, or counts
 * anew, the client hears of a gap and then gets the whole book.
 */
import {
  type BookEventData,
  type DeltaEventData,
  type FreshEventData,
  type GapEventData,
  outcomeName,
  STREAM_LIMITS,
} from '@bellwether/contract';
import { formatMicro, formatPips } from '@bellwether/contract/decimals';
import type { Book, Level } from '../domain/market.ts';
import { findToken, levels } from '../markets/index.ts';
import { refusal } from '../platform/refusal.ts';
import type { HasVenues } from '../venues/asking.ts';
import type { EndReason } from './open-streams.ts';

const DEPTH = 100;
const LOOK_EVERY_MS = 100;
/** The longer an answer takes, the less often it is asked for: of a hundred moments one is spent on it. */
const PAUSE_FACTOR = 100;
const LONGEST_PAUSE_MS = 1_000;
const ANSWER_WITHIN_MS = 2_000;
const FRESH_EVERY_MS = 5_000;
/** The most books of all streams of the process. */
const MOST_BOOKS = 2_000;
/** The most bytes that wait for one client: the first books of a stream together, several times over. */
const MOST_WAITING_BYTES = 2 * 1024 * 1024;
const RETRY_S = 5;

export interface BookClient {
  readonly waitingBytes: number;
  /** @param data JSON text */
  send(event: string, data: string): void;
  end(reason: EndReason): void;
}

type Token = NonNullable<Awaited<ReturnType<typeof findToken>>> & { readonly tokenId: string };

interface Watched {
  readonly token: Token;
  readonly clients: Set<BookClient>;
  book: Book | null;
  gap: GapEventData['reason'] | null;
  checkedAt: number;
  nextAt: number;
  isAsking: boolean;
}

interface Options {
  readonly needs: HasVenues;
  /** Whether anything may be sent. */
  readonly isVerified: () => boolean;
  readonly clock: { now(): number };
}

const GAPS: Readonly<Record<GapEventData['reason'], string>> = {
  unavailable: 'The book cannot be read now; a whole book follows when it can.',
  restarted: 'The venue counts anew; a whole book follows.',
  ended: 'The market has no book any more.',
};

const iso = (at: number): string => new Date(at).toISOString();

export class WatchedBooks {
  readonly #options: Options;
  readonly #books = new Map<string, Watched>();
  readonly #clients = new Map<BookClient, Set<Watched>>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #freshAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** @throws Refusal invalid_request, market_not_found, overloaded */
  async find(list: string): Promise<readonly Token[]> {
    const ids = [...new Set(list.split(',').map((id) => id.trim()))].filter((id) => id !== '');
    if (ids.length === 0 || ids.length > STREAM_LIMITS.tokensPerStream) {
      throw refusal('invalid_request', `tokens takes 1 to ${STREAM_LIMITS.tokensPerStream} token ids.`, {
        path: 'tokens',
      });
    }
    if (this.#books.size + ids.length > MOST_BOOKS) {
      throw refusal('overloaded', 'This replica follows as many books as it can.', { retryAfterS: RETRY_S });
    }
    return Promise.all(
      ids.map(async (tokenId) => {
        const found = await findToken(this.#options.needs, tokenId, undefined);
        if (found === null)
          throw refusal('market_not_found', `No market has the token ${tokenId}.`, { path: 'tokens' });
        return { ...found, tokenId };
      }),
    );
  }

  /** @returns what ends it */
  follow(tokens: readonly Token[], client: BookClient): () => void {
    const followed = new Set<Watched>();
    this.#clients.set(client, followed);
    for (const token of tokens) {
      const watched = this.#books.get(token.tokenId) ?? newlyWatched(token);
      this.#books.set(token.tokenId, watched);
      watched.clients.add(client);
      followed.add(watched);
      if (watched.gap !== null) this.#send([client], 'gap', gapData(watched, watched.gap));
      else if (watched.book !== null) this.#send([client], 'book', bookData(watched, watched.book));
    }
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS);
    this.#look();
    return () => this.#unfollow(client, followed);
  }

  #unfollow(client: BookClient, followed: ReadonlySet<Watched>): void {
    this.#clients.delete(client);
    for (const watched of followed) {
      watched.clients.delete(client);
      if (watched.clients.size === 0) this.#books.delete(watched.token.tokenId);
    }
    if (this.#clients.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    if (!this.#options.isVerified()) return;
    const now = this.#options.clock.now();
    for (const watched of this.#books.values()) {
      if (watched.isAsking || watched.gap === 'ended' || performance.now() < watched.nextAt) continue;
      watched.isAsking = true;
      void this.#read(watched);
    }
    if (now - this.#freshAt < FRESH_EVERY_MS && now >= this.#freshAt) return;
    this.#freshAt = now;
    for (const [client, followed] of this.#clients) this.#send([client], 'fresh', freshData(followed));
  }

  async #read(watched: Watched): Promise<void> {
    const { venue, market, outcome } = watched.token;
    const startedAt = performance.now();
    let late: ReturnType<typeof setTimeout> | undefined;
    try {
      const book = await Promise.race([
        venue.markets.book(market.conditionId, outcome, DEPTH),
        new Promise<never>((_, reject) => {
          late = setTimeout(() => reject(new Error('no book in time')), ANSWER_WITHIN_MS);
        }),
      ]);
      if (this.#options.isVerified()) this.#take(watched, book);
    } catch {
      this.#lose(watched, 'unavailable');
    } finally {
      clearTimeout(late);
      const endedAt = performance.now();
      watched.nextAt = endedAt + Math.min(LONGEST_PAUSE_MS, (endedAt - startedAt) * PAUSE_FACTOR);
      watched.isAsking = false;
    }
  }

  #take(watched: Watched, book: Book | null): void {
    watched.checkedAt = this.#options.clock.now();
    if (book === null) {
      this.#lose(watched, 'ended');
      return;
    }
    const before = watched.book;
    if (before !== null && book.sequence < before.sequence) this.#lose(watched, 'restarted');
    watched.book = book;
    if (before === null || watched.gap !== null) {
      watched.gap = null;
      this.#send(watched.clients, 'book', bookData(watched, book));
      return;
    }
    if (book.sequence !== before.sequence)
      this.#send(watched.clients, 'delta', deltaData(watched, before, book));
  }

  #lose(watched: Watched, reason: GapEventData['reason']): void {
    if (watched.gap === reason) return;
    watched.gap = reason;
    this.#send(watched.clients, 'gap', gapData(watched, reason));
  }

  #send(clients: Iterable<BookClient>, event: string, data: object): void {
    const text = JSON.stringify(data);
    for (const client of [...clients]) {
      client.send(event, text);
      if (client.waitingBytes > MOST_WAITING_BYTES) client.end('slow_consumer');
    }
  }
}

const newlyWatched = (token: Token): Watched => ({
  token,
  clients: new Set(),
  book: null,
  gap: null,
  checkedAt: 0,
  nextAt: 0,
  isAsking: false,
});

const fieldsOf = ({ token, checkedAt }: Watched, book: Book) => ({
  tokenId: token.tokenId,
  sequence: book.sequence,
  changedAt: iso(book.changedAt),
  checkedAt: iso(checkedAt),
  lastTrade: book.lastTrade === undefined ? null : formatPips(book.lastTrade),
});

const bookData = (watched: Watched, book: Book): BookEventData => ({
  ...fieldsOf(watched, book),
  venue: watched.token.venue.id,
  marketConditionId: book.conditionId,
  conditionId: book.conditionId,
  outcome: book.outcome,
  outcomeName: outcomeName(watched.token.market.outcomes, book.outcome),
  bids: levels(book.bids),
  asks: levels(book.asks),
});

const deltaData = (watched: Watched, before: Book, book: Book): DeltaEventData => ({
  ...fieldsOf(watched, book),
  previousSequence: before.sequence,
  bids: changesBetween(before.bids, book.bids),
  asks: changesBetween(before.asks, book.asks),
});

const gapData = ({ token }: Watched, reason: GapEventData['reason']): GapEventData => ({
  tokenId: token.tokenId,
  reason,
  message: GAPS[reason],
});

const freshData = (followed: ReadonlySet<Watched>): FreshEventData => ({
  books: [...followed].flatMap(({ token: { tokenId }, book, gap, checkedAt }) =>
    book === null || gap !== null ? [] : [{ tokenId, sequence: book.sequence, checkedAt: iso(checkedAt) }],
  ),
});

function changesBetween(
  before: readonly Level[],
  after: readonly Level[],
): { price: string; size: string }[] {
  const sizes = new Map(before);
  const changes: { price: string; size: string }[] = [];
  for (const [price, size] of after) {
    if (sizes.get(price) !== size) changes.push({ price: formatPips(price), size: formatMicro(size) });
    sizes.delete(price);
  }
  for (const price of sizes.keys()) changes.push({ price: formatPips(price), size: '0' });
  return changes;
}

// How the venues fare, as this replica sees it, for the streams that are open here.

const VENUES_EVERY_MS = 500;

interface VenueState {
  readonly venue: string;
  readonly ready: boolean;
  readonly status: string;
}

type Listener = (state: VenueState) => void;

export class VenueWatch {
  readonly #needs: HasVenues;
  readonly #listeners = new Set<Listener>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #known = new Map<string, string>();

  constructor(needs: HasVenues) {
    this.#needs = needs;
  }

  /** Calls with the present status of every venue, then with each change. @returns what ends it */
  follow(listener: Listener): () => void {
    if (this.#listeners.size === 0) {
      this.#known = new Map([...this.#needs.venues.values()].map((venue) => [venue.id, venue.status()]));
      this.#timer = setInterval(() => this.#look(), VENUES_EVERY_MS);
    }
    this.#listeners.add(listener);
    for (const [venue, status] of this.#known) listener(stateOf(venue, status));
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) clearInterval(this.#timer);
    };
  }

  #look(): void {
    for (const venue of this.#needs.venues.values()) {
      const now = venue.status();
      if (this.#known.get(venue.id) === now) continue;
      this.#known.set(venue.id, now);
      for (const listener of this.#listeners) listener(stateOf(venue.id, now));
    }
  }
}

const stateOf = (venue: string, status: string): VenueState => ({ venue, ready: status === 'ready', status });
