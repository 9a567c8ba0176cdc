/**
 * The market channel: books, their changes, trades and the ends of markets, for everybody who asks. Wire reference 4.1.
 *
 * Changes are found by looking, at most every `GATHER_MS`, at the sequences of books that have a follower: of the markets that a
 * command's events name, or of all after a step, in which the house requotes without public events. A message is made once and
 * sent to all who follow either token.
 */

import type { Pips } from '@bellwether/contract/decimals';
import type { BookView, ConditionId, EngineEvent, Entry, MarketView, Outcome } from '../../paper-exchange.ts';
import { ENTRIES_PER_TOKEN } from '../limits.ts';
import { type Charge, CLOSE, type SocketHandler, type SocketPeer } from '../web-sockets.ts';
import { type Faults, openLine } from './faults.ts';
import {
  bestBidAskEvent,
  bookEvent,
  changesBetween,
  lastTradeEvent,
  newMarketEvent,
  priceChangeEvent,
  resolvedEvent,
  tickSizeEvents,
  topText,
} from './feed-events.ts';
import {
  Attachment,
  type ClientFrame,
  type FeedExchange,
  type FeedListener,
  type FindExchange,
  handlerOf,
  MOST_SUBSCRIPTIONS,
  mustSubscribe,
} from './feeds.ts';
import { tokenOf, wireBook } from './wire.ts';

const GATHER_MS = 5;
/** Between looks at books that a fault keeps back. */
const STALE_LOOK_MS = 50;
/** A socket that asks for nothing is ended. */
const SUBSCRIBE_WITHIN_MS = 30_000;
const BOOKS_PER_FRAME = 100;

export interface FeedOptions {
  readonly find: FindExchange;
  readonly now: () => number;
  readonly faults?: Faults | undefined;
}

interface Listener extends FeedListener {
  readonly tokens: Set<string>;
  wantsCustom: boolean;
}

/** A market that somebody follows, as it was last shown. */
interface FollowedMarket {
  readonly listeners: Map<Listener, Set<Outcome>>;
  book: BookView;
  tickSize: Pips;
  /** Best prices of both tokens. */
  tops: readonly [string, string];
  shownAt: number;
}

export class MarketFeed {
  readonly #options: FeedOptions;
  readonly #attachment: Attachment;
  readonly #listeners = new Set<Listener>();
  readonly #followed = new Map<ConditionId, FollowedMarket>();
  /** Trades and ends that wait for the next look. */
  #pending: { readonly event: EngineEvent; readonly at: number }[] = [];
  /** Markets whose book may have changed since the last look; `all`: any. */
  #touched: Set<ConditionId> | 'all' = new Set();
  #known = new Set<ConditionId>();
  #listings = -1;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#attachment = new Attachment(options.find, {
      onEntries: (entries) => this.#take(entries),
      onLost: () => this.#endAll(),
    });
  }

  open(peer: SocketPeer, charge: Charge): SocketHandler {
    const listener: Listener = {
      peer,
      line: openLine(peer, this.#options.faults),
      tokens: new Set(),
      mustAsk: mustSubscribe(peer, SUBSCRIBE_WITHIN_MS),
      wantsCustom: false,
      isClosed: false,
      work: Promise.resolve(),
    };
    return handlerOf(listener, {
      obey: (frame) => this.#obey(listener, frame, charge),
      leave: () => this.#leave(listener),
    });
  }

  async #obey(listener: Listener, frame: ClientFrame, charge: Charge): Promise<void> {
    if (frame.kind !== 'market' && frame.kind !== 'change') return;
    if (frame.kind === 'change' && frame.operation === 'unsubscribe') {
      for (const token of frame.tokens) this.#unfollow(listener, token);
      return;
    }
    const added = frame.tokens.filter((token) => !listener.tokens.has(token));
    if (listener.tokens.size + added.length > MOST_SUBSCRIPTIONS)
      return listener.peer.close(CLOSE.policy, `at most ${MOST_SUBSCRIPTIONS} tokens`);
    if (!(await charge(frame.tokens.length / ENTRIES_PER_TOKEN)) || listener.isClosed) return;
    const exchange = this.#attachment.exchange();
    if (exchange === undefined) return listener.peer.close(CLOSE.restart, 'connect again');
    if (this.#listeners.size === 0) this.#lookAtListings(exchange);
    this.#listeners.add(listener);
    clearTimeout(listener.mustAsk);
    if (frame.kind === 'market') listener.wantsCustom = frame.wantsCustom;
    for (const token of added) this.#follow(exchange, listener, token);
    if (frame.kind === 'change' || frame.wantsDump) this.#dump(exchange, listener, frame.tokens);
  }

  #follow(exchange: FeedExchange, listener: Listener, token: string): void {
    const found = exchange.marketByToken(token);
    if (found === undefined || found.market.status !== 'open') return;
    const { market, outcome } = found;
    const followed = this.#followed.get(market.conditionId) ?? this.#begin(exchange, market);
    if (followed === undefined) return;
    listener.tokens.add(token);
    followed.listeners.set(listener, (followed.listeners.get(listener) ?? new Set()).add(outcome));
  }

  #begin(exchange: FeedExchange, market: MarketView): FollowedMarket | undefined {
    const book = exchange.book(market.conditionId, 'YES');
    if (book === undefined) return undefined;
    const tops = [
      topText(wireBook(market, 'YES', book)),
      topText(wireBook(market, 'NO', mirrored(book))),
    ] as const;
    const followed: FollowedMarket = {
      listeners: new Map(),
      ...{ book, tops, tickSize: market.tickSize, shownAt: this.#options.now() },
    };
    this.#followed.set(market.conditionId, followed);
    return followed;
  }

  #unfollow(listener: Listener, token: string): void {
    if (!listener.tokens.delete(token)) return;
    const found = this.#attachment.exchange()?.marketByToken(token);
    const followed = found === undefined ? undefined : this.#followed.get(found.market.conditionId);
    const outcomes = followed?.listeners.get(listener);
    if (found === undefined || followed === undefined || outcomes === undefined) return;
    outcomes.delete(found.outcome);
    if (outcomes.size === 0) this.#drop(listener, found.market.conditionId, followed);
  }

  #drop(listener: Listener, conditionId: ConditionId, followed: FollowedMarket): void {
    followed.listeners.delete(listener);
    if (followed.listeners.size === 0) this.#followed.delete(conditionId);
  }

  #leave(listener: Listener): void {
    this.#listeners.delete(listener);
    for (const [conditionId, followed] of this.#followed) this.#drop(listener, conditionId, followed);
    if (this.#listeners.size > 0) return;
    this.#attachment.detach();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = [];
    this.#touched = new Set();
  }

  /** Clients start again, with a new dump. */
  #endAll(): void {
    for (const { peer } of this.#listeners) peer.close(CLOSE.restart, 'connect again');
    this.#followed.clear();
  }

  #dump(exchange: FeedExchange, { line }: Listener, tokens: readonly string[]): void {
    const books = tokens.flatMap((token) => {
      const found = exchange.marketByToken(token);
      if (found === undefined || found.market.status !== 'open') return [];
      const { market, outcome } = found;
      // As it was last shown: changes that follow begin there.
      const book = this.#followed.get(market.conditionId)?.book;
      return book === undefined
        ? []
        : [bookEvent(market, outcome, outcome === 'YES' ? book : mirrored(book))];
    });
    if (books.length === 0) line.send('[]');
    for (let at = 0; at < books.length; at += BOOKS_PER_FRAME)
      line.send(JSON.stringify(books.slice(at, at + BOOKS_PER_FRAME)));
  }

  #take(entries: readonly Entry[]): void {
    for (const { at, events, command } of entries) {
      if (command.kind === 'step') this.#touched = 'all';
      for (const event of events) {
        if (this.#touched !== 'all' && 'conditionId' in event && event.conditionId !== undefined)
          this.#touched.add(event.conditionId);
        const isShown =
          event.kind === 'market_resolved' || (event.kind === 'fill' && event.liquidity === 'taker');
        if (isShown) this.#pending.push({ event, at });
      }
    }
    this.#timer ??= setTimeout(() => this.#look(), GATHER_MS);
  }

  #look(): void {
    this.#timer = undefined;
    const exchange = this.#attachment.exchange();
    if (exchange === undefined) return;
    const traded = new Set<ConditionId>();
    for (const { event, at } of this.#pending.splice(0)) {
      if (event.kind === 'fill') this.#showTrade(exchange, event, at, traded);
      else if (event.kind === 'market_resolved') this.#showEnd(exchange, event.conditionId, at);
    }
    const touched = this.#touched === 'all' ? [...this.#followed.keys()] : [...this.#touched];
    this.#touched = new Set();
    for (const conditionId of touched) {
      const followed = this.#followed.get(conditionId);
      if (followed !== undefined)
        this.#lookAt(exchange, conditionId, { followed, isTraded: traded.has(conditionId) });
    }
    if (exchange.catalogue.listings !== this.#listings) this.#showListings(exchange);
  }

  #lookAt(
    exchange: FeedExchange,
    conditionId: ConditionId,
    { followed, isTraded }: { readonly followed: FollowedMarket; readonly isTraded: boolean },
  ): void {
    const market = exchange.market(conditionId);
    const sequence = exchange.book(conditionId, 'YES', 0)?.sequence;
    if (market === undefined || sequence === undefined) {
      this.#forget(conditionId, followed);
      return;
    }
    // The change of a trade may have been shown already: reads are ahead of what is durable.
    const isChanged = sequence !== followed.book.sequence || market.tickSize !== followed.tickSize;
    if (isTraded || isChanged) this.#showBook(exchange, market, { followed, isTraded });
  }

  #forget(conditionId: ConditionId, followed: FollowedMarket): void {
    this.#followed.delete(conditionId);
    followed.listeners.clear();
  }

  #showTrade(
    exchange: FeedExchange,
    fill: Extract<EngineEvent, { readonly kind: 'fill' }>,
    at: number,
    traded: Set<ConditionId>,
  ): void {
    const followed = this.#followed.get(fill.conditionId);
    const market = followed === undefined ? undefined : exchange.market(fill.conditionId);
    if (followed === undefined || market === undefined) return;
    traded.add(fill.conditionId);
    const text = JSON.stringify(lastTradeEvent(tokenOf(market, fill.outcome), fill, at));
    for (const [{ line }, outcomes] of followed.listeners) if (outcomes.has(fill.outcome)) line.send(text);
  }

  #showEnd(exchange: FeedExchange, conditionId: ConditionId, at: number): void {
    const market = exchange.market(conditionId);
    if (market === undefined) return;
    this.#tellCustom(JSON.stringify(resolvedEvent(market, at)), (listener) =>
      market.tokenIds.some((token) => listener.tokens.has(token)),
    );
  }

  #showBook(
    exchange: FeedExchange,
    market: MarketView,
    { followed, isTraded }: { readonly followed: FollowedMarket; readonly isTraded: boolean },
  ): void {
    const { faults, now } = this.#options;
    if (faults?.isOn === true && now() - followed.shownAt < faults.plan.staleBooksMs) {
      this.#touched = 'all';
      this.#timer ??= setTimeout(() => this.#look(), STALE_LOOK_MS);
      return;
    }
    const book = exchange.book(market.conditionId, 'YES');
    if (book === undefined) return;
    const before = followed.book;
    const books = [bookEvent(market, 'YES', book), bookEvent(market, 'NO', mirrored(book))] as const;
    const changes = changesBetween(before, book);
    if (market.tickSize !== followed.tickSize)
      for (const event of tickSizeEvents(market, followed.tickSize, now())) this.#tell(followed, event);
    if (isTraded || market.tickSize !== followed.tickSize) this.#showWhole(followed, books);
    if (changes.length > 0) this.#tell(followed, priceChangeEvent(market, changes, books));
    const tops = [topText(books[0]), topText(books[1])] as const;
    for (const [at, outcome] of (['YES', 'NO'] as const).entries())
      if (tops[at] !== followed.tops[at])
        this.#tellCustom(
          JSON.stringify(bestBidAskEvent(books[at]!)),
          (listener) => followed.listeners.get(listener)?.has(outcome) === true,
        );
    Object.assign(followed, { book, tops, tickSize: market.tickSize, shownAt: now() });
  }

  #showWhole({ listeners }: FollowedMarket, books: readonly [object, object]): void {
    const texts = { YES: JSON.stringify(books[0]), NO: JSON.stringify(books[1]) };
    for (const [{ line }, outcomes] of listeners) for (const outcome of outcomes) line.send(texts[outcome]);
  }

  #tell({ listeners }: FollowedMarket, event: object): void {
    const text = JSON.stringify(event);
    for (const { line } of listeners.keys()) line.send(text);
  }

  #tellCustom(text: string, isMeant: (listener: Listener) => boolean): void {
    for (const listener of this.#listeners)
      if (listener.wantsCustom && isMeant(listener)) listener.line.send(text);
  }

  #lookAtListings({ catalogue }: FeedExchange): void {
    this.#listings = catalogue.listings;
    this.#known = new Set(catalogue.conditionIds());
  }

  #showListings(exchange: FeedExchange): void {
    const before = this.#known;
    this.#lookAtListings(exchange);
    for (const conditionId of this.#known) {
      const market = before.has(conditionId) ? undefined : exchange.market(conditionId);
      if (market !== undefined)
        this.#tellCustom(JSON.stringify(newMarketEvent(market, this.#options.now())), () => true);
    }
  }
}

/** The NO book. */
const mirrored = (book: BookView): BookView => ({
  ...book,
  outcome: 'NO',
  bids: book.asks.map(([price, size]) => [10_000 - price, size] as const),
  asks: book.bids.map(([price, size]) => [10_000 - price, size] as const),
});
