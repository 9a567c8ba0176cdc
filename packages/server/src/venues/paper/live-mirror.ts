/**
 * Brings a live venue's books, trades and outcomes to the paper exchange, for the markets that are traded here: those with
 * resting orders, and those that an order was just meant for. Others cost nothing until an order comes.
 *
 * An order meets the live book of this moment, or none: before it reaches the exchange, `ready` resolves with the newest
 * book in the exchange, or throws. While a book is not known, its market takes no orders and what rests keeps its place.
 */
import type { JournalledExchange, MirrorChange, MirroredLevel } from '@bellwether/exchange';
import { type Book, type MarketRecord, UNKNOWN_END } from '../../domain/market.ts';
import { VenueUnavailable, within } from '../../domain/unavailable.ts';
import type { MarketData } from '../venue.ts';
import type { ExchangeCalls } from './paper-venue.ts';

type LiveBook = Pick<Book, 'bids' | 'asks'>;

interface LiveTrade {
  readonly side: 'BUY' | 'SELL';
  /** Price of YES. */
  readonly price: number;
  readonly size: bigint;
}

/** The live venue, as far as paper orders need it. Books are those of YES. */
interface LiveFeed {
  readonly markets: MarketData;
  /** Whether `known` has a book. */
  isKnown(market: MarketRecord): boolean;
  /** The book that is kept up to date; `null` while it is in doubt. */
  known(market: MarketRecord): LiveBook | null;
  /** The book now; `null`: there is none. @throws VenueUnavailable */
  ask(market: MarketRecord): Promise<LiveBook | null>;
  /** Until the returned function is called. `onBook`: it is another one than before, or in doubt. */
  follow(
    market: MarketRecord,
    listener: { readonly onBook: () => void; readonly onTrade: (trade: LiveTrade) => void },
  ): () => void;
}

interface LiveMirror {
  /** @throws VenueUnavailable while the live book of the market is not known */
  ready(conditionId: string): Promise<void>;
  stop(): Promise<void>;
}

interface LiveMirrorOptions {
  readonly exchange: Pick<JournalledExchange, 'status' | 'term' | 'market' | 'mirror' | 'unresolvedMirrors'>;
  readonly feed: LiveFeed;
  readonly log: { warn(context: object, message: string): void };
  readonly times?: Partial<MirrorTimes>;
}

interface MirrorTimes {
  /** Changes of so long are one command. */
  readonly flushMs: number;
  /** A book that was asked for is good for orders for so long. */
  readonly askedMs: number;
  /** An order waits for the live venue no longer. */
  readonly patienceMs: number;
  /** In doubt for so long, a market takes no orders. */
  readonly doubtMs: number;
  /** Without orders and without interest for so long, a market is no longer followed. */
  readonly idleMs: number;
  /** So often, markets are compared with the live ones: terms, outcomes, who still waits. */
  readonly tendMs: number;
}

const TIMES: MirrorTimes = {
  flushMs: 250,
  askedMs: 500,
  patienceMs: 3_000,
  doubtMs: 2_000,
  idleMs: 60_000,
  tendMs: 15_000,
};
/** Levels of each side that a paper order can reach. */
const DEPTH = 50;
const MAX_FOLLOWED = 400;
/** Trades of one market between two commands; more are more than any queue here waits for. */
const MAX_TRADES = 500;
const MARKETS_PER_QUESTION = 100;
const STOP_WITHIN_MS = 1_000;

interface MirroredBook {
  readonly market: MarketRecord;
  readonly stop: () => void;
  trades: LiveTrade[];
  /** The exchange's copy of the live book, by side and price; `null`: nothing certain. */
  sent: Map<string, MirroredLevel> | null;
  isChanged: boolean;
  wantedAt: number;
  askedAt: number;
  doubtSince: number | null;
}

export async function startLiveMirror(options: LiveMirrorOptions): Promise<LiveMirror> {
  const { exchange, feed, log } = options;
  const times = { ...TIMES, ...options.times };
  const followed = new Map<string, MirroredBook>();
  let term = exchange.term;
  let isStopped = false;

  /** Applied to the exchange at once, in the order of the calls. */
  const send = async (changes: readonly MirrorChange[]): Promise<void> => {
    if (changes.length === 0) return;
    try {
      await exchange.mirror(changes);
    } catch (error) {
      // The exchange has now what its journal has: everything is sent again.
      for (const one of followed.values()) one.sent = null;
      throw new VenueUnavailable('The paper exchange did not take what the live venue says.', {
        cause: error,
      });
    }
  };
  const noticeReopening = (): void => {
    if (exchange.term === term) return;
    term = exchange.term;
    for (const one of followed.values()) one.sent = null;
  };

  const follow = async (market: MarketRecord): Promise<MirroredBook> => {
    const { conditionId } = market;
    if (followed.size >= MAX_FOLLOWED)
      throw new VenueUnavailable('Too many live markets are traded on paper at the moment.');
    const one: MirroredBook = {
      market,
      trades: [],
      sent: null,
      isChanged: false,
      wantedAt: performance.now(),
      askedAt: Number.NEGATIVE_INFINITY,
      doubtSince: performance.now(),
      stop: feed.follow(market, {
        onBook: () => {
          one.isChanged = true;
          one.doubtSince = feed.isKnown(market) ? null : (one.doubtSince ?? performance.now());
        },
        onTrade: (trade) => {
          if (one.trades.length < MAX_TRADES) one.trades.push(trade);
        },
      }),
    };
    followed.set(conditionId, one);
    const listed = exchange.market(conditionId);
    await send(listed === undefined ? [{ kind: 'list', market: listedOf(market) }] : termsOf(market, listed));
    return one;
  };

  /** Changes of a market's book that the exchange has to get. */
  const levelsOf = (one: MirroredBook, book: LiveBook): MirrorChange[] => {
    const { conditionId } = one.market;
    const now = new Map(rowsOf(book).map((row) => [`${row[0]} ${row[1]}`, row]));
    const before = one.sent;
    const gone = [...(before ?? [])].flatMap(([key, [side, price]]): MirroredLevel[] =>
      now.has(key) ? [] : [[side, price, 0n]],
    );
    const changed = [...now].flatMap(([key, row]) => (before?.get(key)?.[2] === row[2] ? [] : [row]));
    one.sent = now;
    one.isChanged = false;
    const levels = [...gone, ...changed];
    if (before !== null && levels.length === 0) return [];
    return [{ kind: 'levels', conditionId, levels, isWhole: before === null }];
  };
  /** Trades before the book that they left. */
  const newsOf = (one: MirroredBook, book: LiveBook): MirrorChange[] => {
    const { conditionId } = one.market;
    const trades = one.trades.map((trade): MirrorChange => ({ kind: 'trade', conditionId, ...trade }));
    one.trades = [];
    return [...trades, ...levelsOf(one, book)];
  };
  const pause = (one: MirroredBook): MirrorChange[] => {
    one.sent = null;
    one.trades = [];
    return [{ kind: 'pause', conditionId: one.market.conditionId }];
  };

  const ready = async (conditionId: string): Promise<void> => {
    noticeReopening();
    let one = followed.get(conditionId);
    if (one === undefined) {
      const market = await inTime(feed.markets.find(conditionId), times.patienceMs);
      // The checks of the order say what is wrong with it.
      if (market === null || market.status !== 'open') return;
      one = followed.get(conditionId) ?? (await follow(market));
    }
    one.wantedAt = performance.now();
    const isRecent = one.sent !== null && performance.now() - one.askedAt < times.askedMs;
    // Nothing has changed since the exchange heard of it.
    if (feed.isKnown(one.market) && one.sent !== null && !one.isChanged && one.trades.length === 0) return;
    let book = feed.known(one.market);
    if (book === null) {
      if (isRecent) return;
      book = await inTime(feed.ask(one.market), times.patienceMs);
      one.askedAt = performance.now();
    }
    if (book === null) {
      await send(pause(one));
      throw new VenueUnavailable('The live venue has no book of this market now.');
    }
    await send(newsOf(one, book));
  };

  const flush = async (): Promise<void> => {
    noticeReopening();
    if (exchange.status !== 'open') return;
    const changes: MirrorChange[] = [];
    const doubted: MirroredBook[] = [];
    for (const one of followed.values()) {
      const isKnown = feed.isKnown(one.market);
      const hasNews = one.isChanged || one.trades.length > 0 || one.sent === null;
      const book = isKnown && hasNews ? feed.known(one.market) : null;
      if (book !== null) changes.push(...newsOf(one, book));
      const since = isKnown ? null : one.doubtSince;
      if (since !== null && one.sent !== null && performance.now() - since > times.doubtMs) doubted.push(one);
    }
    await send([...changes, ...doubted.flatMap(pause)]);
  };

  const tend = async (): Promise<void> => {
    if (exchange.status !== 'open') return;
    const waiting = [...exchange.unresolvedMirrors()];
    for (let start = 0; start < waiting.length; start += MARKETS_PER_QUESTION) {
      const ids = waiting.slice(start, start + MARKETS_PER_QUESTION).map(({ conditionId }) => conditionId);
      const found = await feed.markets.findAll(ids);
      await send(found.flatMap((market) => fateOf(market, exchange.market(market.conditionId))));
      const hasOrders = new Set(waiting.filter((one) => one.hasOrders).map(({ conditionId }) => conditionId));
      for (const market of found)
        if (
          market.status === 'open' &&
          hasOrders.has(market.conditionId) &&
          !followed.has(market.conditionId)
        )
          await follow(market);
    }
    await leaveIdle(new Map(waiting.map((one) => [one.conditionId, one.hasOrders])));
  };
  const leaveIdle = async (hasOrders: ReadonlyMap<string, boolean>): Promise<void> => {
    for (const [conditionId, one] of followed) {
      const isWanted = performance.now() - one.wantedAt < times.idleMs || hasOrders.get(conditionId) === true;
      if (isWanted) continue;
      one.stop();
      followed.delete(conditionId);
      if (hasOrders.has(conditionId)) await send(pause(one));
    }
  };

  const every = (ms: number, work: () => Promise<void>, what: string) => {
    let isRunning: Promise<void> | null = null;
    let hasFailed = false;
    const timer = setInterval(() => {
      isRunning ??= work()
        .then(() => {
          hasFailed = false;
        })
        .catch((error: unknown) => {
          // Said once: it is tried again all the time.
          if (!isStopped && !hasFailed) log.warn({ err: error }, `${what} failed`);
          hasFailed = true;
        })
        .finally(() => {
          isRunning = null;
        });
    }, ms);
    return async () => {
      clearInterval(timer);
      await isRunning;
    };
  };

  // Books of before this start are old: nothing trades on them.
  await send([...exchange.unresolvedMirrors()].map(({ conditionId }) => ({ kind: 'pause', conditionId })));
  const stops = [
    every(times.flushMs, flush, 'bringing live books to the paper exchange'),
    every(times.tendMs, tend, 'comparing paper markets with the live ones'),
  ];
  // Orders that wait since before this start wait on.
  const first = tend().catch((error: unknown) =>
    log.warn({ err: error }, 'the live venue does not answer yet'),
  );

  return {
    ready,
    async stop() {
      isStopped = true;
      // A question that hangs ends by its own deadline, and changes nothing any more.
      await within(STOP_WITHIN_MS, Promise.all([first, ...stops.map((stop) => stop())]));
      for (const one of followed.values()) one.stop();
    },
  };
}

/** @throws VenueUnavailable */
async function inTime<T>(answer: Promise<T>, patienceMs: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new VenueUnavailable('The live venue does not answer in time.')),
    patienceMs,
  );
  try {
    return await Promise.race([answer, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const rowsOf = ({ bids, asks }: LiveBook): MirroredLevel[] => [
  ...bids.slice(0, DEPTH).map(([price, size]): MirroredLevel => ['bid', price, size]),
  ...asks.slice(0, DEPTH).map(([price, size]): MirroredLevel => ['ask', price, size]),
];

type LiveTerms = Pick<MarketRecord, 'tickSize' | 'minOrderSize' | 'endDate' | 'outcomes'>;

function termsOf(market: MarketRecord, listed: LiveTerms): MirrorChange[] {
  const { conditionId, tickSize, minOrderSize, outcomes } = market;
  const endDate = market.endDate ?? UNKNOWN_END;
  const isSame =
    listed.tickSize === tickSize &&
    listed.minOrderSize === minOrderSize &&
    listed.endDate === endDate &&
    listed.outcomes.every((name, nth) => name === outcomes[nth]);
  return isSame ? [] : [{ kind: 'terms', conditionId, terms: { tickSize, minOrderSize, endDate, outcomes } }];
}

function fateOf(market: MarketRecord, listed: LiveTerms | undefined): MirrorChange[] {
  const { conditionId, status, payout } = market;
  if (listed === undefined) return [];
  if (status === 'resolved' && payout !== undefined) return [{ kind: 'resolve', conditionId, payout }];
  return status === 'open' ? termsOf(market, listed) : [];
}

const listedOf = (market: MarketRecord): Extract<MirrorChange, { kind: 'list' }>['market'] => ({
  id: market.id,
  conditionId: market.conditionId,
  tokenIds: market.tokenIds,
  slug: market.slug,
  question: market.question,
  outcomes: market.outcomes,
  description: market.description,
  category: market.category,
  eventId: market.eventId,
  eventTitle: market.eventTitle,
  ...(market.version === 'v2' ? { version: market.version } : {}),
  negRisk: market.negRisk,
  feeRate: market.feeRate,
  feeExponent: market.feeExponent,
  createdAt: market.createdAt,
  tickSize: market.tickSize,
  minOrderSize: market.minOrderSize,
  endDate: market.endDate ?? UNKNOWN_END,
});

// The paper venue on live markets: reads are the live venue's, and orders, positions and outcomes the paper exchange's. Of
// a market that is traded here the book is the exchange's: the live one without what paper orders took, and with them.

interface LivePaperOptions {
  readonly exchange: Pick<JournalledExchange, 'market' | 'book'>;
  readonly live: MarketData;
  readonly mirror: Pick<LiveMirror, 'ready'>;
}

/** An order's check asks for the balance last: then the live book is brought, so that the order meets the newest one. */
export const onLiveBooks = (
  calls: ExchangeCalls,
  { mirror }: Pick<LivePaperOptions, 'mirror'>,
): ExchangeCalls => ({
  ...calls,
  async balance(funder, market) {
    if (market !== undefined) await mirror.ready(market.conditionId);
    return calls.balance(funder, market);
  },
});

export function createLivePaperMarkets({ exchange, live, mirror }: LivePaperOptions): MarketData {
  /** A market ends here when the exchange has paid out, not before. */
  const shown = (market: MarketRecord): MarketRecord => {
    const ours = exchange.market(market.conditionId);
    if (ours?.payout !== undefined) return { ...market, status: 'resolved', payout: ours.payout };
    if (ours === undefined || market.status !== 'resolved') return market;
    const { payout: _, ...unpaid } = market;
    return { ...unpaid, status: 'closed' };
  };
  const shownOrNull = (market: MarketRecord | null) => (market === null ? null : shown(market));
  return {
    announcesResolutions: true,
    canBeId: live.canBeId,
    find: async (id) => shownOrNull(await live.find(id)),
    findAll: async (conditionIds) => (await live.findAll(conditionIds)).map(shown),
    async listedAfter(after, limit) {
      const { markets, latest } = await live.listedAfter(after, limit);
      return { markets: markets.map(shown), latest };
    },
    async byToken(tokenId) {
      const found = await live.byToken(tokenId);
      return found === null ? null : { ...found, market: shown(found.market) };
    },
    async search(search) {
      const { markets, total } = await live.search(search);
      return { markets: markets.map(shown), total };
    },
    async book(conditionId, outcome, depth) {
      const ours = exchange.market(conditionId);
      if (ours === undefined) return live.book(conditionId, outcome, depth);
      if (ours.status !== 'open') return null;
      await mirror.ready(conditionId);
      return exchange.book(conditionId, outcome, depth) ?? null;
    },
  };
}
