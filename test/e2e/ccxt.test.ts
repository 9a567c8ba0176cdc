/**
 * ccxt's prediction class for the venue, unmodified, at the paper doors: every method that it says it has is tried, or listed
 * with the reason why it cannot work by ccxt's own fault.
 */
import ccxt from 'ccxt';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sharedTestService, type TestService } from '../harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: ccxt types its prediction classes as any
type Client = any;

/** Methods that cannot give a right answer here, and why. */
const BY_ITS_OWN_FAULT: Readonly<Record<string, string>> = {
  fetchPositions: 'reads `.data` of a plain array, so it is always empty; dataPublicGetPositions works',
  fetchPosition: 'looks in fetchPositions, which is always empty',
  createMarketBuyOrderWithCost: 'takes a cached price as the limit, so that a moved book kills the order',
};

const tried = new Set<string>();
let service: TestService;
let base: string;
let client: Client;
/** One outcome of an open market on the grid of 0.01, which does not exclude others. */
let outcome: string;
let tokenId: string;

function newClient(): Client {
  const key = generatePrivateKey();
  const sockets = base.replace(/^http/, 'ws');
  const Polymarket = (ccxt as Client).prediction.polymarket;
  return new Polymarket({
    ...{ privateKey: key, walletAddress: privateKeyToAccount(key).address, options: { signatureType: 0 } },
    urls: {
      api: {
        ...{ gamma: `${base}/gamma`, clob: `${base}/clob`, data: `${base}/data` },
        ...{ ws: `${sockets}/ws/market`, wsUser: `${sockets}/ws/user` },
      },
    },
  });
}

/** Calls a method and notes that it was tried. */
const use = (name: string, ...args: unknown[]): Promise<Client> => {
  tried.add(name);
  return client[name](...args);
};

beforeAll(async () => {
  service = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  base = `${service.url}/paper`;
  client = newClient();
  const account = client.walletAddress.toLowerCase();
  await service.exchange.execute({ kind: 'deposit', account, amount: 10_000_000_000n, reason: 'faucet' });
  await client.loadMarkets();
  const open = [...service.exchange.markets()].find(
    ({ status, tickSize, negRisk, version }) =>
      status === 'open' && tickSize === 100 && !negRisk && version === 'v1',
  );
  tokenId = open?.tokenIds[0] ?? '';
  const found = Object.values(client.outcomes as Record<string, Client>);
  outcome = found.find(({ outcomeId }) => outcomeId === tokenId)?.outcome ?? '';
  expect(outcome).not.toBe('');
});
afterAll(() => client?.close());

const buy = (price: number, size: number, more: object = {}) =>
  use('createOrder', outcome, 'limit', 'buy', size, price, more);

describe('without a key', () => {
  test('the catalogue, the clock and the status', async () => {
    expect(Object.keys(await client.loadMarkets()).length).toBeGreaterThan(50);
    expect((await use('fetchMarkets')).length).toBeGreaterThan(50);
    expect(Math.abs((await use('fetchTime')) - Date.now())).toBeLessThan(60_000);
    expect(await use('fetchStatus')).toMatchObject({ status: 'ok' });
    const [event] = await use('fetchEvents', { query: 'cup' });
    expect(event.title).not.toBe('');
    expect(await use('fetchEvent', event.id)).toMatchObject({ id: event.id });
  });

  test('books, tickers, trades, candles, open interest and fees', async () => {
    const book = await use('fetchOrderBook', outcome);
    expect(book.bids[0][0]).toBeLessThan(book.asks[0][0]);
    expect(await use('fetchTicker', outcome)).toMatchObject({ bid: book.bids[0][0], ask: book.asks[0][0] });
    expect(Object.keys(await use('fetchTickers', [outcome]))).toHaveLength(1);
    expect(await use('fetchTrades', outcome)).toBeInstanceOf(Array);
    expect((await use('fetchOHLCV', outcome)).length).toBeGreaterThan(0);
    expect((await use('fetchOpenInterest', outcome)).openInterestValue).toBeGreaterThanOrEqual(0);
    expect(await use('fetchTradingFee', outcome)).toMatchObject({ info: { base_fee: expect.any(Number) } });
  });
});

describe('orders', () => {
  test('one rests, is found, and is canceled', async () => {
    const placed = await buy(0.01, 10);
    expect(placed.id).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await use('fetchOrder', placed.id)).toMatchObject({ id: placed.id, status: 'open', price: 0.01 });
    expect((await use('fetchOpenOrders', outcome)).map(({ id }: Client) => id)).toEqual([placed.id]);
    await use('cancelOrder', placed.id);
    expect(await use('fetchOpenOrders', outcome)).toEqual([]);
  });

  test('several at once rest, and are canceled by their ids and all together', async () => {
    const order = { symbol: outcome, outcome, type: 'limit', side: 'buy', amount: 10 };
    const placed = await use(
      'createOrders',
      [0.01, 0.02, 0.03].map((price) => ({ ...order, price })),
    );
    expect(placed).toHaveLength(3);
    await use('cancelOrders', [placed[0].id, placed[1].id], outcome);
    expect((await use('fetchOpenOrders', outcome)).map(({ id }: Client) => id)).toEqual([placed[2].id]);
    await use('cancelAllOrders');
    expect(await use('fetchOpenOrders', outcome)).toEqual([]);
  });

  test('one that crosses is filled: trades, balance and position say so', async () => {
    const before = (await use('fetchBalance')).USDC?.total ?? (await client.fetchBalance()).total.USDC;
    const ask = (await client.fetchOrderBook(outcome)).asks[0][0];
    const placed = await buy(ask, 10, { timeInForce: 'FOK' });
    const trades = await use('fetchMyTrades', outcome);
    expect(trades.reduce((sum: number, { amount }: Client) => sum + amount, 0)).toBeCloseTo(10, 2);
    expect((await use('fetchOrderTrades', placed.id, outcome)).length).toBeGreaterThan(0);
    const after = (await client.fetchBalance()).total.USDC;
    expect(before - after).toBeGreaterThanOrEqual(10 * ask - 0.01);
    const account = client.walletAddress.toLowerCase();
    const positions = await client.dataPublicGetPositions({ user: account });
    expect(positions).toMatchObject([{ asset: tokenId, size: 10 }]);
    const sold = await use('createOrder', outcome, 'limit', 'sell', 5, 0.01, { timeInForce: 'FAK' });
    expect(sold.id).toMatch(/^0x/);
    expect(await client.dataPublicGetPositions({ user: account })).toMatchObject([{ size: 5 }]);
  });

  test('a post-only order that would cross is refused', async () => {
    const ask = (await client.fetchOrderBook(outcome)).asks[0][0];
    await expect(buy(ask, 10, { postOnly: true })).rejects.toThrow(/post/i);
  });

  test('without money it is refused as such', async () => {
    const poor = newClient();
    await poor.loadMarkets();
    const refused = poor.createOrder(outcome, 'limit', 'buy', 10, 0.5);
    await expect(refused).rejects.toThrow(/not enough|insufficient/i);
  });
});

describe('sockets', () => {
  test('books, tickers, trades and own orders arrive', async () => {
    await client.loadHttpProxyAgent();
    const book = await use('watchOrderBook', outcome);
    expect(book.bids.length + book.asks.length).toBeGreaterThan(0);
    // The sockets subscribe one after another: trade until all have heard.
    let isHeard = false;
    const all = Promise.all([
      ...[use('watchOrders'), use('watchMyTrades')],
      ...[use('watchTrades', outcome), use('watchTicker', outcome)],
    ]).finally(() => {
      isHeard = true;
    });
    all.catch(() => {});
    for (let round = 0; round < 40 && !isHeard; round += 1) {
      const asks = (await client.fetchOrderBook(outcome)).asks;
      await buy(asks[0][0], 5, { timeInForce: 'FAK' });
      await Promise.race([all.catch(() => {}), new Promise((resume) => setTimeout(resume, 250))]);
    }
    const [own, mine] = await all;
    expect(own[0].id).toMatch(/^0x/);
    expect(mine[0].amount).toBeGreaterThan(0);
  });
});

test('every method that it has is tried, or cannot work by its own fault', () => {
  const has = Object.entries(client.has as Record<string, unknown>)
    .filter(([name, value]) => value === true && /^(create|cancel|fetch|watch)/.test(name))
    .map(([name]) => name);
  expect(has.filter((name) => !tried.has(name) && !(name in BY_ITS_OWN_FAULT))).toEqual([]);
  expect(Object.keys(BY_ITS_OWN_FAULT).filter((name) => !has.includes(name))).toEqual([]);
});
