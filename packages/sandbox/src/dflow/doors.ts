/**
 * Both doors of the venue: DFlow's metadata API over the paper world, which reads and never trades, and its trade API,
 * with quotes and the status of orders.
 */
import {
  charge,
  ENTRIES_PER_TOKEN,
  type Guarded,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '@bellwether/exchange/doors/limits';
import {
  parseBase58,
  parseSolanaAddress,
  type SolanaAddress,
  verifySolanaMessage,
} from '@bellwether/protocol';
import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import { type ListedMarket, seriesTickerOf } from './catalog.ts';
import { PRIORITY_PRICES, quoteOrder, readOrderRequest } from './quotes.ts';
import { DoorError, isResting } from './refusals.ts';
import type { DflowSandbox } from './sandbox.ts';
import {
  MARKET_STATUSES,
  statusOf,
  type WireMarket,
  wireBook,
  wireEvent,
  wireMarket,
  wireOnchainTrade,
  wireOrderStatus,
  wireTrade,
} from './wire.ts';

interface DflowDoorOptions {
  /** `null` while another process leads. */
  readonly sandbox: () => DflowSandbox | null;
  readonly guard: Guarded;
}

type Query = Readonly<Record<string, unknown>>;

const BODY_LIMIT_BYTES = 64 * 1024;

/** @returns the sandbox, for handlers. @throws DoorError 503 */
function prepareDoor(door: FastifyInstance, { sandbox, guard }: DflowDoorOptions): () => DflowSandbox {
  const open = (): DflowSandbox => {
    const found = sandbox();
    if (found === null || found.switches.outage === 'on')
      throw new DoorError(503, 'service_unavailable', 'The venue is not available');
    return found;
  };
  guardDoor(door, guard);
  // Runs after the embedder's own hooks: another process may lead and own the sandbox.
  door.addHook('preHandler', async () => {
    open();
  });
  door.removeAllContentTypeParsers();
  door.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES }, (_request, body, done) =>
    done(null, body),
  );
  door.setErrorHandler((error: FastifyError | DoorError | TooManyRequests | NulInUrl, request, reply) => {
    if (error instanceof DoorError) return reply.code(error.status).send(error.body);
    if (error instanceof TooManyRequests)
      return sayWhen(reply, error).send({ code: 'rate_limited', msg: error.message });
    if (error instanceof NulInUrl)
      return reply.code(400).send({ code: 'invalid_request', msg: error.message });
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.code(status).send({ code: 'invalid_request', msg: 'Invalid request' });
    request.log.error({ err: error }, 'a door of the sandbox venue failed');
    return reply.code(500).send({ code: 'internal_server_error', msg: 'Internal server error' });
  });
  // Without a prefix the embedder's own not-found answer applies.
  if (door.prefix !== '')
    door.setNotFoundHandler((_request, reply) =>
      reply.code(404).send({ code: 'not_found', msg: 'Not found' }),
    );
  return open;
}

const invalid = (msg: string): DoorError => new DoorError(400, 'invalid_request', msg);
const notFound = (msg: string): DoorError => new DoorError(404, 'not_found', msg);

const queryOf = (request: FastifyRequest): Query => request.query as Query;
const parameterOf = (request: FastifyRequest, name: string): string =>
  (request.params as Record<string, string>)[name] ?? '';

function textOf(query: Query, name: string): string | null {
  const value = query[name];
  return typeof value === 'string' && value !== '' ? value : null;
}

/** @throws DoorError for anything but a whole number within the bounds */
function numberOf(
  query: Query,
  name: string,
  bounds: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  const text = textOf(query, name);
  if (text === null) return bounds.fallback;
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= bounds.least && value <= bounds.most))
    throw invalid(`${name} must be a whole number from ${bounds.least} to ${bounds.most}`);
  return value;
}

function flagOf(query: Query, name: string): boolean | null {
  const text = textOf(query, name);
  if (text === null) return null;
  if (text !== 'true' && text !== 'false') throw invalid(`${name} must be true or false`);
  return text === 'true';
}

/** @throws DoorError for a value that is not listed */
function wordOf<Word extends string>(query: Query, name: string, words: readonly Word[]): Word | null {
  const text = textOf(query, name);
  if (text === null) return null;
  const word = words.find((one) => one === text);
  if (word === undefined) throw invalid(`${name} must be one of ${words.join(', ')}`);
  return word;
}

interface Page {
  readonly limit: number;
  /** Rows to skip. */
  readonly offset: number;
}

const MOST_ROWS = 1_000_000;

const pageOf = (query: Query, fallback: number, most: number): Page => ({
  limit: numberOf(query, 'limit', { fallback, least: 1, most }),
  offset: numberOf(query, 'cursor', { fallback: 0, least: 0, most: MOST_ROWS }),
});

/** The page and the cursor of the next one, `null` at the end. */
function cut<T>(all: readonly T[], { limit, offset }: Page): { rows: readonly T[]; cursor: number | null } {
  const rows = all.slice(offset, offset + limit);
  const end = offset + rows.length;
  return { rows, cursor: end < all.length ? end : null };
}

/** @throws DoorError unless the body is a JSON object */
function bodyOf(request: FastifyRequest): Query {
  try {
    const body: unknown = JSON.parse(request.body as string);
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Query;
  } catch {
    // Reported below.
  }
  throw invalid('The body must be a JSON object');
}

/** @throws DoorError unless it is a list of texts without NUL, or absent */
function textsOf(body: Query, name: string): readonly string[] {
  const value = body[name] ?? [];
  if (!Array.isArray(value) || !value.every((one) => typeof one === 'string' && !one.includes('\0')))
    throw invalid(`${name} must be a list of strings`);
  return value;
}

// The metadata API.

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

// The trade API.

const SIGNATURE_BYTES = 64;
const TOKENS_OF_AN_ORDER = 10;

export const dflowTradeDoor: FastifyPluginAsync<DflowDoorOptions> = async (door, options) => {
  const open = prepareDoor(door, options);

  door.get('/order', async (request) => {
    const order = readOrderRequest(queryOf(request));
    // For a wallet, a transaction is built and kept until it can no longer land.
    if (order.user !== null) await charge(options.guard, request, TOKENS_OF_AN_ORDER - 1);
    return quoteOrder(open().quoting, order);
  });

  door.get('/order-status', async (request) => {
    const { orders, catalog, chain } = open();
    const query = queryOf(request);
    const signature = textOf(query, 'signature') ?? '';
    if (parseBase58(signature)?.length !== SIGNATURE_BYTES)
      throw new DoorError(
        400,
        'invalid_signature',
        'signature must be a base58-encoded transaction signature',
      );
    const order = await orders.bySignature(signature);
    if (order !== null) {
      const market = await catalog.byTicker(order.ticker);
      return wireOrderStatus(order, market?.mints[order.outcome] ?? '');
    }
    const lastValid = numberOf(query, 'lastValidBlockHeight', {
      fallback: Number.MAX_SAFE_INTEGER,
      least: 0,
      most: Number.MAX_SAFE_INTEGER,
    });
    if (chain.blocks().slot <= lastValid) throw notFound('Order not found');
    return { status: 'expired', inAmount: '0', outAmount: '0', fills: [], reverts: [] };
  });

  door.get('/health-check', () => ({ status: 'ok' }));
  door.get('/priority-fees', () => ({
    mediumMicroLamports: Number(PRIORITY_PRICES.medium),
    highMicroLamports: Number(PRIORITY_PRICES.high),
    veryHighMicroLamports: Number(PRIORITY_PRICES.veryHigh),
  }));
  door.get('/venues', () => ['Bellwether Sandbox']);

  // Both belong to Proof, which has hosts of its own at the venue.
  door.get('/verify/:address', (request) => {
    const address = walletOf(parameterOf(request, 'address'), 'address');
    const { kyc, verifiedWallets } = open().switches;
    return { verified: kyc === 'off' || verifiedWallets.has(address) };
  });
  // The link that a person opens there. Here there is no person to look at: the wallet's signature is enough. It does not send
  // the caller on to the named address, which could be any.
  door.get('/proof', (request) => {
    const { wallet, redirectUri } = signedLinkOf(queryOf(request));
    const { switches } = open();
    switches.verifiedWallets = new Set([...switches.verifiedWallets, wallet].slice(-MOST_VERIFIED));
    return { verified: true, redirect_uri: redirectUri };
  });
};

/** The latest of them: anyone can make wallets. */
const MOST_VERIFIED = 10_000;

/** @throws DoorError */
function walletOf(text: string | null, name: string): SolanaAddress {
  const wallet = text === null ? null : parseSolanaAddress(text);
  if (wallet === null)
    throw new DoorError(400, 'invalid_address', `${name} must be a base58-encoded public key`);
  return wallet;
}

/** @throws DoorError */
function signedLinkOf(query: Query): { readonly wallet: SolanaAddress; readonly redirectUri: string } {
  const wallet = walletOf(textOf(query, 'wallet'), 'wallet');
  const timestamp = textOf(query, 'timestamp') ?? '';
  if (!/^\d{13}$/.test(timestamp)) throw invalid('timestamp must be milliseconds');
  const redirectUri = textOf(query, 'redirect_uri') ?? '';
  if (!/^(https|chrome-extension):\/\/./.test(redirectUri))
    throw invalid('redirect_uri must be an address with https: or chrome-extension:');
  const signature = parseBase58(textOf(query, 'signature') ?? '');
  const isSigned =
    signature?.length === SIGNATURE_BYTES &&
    verifySolanaMessage(wallet, `Proof KYC verification: ${timestamp}`, signature);
  if (!isSigned)
    throw new DoorError(400, 'invalid_signature', 'signature must be the wallet’s own, in base58');
  return { wallet, redirectUri };
}
