/** `validateOnly: true`: the errors of a trade, and none of its effects. */
import { type Market, orderIdOf, type TradeRequest } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
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

let service: TestService;
let trader: Trader;
let market: Market;

beforeAll(async () => {
  service = await sharedTestService();
  trader = await newTrader(service);
  market = await aMarket(trader.client);
});

const buy = (amount = 20, agent = trader): Promise<TradeRequest> => marketBuy(agent, market, amount);
const send = (body: unknown, key = trader.apiKey, headers: Record<string, string> = {}) =>
  call(service, 'POST', '/markets/trade', { key, body, headers });

describe('a trade that is only checked', () => {
  test('answers 200 with its order id, and nothing of it is recorded, counted or sent', async () => {
    const request = await buy();
    const before = await trader.client.getMe();
    const key = { 'idempotency-key': 'checked-first' };
    const checked = await send({ ...request, validateOnly: true }, trader.apiKey, key);
    expect(checked.status).toBe(200);
    expect(checked.body).toMatchObject({
      success: true,
      status: 'validated',
      validateOnly: true,
      orderId: orderIdOf(request),
      syncedToMkOrder: false,
      syncedToStrategyLog: false,
      filledSize: 0,
    });
    expect(await trader.client.getMe()).toMatchObject({
      tradesToday: before.tradesToday,
      simulationBalance: before.simulationBalance,
    });
    expect((await trader.get(`/markets/orders/${orderIdOf(request)}`)).status).toBe(404);
    // Neither the key nor the order id is taken.
    const placed = await send(request, trader.apiKey, key);
    expect(placed).toMatchObject({ status: 201, body: { success: true, status: 'matched' } });
    expect(placed.headers.get('idempotency-replayed')).toBeNull();
  });

  test('is refused with the errors of the trade, which are not noted as attempts', async () => {
    const poor = await newTrader(service);
    const stranger = await newAgent(service);
    await poor.client.updateSettings({ maxTradeAmount: 30_000 });
    const good = await buy(20, poor);
    const large = await buy(20_000, poor);
    const cases: readonly [unknown, string][] = [
      [{ ...good, price: 7 }, poor.apiKey],
      [{ ...good, orderSize: good.orderSize + 1 }, poor.apiKey],
      [{ ...good, order: { ...good.order, salt: 1 } }, poor.apiKey],
      [{ ...good, marketConditionId: `0x${'ab'.repeat(32)}` }, poor.apiKey],
      [good, stranger.apiKey],
      [large, poor.apiKey],
      [{ ...good, venue: 'nowhere' }, poor.apiKey],
      [good, 'wrong'],
      [{ ...good, validateonly: true }, poor.apiKey],
    ];
    const checked = [];
    for (const [body, key] of cases) {
      const answer = await send({ ...(body as object), validateOnly: true }, key);
      checked.push(answer);
    }
    expect((await poor.get('/agents/trades')).body.total).toBe(0);
    for (const [index, [body, key]] of cases.entries()) {
      const { instance: _instance, requestId: _id, ...traded } = (await send(body, key)).body;
      const { instance: _other, requestId: _otherId, ...said } = checked[index]?.body ?? {};
      expect(checked[index]?.status).toBeGreaterThanOrEqual(400);
      expect(said).toEqual(traded);
    }
  });

  test('is refused under a pause, and with the same order under other options', async () => {
    const agent = await newTrader(service);
    const request = await restingOrder(agent, market);
    const placed = await agent.client.placeTrade(request);
    const replayed = await send({ ...request, validateOnly: true }, agent.apiKey);
    expect(replayed).toMatchObject({ status: 200, body: { orderId: placed.orderId, validateOnly: true } });
    const other = await send({ ...request, postOnly: true, validateOnly: true }, agent.apiKey);
    expect(other).toMatchObject({ status: 409, body: { code: 'order_already_placed' } });
    await agent.client.updateSettings({ tradingPaused: true });
    const paused = await send({ ...(await buy(20, agent)), validateOnly: true }, agent.apiKey);
    expect(paused).toMatchObject({ status: 403, body: { code: 'trading_paused' } });
  });

  test('a malformed idempotency key is refused as it would be for the trade', async () => {
    const answer = await send({ ...(await buy()), validateOnly: true }, trader.apiKey, {
      'idempotency-key': 'x'.repeat(300),
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'idempotency_key_invalid' } });
  });

  test('only the word true asks for it', async () => {
    for (const validateOnly of ['true', 1, null]) {
      const answer = await send({ ...(await buy()), validateOnly });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
    const byQuery = await trader.post('/markets/trade?validateOnly=true', await buy());
    expect(byQuery.status).toBe(400);
  });
});

describe('a batch that is only checked', () => {
  const batch = (body: object, headers = {}) => trader.post('/markets/batch-trade', body, headers);

  test('checks each order and places none', async () => {
    const orders = [await buy(), { ...(await buy()), price: 7 }, await buy()];
    const key = { 'idempotency-key': 'batch-first' };
    const checked = await batch({ orders, validateOnly: true }, key);
    expect(checked.body).toMatchObject({ total: 3, succeeded: 2 });
    expect(checked.body.results.map(({ status }: { status: number }) => status)).toEqual([200, 400, 200]);
    const placed = await batch({ orders }, key);
    expect(placed.headers.get('idempotency-replayed')).toBeNull();
    expect(placed.body.results.map(({ status }: { status: number }) => status)).toEqual([201, 400, 201]);
  });

  test('an order among others may ask for it alone', async () => {
    const { body } = await batch({ orders: [{ ...(await buy()), validateOnly: true }, await buy()] });
    expect(body.results.map(({ status }: { status: number }) => status)).toEqual([200, 201]);
  });
});
