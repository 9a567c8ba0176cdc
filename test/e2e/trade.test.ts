/** The promises of POST /markets/trade: one effect, budgets that hold, and none of its effects where it is only checked. What it costs: trips.test.ts. */
import { type Market, orderIdOf } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  limitOrder,
  marketBuy,
  marketSell,
  newAgent,
  newTrader,
  openMarkets,
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

const send = (request: unknown, agent = trader, headers: Record<string, string> = {}) =>
  agent.post('/markets/trade', request, headers);
const usage = async (agent: Trader) => {
  const { safeguards } = await agent.client.getMarketContext(market.id);
  return { trades: safeguards.tradesToday.used, amount: safeguards.dailyTradeAmount.used };
};

describe('one effect', () => {
  test('the answer is 201 with the digest as order id', async () => {
    const request = await marketBuy(trader, market, 20);
    const { status, body } = await send(request);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      success: true,
      orderId: orderIdOf(request),
      status: 'matched',
      aiAgentId: trader.agentId,
      walletAddress: trader.funder,
      syncedToMkOrder: true,
      syncedToStrategyLog: true,
    });
  });

  test('the same signed order again gives the first answer and trades once', async () => {
    const request = await marketBuy(trader, market, 20);
    const before = await trader.client.getMe();
    const first = await send(request);
    const again = await send({ ...request, reasoning: 'labels do not count' });
    expect(again).toMatchObject({ status: 201, body: first.body });
    const after = await trader.client.getMe();
    expect(before.simulationBalance - after.simulationBalance).toBeCloseTo(20 + first.body.feePaid, 6);
    expect(after.tradesToday - before.tradesToday).toBe(1);
  });

  test('a resting order that has filled still gives its first answer', async () => {
    const maker = await newTrader(service);
    const taker = await newTrader(service);
    const price =
      Number(market.bestBid) + 0.01 < Number(market.bestAsk)
        ? Number(market.bestBid) + 0.01
        : Number(market.bestBid);
    const request = await limitOrder(maker, market, {
      side: 'BUY',
      price: price.toFixed(2),
      size: 5,
      postOnly: true,
    });
    const first = await send(request, maker);
    expect(first.body).toMatchObject({ success: true, status: 'live', filledSize: 0 });
    await taker.client.placeTrade(await marketBuy(taker, market, 20));
    const sold = await taker.client.placeTrade(
      await limitOrder(taker, market, { side: 'SELL', price: price.toFixed(2), size: 20, type: 'FAK' }),
    );
    expect(sold.success).toBe(true);
    const filled = await maker.client.getOrder(first.body.orderId);
    expect(filled).toMatchObject({
      status: 'filled',
      filledSize: 5,
      feePaid: 0,
      fills: [{ liquidity: 'maker' }],
    });
    expect((await send(request, maker)).body).toEqual(first.body);
  });

  test('simultaneous duplicates: one places the order, the others get its answer or idempotency_in_flight', async () => {
    const request = await marketBuy(trader, market, 20);
    const before = (await trader.client.getMe()).tradesToday;
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(request)));
    const placed = answers.filter(({ status }) => status === 201);
    expect(placed.length).toBeGreaterThan(0);
    for (const { body } of placed) expect(body).toEqual(placed[0]?.body);
    for (const { status, body, headers } of answers.filter((answer) => answer.status !== 201)) {
      expect({ status, code: body.code }).toEqual({ status: 409, code: 'idempotency_in_flight' });
      expect(headers.get('retry-after')).toBe('1');
    }
    expect((await trader.client.getMe()).tradesToday).toBe(before + 1);
  });

  test('another owner who sends a copied order learns nothing of it', async () => {
    const request = await restingOrder(trader, market);
    await send(request);
    const thief = await newTrader(service);
    expect(await send(request, thief)).toMatchObject({
      status: 403,
      body: { code: 'credentials_not_registered' },
    });
  });

  test('an Idempotency-Key replays the stored answer, marked as such', async () => {
    const request = await marketBuy(trader, market, 20);
    const first = await send(request, trader, { 'idempotency-key': 'one' });
    const again = await send(request, trader, { 'idempotency-key': 'one' });
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(first.headers.get('idempotency-replayed')).toBeNull();
  });

  test('a refusal is not stored under its Idempotency-Key: the request is checked again', async () => {
    const agent = await newTrader(service);
    await agent.client.updateSettings({ tradingPaused: true });
    const request = await marketBuy(agent, market, 20);
    const headers = { 'idempotency-key': 'paused' };
    expect((await send(request, agent, headers)).body.code).toBe('trading_paused');
    await agent.client.updateSettings({ tradingPaused: false });
    expect(await send(request, agent, headers)).toMatchObject({ status: 201, body: { success: true } });
  });
});

describe('the venue refuses', () => {
  test('a FOK that cannot be filled: 201, success false, the budget is returned', async () => {
    const agent = await newTrader(service);
    await agent.client.faucet({ address: agent.funder, amount: 10_000 });
    const before = await usage(agent);
    const request = await marketBuy(agent, market, 50, { worstPrice: market.tickSize, type: 'FOK' });
    expect(await send(request, agent)).toMatchObject({
      status: 201,
      body: {
        success: false,
        status: 'rejected',
        errorCode: 'fok_not_filled',
        errorMessage: expect.any(String),
      },
    });
    expect(await usage(agent)).toEqual(before);
    expect(await agent.client.getOrder(orderIdOf(request))).toMatchObject({
      status: 'rejected',
      orderStatus: 5,
      errorCode: 'fok_not_filled',
    });
    expect((await send(request, agent)).body).toMatchObject({ success: false, errorCode: 'fok_not_filled' });
  });

  test('rejects a post-only order that would cross', async () => {
    const request = await limitOrder(trader, market, { side: 'BUY', price: 0.9, size: 5, postOnly: true });
    expect((await send(request)).body).toMatchObject({ success: false, errorCode: 'post_only_would_cross' });
  });
});

describe('budgets', () => {
  test('a cancel returns the unspent amount, not the trade', async () => {
    const agent = await newTrader(service);
    const { orderId } = await agent.client.placeTrade(await restingOrder(agent, market, 100));
    expect(await usage(agent)).toEqual({ trades: 1, amount: 1 });
    await agent.client.cancelOrder(orderId);
    expect(await usage(agent)).toEqual({ trades: 1, amount: 0 });
    // The next trade adds the returned budget to the locked row.
    await agent.client.placeTrade(await restingOrder(agent, market, 100));
    expect(await usage(agent)).toEqual({ trades: 2, amount: 1 });
  });

  test('concurrent trades never exceed a cap by one trade or one micro-unit', async () => {
    const agent = await newTrader(service);
    await agent.client.updateSettings({ maxTradesPerDay: 12, dailyTradeAmountLimit: 1.05 });
    const requests = await Promise.all(Array.from({ length: 40 }, () => restingOrder(agent, market, 10)));
    const answers = await Promise.all(requests.map((request) => send(request, agent)));
    const placed = answers.filter(({ status }) => status === 201);
    // 0.1 collateral each: ten fit under 1.05, the eleventh would not.
    expect(placed.length).toBe(10);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.code))).toEqual(
      new Set(['daily_trade_amount_exceeded']),
    );
    expect(await usage(agent)).toEqual({ trades: 10, amount: 1 });
  });

  test('a pause applies to the next request; cancels still work', async () => {
    const agent = await newTrader(service);
    const { orderId } = await agent.client.placeTrade(await restingOrder(agent, market));
    await agent.client.updateSettings({ tradingPaused: true });
    expect((await send(await restingOrder(agent, market), agent)).body.code).toBe('trading_paused');
    expect(await agent.client.cancelOrder(orderId)).toMatchObject({ canceled: [orderId] });
  });
});

describe('after the trade', () => {
  test('positions, balance and fills agree with the exchange to the micro-unit', async () => {
    const agent = await newTrader(service);
    const [first, second] = (await openMarkets(agent.client)) as [Market, Market];
    for (const on of [first, second]) {
      const buy = await agent.client.placeTrade(await marketBuy(agent, on, 33.33, { outcome: 'NO' }));
      expect(buy.success).toBe(true);
      const sell = await agent.client.placeTrade(
        await marketSell(agent, on, 7.77, { outcome: 'NO', worstPrice: 0.05 }),
      );
      expect(sell.success).toBe(true);
    }
    const held = service.exchange.account(agent.funder);
    const positions = await agent.client.getCurrentPositions();
    expect(positions.length).toBe(2);
    for (const position of positions) {
      const tokens = held.tokens.get(position.conditionId);
      expect(BigInt(Math.round(position.size * 1e6))).toBe(tokens?.no);
    }
    const orders = await agent.client.listOrders();
    const spent = orders.reduce(
      (sum, { side, filledAmount, feePaid }) =>
        sum + Math.round((side === 'BUY' ? filledAmount : -filledAmount) * 1e6) + Math.round(feePaid * 1e6),
      0,
    );
    expect(10_000_000_000n - BigInt(spent)).toBe(held.available + held.held);
  });

  test('orders are listed, paged, filtered and shown in detail', async () => {
    const agent = await newTrader(service);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++)
      ids.push((await agent.client.placeTrade(await restingOrder(agent, market))).orderId);
    await agent.client.cancelOrder(ids[0] as string);
    const page = await agent.get('/markets/orders?limit=2');
    expect(page.body.map(({ orderId }: { orderId: string }) => orderId)).toEqual([ids[2], ids[1]]);
    expect(page.headers.get('x-total-count')).toBe('3');
    expect(page.headers.get('link')).toMatch(/cursor=[\w-]+>; rel="next"$/);
    expect((await agent.client.listOpenOrders()).map(({ orderId }) => orderId)).toEqual([ids[2], ids[1]]);
    expect((await agent.client.listOrders({ orderStatus: 3 })).map(({ orderId }) => orderId)).toEqual([
      ids[0],
    ]);
    const detail = await agent.client.getOrder(ids[0] as string);
    expect(detail.journal.map(({ event, status }) => `${event} → ${status}`)).toEqual([
      'recorded → submitting',
      'accepted → live',
      'canceled → canceled',
    ]);
    const all = await agent.client.cancelMarket({ marketConditionId: market.conditionId });
    expect(all).toMatchObject({ totalCanceled: 2, notCanceled: {} });
    expect(await agent.client.cancelOrder(ids[1] as string)).toMatchObject({
      canceled: [],
      notCanceled: { [ids[1] as string]: 'already canceled' },
    });
  });
});

describe('a trade that is only checked', () => {
  test('answers 200 with its order id, and nothing of it is recorded, counted or sent', async () => {
    const request = await marketBuy(trader, market, 20);
    const before = await trader.client.getMe();
    const key = { 'idempotency-key': 'checked-first' };
    const checked = await send({ ...request, validateOnly: true }, trader, key);
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
    const placed = await send(request, trader, key);
    expect(placed).toMatchObject({ status: 201, body: { success: true, status: 'matched' } });
    expect(placed.headers.get('idempotency-replayed')).toBeNull();
  });

  test('is refused with the errors of the trade, which are not noted as attempts', async () => {
    const poor = await newTrader(service);
    const stranger = await newAgent(service);
    await poor.client.updateSettings({ maxTradeAmount: 30_000 });
    const good = await marketBuy(poor, market, 20);
    const large = await marketBuy(poor, market, 20_000);
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
    const sendAs = (key: string, body: unknown) => call(service, 'POST', '/markets/trade', { key, body });
    const checked = [];
    for (const [body, key] of cases) {
      const answer = await sendAs(key, { ...(body as object), validateOnly: true });
      checked.push(answer);
    }
    expect((await poor.get('/agents/trades')).body.total).toBe(0);
    for (const [index, [body, key]] of cases.entries()) {
      const { instance: _instance, requestId: _id, ...traded } = (await sendAs(key, body)).body;
      const { instance: _other, requestId: _otherId, ...said } = checked[index]?.body ?? {};
      expect(checked[index]?.status).toBeGreaterThanOrEqual(400);
      expect(said).toEqual(traded);
    }
  });

  test('is refused under a pause, and with the same order under other options', async () => {
    const agent = await newTrader(service);
    const request = await restingOrder(agent, market);
    const placed = await agent.client.placeTrade(request);
    const replayed = await send({ ...request, validateOnly: true }, agent);
    expect(replayed).toMatchObject({ status: 200, body: { orderId: placed.orderId, validateOnly: true } });
    const other = await send({ ...request, postOnly: true, validateOnly: true }, agent);
    expect(other).toMatchObject({ status: 409, body: { code: 'order_already_placed' } });
    const shorter = await send({ ...request, cancelAfterMs: 60_000 }, agent);
    expect(shorter).toMatchObject({ status: 409, body: { code: 'order_already_placed' } });
    const timed = { ...(await restingOrder(agent, market)), cancelAfterMs: 60_000 };
    const first = await send(timed, agent);
    expect(await send(timed, agent)).toMatchObject({ status: 201, body: first.body });
    expect(await send({ ...timed, cancelAfterMs: 60_001 }, agent)).toMatchObject({ status: 409 });
    await agent.client.updateSettings({ tradingPaused: true });
    const paused = await send({ ...(await marketBuy(agent, market, 20)), validateOnly: true }, agent);
    expect(paused).toMatchObject({ status: 403, body: { code: 'trading_paused' } });
  });

  test('a malformed idempotency key is refused as it would be for the trade', async () => {
    const answer = await send({ ...(await marketBuy(trader, market, 20)), validateOnly: true }, trader, {
      'idempotency-key': 'x'.repeat(300),
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'idempotency_key_invalid' } });
  });

  test('only the word true asks for it', async () => {
    for (const validateOnly of ['true', 1, null]) {
      const answer = await send({ ...(await marketBuy(trader, market, 20)), validateOnly });
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    }
    const byQuery = await trader.post(
      '/markets/trade?validateOnly=true',
      await marketBuy(trader, market, 20),
    );
    expect(byQuery.status).toBe(400);
  });
});

describe('a batch that is only checked', () => {
  const batch = (body: object, headers = {}) => trader.post('/markets/batch-trade', body, headers);

  test('checks each order and places none', async () => {
    const orders = [
      await marketBuy(trader, market, 20),
      { ...(await marketBuy(trader, market, 20)), price: 7 },
      await marketBuy(trader, market, 20),
    ];
    const key = { 'idempotency-key': 'batch-first' };
    const checked = await batch({ orders, validateOnly: true }, key);
    expect(checked.body).toMatchObject({ total: 3, succeeded: 2 });
    expect(checked.body.results.map(({ status }: { status: number }) => status)).toEqual([200, 400, 200]);
    const placed = await batch({ orders }, key);
    expect(placed.headers.get('idempotency-replayed')).toBeNull();
    expect(placed.body.results.map(({ status }: { status: number }) => status)).toEqual([201, 400, 201]);
  });

  test('an order among others may ask for it alone', async () => {
    const { body } = await batch({
      orders: [
        { ...(await marketBuy(trader, market, 20)), validateOnly: true },
        await marketBuy(trader, market, 20),
      ],
    });
    expect(body.results.map(({ status }: { status: number }) => status)).toEqual([200, 201]);
  });
});
