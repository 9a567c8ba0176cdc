/** Orders built and signed by the venue's official client and by our SDK are accepted unchanged and match. */

import { buildLimitOrder, buildMarketOrder, type Market, type SignatureType, Signer } from '@bellwether/sdk';
import { ClobClient, OrderType, Side, type TickSize } from '@polymarket/clob-client';
import {
  Chain as ChainV2,
  ClobClient as ClobClientV2,
  Side as SideV2,
  type TickSize as TickSizeV2,
} from '@polymarket/clob-client-v2';
import { createWalletClient, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, newAgent, newTrader, openMarkets, sharedTestService, type TestService } from '../harness.ts';

let service: TestService;
let markets: Record<'0.1' | '0.01' | '0.001' | 'negRisk', Market>;

beforeAll(async () => {
  service = await sharedTestService();
  const { client } = await newAgent(service);
  const first = async (tickSize: string, negRisk = false) => {
    const all = await client.listMarkets({ q: '*', limit: 500 });
    const [market] = [
      ...(await openMarkets(client, tickSize, negRisk)),
      ...all.filter((m) => m.tickSize === tickSize && m.negRisk === negRisk),
    ];
    if (market === undefined) throw new Error(`no market with tick ${tickSize}`);
    return market;
  };
  markets = {
    '0.1': await first('0.1'),
    '0.01': await first('0.01'),
    '0.001': await first('0.001'),
    negRisk: await first('0.01', true),
  };
});

/** A wallet registered with the desk, and the venue's official client connected to the paper exchange's door. */
async function officialClient(signatureType: 0 | 1 | 2) {
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  const walletClient = createWalletClient({ account, chain: polygon, transport: http('http://127.0.0.1:1') });
  const funder = Signer.fromPrivateKey(key).wallet(signatureType);
  const door = `${service.url}/paper/clob`;
  const creds = await new ClobClient(door, 137, walletClient).createOrDeriveApiKey();
  const clob = new ClobClient(door, 137, walletClient, creds, signatureType, funder);
  const agent = await newAgent(service);
  const registered = await agent.client.registerCredentials({
    walletAddress: funder,
    apiKey: creds.key,
    apiSecret: creds.secret,
    apiPassphrase: creds.passphrase,
  });
  expect(registered.signatureType).toBe(signatureType);
  await agent.client.updateSettings({
    maxTradeAmount: 100_000,
    dailyTradeAmountLimit: 1_000_000,
    maxTradesPerDay: 1000,
  });
  return { clob, ...agent };
}

const leg = (order: { side: number | string; makerAmount: string; takerAmount: string }) => {
  const buy = order.side === 0 || order.side === 'BUY';
  const shares = Number(buy ? order.takerAmount : order.makerAmount) / 1e6;
  const money = Number(buy ? order.makerAmount : order.takerAmount) / 1e6;
  return { shares, price: money / shares };
};

const body = (
  market: Market,
  order: object & { side: number | string; makerAmount: string; takerAmount: string },
  rest: object,
) => ({
  marketConditionId: market.conditionId,
  marketQuestion: market.question,
  outcome: 'YES',
  orderSize: leg(order).shares,
  order,
  ...rest,
});

describe.each([0, 1, 2] as const)('@polymarket/clob-client, signature type %d', (signatureType) => {
  test.each(['0.1', '0.01', 'negRisk'] as const)(
    'market BUY, limit SELL, limit BUY and market SELL on %s',
    async (which) => {
      const market = markets[which];
      const { clob, apiKey, client } = await officialClient(signatureType);
      const options = { tickSize: market.tickSize as TickSize, negRisk: market.negRisk };
      const [yes = ''] = market.clobTokenIds;
      const send = (request: object) =>
        call(service, 'POST', '/markets/trade', { key: apiKey, body: request });

      const bought = await clob.createMarketOrder({ tokenID: yes, side: Side.BUY, amount: 50 }, options);
      const buy = await send(
        body(market, bought, { price: Math.min(0.9999, leg(bought).price), isLimitOrder: false }),
      );
      expect(buy.body).toMatchObject({
        success: true,
        status: 'matched',
        orderVersion: 1,
        signatureType,
        collateralSymbol: 'USDC.e',
      });
      expect(buy.status).toBe(201);
      const held = buy.body.filledSize as number;

      const tick = Number(market.tickSize);
      const high = Math.round((1 - tick) * 1e4) / 1e4;
      const ask = await clob.createOrder({ tokenID: yes, side: Side.SELL, price: high, size: 5 }, options);
      const rested = await send(body(market, ask, { price: high }));
      expect(rested.body).toMatchObject({ success: true, status: 'live' });
      await client.cancelOrder(rested.body.orderId);

      const bid = await clob.createOrder({ tokenID: yes, side: Side.BUY, price: tick, size: 10 }, options);
      const resting = await send(body(market, bid, { price: tick, orderType: 'GTC', orderVersion: 1 }));
      expect(resting.body).toMatchObject({ success: true, status: 'live' });

      const shares = Math.floor(held * 100) / 100;
      const sold = await clob.createMarketOrder(
        { tokenID: yes, side: Side.SELL, amount: shares, price: tick },
        options,
      );
      const sell = await send(
        body(market, sold, { price: leg(sold).price, isLimitOrder: false, orderType: 'FAK' }),
      );
      expect(sell.body).toMatchObject({ success: true, status: 'matched', filledSize: shares });

      const expiring = await clob.createOrder(
        {
          tokenID: yes,
          side: Side.BUY,
          price: tick,
          size: 10,
          expiration: Math.floor(Date.now() / 1000) + 600,
        },
        options,
      );
      const gtd = await send(body(market, expiring, { price: tick, orderType: OrderType.GTD }));
      expect(gtd.body).toMatchObject({ success: true, status: 'live' });
    },
  );
});

test('on finer ticks the official client breaks the precision rule and gets the documented 400', async () => {
  const market = markets['0.001'];
  const { clob, apiKey } = await officialClient(0);
  const [yes = ''] = market.clobTokenIds;
  const price = Math.min(0.999, Number(market.bestAsk) + 0.007);
  const order = await clob.createMarketOrder(
    { tokenID: yes, side: Side.BUY, amount: 50, price },
    { tickSize: '0.001', negRisk: false },
  );
  const answer = await call(service, 'POST', '/markets/trade', {
    key: apiKey,
    body: body(market, order, { price, isLimitOrder: false }),
  });
  expect(answer.status).toBe(400);
  expect(answer.body).toMatchObject({
    code: 'immediate_buy_precision',
    fix: expect.stringContaining('truncate'),
  });
});

describe.each([0, 1, 2, 3] as const)(
  'our SDK, version 2, signature type %d',
  (signatureType: SignatureType) => {
    test.each(['0.1', '0.01', '0.001', 'negRisk'] as const)(
      'limit and market, both sides, on %s',
      async (which) => {
        const market = markets[which];
        const { signer, client } = await newTrader(service, signatureType);
        const common = { signer, signatureType, market, outcome: 'YES' } as const;
        const best = Math.round((1 - Number(market.tickSize)) * 1e4) / 1e4;

        const bought = await client.placeTrade(
          await buildMarketOrder({ ...common, side: 'BUY', amount: 50, worstPrice: best }),
        );
        expect(bought).toMatchObject({
          success: true,
          status: 'matched',
          orderVersion: 2,
          signatureType,
          collateralSymbol: 'pUSD',
        });
        const resting = await client.placeTrade(
          await buildLimitOrder({ ...common, side: 'SELL', price: best, size: 5, postOnly: true }),
        );
        expect(resting).toMatchObject({ success: true, status: 'live' });
        await client.cancelAll();
        const sold = await client.placeTrade(
          await buildMarketOrder({
            ...common,
            side: 'SELL',
            shares: Math.floor(bought.filledSize * 100) / 100,
            worstPrice: market.tickSize,
          }),
        );
        expect(sold).toMatchObject({ success: true, status: 'matched' });
        const bid = await client.placeTrade(
          await buildLimitOrder({ ...common, side: 'BUY', price: market.tickSize, size: 10 }),
        );
        expect(bid).toMatchObject({ success: true, status: 'live' });
      },
    );
  },
);

describe('@polymarket/clob-client-v2', () => {
  async function secondClient() {
    const key = generatePrivateKey();
    const account = privateKeyToAccount(key);
    const signer = createWalletClient({ account, chain: polygon, transport: http('http://127.0.0.1:1') });
    const host = `${service.url}/paper/clob`;
    const chain = ChainV2.POLYGON;
    const creds = await new ClobClientV2({ host, chain, signer }).createOrDeriveApiKey();
    const clob = new ClobClientV2({ host, chain, signer, creds });
    const agent = await newAgent(service);
    await agent.client.registerCredentials({
      walletAddress: Signer.fromPrivateKey(key).wallet(0),
      apiKey: creds.key,
      apiSecret: creds.secret,
      apiPassphrase: creds.passphrase,
    });
    return { clob, ...agent };
  }

  test.each(['0.1', '0.01', 'negRisk'] as const)(
    'asks for the accepted version, and its limit and market orders on %s are accepted',
    async (which) => {
      const market = markets[which];
      const { clob, apiKey } = await secondClient();
      expect(await clob.getVersion()).toBe(1);
      const [yes = ''] = market.clobTokenIds;
      const options = { tickSize: market.tickSize as TickSizeV2, negRisk: market.negRisk };
      const send = (request: object) =>
        call(service, 'POST', '/markets/trade', { key: apiKey, body: request });

      const bid = await clob.createOrder(
        { tokenID: yes, side: SideV2.BUY, price: Number(market.tickSize), size: 10 },
        options,
      );
      const resting = await send(body(market, bid as never, { price: Number(market.tickSize) }));
      expect(resting.body).toMatchObject({ success: true, status: 'live', orderVersion: 1 });

      // Without options and price: the client looks up the market and its fee by token.
      const bought = await clob.createMarketOrder({ tokenID: yes, side: SideV2.BUY, amount: 50 });
      const price = Math.min(0.9999, leg(bought as never).price);
      const buy = await send(body(market, bought as never, { price, isLimitOrder: false }));
      expect(buy.body).toMatchObject({ success: true, status: 'matched' });
    },
  );
});
