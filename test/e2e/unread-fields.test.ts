/** Fields of a request that are not declared: never silently taken for something else. */
import { orderIdOf } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  newTrader,
  restingOrder,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

let service: TestService;
let trader: Trader;

beforeAll(async () => {
  service = await sharedTestService();
  trader = await newTrader(service);
});

const rest = async () => {
  const order = await restingOrder(trader, await aMarket(trader.client));
  expect((await trader.post('/markets/trade', order)).status).toBe(201);
  return order;
};

describe('DELETE /markets/orders', () => {
  const remove = (query = '', body?: unknown) =>
    call(service, 'DELETE', `/markets/orders${query}`, {
      key: trader.apiKey,
      ...(body === undefined ? {} : { body }),
    });

  test('refuses every parameter and field: a caller that sends one expects other orders to stay open', async () => {
    const order = await rest();
    for (const [query, body] of [
      ['?marketConditionID=0x1'],
      ['?market=0x1'],
      ['?dryRun=true'],
      ['', { marketConditionId: order.marketConditionId }],
      ['', { anything: 1, else: 2 }],
      ['', [order.marketConditionId]],
      ['', '"0x1"'],
    ] as const) {
      const { status, body: problem } = await remove(query, body);
      expect({ query, body, status }).toEqual({ query, body, status: 400 });
      expect(problem.code).toBe('invalid_request');
      if (body !== undefined) expect(problem.fix).toContain('/markets/orders/cancel-market');
    }
    expect(await trader.client.listOpenOrders({})).toHaveLength(1);
    const { body } = await remove('', { anything: 1, else: 2 });
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(['anything', 'else']);
  });

  test('an empty body passes', async () => {
    for (const body of [undefined, {}, '']) {
      await rest();
      expect((await remove('', body)).body.totalCanceled).toBeGreaterThan(0);
    }
  });

  test('so does cancel-market refuse what it does not know', async () => {
    await rest();
    const narrowed = (query: string, body: unknown) =>
      trader.post(`/markets/orders/cancel-market${query}`, body);
    expect((await narrowed('', { marketConditionID: '0x1' })).status).toBe(400);
    expect((await narrowed('?marketConditionId=0x1', {})).status).toBe(400);
    expect((await narrowed('', {})).body.totalCanceled).toBe(1);
  });
});

test('deprecated order fields are dropped under the profile interface, with any content', async () => {
  for (const extras of [
    { metadata: '', builder: null },
    { metadata: '0x', timestamp: 'abc' },
    { timestamp: -1, builder: { a: 1 } },
    { timestamp: Date.now(), metadata: `0x${'0'.repeat(64)}` },
  ]) {
    const order = await restingOrder(trader, await aMarket(trader.client));
    const body = { ...order, order: { ...order.order, ...extras } };
    const { status, body: answer } = await trader.post('/markets/trade', body);
    expect({ extras, status, orderId: answer.orderId }).toEqual({
      ...{ extras, status: 201, orderId: orderIdOf(order) },
    });
  }
});

test('under the profile polymarket they are signed, so each malformed one is named', async () => {
  const signing = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  const other = await newTrader(signing);
  const order = await restingOrder(other, await aMarket(other.client));
  const body = { ...order, order: { ...order.order, timestamp: 'abc', metadata: '', builder: null } };
  const { status, body: problem } = await call(signing, 'POST', '/markets/trade', {
    key: other.apiKey,
    body,
  });
  expect({ status, code: problem.code }).toEqual({ status: 400, code: 'invalid_request' });
  expect(problem.errors.map(({ path }: { path: string }) => path)).toEqual([
    'order.timestamp',
    'order.metadata',
    'order.builder',
  ]);
});

test('a concurrent twin of a signed order gets the answer that it is being placed', async () => {
  const order = await restingOrder(trader, await aMarket(trader.client));
  const answers = await Promise.all(Array.from({ length: 8 }, () => trader.post('/markets/trade', order)));
  const placed = answers.filter(({ status }) => status === 201);
  expect(new Set(placed.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  const twins = answers.filter(({ status }) => status === 409);
  expect(placed.length + twins.length).toBe(8);
  expect(twins.length).toBeGreaterThan(0);
  for (const { body, headers } of twins) {
    expect(body).toMatchObject({ code: 'idempotency_in_flight', orderId: orderIdOf(order) });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await trader.post('/markets/trade', order)).status).toBe(201);
});
