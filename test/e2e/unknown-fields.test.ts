/** Fields that are not declared are refused where they could change the effect, and wherever they look like a typing error. */
import * as contract from '@bellwether/contract';
import { buildLimitOrder, type Market, orderIdOf } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import { edits, isNear, nearestName } from '../../packages/server/src/platform/http/validation.ts';
import {
  aMarket,
  call,
  marketBuy,
  newTrader,
  type RawAnswer,
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

const post = (path: string, body: unknown) => trader.post(path, body);
const get = (path: string) => trader.get(path);

const refusedFields = ({ status, body }: RawAnswer) => {
  expect({ status, code: body.code }, JSON.stringify(body)).toEqual({ status: 400, code: 'invalid_request' });
  return body.errors as { path: string; message: string }[];
};

describe('where a field could change what happens', () => {
  test('a misspelt postOnly does not take liquidity', async () => {
    const order = await restingOrder(trader, market);
    const answer = await post('/markets/trade', { ...order, postonly: true });
    expect(refusedFields(answer)).toEqual([
      {
        path: 'postonly',
        code: 'additionalProperties',
        message: 'postonly is not a known field (did you mean "postOnly"?)',
      },
    ]);
    expect((await get('/markets/orders/open')).body).toEqual([]);
  });

  test('fields of the signed order are checked, too, and all faults are reported together', async () => {
    const request = await restingOrder(trader, market);
    const answer = await post('/markets/trade', {
      ...request,
      outcome: 'MAYBE',
      dryRun: true,
      order: { ...request.order, makerAmonut: '1' },
    });
    const errors = refusedFields(answer);
    expect(errors.map(({ path }) => path).sort()).toEqual(['dryRun', 'order.makerAmonut', 'outcome']);
    expect(errors.find(({ path }) => path === 'order.makerAmonut')?.message).toContain('"makerAmount"');
    expect(errors.find(({ path }) => path === 'dryRun')?.message).toContain(
      'known are venue, marketConditionId',
    );
  });

  test('a parameter in the URL of a trade does not bypass the check', async () => {
    const answer = await post('/markets/trade?dryRun=true', await restingOrder(trader, market));
    expect(refusedFields(answer)[0]?.path).toBe('dryRun');
  });

  test('cancel-market with a misspelt market cancels nothing', async () => {
    const placed = await trader.client.placeTrade(await restingOrder(trader, market));
    const answer = await post('/markets/orders/cancel-market', { conditionId: market.conditionId });
    expect(refusedFields(answer)[0]?.message).toContain('did you mean "marketConditionId"?');
    expect((await get('/markets/orders/open')).body.map(({ orderId }: contract.Order) => orderId)).toEqual([
      placed.orderId,
    ]);
    await trader.client.cancelOrder(placed.orderId);
  });

  test('filters of cancel-market are refused when all orders are canceled', async () => {
    const placed = await trader.client.placeTrade(await restingOrder(trader, market));
    const cancelAll = (query: string) =>
      call(service, 'DELETE', `/markets/orders${query}`, { key: trader.apiKey });
    const [error] = refusedFields(await cancelAll(`?marketConditionId=${market.conditionId}`));
    expect(error?.message).toContain('POST /markets/orders/cancel-market');
    expect(refusedFields(await cancelAll('?force=true'))).toHaveLength(1);
    expect((await cancelAll('')).body.results[0].canceled).toEqual([placed.orderId]);
  });

  test.each([
    ['/markets/orders?status=rejected', 'status', 'orderStatus'],
    ['/markets/orders/open?marketConditionid=1', 'marketConditionid', 'marketConditionId'],
    ['/markets?q=a&eventStatus=closed', 'eventStatus', 'eventsStatus'],
    ['/markets/current-positions?wallet=0x1', 'wallet', null],
    ['/agents/trades?venu=polymarket', 'venu', 'venue'],
    ['/agent/skill/skills?categoy=1', 'categoy', 'category'],
    ['/venueb/agent/orders?ticker=X', 'ticker', 'marketTicker'],
  ])('%s is refused', async (path, field, nearest) => {
    const [error] = refusedFields(await get(path));
    expect(error?.path).toBe(field);
    if (nearest !== null) expect(error?.message).toContain(`did you mean "${nearest}"?`);
  });

  test.each([
    ['/agents/settings', { maxTradesPerDay: 5, paused: true }],
    ['/markets/risk-settings', { stopLoss: 5 }],
    ['/markets/redeem', { marketId: '1', outcome: 'YES' }],
    ['/venueb/agent/quote', { marketTicker: 'X', side: 'YES', action: 'BUY', amount: 1, slippage: 5 }],
    ['/venueb/agent/submit', { quoteId: 'x', signedTransaction: 'x', dryRun: true }],
    ['/venueb/agent/charge-fee', { amount: '1', fromAddress: 'x', currency: 'USDC' }],
    ['/venueb/agent/positions', { wallet: 'x' }],
    ['/markets/batch-trade', { orders: [{}], mode: 'atomic' }],
  ])('POST %s is strict', async (path, body) => {
    expect(
      refusedFields(await post(path, body)).some(({ message }) => /is not a known field/.test(message)),
    ).toBe(true);
  });

  test('the OpenAPI document says so', async () => {
    const { body } = await get('/openapi.json');
    const trade = body.paths['/markets/trade'].post;
    const schema = trade.requestBody.content['application/json'].schema;
    expect(schema.additionalProperties).toBe(false);
    expect(schema.properties.order.additionalProperties).toBe(false);
    expect(trade.description).toContain('Unknown fields are refused');
    const cancel = body.paths['/markets/orders/cancel'].post;
    expect(cancel.description).toContain('Unknown fields are ignored.');
  });
});

describe('other fields', () => {
  test('an unknown field never blocks a cancel by id', async () => {
    const placed = await trader.client.placeTrade(await restingOrder(trader, market));
    const answer = await post('/markets/orders/cancel', {
      orderId: placed.orderId,
      orderld: 5,
      venue: { any: 'thing' },
      walletAddress: null,
    });
    expect(answer).toMatchObject({ status: 200, body: { success: true, canceled: [placed.orderId] } });
  });

  test('an unknown field is ignored, one within two edits of a known name is refused', async () => {
    const named = await call(service, 'POST', '/agents/register', { body: { name: 'A', framework: 'x' } });
    expect(named.status).toBe(200);
    const misspelt = await call(service, 'POST', '/agents/register', {
      body: { name: 'A', descripton: 'x' },
    });
    expect(refusedFields(misspelt)[0]?.message).toContain('did you mean "description"?');
    expect(
      refusedFields(await get(`/markets/context/${market.id}?my_probability=0.5`))[0]?.message,
    ).toContain('"myProbability"');
    expect((await get(`/markets/${market.id}?includeTag=true`)).status).toBe(200);
  });

  test('fields that other public clients send are accepted and have their effect', async () => {
    const taker = await newTrader(service);
    const body = await marketBuy(taker, market, 10);
    expect((await taker.client.placeTrade(body)).success).toBe(true);
    const user = taker.funder;
    const read = (query: string) => taker.get(`/markets/current-positions?${query}`);
    const all = `user=${user}&venue=polymarket&limit=100&offset=0&sortBy=TOKENS&sortDirection=ASC`;
    expect(
      (await read(`${all}&market=${market.conditionId.toUpperCase()}&sizeThreshold=1`)).body,
    ).toHaveLength(1);
    expect((await read(`${all}&sizeThreshold=100000`)).body).toEqual([]);
    expect((await read(`${all}&redeemable=true`)).body).toEqual([]);
    expect((await read('sortBy=LUCK')).body.code).toBe('unknown_sort_field');
    const closed = await taker.get(
      `/markets/closed-positions?user=${user}&venue=polymarket&market=1&title=x&limit=10&offset=0&sortBy=REALIZEDPNL&sortDirection=ASC`,
    );
    expect(closed).toMatchObject({ status: 200, body: [] });
    for (const path of [
      '/agents/trades?venue=all&limit=50&offset=0',
      '/markets/positions/expiring?hours=24&venue=all&limit=50&offset=0',
      '/markets/portfolio?venue=all',
      '/markets/orders?venue=all&limit=20&offset=0',
      '/markets/orders/open?venue=all',
    ])
      expect((await taker.get(path)).status, path).toBe(200);
    const trades = await taker.get('/agents/trades');
    expect(trades.body.venue).toBe('all');
  });

  test('names of any length and number are checked, and only so many are compared with known ones', async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`field${i}`, i]));
    const answer = await post('/agents/settings', { ...many, ['x'.repeat(5000)]: 1 });
    expect(answer.status).toBe(400);
    expect(answer.body.errors.length).toBeLessThanOrEqual(50);
    expect(answer.body.errors.every(({ path }: { path: string }) => path.length < 200)).toBe(true);
  });
});

const OPERATIONS = (Object.values(contract) as unknown[]).filter(
  (value): value is contract.Operation => typeof value === 'object' && value !== null && 'rateClass' in value,
);

/** Each second name of a field that an operation takes, with the first one. */
const SECOND_NAMES = OPERATIONS.filter(({ permission }) => permission !== 'owner').flatMap(
  ({ id, method, path, query, body }) =>
    [query, body].flatMap((schema) => {
      const names = (schema as { 'x-aliases'?: Record<string, string> } | undefined)?.['x-aliases'] ?? {};
      return Object.entries(names).map(([second, first]) => ({ id, method, path, schema, second, first }));
    }),
);

describe('a field of two names', () => {
  const sent = (method: string, path: string, fields: Record<string, string>) => {
    const isQuery = method === 'GET';
    const query = isQuery ? `?${new URLSearchParams(fields)}` : '';
    return call(service, method, path + query, {
      key: trader.apiKey,
      ...(isQuery ? {} : { body: fields }),
    });
  };
  const pathsOf = ({ body }: RawAnswer) => body.errors.map(({ path }: { path: string }) => path);

  test.each(SECOND_NAMES)('$method $path names $second, where that was sent', async (one) => {
    const { method, path, second, first } = one;
    const answer = await sent(method, path, { [second]: '' });
    expect(answer.status).toBe(400);
    expect(pathsOf(answer)).toContain(second);
    expect(pathsOf(answer)).not.toContain(first);
    expect(answer.body.detail).toContain(`${second} must`);
    const both = await sent(method, path, { [first]: 'one', [second]: 'another' });
    expect(both.body.errors).toContainEqual(expect.objectContaining({ path: second, code: 'contradiction' }));
    const own = await sent(method, path, { [first]: '' });
    expect(pathsOf(own)).toContain(first);
    expect(pathsOf(own)).not.toContain(second);
  });

  test('is named as it was sent by what is found out later, too, and in each item of a batch', async () => {
    const stranger = await newTrader(service);
    const set = { clientOrderId: 'two-names', marketConditionId: market.conditionId, amount: 1 };
    for (const name of ['address', 'walletAddress']) {
      const { status, body } = await post('/markets/split', { ...set, [name]: stranger.funder });
      expect([status, body.code, body.errors[0].path]).toEqual([403, 'credentials_not_registered', name]);
      const unlinked = await post('/wallet/unlink', { [name]: stranger.funder });
      expect([unlinked.body.code, pathsOf(unlinked)]).toEqual(['wallet_not_found', [name]]);
    }
    for (const name of ['marketId', 'marketConditionId']) {
      const redeemed = await post('/markets/redeem', { [name]: 'no such market' });
      expect([redeemed.body.code, pathsOf(redeemed)]).toEqual(['market_not_found', [name]]);
    }
    const intent = { clientOrderId: 'i', outcome: 'YES', side: 'BUY' };
    const { body } = await post('/markets/batch-trade/prepare', {
      intents: [{ ...intent, marketId: '' }, { ...intent, marketConditionId: '' }, intent],
    });
    const paths = body.results.map(({ problem }: { problem: RawAnswer['body'] }) => problem.errors[0].path);
    expect(paths).toEqual(['marketId', 'marketConditionId', 'marketConditionId']);
  });

  test('a market is named by marketConditionId, or by the older word, for one and the same order', async () => {
    const set = { clientOrderId: 'one-set', amount: 2 };
    const first = await post('/markets/split', { ...set, marketConditionId: market.conditionId });
    const again = await post('/markets/split', { ...set, marketId: market.conditionId });
    expect(first).toMatchObject({ status: 200, body: { marketConditionId: market.conditionId } });
    expect(again).toMatchObject({ status: 200, body: { orderId: first.body.orderId } });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const name of ['marketId', 'marketConditionId'])
      expect((await get(`/markets/check?${name}=${market.id}`)).body).toEqual({ exists: true });
    const neither = await post('/markets/split', set);
    expect(pathsOf(neither)).toEqual(['marketConditionId']);
    const positions = (await get('/markets/current-positions')).body;
    for (const one of positions) expect(one.marketConditionId).toBe(one.conditionId);
    const book = (await get(`/markets/orderbook/${market.clobTokenIds[0]}`)).body;
    expect(book.marketConditionId).toBe(market.conditionId);
  });
});

describe('names that look alike', () => {
  test('the distance counts edits', () => {
    expect(edits('postonly', 'postonly', 2)).toBe(0);
    expect(edits('kitten', 'sitting', 3)).toBe(3);
    expect(edits('a', 'abcdefgh', 2)).toBe(3);
  });

  test('spellings of one name are equal; a short name matches few others', () => {
    expect(isNear('post_only', 'postOnly')).toBe(true);
    expect(isNear('venu', 'venue')).toBe(true);
    expect(isNear('x', 'q')).toBe(false);
    expect(isNear('includeTag', 'venue')).toBe(false);
  });

  test('a part of a name suggests the full name', () => {
    expect(nearestName('status', ['venue', 'orderStatus'])).toBe('orderStatus');
    expect(nearestName('conditionId', ['tokenId', 'marketConditionId'])).toBe('marketConditionId');
    expect(nearestName('zzzzzzzz', ['venue', 'orderStatus'])).toBeNull();
  });
});

test('every operation that changes money or lists by filter is strict', () => {
  const strict = new Set(
    OPERATIONS.filter(({ unknownFields }) => unknownFields === 'refuse').map(({ id }) => id),
  );
  for (const { id, method, response, query, body, permission } of OPERATIONS) {
    const isList =
      method === 'GET' && query !== undefined && (response as { type?: string }).type === 'array';
    if (isList && permission === 'agent') expect(strict.has(id), id).toBe(true);
    if (body !== undefined && /^(place|batch|quote|submit|redeem|charge|update\w*Settings)/.test(id))
      expect(strict.has(id) || id === 'submitSkill', id).toBe(true);
  }
});

const rest = async () => {
  const order = await restingOrder(trader, await aMarket(trader.client));
  expect((await trader.post('/markets/trade', order)).status).toBe(201);
  return order;
};

describe('DELETE /markets/orders', () => {
  beforeAll(async () => {
    trader = await newTrader(service);
  });
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

test('under the profile polymarket none of them may be missing', async () => {
  const signing = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  const other = await newTrader(signing);
  const signed = await buildLimitOrder({
    ...{ signer: other.signer, market: await aMarket(other.client), profile: 'polymarket' },
    ...{ side: 'BUY', price: '0.05', size: 10, outcome: 'YES' },
  });
  const { orderVersion: _said, ...inferred } = signed;
  const refused = async (request: object, left: readonly ('timestamp' | 'metadata' | 'builder')[]) => {
    const order = { ...signed.order };
    for (const name of left) delete order[name];
    const body = { ...request, order };
    const { body: problem } = await call(signing, 'POST', '/markets/trade', { key: other.apiKey, body });
    return { left, code: problem.code, paths: problem.errors?.map(({ path }: { path: string }) => path) };
  };
  for (const left of [['metadata'], ['builder'], ['timestamp'], ['metadata', 'builder']] as const)
    for (const request of [signed, inferred])
      expect(await refused(request, left)).toEqual({
        ...{ left, code: 'invalid_request', paths: left.map((name) => `order.${name}`) },
      });
  const all = ['timestamp', 'metadata', 'builder'] as const;
  expect(await refused({ ...signed, orderVersion: 2 }, all)).toEqual({
    ...{ left: all, code: 'invalid_request', paths: all.map((name) => `order.${name}`) },
  });
  // It may be an order of version 1, which has none of them: the signature tells.
  expect(await refused(inferred, all)).toMatchObject({ code: 'invalid_order_payload', paths: ['order'] });
  expect((await call(signing, 'POST', '/markets/trade', { key: other.apiKey, body: inferred })).status).toBe(
    201,
  );
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
