/** Answers under overload, after a deadline, and during faults of the database. */
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Market, orderIdOf } from '@bellwether/sdk';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { venueFor } from '../../packages/server/src/venues/asking.ts';
import type { SignedOrders } from '../../packages/server/src/venues/venue.ts';
import {
  aMarket,
  call,
  marketBuy,
  newTrader,
  recordFirst,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { within } from '../service-process.ts';

const DEADLINE_MS = 1_500;
const MAX_TRADES = 2;
const PAGE = 'https://console.example.com';

let service: TestService;
let trader: Trader;
let market: Market;
let signedOrders: SignedOrders;
let venue: SignedOrders;
/** Runs between the recording of an order and its sending. */
let recorded = (): Promise<unknown> => Promise.resolve();

async function openDesk(deadlineMs: number): Promise<void> {
  service = await startTestService({
    PAPER_WORLD: 'off',
    ALLOWED_ORIGINS: PAGE,
    REQUEST_DEADLINE_MS: String(deadlineMs),
    MAX_TRADES_IN_FLIGHT: String(MAX_TRADES),
  });
  recordFirst(service, () => recorded());
  ({ signedOrders } = venueFor(service.needs, undefined, 'signedOrders'));
  venue = { ...signedOrders };
  trader = await newTrader(service);
  market = await aMarket(trader.client);
}
afterEach(() => {
  recorded = () => Promise.resolve();
  Object.assign(signedOrders, venue);
});

const send = (request: unknown, by = trader) =>
  call(service, 'POST', '/markets/trade', { key: by.apiKey, body: request });
const usage = async () => {
  const { safeguards } = await trader.client.getMarketContext(market.id);
  return { trades: safeguards.tradesToday.used, amount: safeguards.dailyTradeAmount.used };
};

const wrapVenue = (replaced: Partial<SignedOrders>) => Object.assign(signedOrders, replaced);

/** Lets `count` orders reach the venue and holds them there. */
function holdAtVenue(count: number) {
  const held = Promise.withResolvers<void>();
  const full = Promise.withResolvers<void>();
  let there = 0;
  wrapVenue({
    submit: async (order, message) => {
      there += 1;
      if (there === count) full.resolve();
      await held.promise;
      return venue.submit(order, message);
    },
  });
  return { full: full.promise, release: held.resolve };
}

describe('the order in which requests are turned away', () => {
  // No deadline may end the orders that fill the slots, however slow the machine is.
  beforeAll(() => openDesk(100_000));

  test('reads first, then trades; never cancels and the pause; later all are accepted again', async () => {
    const resting = await trader.client.placeTrade(await restingOrder(trader, market));
    const others = await Promise.all(Array.from({ length: 2 }, () => newTrader(service)));
    const orders = await Promise.all(
      others.flatMap((one) =>
        Array.from({ length: 6 }, async () => ({ one, request: await restingOrder(one, market) })),
      ),
    );
    const { full, release } = holdAtVenue(MAX_TRADES);
    // Two are being placed and four wait in line; there is no room for the others.
    const answers = orders.map(({ one, request }) => send(request, one));
    await full;
    const briefing = () => call(service, 'GET', '/markets/briefing', { key: trader.apiKey });
    await expect.poll(briefing, { interval: 50 }).toMatchObject({ status: 503 });
    const read = await briefing();
    expect(read).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    expect(read.headers.get('retry-after')).toBe('1');
    const page = { key: trader.apiKey, headers: { origin: PAGE } };
    const readByPage = await call(service, 'GET', '/markets/briefing', page);
    expect(readByPage).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    expect(readByPage.headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(readByPage.headers.get('access-control-expose-headers')).toContain('retry-after');
    const trade = await send(await restingOrder(trader, market));
    expect(trade).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    expect(trade.headers.get('retry-after')).toBe('1');
    expect((await call(service, 'GET', '/readyz')).status).toBe(200);
    expect((await call(service, 'GET', '/healthz')).status).toBe(200);
    const cancel = await call(service, 'POST', '/markets/orders/cancel', {
      key: trader.apiKey,
      body: { orderId: resting.orderId },
    });
    expect(cancel).toMatchObject({ status: 200, body: { canceled: [resting.orderId] } });
    const pause = { key: trader.apiKey, body: { tradingPaused: true } };
    expect((await call(service, 'POST', '/agents/settings', pause)).status).toBe(200);
    release();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([201, 503]));
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(3 * MAX_TRADES);
    const go = { key: trader.apiKey, body: { tradingPaused: false } };
    expect((await call(service, 'POST', '/agents/settings', go)).status).toBe(200);
    await expect
      .poll(() => call(service, 'GET', '/markets/briefing', { key: trader.apiKey }))
      .toMatchObject({ status: 200 });
    expect(await send(await restingOrder(trader, market))).toMatchObject({ status: 201 });
  });

  test('a turned-away request costs no check of its key or body', async () => {
    const { full, release } = holdAtVenue(MAX_TRADES);
    const orders = await Promise.all(Array.from({ length: 8 }, () => restingOrder(trader, market)));
    const other = await newTrader(service);
    const mine = orders.map((request) => send(request));
    const its = send(await restingOrder(other, market), other);
    await full;
    const keyless = () =>
      call(service, 'POST', '/markets/trade', {
        body: 'x'.repeat(1_000),
        headers: { 'content-type': 'text/plain' },
      });
    // 401 until there are as many as may be.
    await expect.poll(keyless, { interval: 50 }).toMatchObject({ status: 503, body: { code: 'overloaded' } });
    release();
    await Promise.all([...mine, its]);
  });
});

describe('a request whose deadline passes', () => {
  beforeAll(() => openDesk(DEADLINE_MS));

  test('before the hand-over of the order: 503, no effect, nothing reserved', async () => {
    const before = await usage();
    const held = Promise.withResolvers<void>();
    let reached = 0;
    wrapVenue({
      balance: async (funder) => {
        await held.promise;
        return venue.balance(funder);
      },
      submit: async (order, message) => {
        reached += 1;
        return venue.submit(order, message);
      },
    });
    const request = await restingOrder(trader, market);
    const answer = await within(DEADLINE_MS + 700, send(request));
    expect(answer).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable', instance: '/markets/trade' },
    });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.get('x-request-id')).toBe(answer.body.requestId);
    held.resolve();
    Object.assign(signedOrders, venue);
    await sleep(300);
    expect(reached).toBe(0);
    const gone = await call(service, 'GET', `/markets/orders/${orderIdOf(request)}`, { key: trader.apiKey });
    expect(gone.status).toBe(404);
    expect(await usage()).toEqual(before);
    // The same order sent again counts as new.
    expect(await send(request)).toMatchObject({ status: 201, body: { success: true } });
  });

  test('during the reservation: 503, the venue gets nothing, and the reservation is returned', async () => {
    const before = await usage();
    const held = Promise.withResolvers<void>();
    let reached = 0;
    wrapVenue({
      submit: async (order, message) => {
        reached += 1;
        return venue.submit(order, message);
      },
    });
    recorded = () => held.promise;
    const request = await restingOrder(trader, market);
    expect(await send(request)).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    held.resolve();
    const order = () => call(service, 'GET', `/markets/orders/${orderIdOf(request)}`, { key: trader.apiKey });
    await expect.poll(async () => (await order()).body.status, { timeout: 3_000 }).toBe('rejected');
    expect(reached).toBe(0);
    expect(await usage()).toEqual(before);
  });

  test('after the hand-over: the outcome is unknown, and is resolved later', async () => {
    const { full, release } = holdAtVenue(1);
    const request = await marketBuy(trader, market, 5);
    const asked = send(request);
    await full;
    const answer = await asked;
    expect(answer).toMatchObject({
      status: 500,
      body: { code: 'order_outcome_unknown', orderId: orderIdOf(request) },
    });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    release();
    await expect
      .poll(() => send(request), { timeout: 5_000, interval: 200 })
      .toMatchObject({ status: 201, body: { success: true, orderId: orderIdOf(request) } });
  });

  test('with an Idempotency-Key: the key is free again at once, or has the late answer', async () => {
    const keyed = (body: unknown, key: string) =>
      call(service, 'POST', '/markets/trade', {
        key: trader.apiKey,
        body,
        headers: { 'idempotency-key': key },
      });
    const held = Promise.withResolvers<void>();
    wrapVenue({
      balance: async (funder) => {
        await held.promise;
        return venue.balance(funder);
      },
    });
    const request = await restingOrder(trader, market);
    expect(await keyed(request, 'too late')).toMatchObject({ status: 503 });
    held.resolve();
    Object.assign(signedOrders, venue);
    await expect
      .poll(() => keyed(request, 'too late'), { timeout: 2_000, interval: 50 })
      .toMatchObject({ status: 201, body: { success: true } });

    const { full, release } = holdAtVenue(1);
    const other = await restingOrder(trader, market);
    const asked = keyed(other, 'came late');
    await full;
    expect(await asked).toMatchObject({ status: 500, body: { code: 'order_outcome_unknown' } });
    release();
    await expect
      .poll(() => keyed(other, 'came late'), { timeout: 2_000, interval: 50 })
      .toMatchObject({ status: 201, body: { orderId: orderIdOf(other) } });
  });

  test('in a batch: placed orders are reported, orders not begun have no effect', async () => {
    const { release } = holdAtVenue(99);
    const [first, second] = [await restingOrder(trader, market), await restingOrder(trader, market)];
    const answer = await call(service, 'POST', '/markets/batch-trade', {
      key: trader.apiKey,
      body: { orders: [first, second] },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.results.map(({ problem }: { problem: { code: string } }) => problem.code)).toEqual([
      'order_outcome_unknown',
      'service_unavailable',
    ]);
    release();
    const unplaced = `/markets/orders/${orderIdOf(second)}`;
    expect((await call(service, 'GET', unplaced, { key: trader.apiKey })).status).toBe(404);
  });

  test('with a body that never ends: 408, the connection is closed, and no slot was taken', async () => {
    const { hostname, port } = new URL(service.url);
    const endings = Array.from({ length: 3 * MAX_TRADES }, () => {
      const socket = connect(Number(port), hostname);
      let said = '';
      socket.on('data', (chunk) => {
        said += chunk;
      });
      socket.write(
        `POST /markets/trade HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${trader.apiKey}\r\n` +
          'content-type: application/json\r\ncontent-length: 1000\r\n\r\n{"venue":',
      );
      return new Promise<string>((resolve) => socket.once('close', () => resolve(said)));
    });
    await sleep(200);
    expect(await send(await restingOrder(trader, market))).toMatchObject({ status: 201 });
    for (const said of await Promise.all(endings)) expect(said).toMatch(/^HTTP\/1\.1 408 /);
  });
});

describe('faults of the database', () => {
  test('a full disk, no writes, no memory, too many connections: 503, not 500; /readyz knows', async () => {
    const admin = openPool(service.databaseUrl, { max: 1 });
    try {
      for (const [code, said] of [
        ['53100', 'The disk of the database is full.'],
        ['25006', 'The database takes no writes now.'],
        ['53200', 'The database is out of memory.'],
        ['53300', 'The database has no free connection.'],
        ['58030', 'The database met a fault of its system.'],
      ]) {
        await admin.unsafe(`
          create or replace function fail() returns trigger language plpgsql as
            $$ begin raise exception 'made up' using errcode = '${code}'; end $$;
          create or replace trigger fail before update on safeguards for each row execute function fail();
          create or replace trigger fail before update on pulse for each row execute function fail()`);
        const answer = await send(await restingOrder(trader, market));
        expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable', detail: said } });
        expect(answer.headers.get('retry-after')).toBe('1');
        await expect
          .poll(async () => (await call(service, 'GET', '/readyz')).status, { timeout: 1_000, interval: 50 })
          .toBe(503);
        await admin.unsafe('drop trigger fail on safeguards; drop trigger fail on pulse');
        await expect
          .poll(async () => (await call(service, 'GET', '/readyz')).status, { timeout: 1_500, interval: 50 })
          .toBe(200);
      }
    } finally {
      await admin.end();
    }
  });
});
