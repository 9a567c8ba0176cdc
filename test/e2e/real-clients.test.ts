/** At the desk, orders built and signed by the venue's official clients and by our SDK are accepted unchanged, match, and are executed once. */
import { buildLimitOrder, buildMarketOrder, type Market, type TradeRequest } from '@bellwether/sdk';
import { OrderType, Side, type TickSize } from '@polymarket/clob-client';
import { Side as SideV2, type TickSize as TickSizeV2 } from '@polymarket/clob-client-v2';
import { beforeAll, describe, expect, test } from 'vitest';
import { aMarket, call, newAgent, newTrader, sharedTestService, type TestService } from '../harness.ts';
import { agentOf, clientOne, clientTwo, newOfficialWallet } from '../official-clients.ts';

let service: TestService;
const MARKETS = ['0.1', '0.01', '0.001', 'negRisk'] as const;
let markets: Record<(typeof MARKETS)[number], Market>;

beforeAll(async () => {
  service = await sharedTestService();
  const { client } = await newAgent(service);
  markets = {
    '0.1': await aMarket(client, '0.1'),
    '0.01': await aMarket(client, '0.01'),
    '0.001': await aMarket(client, '0.001'),
    negRisk: await aMarket(client, '0.01', true),
  };
});

/** A wallet that is registered with the desk, and the venue's client of either generation at the paper exchange's door. */
async function registered(signatureType: 0 | 1 | 2 = 0) {
  const wallet = await newOfficialWallet(service, signatureType);
  const agent = await agentOf(service, wallet);
  expect(agent.signatureType).toBe(signatureType);
  return {
    ...agent,
    wallet,
    one: clientOne(service, wallet, signatureType),
    two: clientTwo(service, wallet, signatureType),
    send: async (request: object) =>
      call(service, 'POST', '/markets/trade', { key: agent.apiKey, body: request }),
  };
}

interface Legs {
  readonly side: number | string;
  readonly makerAmount: string;
  readonly takerAmount: string;
}

/** A request for an order of a client: without a price, for at once and at the price of its amounts. */
function tradeOf(market: Market, order: Legs, rest: Partial<TradeRequest> = {}) {
  const legs = [Number(order.makerAmount) / 1e6, Number(order.takerAmount) / 1e6] as const;
  const [money, shares] = order.side === 0 || order.side === 'BUY' ? legs : [legs[1], legs[0]];
  return {
    marketConditionId: market.conditionId,
    marketQuestion: market.question,
    outcome: 'YES',
    orderSize: shares,
    order,
    ...(rest.price === undefined && { price: Math.min(0.9999, money / shares), isLimitOrder: false }),
    ...rest,
  };
}

const options = (market: Market) => ({ tickSize: market.tickSize as TickSize, negRisk: market.negRisk });
const live = expect.objectContaining({ success: true, status: 'live' });
const matched = expect.objectContaining({ success: true, status: 'matched' });

describe.each([0, 1, 2] as const)('@polymarket/clob-client, signature type %d', (signatureType) => {
  test.each(['0.1', '0.01', 'negRisk'] as const)(
    'market BUY, limit SELL, limit BUY and market SELL on %s',
    async (which) => {
      const market = markets[which];
      const { one, client, send } = await registered(signatureType);
      const tokenID = market.clobTokenIds[0]!;
      const tick = Number(market.tickSize);
      const buy = { tokenID, side: Side.BUY } as const;
      const sell = { tokenID, side: Side.SELL } as const;

      const bought = await send(
        tradeOf(market, await one.createMarketOrder({ ...buy, amount: 50 }, options(market))),
      );
      expect(bought.body).toMatchObject({
        ...{ success: true, status: 'matched', orderVersion: 1, signatureType, collateralSymbol: 'USDC.e' },
      });
      expect(bought.status).toBe(201);

      const high = Math.round((1 - tick) * 1e4) / 1e4;
      const ask = await one.createOrder({ ...sell, price: high, size: 5 }, options(market));
      const rested = await send(tradeOf(market, ask, { price: high }));
      expect(rested.body).toEqual(live);
      await client.cancelOrder(rested.body.orderId);

      const low = { ...buy, price: tick, size: 10 };
      const bid = await one.createOrder(low, options(market));
      const resting = await send(tradeOf(market, bid, { price: tick, orderType: 'GTC', orderVersion: 1 }));
      expect(resting.body).toEqual(live);

      const shares = Math.floor(bought.body.filledSize * 100) / 100;
      const out = await one.createMarketOrder({ ...sell, amount: shares, price: tick }, options(market));
      const sold = await send(tradeOf(market, out, { orderType: 'FAK' }));
      expect(sold.body).toMatchObject({ success: true, status: 'matched', filledSize: shares });

      const expiration = Math.floor(Date.now() / 1000) + 600;
      const expiring = await one.createOrder({ ...low, expiration }, options(market));
      const gtd = await send(tradeOf(market, expiring, { price: tick, orderType: OrderType.GTD }));
      expect(gtd.body).toEqual(live);
    },
  );
});

test('on finer ticks the official client breaks the precision rule and gets the documented 400', async () => {
  const market = markets['0.001'];
  const { one, send } = await registered();
  const price = Math.min(0.999, Number(market.bestAsk) + 0.007);
  const order = await one.createMarketOrder(
    { tokenID: market.clobTokenIds[0]!, side: Side.BUY, amount: 50, price },
    { tickSize: '0.001', negRisk: false },
  );
  const answer = await send(tradeOf(market, order, { price, isLimitOrder: false }));
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    code: 'immediate_buy_precision',
    fix: expect.stringContaining('truncate'),
  });
});

test.each(['0.1', '0.01', 'negRisk'] as const)(
  '@polymarket/clob-client-v2 asks for the accepted version, and its limit and market orders on %s are accepted',
  async (which) => {
    const market = markets[which];
    const { two, send } = await registered();
    expect(await two.getVersion()).toBe(1);
    const buy = { tokenID: market.clobTokenIds[0]!, side: SideV2.BUY } as const;
    const price = Number(market.tickSize);
    const bid = await two.createOrder(
      { ...buy, price, size: 10 },
      { tickSize: market.tickSize as TickSizeV2, negRisk: market.negRisk },
    );
    const resting = await send(tradeOf(market, bid as never, { price }));
    expect(resting.body).toMatchObject({ success: true, status: 'live', orderVersion: 1 });

    // Without options and price: the client looks up the market and its fee by token.
    const bought = await two.createMarketOrder({ ...buy, amount: 50 });
    expect((await send(tradeOf(market, bought as never))).body).toEqual(matched);
  },
);

describe.each([0, 1, 2, 3] as const)('our SDK, version 2, signature type %d', (signatureType) => {
  test.each(MARKETS)('limit and market, both sides, on %s', async (which) => {
    const market = markets[which];
    const { signer, client } = await newTrader(service, signatureType);
    const order = { signer, signatureType, market, outcome: 'YES' } as const;
    const { tickSize } = market;
    const high = Math.round((1 - Number(tickSize)) * 1e4) / 1e4;

    const bought = await client.placeTrade(
      await buildMarketOrder({ ...order, side: 'BUY', amount: 50, worstPrice: high }),
    );
    expect(bought).toMatchObject({
      ...{ success: true, status: 'matched', orderVersion: 2, signatureType, collateralSymbol: 'pUSD' },
    });
    const ask = await buildLimitOrder({ ...order, side: 'SELL', price: high, size: 5, postOnly: true });
    expect(await client.placeTrade(ask)).toEqual(live);
    await client.cancelAll();
    const shares = Math.floor(bought.filledSize * 100) / 100;
    const out = await buildMarketOrder({ ...order, side: 'SELL', shares, worstPrice: tickSize });
    expect(await client.placeTrade(out)).toEqual(matched);
    const bid = await buildLimitOrder({ ...order, side: 'BUY', price: tickSize, size: 10 });
    expect(await client.placeTrade(bid)).toEqual(live);
  });
});

describe('an order that was posted at the door', () => {
  test('is executed once, and the desk says so', async () => {
    const { one, wallet, apiKey, send } = await registered();
    const market = markets['0.01'];
    const buy = { tokenID: market.clobTokenIds[0]!, side: Side.BUY } as const;
    const bought = await one.createMarketOrder({ ...buy, amount: 10 }, options(market));
    const { term } = service.exchange;

    expect(await one.postOrder(bought, OrderType.FOK)).toEqual(matched);
    const tokens = service.exchange.account(wallet.funder);
    const sent = await send(tradeOf(market, bought, { orderType: 'FOK' }));
    expect(sent.status).toBe(201);
    expect(sent.body).toMatchObject({ success: false, errorCode: 'duplicate_order' });
    expect(service.exchange.account(wallet.funder)).toEqual(tokens);
    expect(service.exchange.term).toBe(term);
    const me = await call(service, 'GET', '/agents/me', { key: apiKey });
    expect(me.body).toMatchObject({ tradesToday: 0, openOrderCount: 0 });

    const other = await one.createMarketOrder({ ...buy, amount: 10 }, options(market));
    expect((await send(tradeOf(market, other, { orderType: 'FOK' }))).body).toEqual(matched);
    expect((await one.postOrder(other, OrderType.FOK)).error).toContain('Duplicated');
    // Orders of the desk are orders of the account.
    const bid = await one.createOrder({ ...buy, price: 0.01, size: 10 }, options(market));
    const { body } = await send(tradeOf(market, bid, { price: 0.01, orderType: 'GTC', isLimitOrder: true }));
    expect(await one.getOpenOrders()).toMatchObject([{ id: body.orderId, owner: wallet.creds.key }]);
    expect(await one.cancelAll()).toMatchObject({ canceled: [body.orderId] });
  });

  test('and that the desk refused to an agent: its fills do not count for the agent', async () => {
    const { one, wallet, agentId, apiKey, send } = await registered();
    const market = markets['0.01'];
    const tokenID = market.clobTokenIds[0]!;
    const seller = clientOne(service, await newOfficialWallet(service));
    const shares = { tokenID, side: Side.BUY, amount: 20 };
    expect(await seller.createAndPostMarketOrder(shares, options(market))).toEqual(matched);

    const { asks } = await one.getOrderBook(tokenID);
    const price = Math.round(Number(asks.at(-1)?.price) * 100 - 1) / 100;
    const bid = await one.createOrder({ tokenID, side: Side.BUY, price, size: 10 }, options(market));
    expect(await one.postOrder(bid, OrderType.GTC)).toEqual(live);
    const sent = await send(tradeOf(market, bid, { price, orderType: 'GTC' }));
    expect(sent.body).toMatchObject({ success: false, errorCode: 'duplicate_order' });
    const hit = { tokenID, side: Side.SELL, price, size: 10 };
    expect(await seller.createAndPostOrder(hit, options(market))).toMatchObject({ status: 'matched' });

    expect(service.exchange.freeTokens(wallet.funder, market.conditionId, 'YES')).toBeGreaterThanOrEqual(
      10_000_000n,
    );
    const fills = await call(service, 'GET', '/markets/fills', { key: apiKey });
    expect(fills).toMatchObject({ status: 200, body: [] });
    expect(await service.needs.orders.byId(agentId, sent.body.orderId)).toMatchObject({
      status: 'rejected',
      filled: 0n,
    });
  });
});
