/**
 * pmxt-core's class for the venue, unmodified, at the doors of the desk and of the stand-alone exchange: every method that it says it has
 * is tried, or listed with the reason why it cannot work. Its addresses come from the environment when it is loaded, and from the
 * servers of its API descriptions.
 */
import { createRequire } from 'node:module';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fund, tradedMarket, WORLDS, type World } from '../examiner-worlds.ts';

// biome-ignore lint/suspicious/noExplicitAny: methods are called by their names, which the last test compares with the class
type Client = any;

const SOCKETS = 'needs @nevuamarkets/poly-websockets, which the package does not depend on';
const INDEXER = 'asks an indexer of the chain: there is no such chain here';
/** Methods that cannot give a right answer here, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  ...{ watchOrderBook: SOCKETS, watchOrderBooks: SOCKETS, unwatchOrderBook: SOCKETS, watchTrades: SOCKETS },
  ...{ watchAddress: INDEXER, unwatchAddress: INDEXER },
};

/** Lists of its API descriptions, which it offers as methods: `listMarkets`, `getOi`. */
const PUBLIC_READS = (ids: {
  tokenId: string;
  conditionId: string;
  id: string;
  eventId: string;
  user: string;
}) =>
  [
    ['getBook', { token_id: ids.tokenId }],
    ['getPrice', { token_id: ids.tokenId, side: 'BUY' }],
    ['getMidpoint', { token_id: ids.tokenId }],
    ['getPricesHistory', { market: ids.tokenId, interval: '1d' }],
    ['getMarketsByToken', { token_id: ids.tokenId }],
    ['getGammaStatus', {}],
    ['listTeams', {}],
    ['getSportsMetadata', {}],
    ['getSportsMarketTypes', {}],
    ['listTags', {}],
    ['listEvents', {}],
    ['getEvent', { id: ids.eventId }],
    ['getEventTags', { id: ids.eventId }],
    ['listMarkets', {}],
    ['getMarket', { id: ids.id }],
    ['getMarketTags', { id: ids.id }],
    ['listSeries', {}],
    ['listComments', { parent_entity_type: 'Event', parent_entity_id: ids.eventId }],
    ['getCommentsById', { id: '1' }],
    ['publicSearch', { q: 'cup' }],
    ['getDataApiHealth', {}],
    ['getPositions', { user: ids.user }],
    ['getTraded', { user: ids.user }],
    ['getOi', { market: ids.conditionId }],
    ['getLiveVolume', { id: ids.eventId }],
    ['getTrades', { market: ids.conditionId }],
    ['getActivity', { user: ids.user }],
    ['getHolders', { market: ids.conditionId }],
    ['getValue', { user: ids.user }],
    ['getClosedPositions', { user: ids.user }],
    ['getV1MarketPositions', { market: ids.conditionId }],
    ['getV1Leaderboard', {}],
    ['getV1BuildersLeaderboard', {}],
  ] as const;

const require = createRequire(import.meta.url);
const tried = new Set<string>();
let client: Client;

/** A copy of the package of its own, which knows this world's addresses alone. */
function load({ url }: World, privateKey: string): Client {
  const [clob, gamma, data] = ['clob', 'gamma', 'data'].map((door) => `${url}/paper/${door}`);
  vi.stubEnv('POLYMARKET_CLOB_URL', clob);
  vi.stubEnv('POLYMARKET_DATA_URL', data);
  vi.stubEnv('POLYMARKET_GAMMA_URL', `${gamma}/events`);
  vi.stubEnv('POLYMARKET_GAMMA_SEARCH_URL', `${gamma}/public-search`);
  vi.stubEnv('POLYMARKET_GAMMA_MARKETS_URL', `${gamma}/markets`);
  for (const file of Object.keys(require.cache)) if (file.includes('/pmxt-core/')) delete require.cache[file];
  const home = 'pmxt-core/dist/exchanges/polymarket';
  const specs = [
    [require(`${home}/api-clob.js`).polymarketClobSpec, clob],
    [require(`${home}/api-gamma.js`).polymarketGammaSpec, gamma],
    [require(`${home}/api-data.js`).polymarketDataSpec, data],
  ];
  for (const [spec, address] of specs) {
    spec.servers = [{ url: address }];
    for (const path of Object.values(spec.paths as Record<string, Client>)) delete path.servers;
  }
  const { PolymarketExchange } = require(`${home}/index.js`);
  const exchange = new PolymarketExchange({ privateKey, baseUrl: clob, signatureType: 'eoa' });
  // It would wait 200 ms before each call.
  exchange.enableRateLimit = false;
  return exchange;
}

const use = (name: string, ...args: unknown[]): Promise<Client> => {
  tried.add(name);
  return client[name](...args);
};

afterAll(() => vi.unstubAllEnvs());

describe.each(WORLDS)('at %s', (_where, start) => {
  let market: ReturnType<typeof tradedMarket>;
  let tokenId: string;
  let user: string;
  let ask: number;
  beforeAll(async () => {
    const world = await start();
    market = tradedMarket(world);
    [tokenId] = market.tokenIds;
    ask = (market.bestAsk ?? 0) / 10_000;
    const key = generatePrivateKey();
    user = privateKeyToAccount(key).address;
    await fund(world, user);
    // It tells of its attempts to find a key.
    vi.spyOn(console, 'log').mockReturnValue();
    client = load(world, key);
  });

  test('markets, events, books, candles and trades', async () => {
    const markets = await use('fetchMarkets', { limit: 50 });
    expect(markets.length).toBeGreaterThan(20);
    expect(await use('fetchMarkets', { slug: market.slug })).toMatchObject([
      { contractAddress: market.conditionId },
    ]);
    const [event] = await use('fetchEvents', { query: 'cup', limit: 5 });
    expect(event.markets.length).toBeGreaterThan(0);
    const book = await use('fetchOrderBook', tokenId);
    expect(book.asks[0].price).toBe(ask);
    expect(await use('fetchOHLCV', tokenId, { resolution: '1h', limit: 10 })).toBeInstanceOf(Array);
    expect(await use('fetchTrades', tokenId, { limit: 10 })).toBeInstanceOf(Array);
  });

  test('orders rest, are read, and are canceled', async () => {
    const bid = {
      ...{ marketId: market.id, outcomeId: tokenId, side: 'buy', type: 'limit', amount: 10, price: 0.01 },
      ...{ tickSize: 0.01, negRisk: false },
    };
    await client.preWarmMarket(tokenId);
    const { id } = await use('createOrder', bid);
    expect(await use('fetchOrder', id)).toMatchObject({ id, price: 0.01, amount: 10, filled: 0 });
    expect((await use('fetchOpenOrders')).map((one: Client) => one.id)).toEqual([id]);
    const [before] = await use('fetchBalance');
    expect(before).toMatchObject({ total: 10_000, locked: 0.1 });
    expect(await use('cancelOrder', id)).toMatchObject({ status: 'cancelled' });
    expect(await client.fetchOpenOrders()).toEqual([]);
    const built = await use('buildOrder', { ...bid, price: ask, amount: 10 });
    expect((await use('submitOrder', built)).id).toMatch(/^0x/);
    expect((await client.fetchBalance())[0].total).toBeLessThan(10_000 - 10 * ask + 0.01);
    const [position] = await use('fetchPositions');
    expect(position).toMatchObject({ outcomeId: tokenId, size: 10 });
    // The data API shows what is on the chain.
    await expect.poll(async () => (await use('fetchMyTrades')).length).toBeGreaterThan(0);
  });

  test('lists of the venue’s APIs', async () => {
    const { conditionId, id, eventId } = market;
    for (const [name, params] of PUBLIC_READS({ tokenId, conditionId, id, eventId, user }))
      await expect(use(name, params), name).resolves.toBeDefined();
    await client.close();
  });
});

test('every method that it says it has is tried, or cannot work', () => {
  const has = Object.entries(client.has as Record<string, boolean>)
    .filter(([, value]) => value)
    .map(([name]) => name);
  expect(has.filter((name) => !tried.has(name) && !(name in LEFT_OUT))).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((name) => !has.includes(name))).toEqual([]);
});
