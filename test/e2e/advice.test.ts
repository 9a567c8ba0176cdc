/** The advice of an error can be followed, and helps. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import {
  aMarket,
  call,
  marketBuy,
  newAgent,
  newTrader,
  restingOrder,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { sendRaw } from '../raw-http.ts';

let service: TestService;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  market = await aMarket((await newTrader(service)).client);
});

const buy = async (trader: Trader, amount: number) =>
  trader.post('/markets/trade', await marketBuy(trader, market, amount));

test('the faucet call that insufficient_balance advises is taken, and the order then passes the balance', async () => {
  const trader = await newTrader(service);
  const { body } = await buy(trader, 10_400);
  expect(body.code).toBe('insufficient_balance');
  const advised = JSON.parse(/\{"address".*?\}/.exec(body.fix)?.[0] ?? 'null');
  expect(advised.amount).toBeCloseTo(body.context.needed - body.context.available, 6);
  const drawn = await call(service, 'POST', '/paper/faucet', { body: advised });
  expect(drawn.status).toBe(200);
  expect((await buy(trader, 10_400)).body.code).toBeUndefined();
});

test('where the faucet gives no more today, it is not advised', async () => {
  const trader = await newTrader(service);
  const { body } = await buy(trader, 90_000);
  expect(body.code).toBe('insufficient_balance');
  expect(body.fix).not.toContain('POST /paper/faucet');
  expect(body.fix).toContain('more today');
});

test('an agent without credentials on paper reads where it gets them', async () => {
  const trader = await newTrader(service);
  const other = await newAgent(service);
  const order = await restingOrder({ ...trader, signer: other.signer }, market);
  const { body } = await other.post('/markets/trade', order);
  expect(body).toMatchObject({ code: 'credentials_not_registered' });
  expect(body.fix).toContain('/wallet/credentials/paper');
  const [action] = (await other.client.getBriefing({})).venues.polymarket?.actions ?? [];
  expect(action).toMatchObject({ code: 'register_credentials', path: '/wallet/credentials/paper' });
});

test('a range of prices that ends before it begins, and venue B without any: the fix fits', async () => {
  const { apiKey } = await newAgent(service);
  const get = (query: string) => call(service, 'GET', `/markets/prices-history?${query}`, { key: apiKey });
  const backwards = await get(`market=${market.clobTokenIds[0]}&startTs=1900000000&endTs=1800000000`);
  expect(backwards.body).toMatchObject({ code: 'contradictory_filter' });
  expect(backwards.body.fix).toContain('startTs');
  const [ofB] = (await call(service, 'GET', '/markets?venue=kalshi&q=*&limit=1', { key: apiKey })).body;
  const none = await get(`market=${ofB.clobTokenIds[0]}&venue=kalshi&interval=1d`);
  expect(none.status).toBe(400);
  expect(none.body.fix).toContain('/markets/orderbook');
});

test('a malformed request line, and a webhook to this machine: the fix and the setting are named', async () => {
  const { text: answer } = await sendRaw(service.url, 'NONSENSE\r\n\r\n');
  expect(answer).toContain('"code":"invalid_request"');
  expect(answer).not.toContain('listed in');
  const { apiKey } = await newAgent(service);
  const { body } = await call(service, 'POST', '/webhooks', {
    key: apiKey,
    body: { url: 'https://127.0.0.1/hook', events: ['fill'] },
  });
  expect(body).toMatchObject({ code: 'webhook_url_refused' });
  expect(body.detail).toContain('WEBHOOKS_ALLOW_LOOPBACK');
});
