/**
 * The venue's public market data: books, records, pages of them, prices, their history, and the tape. Wire reference
 * 2.9.
 */

import { formatMicro, PIPS, pipsToNumber } from '@bellwether/contract/decimals';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { BookView, MarketView, Outcome } from '../../paper-exchange.ts';
import type { TradeRecord } from '../../trade-history.ts';
import { charge, ENTRIES_PER_TOKEN } from '../limits.ts';
import { bodyText } from './authentication.ts';
import { StaleBooks } from './faults.ts';
import {
  commanded,
  type DoorExchange,
  invalidPayload,
  jsonOf,
  noOrderbook,
  offsetOf,
  openHere,
  type PolymarketDoorOptions,
  pageOf,
  parameter,
  TOKEN_ID,
  tooLarge,
  WireError,
} from './requests.ts';
import {
  wireAddress,
  wireBook,
  wireCompactMarket,
  wireFeeRate,
  wireLastTrade,
  wireMarket,
  wireMarketOfToken,
  wireMidpoint,
  wireNegRisk,
  wirePrice,
  wireSimplifiedMarket,
  wireSpread,
  wireTickSize,
  wireTrade,
} from './wire.ts';

const MAX_BOOKS = 500;
/** Most books of one answer; a request for more gets the venue's own refusal. */
const MAX_ANSWER_BYTES = 2 * 1024 * 1024;

interface ListedPage {
  readonly market: MarketView;
  readonly outcome: Outcome;
}

export function marketRoutes(
  door: FastifyInstance,
  options: Pick<PolymarketDoorOptions, 'exchange' | 'guard' | 'faults'>,
): void {
  const { guard } = options;
  const stale = new StaleBooks(options.faults);
  const tokenParameter = (request: FastifyRequest): string => {
    const { tokenId = parameter(request, 'token_id') } = request.params as { readonly tokenId?: string };
    if (!TOKEN_ID.test(tokenId)) throw new WireError(400, 'Invalid token id');
    return tokenId;
  };

  const listed = (request: FastifyRequest, unknown = 'market not found'): ListedPage => {
    const found = openHere(options).marketByToken(tokenParameter(request));
    if (found === undefined) throw new WireError(404, unknown);
    return found;
  };

  /** A closed market has no book on the wire. */
  const bookOf = (tokenId: string): (ListedPage & { readonly book: BookView }) | undefined => {
    const exchange = openHere(options);
    const found = exchange.marketByToken(tokenId);
    if (found === undefined || found.market.status !== 'open') return undefined;
    const { market, outcome } = found;
    const book = exchange.book(market.conditionId, outcome);
    return book === undefined
      ? undefined
      : { market, outcome, book: stale.show(market.conditionId, outcome, book) };
  };

  const requireBook = (request: FastifyRequest): ListedPage & { readonly book: BookView } => {
    const found = bookOf(tokenParameter(request));
    if (found === undefined) throw noOrderbook();
    return found;
  };

  /** One-sided books have no midpoint, spread or price; the venue does not document its answer for them. */
  const orNoOrderbook = <T>(answer: T | null): T => {
    if (answer === null) throw noOrderbook();
    return answer;
  };

  // Some clients name the token in the path.
  for (const token of ['', '/:tokenId']) {
    door.get(`/tick-size${token}`, (request, reply) => reply.send(wireTickSize(listed(request).market)));
    door.get(`/neg-risk${token}`, (request, reply) => reply.send(wireNegRisk(listed(request).market)));
    door.get(`/fee-rate${token}`, (request, reply) =>
      reply.send(wireFeeRate(listed(request, 'fee rate not found for market').market)),
    );
  }

  door.get('/book', (request, reply) => {
    const { market, outcome, book } = requireBook(request);
    return reply.send(wireBook(market, outcome, book));
  });

  door.post('/books', async (request, reply) => {
    const tokens = requestedTokens(bodyText(request));
    await charge(guard, request, tokens.length / ENTRIES_PER_TOKEN);
    const books: string[] = [];
    let bytes = 0;
    // Each book is returned once.
    for (const tokenId of new Set(tokens)) {
      const found = bookOf(tokenId);
      // Unknown tokens are dropped silently, as at the venue.
      if (found === undefined) continue;
      const text = JSON.stringify(wireBook(found.market, found.outcome, found.book));
      bytes += text.length;
      if (bytes > MAX_ANSWER_BYTES) throw tooLarge();
      books.push(text);
    }
    return reply.type('application/json').send(`[${books.join(',')}]`);
  });

  door.get('/midpoint', (request, reply) =>
    reply.send(orNoOrderbook(wireMidpoint(requireBook(request).book))),
  );
  door.get('/spread', (request, reply) => reply.send(orNoOrderbook(wireSpread(requireBook(request).book))));
  door.get('/last-trade-price', (request, reply) => reply.send(wireLastTrade(requireBook(request).book)));

  door.get('/price', (request, reply) => {
    const side = parameter(request, 'side').toUpperCase();
    if (side !== 'BUY' && side !== 'SELL') throw new WireError(400, 'Invalid side');
    return reply.send(orNoOrderbook(wirePrice(requireBook(request).book, side)));
  });

  const marketOf = (conditionId: string): MarketView => {
    const market = openHere(options).market(conditionId.toLowerCase());
    if (market === undefined) throw new WireError(404, 'market not found');
    return market;
  };
  type OfMarket = { Params: { conditionId: string } };
  door.get<OfMarket>('/markets/:conditionId', (request, reply) =>
    reply.send(wireMarket(marketOf(request.params.conditionId))),
  );
  door.get<OfMarket>('/clob-markets/:conditionId', (request, reply) =>
    reply.send(wireCompactMarket(marketOf(request.params.conditionId))),
  );
  door.get<{ Params: { tokenId: string } }>('/markets-by-token/:tokenId', (request, reply) => {
    const { tokenId } = request.params;
    if (!TOKEN_ID.test(tokenId)) throw new WireError(400, 'Invalid token id');
    const found = openHere(options).marketByToken(tokenId);
    if (found === undefined) throw new WireError(404, 'market not found');
    return reply.send(wireMarketOfToken(found.market));
  });
}

function requestedTokens(body: string): readonly string[] {
  const payload = jsonOf(body);
  if (!Array.isArray(payload)) throw invalidPayload();
  if (payload.length > MAX_BOOKS) throw tooLarge();
  return payload.map((entry: unknown) => {
    const tokenId = (entry as { token_id?: unknown } | null)?.token_id;
    if (typeof tokenId !== 'string' || !TOKEN_ID.test(tokenId)) throw invalidPayload();
    return tokenId;
  });
}

// The public lists of markets, in pages. Wire reference 2.9.

/** The venue's page. */
const PAGE_MARKETS = 1_000;
/** Characters of the entries of one page: the page ends before it would be exceeded. */
const MAX_PAGE_BYTES = 2 * 1024 * 1024;
/** A page is made from texts that are kept while the markets do not change, so its entries cost less than others. */
const PAGE_ENTRIES_PER_TOKEN = 10 * ENTRIES_PER_TOKEN;

type ToRecord = (market: MarketView) => object;

/** A market's text, as long as its view is the same: another view is another object. */
const keptTexts = (toRecord: ToRecord): ((market: MarketView) => string) => {
  const texts = new WeakMap<MarketView, string>();
  return (market) => {
    const known = texts.get(market);
    if (known !== undefined) return known;
    const text = JSON.stringify(toRecord(market));
    texts.set(market, text);
    return text;
  };
};

const ALL = (): boolean => true;
/** The venue samples the markets that pay rewards; here nothing does, and every market that takes orders is a sample. */
const takesOrders = (market: MarketView): boolean => market.status === 'open';

export function marketPageRoutes(
  door: FastifyInstance,
  options: Pick<PolymarketDoorOptions, 'exchange' | 'guard'>,
): void {
  const full = keptTexts(wireMarket);
  const simplified = keptTexts(wireSimplifiedMarket);

  const page =
    (textOf: (market: MarketView) => string, isListed: (market: MarketView) => boolean) =>
    async (request: FastifyRequest, reply: FastifyReply) => {
      const offset = offsetOf(parameter(request, 'next_cursor'));
      const exchange = openHere(options);
      const listed = [...exchange.markets()].filter(isListed);
      const texts = firstTexts(listed.slice(offset, offset + PAGE_MARKETS).map(textOf));
      await charge(options.guard, request, texts.length / PAGE_ENTRIES_PER_TOKEN);
      const { data: _, ...rest } = pageOf(texts, { offset, total: listed.length, limit: PAGE_MARKETS });
      const head = JSON.stringify(rest).slice(0, -1);
      return reply.type('application/json').send(`${head},"data":[${texts.join(',')}]}`);
    };

  door.get('/markets', page(full, ALL));
  door.get('/simplified-markets', page(simplified, ALL));
  door.get('/sampling-markets', page(full, takesOrders));
  door.get('/sampling-simplified-markets', page(simplified, takesOrders));
}

/** As many as an answer may have. */
function firstTexts(texts: readonly string[]): readonly string[] {
  let bytes = 0;
  const end = texts.findIndex((text) => {
    bytes += text.length;
    return bytes > MAX_PAGE_BYTES;
  });
  return end < 0 ? texts : texts.slice(0, Math.max(1, end));
}

// Prices of many tokens at once. Wire reference 2.9.

const MAX_TOKENS = 500;
const MAX_GET_BODY_BYTES = 64 * 1024;

type Side = 'BUY' | 'SELL';
interface PriceQuestion {
  readonly token: string;
  readonly side: Side | null;
}

type PriceOptions = Pick<PolymarketDoorOptions, 'exchange' | 'guard'>;

export function priceRoutes(door: FastifyInstance, options: PriceOptions): void {
  /** Top of the book of a market that takes orders; unknown tokens are dropped silently, as at the venue. */
  const topOf = (token: string): BookView | undefined => {
    const exchange = openHere(options);
    const found = exchange.marketByToken(token);
    if (found === undefined || found.market.status !== 'open') return undefined;
    return exchange.book(found.market.conditionId, found.outcome, 1);
  };

  const asked = async (request: FastifyRequest, body: string): Promise<readonly PriceQuestion[]> => {
    const list = askedTokens(body);
    await charge(options.guard, request, list.length / ENTRIES_PER_TOKEN);
    return list;
  };

  /** One entry for each token whose book has what is asked for. */
  const mapOf =
    (textOf: (book: BookView) => string | undefined) =>
    async (request: FastifyRequest): Promise<Record<string, string>> => {
      const list = await asked(request, bodyText(request));
      return Object.fromEntries(
        [...new Set(list.map(({ token }) => token))].flatMap((token): [string, string][] => {
          const book = topOf(token);
          const text = book === undefined ? undefined : textOf(book);
          return text === undefined ? [] : [[token, text]];
        }),
      );
    };
  door.post(
    '/midpoints',
    mapOf((book) => wireMidpoint(book)?.mid),
  );
  door.post(
    '/spreads',
    mapOf((book) => wireSpread(book)?.spread),
  );

  door.post('/prices', async (request) => {
    const prices = new Map<string, Partial<Record<Side, string>>>();
    for (const { token, side } of await asked(request, bodyText(request))) {
      const book = topOf(token);
      // As on the wire: without a side, the SELL price alone.
      const price = book === undefined ? null : wirePrice(book, side ?? 'SELL');
      if (price !== null) prices.set(token, { ...prices.get(token), [side ?? 'SELL']: price.price });
    }
    return Object.fromEntries(prices);
  });

  const lastTrades = (list: readonly PriceQuestion[]) =>
    [...new Set(list.map(({ token }) => token))].flatMap((token) => {
      const book = topOf(token);
      return book === undefined ? [] : [{ token_id: token, ...wireLastTrade(book) }];
    });
  door.post('/last-trades-prices', async (request) => lastTrades(await asked(request, bodyText(request))));
  // The Rust client sends a GET with a JSON body, which Fastify leaves unread.
  door.get('/last-trades-prices', async (request) => {
    const body = await readBody(request);
    return lastTrades(await asked(request, body));
  });

  door.get('/prices', (_request, reply) => reply.send(allPrices(options)));
  // The venue answers so, although its specification lists them.
  const refused = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.code(400).send({ error: 'Invalid payload' });
  for (const path of ['/books', '/midpoints', '/spreads']) door.get(path, refused);
}

/** Both prices of every token that can be traded. */
function allPrices(options: PriceOptions): Record<string, Partial<Record<Side, string>>> {
  const exchange = openHere(options);
  const prices: [string, Partial<Record<Side, string>>][] = [];
  for (const market of exchange.markets()) {
    if (market.status !== 'open') continue;
    for (const [index, outcome] of (['YES', 'NO'] as const).entries()) {
      const book = exchange.book(market.conditionId, outcome, 1);
      if (book === undefined) continue;
      const [buy, sell] = [wirePrice(book, 'BUY'), wirePrice(book, 'SELL')];
      prices.push([
        market.tokenIds[index]!,
        { ...(buy === null ? {} : { BUY: buy.price }), ...(sell === null ? {} : { SELL: sell.price }) },
      ]);
    }
  }
  return Object.fromEntries(prices);
}

async function readBody(request: FastifyRequest): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.raw) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_GET_BODY_BYTES) throw new WireError(413, 'Payload exceeds the limit');
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws WireError */
function askedTokens(body: string): readonly PriceQuestion[] {
  const payload = jsonOf(body);
  if (!Array.isArray(payload)) throw invalidPayload();
  if (payload.length > MAX_TOKENS) throw tooLarge();
  return payload.map((entry: unknown) => {
    const { token_id: token, side } = (entry ?? {}) as { token_id?: unknown; side?: unknown };
    if (typeof token !== 'string' || !TOKEN_ID.test(token)) throw invalidPayload();
    if (side === undefined || side === null || side === '') return { token, side: null };
    const given = typeof side === 'string' ? side.toUpperCase() : side;
    if (given !== 'BUY' && given !== 'SELL') throw new WireError(400, 'Invalid side');
    return { token, side: given };
  });
}

// Price histories from the exchange's own records. Wire reference 2.9.

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** How far back, and the least number of minutes between two points. `1m` is a month. */
const HISTORY_INTERVALS: Readonly<Record<string, { readonly ms: number | null; readonly least: number }>> = {
  max: { ms: null, least: 1 },
  all: { ms: null, least: 1 },
  '1m': { ms: 30 * DAY_MS, least: 10 },
  '1w': { ms: 7 * DAY_MS, least: 5 },
  '1d': { ms: DAY_MS, least: 1 },
  '6h': { ms: 6 * HOUR_MS, least: 1 },
  '1h': { ms: HOUR_MS, least: 1 },
};
/** The most points of one token; with more of them, the points lie further apart. */
const MOST_POINTS = 2_000;
const MAX_HISTORIES = 20;
const TOKENS_OF_A_HISTORY = 2;
const NUMBER = /^[0-9]{1,12}$/;

interface HistorySpan {
  /** Epoch milliseconds; `null`: from the first price on. */
  readonly from: number | null;
  readonly to: number;
  readonly fidelity: number;
}

interface HistoryPoint {
  readonly t: number;
  readonly p: number;
}

type HistoryOptions = Pick<PolymarketDoorOptions, 'exchange' | 'guard' | 'now'>;

export function priceHistoryRoutes(door: FastifyInstance, options: HistoryOptions): void {
  door.get('/prices-history', async (request): Promise<{ history: readonly HistoryPoint[] }> => {
    await charge(options.guard, request, TOKENS_OF_A_HISTORY - 1);
    const token = parameter(request, 'market');
    if (!TOKEN_ID.test(token)) throw new WireError(400, 'Invalid token id');
    const now = options.now();
    const text = (name: string) => parameter(request, name);
    const span = historySpanOf(
      { interval: text('interval'), start: text('startTs'), end: text('endTs'), fidelity: text('fidelity') },
      now,
    );
    return { history: await readHistory(openHere(options), token, span, now) };
  });

  door.post('/batch-prices-history', async (request) => {
    const { tokens, span } = historiesAskedOf(request, options.now());
    await charge(options.guard, request, tokens.length * TOKENS_OF_A_HISTORY - 1);
    const exchange = openHere(options);
    const history: [string, readonly HistoryPoint[]][] = [];
    for (const token of tokens)
      history.push([token, await readHistory(exchange, token, span, options.now())]);
    return { history: Object.fromEntries(history) };
  });
}

/** @throws WireError */
function historiesAskedOf(
  request: FastifyRequest,
  now: number,
): { readonly tokens: readonly string[]; readonly span: HistorySpan } {
  const body = jsonOf(bodyText(request)) as Readonly<Record<string, unknown>> | null;
  const { markets, start_ts, end_ts, interval, fidelity } = body ?? {};
  if (!Array.isArray(markets)) throw invalidPayload();
  if (markets.length > MAX_HISTORIES) throw tooLarge();
  const tokens = [...new Set(markets)].map((token: unknown) => {
    if (typeof token !== 'string' || !TOKEN_ID.test(token)) throw invalidPayload();
    return token;
  });
  const text = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
  const terms = {
    interval: text(interval),
    start: text(start_ts),
    end: text(end_ts),
    fidelity: text(fidelity),
  };
  return { tokens, span: historySpanOf(terms, now) };
}

/** @throws WireError */
function historySpanOf(
  { interval, start, end, fidelity }: Readonly<Record<'interval' | 'start' | 'end' | 'fidelity', string>>,
  now: number,
): HistorySpan {
  const [from, to, minutes] = [start, end, fidelity].map((text) => {
    if (text !== '' && !NUMBER.test(text)) throw new WireError(400, 'invalid filters');
    return text === '' ? null : Number(text);
  });
  if (interval === '') {
    if (from === null || from === undefined)
      throw new WireError(400, "invalid filters: 'interval' or 'startTs' and 'endTs' are required");
    const until = to === null || to === undefined ? now : to * SECOND_MS + SECOND_MS - 1;
    if (from * SECOND_MS > until) throw new WireError(400, "invalid filters: 'startTs' is after 'endTs'");
    return { from: from * SECOND_MS, to: until, fidelity: Math.max(1, minutes ?? 1) };
  }
  const known = HISTORY_INTERVALS[interval];
  if (known === undefined) throw new WireError(400, `invalid filters: 'interval' ${interval.slice(0, 20)}`);
  if (minutes !== null && minutes !== undefined && minutes < known.least)
    throw new WireError(400, `invalid filters: minimum 'fidelity' for '${interval}' range is ${known.least}`);
  const begins = known.ms === null ? null : now - known.ms;
  return { from: begins, to: now, fidelity: minutes ?? known.least };
}

/** Empty for a token that never had a price. */
async function readHistory(
  exchange: Pick<DoorExchange, 'prices' | 'marketByToken' | 'book'>,
  token: string,
  { from, to, fidelity }: HistorySpan,
  now: number,
): Promise<HistoryPoint[]> {
  const place = await exchange.prices.locate(token);
  if (place === null) return [];
  const begins = Math.max(from ?? 0, place.first);
  const spanMs = Math.max(0, Math.min(to, now) - begins);
  const bucketMs = Math.max(fidelity * MINUTE_MS, Math.ceil(spanMs / MOST_POINTS));
  const terms = { tokenId: place.yesTokenId, from: from ?? 0, to, bucketMs, limit: MOST_POINTS };
  const { points } = await exchange.prices.read(terms);
  const price = (pips: number): number => pipsToNumber(place.mirrored ? PIPS - pips : pips);
  const shown = points.map((point): HistoryPoint => ({ t: seconds(point.at), p: price(point.price) }));
  const current = to < now ? null : midpointOf(exchange, token);
  return current === null ? shown : [...shown, { t: seconds(now), p: current }];
}

const seconds = (at: number): number => Math.floor(at / SECOND_MS);

/** The venue appends the price of now. */
function midpointOf(exchange: Pick<DoorExchange, 'marketByToken' | 'book'>, token: string): number | null {
  const found = exchange.marketByToken(token);
  if (found === undefined || found.market.status !== 'open') return null;
  const book = exchange.book(found.market.conditionId, found.outcome, 1);
  const middle = book === undefined ? null : wireMidpoint(book);
  return middle === null ? null : Number(middle.mid);
}

// The public tape of a market, as the venue's pages show it.

const MOST_EVENTS = 100;
const NOBODY = { accounts: new Set<string>(), apiKey: '' };

export function liveActivityRoutes(
  door: FastifyInstance,
  options: Pick<PolymarketDoorOptions, 'exchange' | 'guard'>,
): void {
  type OfMarket = { Params: { conditionId: string } };
  // Each generation of the clients asks another path.
  for (const path of ['/live-activity/events/:conditionId', '/markets/live-activity/:conditionId'])
    door.get<OfMarket>(path, async (request) => {
      const exchange = openHere(options);
      const conditionId = request.params.conditionId.toLowerCase();
      const trades = await commanded(() => exchange.history.trades({ conditionId, limit: MOST_EVENTS }));
      return trades.map((trade) => activityOf(exchange, trade));
    });
}

/** Names and pictures are empty: accounts of the paper venue have none. */
function activityOf(exchange: Pick<DoorExchange, 'market'>, trade: TradeRecord) {
  const { taker, matches, market, at, settlement, conditionId } = trade;
  const wire = wireTrade(trade, NOBODY);
  return {
    event_type: 'trade',
    market: {
      condition_id: conditionId,
      asset_id: wire.asset_id,
      question: market.question,
      icon: '',
      slug: exchange.market(conditionId)?.slug ?? market.slug,
    },
    user: {
      address: wireAddress(taker.account),
      username: '',
      profile_picture: '',
      optimized_profile_picture: '',
      pseudonym: '',
    },
    side: taker.side,
    size: formatMicro(matches.reduce((sum, match) => sum + match.size, 0n)),
    fee_rate_bps: wire.fee_rate_bps,
    price: wire.price,
    outcome: wire.outcome,
    outcome_index: taker.outcome === 'YES' ? 0 : 1,
    transaction_hash: settlement.transactionHash ?? '',
    timestamp: String(Math.floor(at / 1000)),
  };
}
