/** An agent's own name for an order: one order at most has it, on both venues; a refused one frees it. */

import type { BatchTradeResult } from '@bellwether/contract';
import {
  type BellwetherApiError,
  type Market,
  signPrepared,
  type TradeIntent,
  verifyPrepared,
} from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  limitOrder,
  marketBuy,
  newAgent,
  newTrader,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { aSandboxMarket, newSandboxTrader, type SandboxTrader } from '../sandbox.ts';

let service: TestService;
let trader: Trader;
let market: Market;
beforeAll(async () => {
  service = await sharedTestService();
  trader = await newTrader(service);
  await trader.client.updateSettings({ maxTradesPerDay: 200 });
  market = await aMarket(trader.client);
});

let count = 0;
const newName = (): string => `order-${++count}`;

const resting = (clientOrderId: string, size = 10, who = trader) =>
  limitOrder(who, market, { side: 'BUY', size, clientOrderId, price: Number(market.tickSize) });

const refused = async (promise: Promise<unknown>): Promise<BellwetherApiError> =>
  promise.then(
    () => {
      throw new Error('the order was not refused');
    },
    (error: BellwetherApiError) => error,
  );

describe('an order under a name', () => {
  test('is found by it, and another order under it is refused with the first one’s id', async () => {
    const name = newName();
    const first = await trader.client.placeTrade(await resting(name));
    const other = await refused(trader.client.placeTrade(await resting(name, 11)));
    expect(other).toMatchObject({
      status: 409,
      code: 'client_order_id_already_used',
      orderId: first.orderId,
    });
    expect(other.errors).toMatchObject([{ path: 'clientOrderId' }]);
    const found = await trader.client.listOrders({ clientOrderId: name });
    expect(found).toMatchObject([{ orderId: first.orderId, clientOrderId: name }]);
    expect(await trader.client.getOrder(first.orderId)).toMatchObject({ clientOrderId: name });
    expect(await trader.client.listOrders({ clientOrderId: newName() })).toEqual([]);
    // Its end does not free the name.
    await trader.client.cancelOrder(first.orderId);
    expect(await refused(trader.client.placeTrade(await resting(name, 12)))).toMatchObject({ status: 409 });
  });

  test('repeated with a fresh price it buys once', async () => {
    const name = newName();
    const buy = (amount: number) => marketBuy(trader, market, amount, { clientOrderId: name });
    const first = await trader.client.placeTrade(await buy(10));
    expect(first.success).toBe(true);
    expect(await refused(trader.client.placeTrade(await buy(11)))).toMatchObject({
      code: 'client_order_id_already_used',
      orderId: first.orderId,
    });
    const fills = await trader.client.listFills({ limit: 100 });
    expect(
      new Set(fills.filter((fill) => fill.marketId === market.id).map(({ orderId }) => orderId)),
    ).toEqual(new Set([first.orderId]));
  });

  test('the same order again gets its first answer, marked as repeated', async () => {
    const order = await resting(newName());
    const send = () => trader.post('/markets/trade', order);
    const [first, second] = [await send(), await send()];
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
    expect([second.status, second.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect(second.body).toEqual(first.body);
    const batch = () => trader.post('/markets/batch-trade', { orders: [order] });
    expect((await batch()).headers.get('idempotency-replayed')).toBe('true');
  });

  test('twenty at once under one name: one is placed, and the others name it', async () => {
    const name = newName();
    const orders = await Promise.all(Array.from({ length: 20 }, (_, i) => resting(name, 10 + i)));
    const answers = await Promise.all(orders.map((body) => trader.post('/markets/trade', body)));
    const placed = answers.filter(({ status }) => status === 201);
    expect(placed).toHaveLength(1);
    const others = answers.filter(({ status }) => status !== 201);
    expect(new Set(others.map(({ body }) => `${body.code} ${body.orderId}`))).toEqual(
      new Set([`client_order_id_already_used ${placed[0]?.body.orderId}`]),
    );
  });

  test('within a batch, too', async () => {
    const name = newName();
    const orders = [await resting(name, 10), await resting(name, 11), await resting(newName(), 12)];
    const { body } = await call(service, 'POST', '/markets/batch-trade', {
      ...{ key: trader.apiKey, body: { orders } },
    });
    const results = body.results as BatchTradeResult[];
    expect(results.map(({ status, problem }) => [status, problem?.code ?? null])).toEqual([
      [201, null],
      [409, 'client_order_id_already_used'],
      [201, null],
    ]);
  });

  test('a refused order frees it: before it is recorded, and by the venue', async () => {
    const name = newName();
    await trader.client.updateSettings({ maxTradeAmount: 0.01 });
    const refusal = await refused(trader.client.placeTrade(await resting(name)));
    expect(refusal.code).toBe('max_trade_amount_exceeded');
    await trader.client.updateSettings({ maxTradeAmount: 100 });
    // A post-only order that would cross is recorded, and refused by the venue.
    const crossing = await limitOrder(trader, market, {
      side: 'BUY',
      size: 10,
      price: 0.98,
      postOnly: true,
      clientOrderId: name,
    });
    expect(await trader.client.placeTrade(crossing)).toMatchObject({
      success: false,
      errorCode: 'post_only_would_cross',
    });
    expect((await trader.client.placeTrade(await resting(name))).success).toBe(true);
  });

  test('belongs to its agent alone', async () => {
    const other = await newTrader(service);
    const name = newName();
    const first = await trader.client.placeTrade(await resting(name));
    const second = await other.client.placeTrade(await resting(name, 10, other));
    expect([first.success, second.success]).toEqual([true, true]);
    expect(await other.client.listOrders({ clientOrderId: name })).toHaveLength(1);
  });

  test('is checked where an order is only validated or prepared', async () => {
    const name = newName();
    const intent: TradeIntent = {
      ...{ clientOrderId: name, marketId: market.id, outcome: 'YES', side: 'BUY', size: 10 },
      price: Number(market.tickSize),
    };
    const pins = { ...trader, market };
    const prepared = await trader.client.prepareTrade(intent);
    expect(prepared.body.clientOrderId).toBe(name);
    const signed = await signPrepared(verifyPrepared(prepared, intent, pins), trader.signer);
    const placed = await trader.client.placeTrade(signed);
    const same = await trader.client.prepareTrade(intent);
    expect(same.checks.find(({ code }) => code === 'client_order_id_already_used')).toMatchObject({
      passed: true,
    });

    const other = await trader.client.prepareTrade({ ...intent, size: 11 });
    expect(other.accepted).toBe(false);
    const check = other.checks.find(({ code }) => code === 'client_order_id_already_used');
    expect(check).toMatchObject({ passed: false });
    expect(check?.message).toContain(placed.orderId);
    const validated = refused(trader.client.placeTrade({ ...(await resting(name, 11)), validateOnly: true }));
    expect(await validated).toMatchObject({ status: 409, orderId: placed.orderId });
  });

  test('a misspelt, empty or too long one is refused as a field', async () => {
    const order = await resting(newName());
    const { clientOrderId: _name, ...rest } = order;
    for (const body of [
      { ...rest, clientOrderID: 'x' },
      { ...rest, clientOrderId: '' },
      { ...rest, clientOrderId: 'x'.repeat(65) },
      { ...rest, clientOrderId: 'a\u0000b' },
    ])
      expect(await trader.post('/markets/trade', body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
    const wrong = await trader.get('/markets/orders?clientOrderID=x');
    expect(wrong.status).toBe(400);
  });

  test('a stranger learns nothing by asking', async () => {
    const name = newName();
    await trader.client.placeTrade(await resting(name));
    const stranger = await newAgent(service);
    const found = await stranger.get(`/markets/orders?clientOrderId=${name}`);
    expect(found.body).toEqual([]);
  });
});

describe('on venue B', () => {
  let agent: SandboxTrader;
  let quoted: Market;
  beforeAll(async () => {
    agent = await newSandboxTrader(service);
    quoted = await aSandboxMarket(agent.client);
  });
  const trade = (clientOrderId: string, amount: number) =>
    agent.client.venueB.trade({
      ...{ ticker: quoted.id, side: 'YES', action: 'BUY', amount, clientOrderId },
      signer: agent.signer,
    });

  test('another quote under the name is refused with the first order’s id', async () => {
    const name = newName();
    const { orderId } = await trade(name, 5);
    expect(await refused(trade(name, 6))).toMatchObject({
      status: 409,
      code: 'client_order_id_already_used',
      orderId,
    });
    await agent.ended(orderId);
    expect(await refused(trade(name, 5))).toMatchObject({ status: 409, orderId });
    expect(await agent.client.venueB.orders({ clientOrderId: name })).toMatchObject([
      { orderId, clientOrderId: name },
    ]);
  });
});
