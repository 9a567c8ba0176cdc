/**
 * Orders that the venue's official clients post at the door: every type, every kind of signature, every refusal, every cancel; then the
 * account's private data beyond what the clients' methods show: who may read it, in which pages, and how often.
 */
import { buildLimitOrder, type Market, type SignatureType, Signer } from '@bellwether/sdk';
import { OrderType, Side, type SignedOrder, type TickSize } from '@polymarket/clob-client';
import { OrderType as OrderTypeV2, Side as SideV2 } from '@polymarket/clob-client-v2';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { aMarket, newAgent, sharedTestService, startTestService, type TestService } from '../harness.ts';
import { ask, clientOne, clientTwo, doorOf, newOfficialWallet } from '../official-clients.ts';

let service: TestService;
/** Under its order profile, client 2 signs another struct. */
let polymarket: TestService;
let plain: Market;
let negRisk: Market;

beforeAll(async () => {
  polymarket = await sharedTestService({ VENUE_A_ORDER_PROFILE: 'polymarket' });
  service = await sharedTestService();
  const { client } = await newAgent(service);
  [plain, negRisk] = [await aMarket(client, '0.01'), await aMarket(client, '0.01', true)];
});

const yesOf = (market: Market): string => market.clobTokenIds[0]!;
const options = (market: Market) => ({ tickSize: market.tickSize as TickSize, negRisk: market.negRisk });
const bid = (on: Market, size = 10, price = 0.01) => ({ tokenID: yesOf(on), side: Side.BUY, price, size });
const buy = (on: Market, amount: number) => ({ tokenID: yesOf(on), side: Side.BUY, amount });
const HASH = expect.stringMatching(/^0x[0-9a-f]{64}$/);

describe.each([0, 1, 2] as const)('client 1, signature type %d', (signatureType) => {
  test.each(['plain', 'negRisk'])('posts every type of order on a market that is %s', async (which) => {
    const market = which === 'plain' ? plain : negRisk;
    const wallet = await newOfficialWallet(service, signatureType);
    const clob = clientOne(service, wallet, signatureType);
    const tokenID = yesOf(market);

    const bought = await clob.createAndPostMarketOrder(buy(market, 20), options(market), OrderType.FOK);
    expect(bought).toMatchObject({ success: true, errorMsg: '', status: 'matched', transactionsHashes: [] });
    expect(bought.orderID).toEqual(HASH);
    expect(bought.tradeIDs).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(Number(bought.makingAmount)).toBeLessThanOrEqual(20);

    const offer = { tokenID, side: Side.SELL, price: 0.99, size: 6 };
    const ask = await clob.createAndPostOrder(offer, options(market), OrderType.GTC, false, true);
    expect(ask).toEqual({
      ...{ success: true, errorMsg: '', orderID: ask.orderID, status: 'live' },
      ...{ makingAmount: '', takingAmount: '', transactionsHashes: [], tradeIDs: [] },
    });
    const expiration = Math.floor(Date.now() / 1000) + 600;
    const gtd = await clob.createAndPostOrder({ ...bid(market), expiration }, options(market), OrderType.GTD);
    expect(gtd).toMatchObject({ success: true, status: 'live' });
    expect(await clob.getOpenOrders()).toEqual([
      expect.objectContaining({ id: ask.orderID, order_type: 'GTC', price: '0.99', side: 'SELL' }),
      {
        id: gtd.orderID,
        status: 'LIVE',
        owner: wallet.creds.key,
        maker_address: wallet.funder,
        market: market.conditionId,
        asset_id: tokenID,
        side: 'BUY',
        original_size: '10',
        size_matched: '0',
        price: '0.01',
        outcome: 'Yes',
        expiration: String(expiration),
        order_type: 'GTD',
        associate_trades: [],
        created_at: expect.any(Number),
      },
    ]);

    const rest = Math.floor((Number(bought.takingAmount) - 6) * 100) / 100;
    const sell = { tokenID, side: Side.SELL, amount: rest };
    const sold = await clob.createAndPostMarketOrder(sell, options(market), OrderType.FAK);
    expect(sold).toMatchObject({ success: true, status: 'matched' });
    expect(await clob.cancelOrder({ orderID: ask.orderID })).toEqual({
      canceled: [ask.orderID],
      not_canceled: {},
    });
    expect(await clob.cancelAll()).toEqual({ canceled: [gtd.orderID], not_canceled: {} });
    expect(await clob.getOpenOrders()).toEqual([]);
    expect(await clob.getOrder(gtd.orderID)).toMatchObject({ id: gtd.orderID, status: 'CANCELED' });
    expect(await clob.getOrder(bought.orderID)).toMatchObject({
      ...{ status: 'MATCHED', order_type: 'FOK', original_size: '20' },
      associate_trades: bought.tradeIDs,
    });
    const trades = await clob.getTrades();
    expect(trades.map(({ taker_order_id }) => taker_order_id)).toEqual([sold.orderID, bought.orderID]);
  });
});

// Its orders of version 1 know no deposit wallet.
test.each([
  ...([0, 1, 2] as const).map((type) => ['interface', type] as const),
  ...([0, 1, 2, 3] as const).map((type) => ['polymarket', type] as const),
])(
  'client 2 posts limit and market orders under the profile %s with signature type %d',
  async (profile, type) => {
    const desk = profile === 'interface' ? service : polymarket;
    const clob = clientTwo(desk, await newOfficialWallet(desk, type), type);
    for (const market of [plain, negRisk]) {
      const tokenID = yesOf(market);
      const bought = await clob.createAndPostMarketOrder({ tokenID, side: SideV2.BUY, amount: 20 });
      // The client waits for the hash of its trades.
      expect(bought).toMatchObject({ success: true, status: 'matched', transactionsHashes: [HASH] });
      const rested = await clob.createAndPostOrder({ tokenID, side: SideV2.SELL, price: 0.99, size: 5 });
      expect(rested).toMatchObject({ success: true, status: 'live' });
    }
    expect((await clob.cancelAll()).canceled).toHaveLength(2);
  },
);

test('an order for the venue’s third contract is a version that does not match', async () => {
  const clob = clientTwo(polymarket, await newOfficialWallet(polymarket));
  const order = await clob.createOrder(
    { tokenID: yesOf(plain), side: SideV2.BUY, price: 0.01, size: 5 },
    { tickSize: '0.01', negRisk: false, version: 3 },
  );
  expect(await clob.postOrder(order, OrderTypeV2.GTC)).toMatchObject({
    error: 'order_version_mismatch',
    status: 400,
  });
});

// No official client makes it.
test.each([0, 1, 2, 3] as const)(
  'the 12-field struct under the contract of version 2, of signature type %d, signed by its owner',
  async (signatureType: SignatureType) => {
    const key = generatePrivateKey();
    const wallet = await newOfficialWallet(service, signatureType, key);
    const { order } = await buildLimitOrder({
      ...{ signer: Signer.fromPrivateKey(key, { use: 'paper' }), signatureType, market: plain },
      ...{ outcome: 'YES', side: 'BUY', price: 0.01, size: 10 },
    });
    const clob = clientOne(service, wallet);
    // The client sends the side as text and the salt as a number.
    const posted = await clob.postOrder(
      { ...order, side: 0, salt: String(order.salt) } as never,
      OrderType.GTC,
    );
    expect(posted).toMatchObject({ success: true, status: 'live' });
    const { orderID } = posted;
    expect(await clob.getOpenOrders()).toMatchObject([{ id: orderID, maker_address: wallet.funder }]);
    expect(await clob.cancelOrder({ orderID })).toMatchObject({ canceled: [orderID] });
  },
);

describe('refusals, in the words of the venue', () => {
  /** A client of its own, and an order that it has signed. */
  const signedBid = async ({ size = 10, price = 0.01, expiration = 0 } = {}) => {
    const clob = clientOne(service, await newOfficialWallet(service));
    const signed = await clob.createOrder({ ...bid(plain, size, price), expiration }, options(plain));
    return { clob, signed };
  };
  const { GTC, GTD, FOK, FAK } = OrderType;

  test.each<[string, OrderType, { price?: number | 'ask'; size?: number; in?: number; postOnly?: true }]>([
    ['order <id> is invalid. Size (4) lower than the minimum: 5', GTC, { size: 4 }],
    // Later than now and sooner than the lead that the venue asks for.
    ['invalid expiration', GTD, { in: 150 }],
    [
      'not enough balance / allowance: the balance is not enough -> balance: 10000000000, order amount: 500000000000',
      ...([GTC, { price: 0.5, size: 1_000_000 }] as const),
    ],
    ['invalid post-only order: order crosses book', GTC, { price: 'ask', postOnly: true }],
    [
      "order couldn't be fully filled. FOK orders are fully filled or killed.",
      ...([FOK, { price: 0.02, size: 100 }] as const),
    ],
    [
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      ...([FAK, { price: 0.02, size: 100 }] as const),
    ],
    ['invalid amount for a marketable BUY order ($<ask>), min size: $1', FAK, { price: 'ask', size: 1 }],
    [
      'invalid amounts, the market buy orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals',
      ...([FOK, { price: 0.03, size: 33.33 }] as const),
    ],
  ])('%s', async (error, type, { price = 0.01, size, in: seconds, postOnly }) => {
    const { asks } = await clientOne(service, await newOfficialWallet(service)).getOrderBook(yesOf(plain));
    const ask = Number(asks.at(-1)?.price);
    const { clob, signed } = await signedBid({
      ...{ size, price: price === 'ask' ? ask : price },
      expiration: seconds && Math.floor(Date.now() / 1000) + seconds,
    });
    const answer = await clob.postOrder(signed, type, false, postOnly);
    const text = answer.error.replace(/\b0x[0-9a-f]{64}\b/, '<id>');
    expect({ ...answer, error: text }).toEqual({ error: error.replace('<ask>', String(ask)), status: 400 });
  });

  test('a price between the ticks', async () => {
    const { clob } = await signedBid();
    const between = await clob.orderBuilder.buildOrder(
      { ...bid(plain), price: 0.015, feeRateBps: 1000 },
      { tickSize: '0.001', negRisk: false },
    );
    expect((await clob.postOrder(between)).error).toMatch(
      /^order 0x[0-9a-f]{64} is invalid\. Price \(0\.015\) breaks minimum tick size rule: 0\.01$/,
    );
  });

  test('the same order twice', async () => {
    const { clob, signed } = await signedBid();
    const { orderID } = await clob.postOrder(signed);
    const error = `order ${orderID} is invalid. Duplicated.`;
    expect(await clob.postOrder(signed)).toEqual({ error, status: 400 });
  });

  test('another key, another signer, another signature', async () => {
    const { clob, signed } = await signedBid();
    const other = await newOfficialWallet(service);
    expect(await clientOne(service, other).postOrder(signed)).toEqual({
      error: 'the order signer address has to be the address of the API KEY',
      status: 400,
    });
    const changed: SignedOrder = { ...signed, makerAmount: '200000' };
    expect(await clob.postOrder(changed)).toEqual({ error: 'invalid signature', status: 400 });
    Object.assign(clob.creds!, { key: other.creds.key });
    expect(await clob.postOrder(signed)).toMatchObject({
      error: 'Unauthorized/Invalid api key',
      status: 401,
    });
  });

  test('a batch answers each order in its place, and a failed one with success', async () => {
    const { clob, signed } = await signedBid();
    const good = { order: signed, orderType: GTC };
    const bad = { order: await clob.createOrder({ ...bid(plain), size: 3 }), orderType: GTC };
    const failed = (why: string) => ({ success: true, errorMsg: expect.stringContaining(why), orderID: '' });
    expect(await clob.postOrders([good, bad, good])).toMatchObject([
      { success: true, errorMsg: '', status: 'live' },
      { ...failed('lower than the minimum: 5'), status: '' },
      failed('Duplicated'),
    ]);
    expect(await clob.postOrders(Array.from({ length: 16 }, () => good))).toEqual({
      error: 'Too many orders in payload: 16, max allowed: 15',
      status: 400,
    });
    expect(await clob.getOpenOrders()).toHaveLength(1);
  });
});

test('a client cancels only the account’s own open orders, each other with its reason', async () => {
  const mine = clientOne(service, await newOfficialWallet(service));
  const other = clientOne(service, await newOfficialWallet(service));
  const rest = async (clob: typeof mine, on: Market): Promise<string> =>
    (await clob.createAndPostOrder(bid(on), options(on))).orderID;
  const ids = [await rest(mine, plain), await rest(mine, plain), await rest(mine, negRisk)] as const;
  const foreign = await rest(other, plain);
  const unknown = `0x${'9'.repeat(64)}`;
  const gone = "order can't be found - already canceled or matched";
  expect(await mine.cancelOrders([ids[0], foreign, unknown, ids[0]])).toEqual({
    canceled: [ids[0]],
    not_canceled: { [foreign]: gone, [unknown]: gone },
  });
  const again = { canceled: [], not_canceled: { [ids[0]]: gone } };
  expect(await mine.cancelOrder({ orderID: ids[0] })).toEqual(again);
  expect(await mine.cancelOrder({ orderID: '0x12' })).toEqual({ error: 'Invalid orderID', status: 400 });
  for (const [filter, canceled] of [
    [{ market: negRisk.conditionId }, [ids[2]]],
    [{ asset_id: plain.clobTokenIds[1]! }, []],
    [{ asset_id: yesOf(plain) }, [ids[1]]],
  ] as const)
    expect(await mine.cancelMarketOrders(filter)).toEqual({ canceled, not_canceled: {} });
  expect(await mine.cancelMarketOrders({})).toEqual({ error: 'Invalid payload', status: 400 });
  expect(await mine.cancelOrders(Array.from({ length: 1_000 }, () => unknown))).toMatchObject({
    canceled: [],
  });
  expect(await other.getOpenOrders()).toHaveLength(1);
});

test('a read-only key reads orders, trades and balances, and changes nothing', async () => {
  const wallet = await newOfficialWallet(service);
  const clob = clientOne(service, wallet);
  const { orderID } = await clob.createAndPostOrder(bid(plain), options(plain));
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
  const { orderID } = await clob.createAndPostOrder(bid(plain), options(plain));
  const { tradeIDs } = await clob.createAndPostMarketOrder(buy(plain, 5), options(plain));
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
  const { asks } = await making.getOrderBook(yesOf(plain));
  const best = Math.round(Number(asks.at(-1)!.price) * 100 - 1) / 100;
  const made = await making.createAndPostOrder(bid(plain, 40, best), options(plain));
  await taking.createAndPostMarketOrder(buy(plain, 20), options(plain));
  const sell = { tokenID: yesOf(plain), side: Side.SELL, amount: 10 };
  const sold = await taking.createAndPostMarketOrder(sell, options(plain), OrderType.FOK);
  expect(sold).toMatchObject({
    success: true,
    makingAmount: '10',
    takingAmount: String(Number((best * 10).toFixed(6))),
  });
  const [open] = await making.getOpenOrders({ id: made.orderID });
  expect(open).toMatchObject({ size_matched: '10', original_size: '40', associate_trades: sold.tradeIDs });
  const [trade] = await making.getTrades({ market: plain.conditionId });
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
  expect(await clob.createAndPostOrder(bid(plain, 5), options(plain))).toMatchObject({ success: true });
  for (let batch = 0; batch < 7; batch += 1) {
    const signed = await Promise.all(
      Array.from({ length: 15 }, () => clob.createOrder(bid(plain, 5), options(plain))),
    );
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
  const [door, tokenID] = [doorOf(service), yesOf(plain)];
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
