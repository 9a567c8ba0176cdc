/** DFlow's metadata API over the paper world. It reads and never trades. */

import { charge, ENTRIES_PER_TOKEN, type Guarded } from '@bellwether/exchange/doors/limits';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { ListedMarket } from './catalog.ts';
import { seriesTickerOf } from './catalog.ts';
import {
  bodyOf,
  cut,
  type DflowDoorOptions,
  flagOf,
  invalid,
  notFound,
  numberOf,
  pageOf,
  parameterOf,
  prepareDoor,
  type Query,
  queryOf,
  textOf,
  textsOf,
  wordOf,
} from './door.ts';
import type { DflowSandbox } from './sandbox.ts';
import { isResting } from './switches.ts';
import {
  MARKET_STATUSES,
  statusOf,
  type WireMarket,
  wireBook,
  wireEvent,
  wireMarket,
  wireOnchainTrade,
  wireTrade,
} from './wire.ts';

const SORTS = ['volume', 'volume24h', 'liquidity', 'openInterest', 'startDate'] as const;
const DEFAULT_LIMIT = 100;
const MOST_LISTED = 255;
const MOST_BATCHED = 100;
const MOST_SERIES = 25;
const MOST_FILTERED = 200;
const MOST_TRADES = 1_000;
const MOST_ONCHAIN_TRADES = 200;
/** Rows of the tape that one token pays for: a row is short and in memory. */
const TRADES_PER_TOKEN = 100;

/** Per market, in micro-contracts of both outcomes; one request to the chain for all. */
async function openInterestOf(
  { chain }: DflowSandbox,
  markets: readonly ListedMarket[],
): Promise<(market: ListedMarket) => bigint> {
  if (markets.length === 0) return () => 0n;
  const supplies = await chain.tokenSupplies(markets.flatMap(({ mints }) => [mints.YES, mints.NO]));
  const known = new Map(
    markets.map(({ conditionId }, nth) => [
      conditionId,
      (supplies[2 * nth] ?? 0n) + (supplies[2 * nth + 1] ?? 0n),
    ]),
  );
  return ({ conditionId }) => known.get(conditionId) ?? 0n;
}

async function shown(sandbox: DflowSandbox, markets: readonly ListedMarket[]): Promise<WireMarket[]> {
  const openInterest = await openInterestOf(sandbox, markets);
  return markets.map((market) => wireMarket(market, openInterest(market)));
}

/** Filtered by status and initialisation, and sorted, as the query requests. */
async function selected(sandbox: DflowSandbox, query: Query): Promise<ListedMarket[]> {
  const status = wordOf(query, 'status', MARKET_STATUSES);
  const sort = wordOf(query, 'sort', SORTS);
  const isAscending = wordOf(query, 'order', ['asc', 'desc']) === 'asc';
  if (flagOf(query, 'isInitialized') === false) return [];
  const markets = [...sandbox.catalog.all()].filter(
    (market) => status === null || statusOf(market) === status,
  );
  if (sort === null) return markets;
  const openInterest = await openInterestOf(sandbox, sort === 'openInterest' ? markets : []);
  const keyOf = (market: ListedMarket): bigint =>
    sort === 'startDate'
      ? BigInt(market.createdAt)
      : sort === 'openInterest'
        ? openInterest(market)
        : (market.view?.[sort] ?? 0n);
  const keyed = markets.map((market) => ({ market, key: keyOf(market) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0) * (isAscending ? 1 : -1));
  return keyed.map(({ market }) => market);
}

function eventsOf(markets: readonly ListedMarket[]): ListedMarket[][] {
  const events = new Map<string, ListedMarket[]>();
  for (const market of markets) {
    const members = events.get(market.eventTicker);
    if (members === undefined) events.set(market.eventTicker, [market]);
    else members.push(market);
  }
  return [...events.values()];
}

async function shownEvents(sandbox: DflowSandbox, events: readonly ListedMarket[][], isNested: boolean) {
  const openInterest = await openInterestOf(sandbox, events.flat());
  return events.map((members) =>
    wireEvent(
      members,
      members.reduce((sum, market) => sum + openInterest(market), 0n),
      isNested ? members.map((market) => wireMarket(market, openInterest(market))) : null,
    ),
  );
}

async function listEvents(
  sandbox: DflowSandbox,
  { request, guard }: { readonly request: FastifyRequest; readonly guard: Guarded },
  markets: readonly ListedMarket[],
) {
  const query = queryOf(request);
  const page = pageOf(query, DEFAULT_LIMIT, MOST_LISTED);
  await charge(guard, request, page.limit / ENTRIES_PER_TOKEN);
  const nested = flagOf(query, 'withNestedMarkets') === true;
  const { rows, cursor } = cut(eventsOf(markets), page);
  return {
    events: await shownEvents(sandbox, rows, nested),
    cursor,
  };
}

/** Every word must be in ticker, title or question. */
function matches({ ticker, eventTitle, question }: ListedMarket, words: readonly string[]): boolean {
  const text = `${ticker}\n${eventTitle}\n${question}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

export const dflowMetadataDoor: FastifyPluginAsync<DflowDoorOptions> = async (door, options) => {
  const open = prepareDoor(door, options);
  marketRoutes(door, open, options.guard);
  eventRoutes(door, open, options.guard);
  tradeRoutes(door, open, options.guard);
  mintRoutes(door, open, options.guard);
  // Kalshi's own schedule: DFlow's clients read it when no route is found.
  door.get('/trade-api/v2/exchange/status', () => {
    const isTrading = !isResting(open().switches, open().now());
    return { exchange_active: true, trading_active: isTrading, exchange_estimated_resume_time: null };
  });
};

type Door = Parameters<FastifyPluginAsync>[0];
type Open = () => DflowSandbox;

function marketRoutes(door: Door, open: Open, guard: Guarded): void {
  const found = (market: ListedMarket | null | undefined): ListedMarket => {
    if (market === null || market === undefined) throw notFound('Market not found');
    return market;
  };

  door.get('/api/v1/markets', async (request) => {
    const sandbox = open();
    const query = queryOf(request);
    const page = pageOf(query, DEFAULT_LIMIT, MOST_LISTED);
    await charge(guard, request, page.limit / ENTRIES_PER_TOKEN);
    const { rows, cursor } = cut(await selected(sandbox, query), page);
    return { markets: await shown(sandbox, rows), cursor };
  });

  const one = async (market: ListedMarket | null | undefined): Promise<WireMarket | undefined> =>
    (await shown(open(), [found(market)]))[0];

  door.get('/api/v1/market/:ticker', async (request) =>
    one(await open().catalog.byTicker(parameterOf(request, 'ticker'))),
  );

  door.get('/api/v1/market/by-mint/:mint', async (request) =>
    one((await open().catalog.byMint(parameterOf(request, 'mint')))?.market),
  );

  door.post('/api/v1/markets/batch', async (request) => {
    const sandbox = open();
    const body = bodyOf(request);
    const tickers = textsOf(body, 'tickers');
    const mints = textsOf(body, 'mints');
    if (tickers.length + mints.length > MOST_BATCHED)
      throw invalid(`At most ${MOST_BATCHED} tickers and mints`);
    await charge(guard, request, (tickers.length + mints.length) / ENTRIES_PER_TOKEN);
    const [byTicker, byMint] = await Promise.all([
      sandbox.catalog.byTickers(tickers),
      sandbox.catalog.byMints(mints),
    ]);
    const asked = [
      ...tickers.map((ticker) => byTicker.get(ticker)),
      ...mints.map((mint) => byMint.get(mint)?.market),
    ];
    const unique = new Map(
      asked.filter((market) => market !== undefined).map((market) => [market.ticker, market]),
    );
    return { markets: await shown(sandbox, [...unique.values()]), cursor: null };
  });

  const book = (market: ListedMarket) => {
    const yes = open().quoting.exchange.book(market.conditionId, 'YES');
    const no = open().quoting.exchange.book(market.conditionId, 'NO');
    if (market.status !== 'open' || yes === undefined || no === undefined)
      throw notFound('No active orderbook for this market');
    return wireBook(yes, no);
  };
  door.get('/api/v1/orderbook/:ticker', async (request) =>
    book(found(await open().catalog.byTicker(parameterOf(request, 'ticker')))),
  );
  door.get('/api/v1/orderbook/by-mint/:mint', async (request) =>
    book(found((await open().catalog.byMint(parameterOf(request, 'mint')))?.market)),
  );
}

function eventRoutes(door: Door, open: Open, guard: Guarded): void {
  door.get('/api/v1/events', async (request) => {
    const query = queryOf(request);
    const series = textOf(query, 'seriesTickers')?.split(',') ?? null;
    if (series !== null && series.length > MOST_SERIES) throw invalid(`At most ${MOST_SERIES} series`);
    const markets = (await selected(open(), query)).filter(
      ({ seriesTicker }) => series === null || series.includes(seriesTicker),
    );
    return listEvents(open(), { request, guard }, markets);
  });

  door.get('/api/v1/event/:ticker', async (request) => {
    const sandbox = open();
    const ticker = parameterOf(request, 'ticker');
    const members = [...sandbox.catalog.all()].filter(({ eventTicker }) => eventTicker === ticker);
    if (members.length === 0) throw notFound('Event not found');
    const nested = flagOf(queryOf(request), 'withNestedMarkets') === true;
    return (await shownEvents(sandbox, [members], nested))[0];
  });

  door.get('/api/v1/search', async (request) => {
    const query = queryOf(request);
    const text = textOf(query, 'q') ?? textOf(query, 'query');
    if (text === null) throw invalid('q is required');
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const markets = (await selected(open(), query)).filter((market) => matches(market, words));
    return listEvents(open(), { request, guard }, markets);
  });

  const categories = () => [...new Set([...open().catalog.all()].map(({ category }) => category))].sort();
  const wireSeries = (category: string) => ({
    ticker: seriesTickerOf(category),
    title: category,
    category,
    tags: [],
    frequency: 'custom',
    settlementSources: [],
  });
  door.get('/api/v1/series', (request) => {
    const category = textOf(queryOf(request), 'category');
    return {
      series: categories()
        .filter((one) => category === null || one === category)
        .map(wireSeries),
    };
  });
  door.get('/api/v1/series/:ticker', (request) => {
    const ticker = parameterOf(request, 'ticker');
    const category = categories().find((one) => seriesTickerOf(one) === ticker);
    if (category === undefined) throw notFound('Series not found');
    return wireSeries(category);
  });
  door.get('/api/v1/tags_by_categories', () => ({
    tagsByCategories: Object.fromEntries(categories().map((category) => [category, []])),
  }));
}

function tradeRoutes(door: Door, open: Open, guard: Guarded): void {
  const tape = async (request: FastifyRequest, mint: string | null) => {
    const { catalog, tape } = open();
    const query = queryOf(request);
    const limit = numberOf(query, 'limit', { fallback: DEFAULT_LIMIT, least: 1, most: MOST_TRADES });
    await charge(guard, request, limit / TRADES_PER_TOKEN);
    const before = numberOf(query, 'cursor', { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER });
    const least = numberOf(query, 'minTs', { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER });
    const most = numberOf(query, 'maxTs', { fallback: 0, least: 0, most: Number.MAX_SAFE_INTEGER });
    const ticker = textOf(query, 'ticker');
    const wanted =
      mint !== null
        ? (await catalog.byMint(mint))?.market
        : ticker !== null
          ? await catalog.byTicker(ticker)
          : undefined;
    if (wanted === null || (mint !== null && wanted === undefined)) throw notFound('Market not found');
    const trades = [];
    for (const trade of tape.newest()) {
      if (trades.length === limit) break;
      if (wanted !== undefined && trade.conditionId !== wanted.conditionId) continue;
      if (before > 0 && trade.id >= before) continue;
      const at = Math.floor(trade.at / 1000);
      if (at < least || (most > 0 && at > most)) continue;
      const market = catalog.get(trade.conditionId);
      if (market !== null) trades.push(wireTrade(trade, market.ticker));
    }
    return { trades, cursor: trades.length === limit ? trades.at(-1)!.tradeId : null };
  };
  door.get('/api/v1/trades', (request) => tape(request, null));
  door.get('/api/v1/trades/by-mint/:mint', (request) => tape(request, parameterOf(request, 'mint')));

  const onchain = async (
    request: FastifyRequest,
    of: { readonly ticker: string | null; readonly eventTicker: string | null },
  ) => {
    const { orders, catalog } = open();
    const query = queryOf(request);
    const page = pageOf(query, DEFAULT_LIMIT, MOST_ONCHAIN_TRADES);
    await charge(guard, request, page.limit / ENTRIES_PER_TOKEN);
    const ascending = wordOf(query, 'sortOrder', ['asc', 'desc']) === 'asc';
    wordOf(query, 'sortBy', ['createdAt']);
    const fills = await orders.fills({ wallet: textOf(query, 'wallet'), ...of, ...page, ascending });
    const markets = await catalog.byTickers([...new Set(fills.map(({ ticker }) => ticker))]);
    const trades = fills.map((order) =>
      wireOnchainTrade(order, markets.get(order.ticker)?.mints[order.outcome] ?? ''),
    );
    return { trades, cursor: trades.length === page.limit ? page.offset + trades.length : null };
  };
  const none = { ticker: null, eventTicker: null };
  door.get('/api/v1/onchain-trades', (request) => onchain(request, none));
  door.get('/api/v1/onchain-trades/by-market/:ticker', (request) =>
    onchain(request, { ...none, ticker: parameterOf(request, 'ticker') }),
  );
  door.get('/api/v1/onchain-trades/by-event/:ticker', (request) =>
    onchain(request, { ...none, eventTicker: parameterOf(request, 'ticker') }),
  );
}

function mintRoutes(door: Door, open: Open, guard: Guarded): void {
  door.get('/api/v1/outcome_mints', (request) => {
    const least = numberOf(queryOf(request), 'minCloseTs', {
      fallback: 0,
      least: 0,
      most: Number.MAX_SAFE_INTEGER,
    });
    const mints = [...open().catalog.all()]
      .filter(({ endDate }) => Math.floor(endDate / 1000) >= least)
      .flatMap((market) => [market.mints.YES, market.mints.NO]);
    return { mints };
  });

  door.post('/api/v1/filter_outcome_mints', async (request) => {
    const addresses = textsOf(bodyOf(request), 'addresses');
    if (addresses.length > MOST_FILTERED) throw invalid(`At most ${MOST_FILTERED} addresses`);
    await charge(guard, request, addresses.length / ENTRIES_PER_TOKEN);
    const found = await open().catalog.byMints(addresses);
    return { outcomeMints: addresses.filter((address) => (found.get(address)?.outcome ?? null) !== null) };
  });
}
