/** Orders that the venue's official clients post at the door: every type, every kind of signature, every refusal. */
import type { Market, SignatureType } from '@bellwether/sdk';
import { OrderType, Side, type TickSize } from '@polymarket/clob-client';
import { OrderType as OrderTypeV2, Side as SideV2 } from '@polymarket/clob-client-v2';
import { generatePrivateKey } from 'viem/accounts';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, newAgent, openMarkets, startTestService, type TestService } from '../harness.ts';
import { clientOne, clientTwo, newOfficialWallet } from '../official-clients.ts';

/** Under each order profile, client 2 signs another struct. */
const services: Record<'interface' | 'polymarket', TestService> = {} as never;
let service: TestService;
let markets: Record<'0.01' | 'negRisk', Market>;

beforeAll(async () => {
  for (const profile of ['interface', 'polymarket'] as const)
    services[profile] = await startTestService({ PAPER_WORLD: 'off', VENUE_A_ORDER_PROFILE: profile });
  service = services.interface;
  const { client } = await newAgent(service);
  const [plain] = await openMarkets(client, '0.01');
  const negRisk = (await client.listMarkets({ q: '*', limit: 500 })).find(
    (market) => market.negRisk && market.tickSize === '0.01',
  );
  markets = { '0.01': plain!, negRisk: negRisk! };
});

const yesOf = (market: Market): string => market.clobTokenIds[0]!;
const options = (market: Market) => ({ tickSize: market.tickSize as TickSize, negRisk: market.negRisk });

describe.each([0, 1, 2] as const)('client 1, signature type %d', (signatureType) => {
  test.each(['0.01', 'negRisk'] as const)('posts every type of order on %s', async (which) => {
    const market = markets[which];
    const wallet = await newOfficialWallet(service, signatureType);
    const clob = clientOne(service, wallet, signatureType);
    const tokenID = yesOf(market);

    const bought = await clob.createAndPostMarketOrder(
      { tokenID, side: Side.BUY, amount: 20 },
      options(market),
      OrderType.FOK,
    );
    expect(bought).toMatchObject({ success: true, errorMsg: '', status: 'matched', transactionsHashes: [] });
    expect(bought.orderID).toMatch(/^0x[0-9a-f]{64}$/);
    expect(bought.tradeIDs).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    expect(Number(bought.makingAmount)).toBeLessThanOrEqual(20);
    const held = Number(bought.takingAmount);

    const ask = await clob.createAndPostOrder(
      { tokenID, side: Side.SELL, price: 0.99, size: 6 },
      options(market),
      OrderType.GTC,
      false,
      true,
    );
    expect(ask).toEqual({
      success: true,
      errorMsg: '',
      orderID: ask.orderID,
      status: 'live',
      makingAmount: '',
      takingAmount: '',
      transactionsHashes: [],
      tradeIDs: [],
    });
    const expiration = Math.floor(Date.now() / 1000) + 600;
    const bid = await clob.createAndPostOrder(
      { tokenID, side: Side.BUY, price: 0.01, size: 10, expiration },
      options(market),
      OrderType.GTD,
    );
    expect(bid).toMatchObject({ success: true, status: 'live' });

    const open = await clob.getOpenOrders();
    expect(open).toEqual([
      expect.objectContaining({ id: ask.orderID, order_type: 'GTC', price: '0.99', side: 'SELL' }),
      {
        id: bid.orderID,
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
    const sold = await clob.createAndPostMarketOrder(
      { tokenID, side: Side.SELL, amount: Math.floor((held - 6) * 100) / 100 },
      options(market),
      OrderType.FAK,
    );
    expect(sold).toMatchObject({ success: true, status: 'matched' });
    expect(await clob.cancelOrder({ orderID: ask.orderID })).toEqual({
      canceled: [ask.orderID],
      not_canceled: {},
    });
    expect(await clob.cancelAll()).toEqual({ canceled: [bid.orderID], not_canceled: {} });
    expect(await clob.getOpenOrders()).toEqual([]);
    expect(await clob.getOrder(bid.orderID)).toMatchObject({ id: bid.orderID, status: 'CANCELED' });
    expect(await clob.getOrder(bought.orderID)).toMatchObject({
      status: 'MATCHED',
      order_type: 'FOK',
      original_size: '20',
      associate_trades: bought.tradeIDs,
    });
    const trades = await clob.getTrades();
    expect(trades.map(({ taker_order_id }) => taker_order_id)).toEqual([sold.orderID, bought.orderID]);
  });
});

describe.each(['interface', 'polymarket'] as const)('client 2 under the profile %s', (profile) => {
  // Its orders of version 1 know no deposit wallet.
  const types: readonly SignatureType[] = profile === 'interface' ? [0, 1, 2] : [0, 1, 2, 3];
  test.each(types)('posts limit and market orders with signature type %d', async (signatureType) => {
    service = services[profile];
    const wallet = await newOfficialWallet(service, signatureType);
    const clob = clientTwo(service, wallet, signatureType);
    for (const market of Object.values(markets)) {
      const tokenID = yesOf(market);
      const bought = await clob.createAndPostMarketOrder({ tokenID, side: SideV2.BUY, amount: 20 });
      expect(bought).toMatchObject({ success: true, status: 'matched' });
      // The client waits for the hash of its trades.
      expect(bought.transactionsHashes).toEqual([expect.stringMatching(/^0x[0-9a-f]{64}$/)]);
      const rested = await clob.createAndPostOrder({ tokenID, side: SideV2.SELL, price: 0.99, size: 5 });
      expect(rested).toMatchObject({ success: true, status: 'live' });
    }
    expect((await clob.cancelAll()).canceled).toHaveLength(2);
  });
});

test('an order for the venue’s third contract is a version that does not match', async () => {
  service = services.polymarket;
  const wallet = await newOfficialWallet(service);
  const clob = clientTwo(service, wallet);
  const order = await clob.createOrder(
    { tokenID: yesOf(markets['0.01']), side: SideV2.BUY, price: 0.01, size: 5 },
    { tickSize: '0.01', negRisk: false, version: 3 },
  );
  expect(await clob.postOrder(order, OrderTypeV2.GTC)).toMatchObject({
    error: 'order_version_mismatch',
    status: 400,
  });
});

describe('refusals, in the words of the venue', () => {
  const order = async (
    terms: { side?: Side; price?: number; size?: number; expiration?: number },
    type: OrderType = OrderType.GTC,
    postOnly = false,
  ) => {
    service = services.interface;
    const clob = clientOne(service, await newOfficialWallet(service));
    const market = markets['0.01'];
    const signed = await clob.createOrder(
      { tokenID: yesOf(market), side: Side.BUY, price: 0.01, size: 10, ...terms },
      options(market),
    );
    return { clob, signed, post: () => clob.postOrder(signed, type, false, postOnly) };
  };

  test('the same order twice', async () => {
    const { post } = await order({});
    const { orderID } = await post();
    expect(await post()).toEqual({ error: `order ${orderID} is invalid. Duplicated.`, status: 400 });
  });

  test('another key, another signer, another signature', async () => {
    const { signed } = await order({});
    const stranger = clientOne(service, await newOfficialWallet(service));
    expect(await stranger.postOrder(signed)).toEqual({
      error: 'the order signer address has to be the address of the API KEY',
      status: 400,
    });
    const mine = await order({});
    expect(await mine.clob.postOrder({ ...mine.signed, makerAmount: '200000' })).toEqual({
      error: 'invalid signature',
      status: 400,
    });
    const { creds } = await newOfficialWallet(service);
    const borrowed = await order({});
    Object.assign(borrowed.clob.creds!, { key: creds.key });
    expect(await borrowed.post()).toMatchObject({ error: 'Unauthorized/Invalid api key', status: 401 });
  });

  test('size, expiration, price and balance', async () => {
    const small = await order({ size: 4 });
    expect((await small.post()).error).toMatch(
      /^order 0x[0-9a-f]{64} is invalid\. Size \(4\) lower than the minimum: 5$/,
    );
    const soon = await order({ expiration: Math.floor(Date.now() / 1000) + 30 }, OrderType.GTD);
    expect(await soon.post()).toEqual({ error: 'invalid expiration', status: 400 });
    const dear = await order({ price: 0.5, size: 1_000_000 });
    expect(await dear.post()).toEqual({
      error:
        'not enough balance / allowance: the balance is not enough -> balance: 10000000000, order amount: 500000000000',
      status: 400,
    });
    const fine = await order({});
    const market = markets['0.01'];
    const off = await fine.clob.orderBuilder.buildOrder(
      { tokenID: yesOf(market), side: Side.BUY, price: 0.015, size: 10, feeRateBps: 1000 },
      { tickSize: '0.001', negRisk: false },
    );
    expect((await fine.clob.postOrder(off)).error).toMatch(
      /^order 0x[0-9a-f]{64} is invalid\. Price \(0\.015\) breaks minimum tick size rule: 0\.01$/,
    );
  });

  test('post-only, FOK, FAK and a marketable BUY under one dollar', async () => {
    const market = markets['0.01'];
    const { asks } = await clientOne(service, await newOfficialWallet(service)).getOrderBook(yesOf(market));
    const ask = Number(asks.at(-1)?.price);
    const crossing = await order({ price: ask, size: 10 }, OrderType.GTC, true);
    expect(await crossing.post()).toEqual({
      error: 'invalid post-only order: order crosses book',
      status: 400,
    });
    const fok = await order({ price: 0.02, size: 100 }, OrderType.FOK);
    expect(await fok.post()).toEqual({
      error: "order couldn't be fully filled. FOK orders are fully filled or killed.",
      status: 400,
    });
    const fak = await order({ price: 0.02, size: 100 }, OrderType.FAK);
    expect(await fak.post()).toEqual({
      error:
        'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      status: 400,
    });
    const cheap = await order({ price: ask, size: 1 }, OrderType.FAK);
    expect((await cheap.post()).error).toBe(
      `invalid amount for a marketable BUY order ($${ask}), min size: $1`,
    );
    const fine = await order({ price: 0.03, size: 33.33 }, OrderType.FOK);
    expect((await fine.post()).error).toBe(
      'invalid amounts, the market buy orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals',
    );
  });

  test('a batch answers each order in its place, and a failed one with success', async () => {
    const { clob, signed } = await order({});
    const bad = await clob.createOrder({
      tokenID: yesOf(markets['0.01']),
      side: Side.BUY,
      price: 0.01,
      size: 3,
    });
    const good = { order: signed, orderType: OrderType.GTC };
    const answers = await clob.postOrders([good, { order: bad, orderType: OrderType.GTC }, good]);
    expect(answers).toMatchObject([
      { success: true, errorMsg: '', status: 'live' },
      {
        success: true,
        errorMsg: expect.stringContaining('lower than the minimum: 5'),
        orderID: '',
        status: '',
      },
      { success: true, errorMsg: expect.stringContaining('Duplicated'), orderID: '' },
    ]);
    expect(await clob.postOrders(Array.from({ length: 16 }, () => good))).toEqual({
      error: 'Too many orders in payload: 16, max allowed: 15',
      status: 400,
    });
    expect(await clob.getOpenOrders()).toHaveLength(1);
  });
});

describe('cancels', () => {
  test('only the account’s own open orders, each with its reason', async () => {
    service = services.interface;
    const mine = clientOne(service, await newOfficialWallet(service));
    const other = clientOne(service, await newOfficialWallet(service));
    const [market, second] = [markets['0.01'], markets.negRisk];
    const rest = (clob: typeof mine, on: Market) =>
      clob
        .createAndPostOrder({ tokenID: yesOf(on), side: Side.BUY, price: 0.01, size: 10 }, options(on))
        .then(({ orderID }) => orderID as string);
    const ids = [await rest(mine, market), await rest(mine, market), await rest(mine, second)] as const;
    const foreign = await rest(other, market);
    const unknown = `0x${'9'.repeat(64)}`;
    const gone = "order can't be found - already canceled or matched";
    expect(await mine.cancelOrders([ids[0], foreign, unknown, ids[0]])).toEqual({
      canceled: [ids[0]],
      not_canceled: { [foreign]: gone, [unknown]: gone },
    });
    expect(await mine.cancelOrder({ orderID: ids[0] })).toEqual({
      canceled: [],
      not_canceled: { [ids[0]]: gone },
    });
    expect(await mine.cancelOrder({ orderID: '0x12' })).toEqual({ error: 'Invalid orderID', status: 400 });
    expect(await mine.cancelMarketOrders({ market: second.conditionId })).toEqual({
      canceled: [ids[2]],
      not_canceled: {},
    });
    expect(await mine.cancelMarketOrders({ asset_id: market.clobTokenIds[1]! })).toEqual({
      canceled: [],
      not_canceled: {},
    });
    expect(await mine.cancelMarketOrders({ asset_id: yesOf(market) })).toEqual({
      canceled: [ids[1]],
      not_canceled: {},
    });
    expect(await mine.cancelMarketOrders({})).toEqual({ error: 'Invalid payload', status: 400 });
    expect(await mine.cancelOrders(Array.from({ length: 1_000 }, () => unknown))).toMatchObject({
      canceled: [],
    });
    expect(await other.getOpenOrders()).toHaveLength(1);
  });
});

test('an order that was posted at the door is executed once, and the desk says so', async () => {
  service = services.interface;
  const key = generatePrivateKey();
  const wallet = await newOfficialWallet(service, 0, key);
  const clob = clientOne(service, wallet);
  const agent = await newAgent(service);
  await agent.client.registerCredentials({
    walletAddress: wallet.eoa,
    apiKey: wallet.creds.key,
    apiSecret: wallet.creds.secret,
    apiPassphrase: wallet.creds.passphrase,
  });
  await agent.client.updateSettings({ maxTradeAmount: 1_000 });
  const market = markets['0.01'];
  const tokenID = yesOf(market);
  const bought = await clob.createMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options(market));
  const request = (order: typeof bought) => ({
    marketConditionId: market.conditionId,
    marketQuestion: market.question,
    outcome: 'YES',
    orderSize: Number(order.takerAmount) / 1e6,
    price: Number(order.makerAmount) / Number(order.takerAmount),
    isLimitOrder: false,
    orderType: 'FOK',
    order,
  });
  const send = (order: typeof bought) =>
    call(service, 'POST', '/markets/trade', { key: agent.apiKey, body: request(order) });

  expect(await clob.postOrder(bought, OrderType.FOK)).toMatchObject({ success: true, status: 'matched' });
  const tokens = service.exchange.account(wallet.funder);
  const sent = await send(bought);
  expect([sent.status, sent.body]).toEqual([
    201,
    expect.objectContaining({ success: false, errorCode: 'duplicate_order' }),
  ]);
  expect(service.exchange.account(wallet.funder)).toEqual(tokens);
  expect(service.exchange.term).toBe(1);
  const me = await call(service, 'GET', '/agents/me', { key: agent.apiKey });
  expect(me.body).toMatchObject({ tradesToday: 0, openOrderCount: 0 });

  const other = await clob.createMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options(market));
  expect((await send(other)).body).toMatchObject({ success: true, status: 'matched' });
  expect((await clob.postOrder(other, OrderType.FOK)).error).toContain('Duplicated');
  // Orders of the desk are orders of the account.
  const { body } = await call(service, 'POST', '/markets/trade', {
    key: agent.apiKey,
    body: {
      ...request(await clob.createOrder({ tokenID, side: Side.BUY, price: 0.01, size: 10 }, options(market))),
      price: 0.01,
      orderType: 'GTC',
      isLimitOrder: true,
    },
  });
  expect(await clob.getOpenOrders()).toMatchObject([{ id: body.orderId, owner: wallet.creds.key }]);
  expect(await clob.cancelAll()).toMatchObject({ canceled: [body.orderId] });
});

test('fills of an order that was posted at the door do not count for the agent that the desk refused it to', async () => {
  service = services.interface;
  const wallet = await newOfficialWallet(service);
  const clob = clientOne(service, wallet);
  const agent = await newAgent(service);
  await agent.client.registerCredentials({
    walletAddress: wallet.eoa,
    apiKey: wallet.creds.key,
    apiSecret: wallet.creds.secret,
    apiPassphrase: wallet.creds.passphrase,
  });
  const market = markets['0.01'];
  const tokenID = yesOf(market);
  const seller = clientOne(service, await newOfficialWallet(service));
  const shares = await seller.createMarketOrder({ tokenID, side: Side.BUY, amount: 20 }, options(market));
  expect(await seller.postOrder(shares, OrderType.FOK)).toMatchObject({ status: 'matched' });

  const { asks } = await clob.getOrderBook(tokenID);
  const price = Math.round(Number(asks.at(-1)?.price) * 100 - 1) / 100;
  const bid = await clob.createOrder({ tokenID, side: Side.BUY, price, size: 10 }, options(market));
  expect(await clob.postOrder(bid, OrderType.GTC)).toMatchObject({ success: true, status: 'live' });
  const sent = await call(service, 'POST', '/markets/trade', {
    key: agent.apiKey,
    body: {
      marketConditionId: market.conditionId,
      marketQuestion: market.question,
      outcome: 'YES',
      orderSize: 10,
      price,
      orderType: 'GTC',
      order: bid,
    },
  });
  expect(sent.body).toMatchObject({ success: false, errorCode: 'duplicate_order' });
  const hit = await seller.createOrder({ tokenID, side: Side.SELL, price, size: 10 }, options(market));
  expect(await seller.postOrder(hit, OrderType.GTC)).toMatchObject({ status: 'matched' });

  expect(service.exchange.freeTokens(wallet.funder, market.conditionId, 'YES')).toBeGreaterThanOrEqual(
    10_000_000n,
  );
  const fills = await call(service, 'GET', '/markets/fills', { key: agent.apiKey });
  expect(fills).toMatchObject({ status: 200, body: [] });
  expect(await service.needs.orders.byId(agent.agentId, sent.body.orderId)).toMatchObject({
    status: 'rejected',
    filled: 0n,
  });
});
