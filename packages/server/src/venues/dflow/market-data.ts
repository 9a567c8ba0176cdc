/**
 * The port `MarketData` over DFlow's metadata: condition ids are tickers, token ids are mints.
 * These reads are for information; the check of an order fetches its market separately.
 */
import { parseSolanaAddress } from '@bellwether/protocol';
import { isEverything, selectMarkets } from '../../domain/market-search.ts';
import { VenueUnavailable } from '../../domain/unavailable.ts';
import type { TickerMarket } from '../quotes.ts';
import type { MarketData } from '../venue.ts';
import {
  canBeTicker,
  type DflowClient,
  MAX_IDS_PER_BATCH,
  MAX_MARKETS_PER_PAGE,
  READ,
  type WireEvent,
  type WireMarket,
} from './client.ts';
import { toBook } from './translate.ts';

const MARKET_LIFE_MS = 2_000;
const LISTING_LIFE_MS = 10_000;
const MAX_SEARCHES_CACHED = 200;
const EVENTS_PER_PAGE = 100;
/** Maximum pages of events per search; more words give a narrower search. */
const PAGES_PER_SEARCH = 5;
/** Not a hexadecimal or decimal number: those are ids of other venues. */
const TICKER_OR_MINT = /^(?!0x|\d+$)[A-Za-z0-9._-]{1,120}$/;

/** A ticker of a market or an event, or a mint: no word of a question has such a form. */
const ID = /^([A-Z0-9._]+(-[A-Z0-9._]+)+|[1-9A-HJ-NP-Za-km-z]{32,44})$/;

/** The venue lists tens of thousands: reads the most traded, and the newest of the rest. Pages of 255. */
const LISTED = [
  { status: 'active', sort: 'volume24h', pages: 8 },
  { status: 'closed', sort: 'volume24h', pages: 1 },
  { status: 'determined', sort: 'volume24h', pages: 1 },
  { status: 'finalized', sort: 'volume24h', pages: 2 },
] as const;

interface MarketSource {
  readonly data: MarketData;
  /** Cached for a moment. @throws VenueUnavailable */
  byId(id: string): Promise<TickerMarket | null>;
  /** Not cached. @throws VenueUnavailable */
  fresh(ticker: string): Promise<TickerMarket | null>;
}

interface MarketSourceOptions {
  readonly client: DflowClient;
  readonly clock: { now(): number };
  /** `null`: not on our rail. */
  readonly translate: (wire: WireMarket) => TickerMarket | null | 'unreadable';
}

export function createMarketSource({ client, clock, translate }: MarketSourceOptions): MarketSource {
  const translated = (wires: readonly WireMarket[]): TickerMarket[] =>
    wires.map(translate).filter((market) => market !== null && market !== 'unreadable');
  const byId = createMarketLoader({
    canBeId: canBeTicker,
    load: async (ids) => translated(await client.marketsBatch(ids)),
    maxIds: MAX_IDS_PER_BATCH,
    lifeMs: MARKET_LIFE_MS,
    clock,
  });
  // Read by many between two calls of the venue, so it is put in order once.
  const listing = remembered(clock, 1, async () => {
    const all = await listAll(client, translated);
    return { all, ...newestOf(all) };
  });
  const searched = remembered(clock, MAX_SEARCHES_CACHED, async (words) =>
    searchFor(client, words, translated),
  );

  return {
    byId,

    async fresh(ticker) {
      const wire = await client.market(ticker);
      const market = wire === null ? null : translate(wire);
      if (market === 'unreadable')
        throw new VenueUnavailable('what DFlow says of the tokens of this market cannot be read');
      return market;
    },

    data: {
      announcesResolutions: false,
      canBeId: (text) => TICKER_OR_MINT.test(text),

      find: byId,

      async findAll(tickers) {
        const found = await Promise.all(tickers.map(byId));
        return found.filter((market) => market !== null);
      },

      async listedAfter(after, limit) {
        const { openNewestFirst, latest } = await listing('');
        const older = openNewestFirst.findIndex(({ createdAt }) => createdAt <= after);
        const count = older === -1 ? limit : Math.min(limit, older);
        return { markets: openNewestFirst.slice(0, count), latest };
      },

      async byToken(mint) {
        if (parseSolanaAddress(mint) === null) return null;
        const market = await byId(mint);
        if (market === null || !market.tokenIds.includes(mint)) return null;
        return { market, outcome: market.tokenIds[0] === mint ? 'YES' : 'NO' };
      },

      async search(search) {
        const asked = search.words.trim();
        const isAll = isEverything(asked) || asked === '';
        if (!isAll && ID.test(asked)) {
          const market = await byId(asked);
          const named =
            market === null ? (await listing('')).all.filter(({ eventId }) => eventId === asked) : [market];
          if (named.length > 0) return selectMarkets(named, search);
        }
        return selectMarkets(isAll ? (await listing('')).all : await searched(asked), search);
      },

      async book(ticker, outcome, depth) {
        const wire = await client.orderbook(ticker);
        return wire === null ? null : toBook(ticker, outcome, wire, { depth, now: clock.now() });
      },
    },
  };
}

interface Newest {
  readonly openNewestFirst: readonly TickerMarket[];
  /** Latest time of all, also of those that have ended. */
  readonly latest: number;
}

function newestOf(listed: readonly TickerMarket[]): Newest {
  const open = listed.filter(({ status }) => status === 'open');
  return {
    openNewestFirst: open.sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? -1 : 1)),
    latest: listed.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0),
  };
}

type Translated = (wires: readonly WireMarket[]) => TickerMarket[];

async function listAll(client: DflowClient, translated: Translated): Promise<readonly TickerMarket[]> {
  const parts = await Promise.all(
    LISTED.map(async ({ status, sort, pages }) => {
      const found: WireMarket[] = [];
      for (let page = 0; page < pages; page++) {
        const { markets, rows } = await client.markets({
          limit: MAX_MARKETS_PER_PAGE,
          cursor: page * MAX_MARKETS_PER_PAGE,
          status,
          sort,
          isInitialized: true,
        });
        found.push(...markets);
        if (rows < MAX_MARKETS_PER_PAGE) break;
      }
      return found;
    }),
  );
  return once(translated(parts.flat()));
}

/** Offsets shift while pages are read, so a market may come twice. */
const once = (markets: readonly TickerMarket[]): readonly TickerMarket[] => [
  ...new Map(markets.map((market) => [market.id, market])).values(),
];

/** The venue matches events; those of their markets that contain every word come first. */
async function searchFor(
  client: DflowClient,
  words: string,
  translated: Translated,
): Promise<readonly TickerMarket[]> {
  const events: WireEvent[] = [];
  for (let nth = 0; nth < PAGES_PER_SEARCH; nth += 1) {
    const page = { limit: EVENTS_PER_PAGE, cursor: nth * EVENTS_PER_PAGE };
    const { events: found, rows } = await client.search(words, page);
    events.push(...found);
    if (rows < EVENTS_PER_PAGE) break;
  }
  const wires = events.flatMap(({ markets }) => markets ?? []).map(READ.market);
  const found = once(translated(wires.filter((wire) => wire !== null)));
  const wanted = words.toLowerCase().split(/\s+/);
  const hasAll = ({ id, question }: TickerMarket): boolean => {
    const text = `${id} ${question}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
  return [...found.filter(hasAll), ...found.filter((market) => !hasAll(market))];
}

/** Caches answers by key for {@link LISTING_LIFE_MS}; concurrent callers share one request. */
function remembered<T>(
  clock: { now(): number },
  most: number,
  ask: (key: string) => Promise<T>,
): (key: string) => Promise<T> {
  const kept = new Map<string, { readonly at: number; readonly answer: Promise<T> }>();
  return (key) => {
    const now = clock.now();
    for (const [old, { at }] of kept) if (now - at >= LISTING_LIFE_MS) kept.delete(old);
    const known = kept.get(key);
    if (known !== undefined) return known.answer;
    if (kept.size >= most) kept.delete(kept.keys().next().value!);
    const answer = ask(key);
    kept.set(key, { at: now, answer });
    answer.catch(() => {
      if (kept.get(key)?.answer === answer) kept.delete(key);
    });
    return answer;
  };
}

// Loads markets by ticker or mint in batches: all ids requested in the same event loop turn share one request, and answers
// are cached for a moment. Failures are not cached.

const MAX_CACHED = 5_000;

interface LoaderOptions {
  /** Whether a text can be an id; other texts are not looked up. */
  readonly canBeId: (id: string) => boolean;
  /** Up to `maxIds` ids, with tickers and mints separated. */
  readonly load: (ids: {
    readonly tickers: readonly string[];
    readonly mints: readonly string[];
  }) => Promise<readonly TickerMarket[]>;
  readonly maxIds: number;
  readonly lifeMs: number;
  readonly clock: { now(): number };
}

interface WaitingTicker {
  readonly resolve: (market: TickerMarket | null) => void;
  readonly reject: (error: unknown) => void;
}

interface Cached {
  readonly at: number;
  readonly market: Promise<TickerMarket | null>;
}

/** A ticker has characters that base58 lacks, or not the length of an address. */
const isMint = (id: string): boolean => parseSolanaAddress(id) !== null;

function createMarketLoader(options: LoaderOptions): (id: string) => Promise<TickerMarket | null> {
  const { canBeId, load, maxIds, lifeMs, clock } = options;
  const cache = new Map<string, Cached>();
  let waiting = new Map<string, WaitingTicker>();

  const fetchBatch = async (batch: ReadonlyMap<string, WaitingTicker>): Promise<void> => {
    const ids = [...batch.keys()];
    try {
      const markets = await load({
        tickers: ids.filter((id) => !isMint(id)),
        mints: ids.filter(isMint),
      });
      const found = new Map(
        markets.flatMap((market) => [market.id, ...market.tokenIds].map((id) => [id, market] as const)),
      );
      for (const [id, { resolve }] of batch) resolve(found.get(id) ?? null);
    } catch (error) {
      for (const id of ids) cache.delete(id);
      for (const { reject } of batch.values()) reject(error);
    }
  };

  const flush = (): void => {
    const entries = [...waiting];
    waiting = new Map();
    for (let start = 0; start < entries.length; start += maxIds)
      void fetchBatch(new Map(entries.slice(start, start + maxIds)));
  };

  const sweep = (now: number): void => {
    for (const [id, { at }] of cache) if (now - at >= lifeMs) cache.delete(id);
  };

  return (id) => {
    if (!canBeId(id)) return Promise.resolve(null);
    const now = clock.now();
    const cached = cache.get(id);
    if (cached !== undefined && now - cached.at < lifeMs) return cached.market;
    if (cache.size >= MAX_CACHED) sweep(now);
    const { promise, resolve, reject } = Promise.withResolvers<TickerMarket | null>();
    if (waiting.size === 0) setImmediate(flush);
    waiting.set(id, { resolve, reject });
    cache.set(id, { at: now, market: promise });
    return promise;
  };
}
