/** Private data of the CLOB door beyond what the clients' methods show: who may read it, in which pages, and how often. */
import { OrderType, Side } from '@polymarket/clob-client';
import { beforeAll, expect, test } from 'vitest';
import { aMarket, newAgent, sharedTestService, startTestService, type TestService } from '../harness.ts';
import { ask, clientOne, doorOf, newOfficialWallet } from '../official-clients.ts';

let service: TestService;
let tokenID: string;
let conditionId: string;
const options = { tickSize: '0.01', negRisk: false } as const;

beforeAll(async () => {
  service = await sharedTestService();
  const { client } = await newAgent(service);
  const market = await aMarket(client, '0.01');
  [tokenID, conditionId] = [market.clobTokenIds[0]!, market.conditionId];
});

const bid = (size: number, price = 0.01) => ({ tokenID, side: Side.BUY, price, size });
const buy = (amount: number) => ({ tokenID, side: Side.BUY, amount });

test('a read-only key reads orders, trades and balances, and changes nothing', async () => {
  const wallet = await newOfficialWallet(service);
  const clob = clientOne(service, wallet);
  const { orderID } = await clob.createAndPostOrder(bid(10), options);
  const { apiKey } = await clob.createReadonlyApiKey();
  const read = (target: string, method = 'GET', key = apiKey, address = wallet.eoa) =>
    fetch(doorOf(service) + target, {
      method,
      headers: { POLY_READONLY_API_KEY: key, POLY_ADDRESS: address },
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
  const orders = await (await read(`/data/orders?maker_address=${wallet.eoa}`)).json();
  expect(orders).toMatchObject({ count: 1, data: [{ id: orderID }] });
  for (const path of [`/data/order/${orderID}`, '/data/trades', '/balance-allowance?asset_type=COLLATERAL'])
    expect([path, (await read(path)).status]).toEqual([path, 200]);
  for (const request of [
    ...['POST /order', 'POST /orders', 'DELETE /order', 'DELETE /orders', 'DELETE /cancel-all'],
    ...['DELETE /cancel-market-orders', 'POST /v1/heartbeats', 'DELETE /notifications'],
    ...['POST /auth/readonly-api-key', 'DELETE /auth/api-key'],
  ]) {
    const [method, path] = request.split(' ') as [string, string];
    expect([request, (await read(path, method)).status]).toEqual([request, 401]);
  }
  const stranger = await newOfficialWallet(service);
  expect((await read('/data/orders', 'GET', apiKey, stranger.eoa)).status).toBe(401);
  expect(await clob.deleteReadonlyApiKey(apiKey)).toBe(true);
  expect((await read('/data/orders')).status).toBe(401);
  expect(await clientOne(service, stranger).deleteReadonlyApiKey(apiKey)).toBe(false);
});

test('no other key sees the orders and trades', async () => {
  const [mine, other] = [await newOfficialWallet(service), await newOfficialWallet(service)];
  const clob = clientOne(service, mine);
  const { orderID } = await clob.createAndPostOrder(bid(10), options);
  const { tradeIDs } = await clob.createAndPostMarketOrder(buy(5), options);
  const stranger = clientOne(service, other);
  expect(await stranger.getOrder(orderID)).toBeNull();
  expect(await stranger.getOpenOrders({ id: orderID })).toEqual([]);
  expect(await stranger.getTrades({ id: tradeIDs[0] })).toEqual([]);
  expect(await stranger.getTrades({ maker_address: mine.eoa })).toEqual([]);
  expect(await clob.getTrades({ id: tradeIDs[0] })).toHaveLength(1);
});

test('a resting order that is filled shows its trade, to the maker as a maker, and as a notification', async () => {
  const [maker, taker] = [await newOfficialWallet(service), await newOfficialWallet(service)];
  const [making, taking] = [clientOne(service, maker), clientOne(service, taker)];
  const { asks } = await making.getOrderBook(tokenID);
  const best = Math.round(Number(asks.at(-1)!.price) * 100 - 1) / 100;
  const made = await making.createAndPostOrder(bid(40, best), options);
  await taking.createAndPostMarketOrder(buy(20), options);
  const sell = { tokenID, side: Side.SELL, amount: 10 };
  const sold = await taking.createAndPostMarketOrder(sell, options, OrderType.FOK);
  expect(sold).toMatchObject({
    success: true,
    makingAmount: '10',
    takingAmount: String(Number((best * 10).toFixed(6))),
  });
  const [open] = await making.getOpenOrders({ id: made.orderID });
  expect(open).toMatchObject({ size_matched: '10', original_size: '40', associate_trades: sold.tradeIDs });
  const [trade] = await making.getTrades({ market: conditionId });
  expect(trade).toMatchObject({
    id: sold.tradeIDs[0],
    trader_side: 'MAKER',
    side: 'SELL',
    maker_orders: [
      { order_id: made.orderID, owner: maker.creds.key, matched_amount: '10', price: String(best) },
    ],
  });
  const [note] = await making.getNotifications();
  expect(note).toMatchObject({ type: 2, owner: maker.creds.key, payload: { order_id: made.orderID } });
  await making.dropNotifications({ ids: [String((note as unknown as { id: number }).id)] });
  expect(await making.getNotifications()).toEqual([]);
  await making.cancelAll();
});

test('lists end with the venue’s cursor, which is refused when it is sent', async () => {
  const wallet = await newOfficialWallet(service);
  const clob = clientOne(service, wallet);
  expect(await clob.createAndPostOrder(bid(5), options)).toMatchObject({ success: true });
  for (let batch = 0; batch < 7; batch += 1) {
    const signed = await Promise.all(Array.from({ length: 15 }, () => clob.createOrder(bid(5), options)));
    await clob.postOrders(signed.map((order) => ({ order, orderType: OrderType.GTC })));
  }
  const first = (await ask(service, wallet, 'GET', '/data/orders?next_cursor=MA==')).body;
  expect([first.limit, first.count, first.data.length, first.next_cursor]).toEqual([100, 100, 100, 'MTAw']);
  const rest = (await ask(service, wallet, 'GET', '/data/orders?next_cursor=MTAw')).body;
  expect([rest.count, rest.next_cursor]).toEqual([6, 'LTE=']);
  expect(await clob.getOpenOrders()).toHaveLength(106);
  for (const path of ['/data/orders', '/data/trades']) {
    const refused = await ask(service, wallet, 'GET', `${path}?next_cursor=LTE=`);
    expect([refused.status, refused.body]).toEqual([
      400,
      { error: 'next item should be greater than or equal to 0' },
    ]);
  }
  expect((await clob.cancelAll()).canceled).toHaveLength(106);
});

test('a signer’s limits: shown with each order, all or nothing for a batch', async () => {
  const limited = await startTestService({
    ...{ PAPER_WORLD: 'off', RATE_LIMITS: 'on', RATE_LIMIT_DOOR_BURST: '10000' },
  });
  const wallet = await newOfficialWallet(limited);
  const batch = JSON.stringify(Array.from({ length: 15 }, () => ({})));
  const answers = [];
  for (let i = 0; i < 6; i += 1) answers.push(await ask(limited, wallet, 'POST', '/orders', batch));
  expect(answers[0]?.status).toBe(200);
  expect(answers[0]?.headers.get('poly-ratelimit-remaining')).toBe('45');
  expect(answers[0]?.headers.get('poly-ratelimit-tier')).toBe('Standard');
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.body).toEqual({ error: 'Too Many Requests' });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  // Cancels have a bucket of their own.
  expect((await ask(limited, wallet, 'DELETE', '/cancel-all')).status).toBe(200);
  expect((await ask(limited, wallet, 'GET', '/v1/user/rate-limit-tier')).body).toEqual({
    tier: 'Standard',
    orders: { per_second: 40, burst: 60 },
    cancels: { per_second: 80, burst: 120 },
  });
  const stranger = await newOfficialWallet(limited);
  expect((await ask(limited, stranger, 'POST', '/orders', batch)).status).toBe(200);
});

test('reads of many prices: GET with a body, GET of all, and GETs that the venue refuses', async () => {
  const door = doorOf(service);
  const all = (await (await fetch(`${door}/prices`)).json()) as Record<string, unknown>;
  expect(all[tokenID]).toEqual({ BUY: expect.any(String), SELL: expect.any(String) });
  for (const path of ['/books', '/midpoints', '/spreads']) {
    const answer = await fetch(`${door}${path}?token_ids=${tokenID}`);
    expect([path, answer.status, await answer.json()]).toEqual([path, 400, { error: 'Invalid payload' }]);
  }
  const { request } = await import('node:http');
  const body = JSON.stringify([{ token_id: tokenID }]);
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${door}/last-trades-prices`, {
      method: 'GET',
      headers: { 'content-length': body.length },
    });
    sent.on('response', (answer) => {
      let received = '';
      answer.on('data', (chunk) => (received += chunk)).on('end', () => resolve(received));
    });
    sent.on('error', reject).end(body);
  });
  expect(JSON.parse(text)).toEqual([{ token_id: tokenID, price: expect.any(String), side: 'SELL' }]);
  const batch = await fetch(`${door}/batch-prices-history`, {
    method: 'POST',
    body: JSON.stringify({ markets: [tokenID], interval: '1d', fidelity: 1 }),
  });
  expect(await batch.json()).toEqual({ history: { [tokenID]: expect.arrayContaining([expect.anything()]) } });
  const coarse = await fetch(`${door}/prices-history?market=${tokenID}&interval=1m&fidelity=1`);
  expect([coarse.status, await coarse.json()]).toEqual([
    400,
    { error: "invalid filters: minimum 'fidelity' for '1m' range is 10" },
  ]);
});
