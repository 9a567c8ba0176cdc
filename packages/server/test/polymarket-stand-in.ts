/**
 * Stand-ins for the venue, for what its doors on paper never say: broken records, sockets that lie, sources that contradict
 * each other.
 */
import { createServer, type IncomingMessage } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { afterUse } from '../../../test/setup/clean-up.ts';
import { type Asked, listening, sendJson, standIn } from '../../../test/stand-in.ts';
import { createPooledSend } from '../src/platform/outbound/http.ts';
import { type BookTimes, createLiveBooks } from '../src/venues/polymarket/books.ts';
import { createVenueHttp } from '../src/venues/polymarket/http.ts';
import {
  createGamma,
  createLiveMarketData,
  createResolutions,
} from '../src/venues/polymarket/public-markets.ts';

export type Json = Record<string, unknown>;

export const YES = '71321045679252212594626385532706912750332728571942532289631379312455583992563';
export const NO = '52114319501245915516055106046884209969926127482827954674443846427813813222426';
export const CONDITION = `0x${'5f'.repeat(32)}`;

export const gammaMarket = (changes: Json = {}): Json => ({
  id: '559651',
  conditionId: CONDITION,
  slug: 'will-it-rain-tomorrow',
  question: 'Will it rain tomorrow?',
  description: 'The rules.',
  outcomes: '["Up","Down"]',
  outcomePrices: '["0.01","0.99"]',
  clobTokenIds: JSON.stringify([YES, NO]),
  orderPriceMinTickSize: 0.01,
  orderMinSize: 5,
  feesEnabled: true,
  feeSchedule: { rate: 0.07, exponent: 1, takerOnly: true, rebateRate: 0.2 },
  active: true,
  closed: false,
  archived: false,
  acceptingOrders: true,
  enableOrderBook: true,
  negRisk: false,
  createdAt: '2026-10-01T10:00:00.123456Z',
  startDate: '2026-10-01T11:00:00Z',
  endDate: '2026-12-01T00:00:00Z',
  updatedAt: '2026-11-01T00:00:00Z',
  volume: '12345.678901234',
  volumeNum: 12345.678901234,
  volume24hr: 100,
  liquidityNum: 50.5,
  events: [{ id: '900', title: 'Weather' }],
  tags: [{ id: '2', label: 'Weather', slug: 'weather' }],
  ...changes,
});

export const wireBook = (changes: Json = {}): Json => ({
  market: CONDITION,
  asset_id: YES,
  timestamp: '1000',
  hash: 'x',
  bids: [
    { price: '0.40', size: '100' },
    { price: '0.45', size: '20.5' },
  ],
  asks: [
    { price: '0.60', size: '10' },
    { price: '0.50', size: '30' },
  ],
  min_order_size: '5',
  tick_size: '0.01',
  neg_risk: false,
  last_trade_price: '0.47',
  ...changes,
});

/** The desk's client of a venue with these answers: nothing is a 404, and a `Response` stands for its status alone. */
export async function openVenue(answer: (url: URL, asked: Asked) => unknown, now: () => number = Date.now) {
  const said: { readonly message: string; readonly context: object }[] = [];
  const baseUrl = await standIn(async (asked, response) => {
    const value = await answer(new URL(asked.url, 'http://venue'), asked);
    if (value instanceof Response) response.writeHead(value.status).end();
    else sendJson(response, value ?? {}, value === undefined ? 404 : 200);
  });
  const pool = createPooledSend();
  afterUse(pool.close);
  const clock = { now };
  const log = {
    info: () => {},
    warn: (context: object, message: string) => void said.push({ message, context }),
  };
  const http = createVenueHttp({ service: 'the venue', baseUrl, send: pool.send, clock, log });
  return { http, said, clock, log };
}

interface State {
  markets: Json[];
  events: Json[];
  books: Json[];
  clobMarkets: Record<string, Json>;
  resolutions: Json[];
  /** Path → status to answer with instead. */
  broken: Map<string, number>;
  /** Whether the market socket sends a snapshot to who subscribes. */
  sendsSnapshots: boolean;
}

/** The public services and the market socket: their answers are what a test puts into `state`. */
export async function openMarkets(times: Partial<BookTimes> = {}) {
  const state: State = {
    markets: [gammaMarket()],
    events: [],
    books: [wireBook()],
    clobMarkets: {},
    resolutions: [],
    broken: new Map(),
    sendsSnapshots: true,
  };
  const asked: string[] = [];
  const heard: Json[] = [];
  const sockets = new Set<WebSocket>();

  const answer = (url: URL, body: string): unknown => {
    const { pathname: path, searchParams: query } = url;
    if (path === '/markets/keyset') return { markets: listed(state.markets, query) };
    if (path === '/public-search') return { events: state.events, pagination: { hasMore: false } };
    if (path.startsWith('/markets/slug/'))
      return state.markets.find(({ slug }) => slug === path.slice('/markets/slug/'.length));
    if (path === '/v2/resolutions') return { data: state.resolutions };
    if (path === '/book') return state.books.find((book) => book.asset_id === query.get('token_id'));
    if (path === '/books') {
      const ids = new Set((JSON.parse(body) as Json[]).map(({ token_id }) => token_id));
      return state.books.filter((book) => ids.has(book.asset_id));
    }
    if (path.startsWith('/markets/0x')) return state.clobMarkets[path.slice('/markets/'.length)];
    if (path.startsWith('/markets/'))
      return state.markets.find(({ id }) => String(id) === path.slice('/markets/'.length));
    return undefined;
  };
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '/', 'http://venue');
    asked.push(`${request.method} ${url.pathname}${url.search}`);
    const status = state.broken.get(url.pathname);
    const value = answer(url, body);
    response.writeHead(status ?? (value === undefined ? 404 : 200), { 'content-type': 'application/json' });
    response.end(JSON.stringify(value ?? { error: 'not found' }));
  });
  const baseUrl = await listening(server);

  const sockServer = new WebSocketServer({ server });
  sockServer.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('message', (data) => {
      const text = String(data);
      if (text === 'PING') return socket.send('PONG');
      const message = JSON.parse(text) as Json;
      heard.push(message);
      if (message.operation === 'unsubscribe' || !state.sendsSnapshots) return undefined;
      const ids = message.assets_ids as string[];
      const books = state.books.filter((book) => ids.includes(String(book.asset_id)));
      return socket.send(JSON.stringify(books.map((book) => ({ event_type: 'book', ...book }))));
    });
  });

  const pool = createPooledSend();
  const log = { warn: () => {}, info: () => {} };
  const clock = { now: () => Date.now() };
  const service = (name: string) => createVenueHttp({ service: name, baseUrl, send: pool.send, clock, log });
  const gamma = createGamma({ http: service('Gamma'), clock, log });
  const clob = service('the CLOB');
  const books = createLiveBooks({
    clob,
    socketUrl: `${baseUrl.replace('http', 'ws')}/ws/market`,
    log,
    times: { compareEveryMs: 20, graceMs: 40, ...times },
    socketTimes: { connectMs: 500, pingEveryMs: 50, staleMs: 2_000, firstBackoffMs: 10, maxBackoffMs: 50 },
  });
  const resolutions = createResolutions({ data: service('the Data API'), clob });
  const data = createLiveMarketData({ gamma, books, resolutions, clock });
  return {
    state,
    asked,
    heard,
    sockets,
    gamma,
    books,
    resolutions,
    data,
    say: (...events: Json[]) => {
      for (const socket of sockets) socket.send(JSON.stringify(events.length === 1 ? events[0] : events));
    },
    close: async () => {
      await books.close();
      pool.close();
      for (const socket of sockets) socket.terminate();
      sockServer.close();
    },
  };
}

function listed(markets: readonly Json[], query: URLSearchParams): Json[] {
  const ids = query.getAll('condition_ids');
  const tokens = query.getAll('clob_token_ids');
  return markets.filter((market) => {
    if ((market.closed === true) !== (query.get('closed') === 'true')) return false;
    if (ids.length > 0) return ids.includes(String(market.conditionId));
    return tokens.length === 0 || tokens.some((token) => String(market.clobTokenIds).includes(token));
  });
}
