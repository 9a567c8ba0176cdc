/** Two processes on one database: keys, limits, idempotency, trades and the lead are right across both. */
import { randomBytes } from 'node:crypto';
import { BellwetherClient } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { aMarket, call, marketBuy, newTrader, restingOrder } from '../harness.ts';
import { createDeskDatabase } from '../postgres.ts';
import { kill, type ServiceProcess, startProcess } from '../service-process.ts';

let leader: ServiceProcess;
let follower: ServiceProcess;
const env: Record<string, string> = {};

beforeAll(async () => {
  Object.assign(env, {
    DATABASE_URL: await createDeskDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    RATE_LIMIT_READ_BURST: '40',
    RATE_LIMIT_READ_PER_SECOND: '1',
    LOG_LEVEL: 'warn',
  });
  leader = await startProcess({ env });
  follower = await startProcess({ env });
});

const at = (process: ServiceProcess, apiKey: string) =>
  new BellwetherClient({ baseUrl: process.url, apiKey });

describe('two processes', () => {
  test('a trade placed at the follower is executed once, and both show it', async () => {
    const trader = await newTrader(follower);
    const market = await aMarket(trader.client);
    const request = await marketBuy(trader, market, 20);
    const first = await trader.client.placeTrade(request);
    expect(first).toMatchObject({ success: true, status: 'matched' });
    expect(await at(leader, trader.apiKey).placeTrade(request)).toEqual(first);
    const [here, there] = await Promise.all([trader.client.getMe(), at(leader, trader.apiKey).getMe()]);
    expect(there.simulationBalance).toBe(here.simulationBalance);
    expect(there.simulationBalance).toBeCloseTo(10_000 - 20 - first.feePaid, 6);
    expect((await trader.client.getCurrentPositions()).map(({ size }) => size)).toEqual([first.filledSize]);
  });

  test('the door of the follower serves the leader’s state', async () => {
    const trader = await newTrader(follower);
    const market = await aMarket(trader.client);
    const path = `/paper/clob/book?token_id=${market.clobTokenIds[0]}`;
    const answer = await call(follower, 'GET', path);
    expect(answer).toMatchObject({
      status: 200,
      body: { market: market.conditionId, tick_size: market.tickSize },
    });
    expect((await call(follower, 'GET', '/paper/clob/book?token_id=1')).status).toBe(404);
    const listed = await fetch(`${follower.url}/paper/gamma/markets?condition_ids=${market.conditionId}`);
    expect([listed.status, listed.headers.get('deprecation')]).toEqual([200, 'true']);
    expect(await listed.json()).toMatchObject([{ slug: market.slug }]);
    const held = await call(follower, 'GET', `/paper/data/v2/holders?condition=${market.conditionId}`);
    expect(held).toMatchObject({ status: 200, body: { pagination: { has_more: false } } });
  });

  test('the follower’s socket to the chain carries what the leader’s chain does', async () => {
    const socket = new WebSocket(`${follower.url.replace('http', 'ws')}/paper/solana/ws`);
    const reported = new Promise<{ readonly method?: string }>((hear, fail) => {
      socket.addEventListener('error', () => fail(new Error('the socket failed')));
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data));
        if (message.id === undefined) hear(message);
      });
    });
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'slotSubscribe', params: [] })),
    );
    expect(await reported).toMatchObject({
      method: 'slotNotification',
      params: { result: { slot: expect.any(Number) } },
    });
    socket.close();
  });

  test.each([
    ['exchange', JSON.stringify({ port: 'venue', method: 'deposit', args: ['0x0', 1, 'faucet'] })],
    ['timeline', '7000000000000000000 7'],
  ])('only replicas can call /internal/%s', async (name, body) => {
    const answer = await call(leader, 'POST', `/internal/${name}`, {
      body,
      headers: { 'content-type': 'text/plain', authorization: 'Bearer x' },
    });
    expect(answer).toMatchObject({ status: 404, body: { code: 'route_not_found' } });
  });

  test('a revoked key is refused on the very next request, also at the other process', async () => {
    const trader = await newTrader(follower);
    const spare = await trader.client.createApiKey('spare');
    // Both processes have it in their caches.
    for (const process of [leader, follower]) {
      expect((await call(process, 'GET', '/agents/settings', { key: spare.apiKeyCode })).status).toBe(200);
    }
    expect(
      (await call(follower, 'DELETE', `/agents/api-key/${spare.id}`, { key: trader.apiKey })).status,
    ).toBe(200);
    for (const process of [leader, follower]) {
      expect((await call(process, 'GET', '/agents/settings', { key: spare.apiKeyCode })).status).toBe(401);
    }
  });

  test('a pause holds on the next request, also at the other process', async () => {
    const trader = await newTrader(follower);
    const market = await aMarket(trader.client);
    await trader.client.updateSettings({ tradingPaused: true });
    const body = await restingOrder(trader, market);
    expect(await call(leader, 'POST', '/markets/trade', { key: trader.apiKey, body })).toMatchObject({
      status: 403,
      body: { code: 'trading_paused' },
    });
  });

  test('share one bucket: together they allow as much as one', async () => {
    const trader = await newTrader(follower);
    const used = 3; // credentials, settings and the registration's look around
    const answers = await Promise.all(
      Array.from({ length: 80 }, (_, i) =>
        call(i % 2 === 0 ? leader : follower, 'GET', '/agents/settings', { key: trader.apiKey }),
      ),
    );
    const allowed = answers.filter(({ status }) => status === 200).length;
    // 40 at once and one per second since; never more, and few less: one process may hold an unused slice.
    expect(allowed).toBeLessThanOrEqual(40 + 5);
    expect(allowed).toBeGreaterThanOrEqual(40 - used - 10);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body.code).toBe('rate_limited');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  test('an Idempotency-Key is shared by both', async () => {
    const trader = await newTrader(follower);
    const headers = { 'idempotency-key': 'twice' };
    const body = await restingOrder(trader, await aMarket(trader.client));
    const [one, two] = await Promise.all(
      [leader, follower].map((process) =>
        call(process, 'POST', '/markets/trade', { key: trader.apiKey, body, headers }),
      ),
    );
    const statuses = [one?.status, two?.status].sort();
    expect([
      [201, 201],
      [201, 409],
    ]).toContainEqual(statuses);
    const again = await call(leader, 'POST', '/markets/trade', { key: trader.apiKey, body, headers });
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect((await trader.client.getMe()).tradesToday).toBe(1);
  });

  test('when the leader dies, the follower takes over without losing data', async () => {
    const trader = await newTrader(follower);
    const market = await aMarket(trader.client);
    const { orderId } = await trader.client.placeTrade(await restingOrder(trader, market));
    kill(leader.child.pid as number, 'SIGKILL');
    await expect
      .poll(async () => (await call(follower, 'GET', '/readyz')).status, { interval: 200 })
      .toBe(200);
    const { status } = await call(follower, 'GET', `/markets/orderbook/${market.clobTokenIds[0]}`, {
      key: trader.apiKey,
    });
    expect(status).toBe(200);
    expect(await trader.client.getOrder(orderId)).toMatchObject({ status: 'live' });
    expect(await trader.client.cancelOrder(orderId)).toMatchObject({ canceled: [orderId] });
    const sent = await marketBuy(trader, market, 20, { outcome: 'NO' });
    expect(await trader.client.placeTrade(sent)).toMatchObject({ success: true });
  });
});
