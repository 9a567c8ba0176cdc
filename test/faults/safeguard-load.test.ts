/** Budgets under load and across midnight: 1,000 trades from 50 connections, and not one trade or micro-unit too many. */
import { Agent, request as httpRequest } from 'node:http';
import type { Market, TradeRequest } from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TradeScope } from '../../packages/server/src/trading/admission.ts';
import {
  aMarket,
  limitOrder,
  longLeases,
  marketBuy,
  marketSell,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { type ManualClock, manualClock, micro } from '../world.ts';

const CONNECTIONS = 50;
const TRADES = 1_000;

let service: TestService;
let market: Market;
const sockets = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
afterAll(() => sockets.destroy());

beforeAll(async () => {
  longLeases();
  service = await startTestService({ PAPER_WORLD: 'off' });
  market = await aMarket((await newTrader(service)).client);
});

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: problem documents and answers alike
  readonly body: any;
}

const post = (trader: Trader, body: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = JSON.stringify(body);
    const sent = httpRequest(
      `${service.url}/markets/trade`,
      {
        method: 'POST',
        agent: sockets,
        headers: {
          authorization: `Bearer ${trader.apiKey}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
      },
    );
    sent.on('error', reject);
    sent.end(payload);
  });

/** As many requests at once as there are sockets, until all are answered. */
async function flood(trader: Trader, requests: readonly TradeRequest[]): Promise<Answer[]> {
  const answers = await Promise.all(requests.map((request) => post(trader, request)));
  expect(Object.keys(sockets.sockets).length + Object.keys(sockets.freeSockets).length).toBeGreaterThan(0);
  return answers;
}

const resting = (trader: Trader, size: number, on = market, price = 0.01) =>
  limitOrder(trader, on, { side: 'BUY', price: price.toFixed(2), size });
const make = (build: () => Promise<TradeRequest>, count = TRADES) =>
  Promise.all(Array.from({ length: count }, build));
const codes = (answers: readonly Answer[]) => [
  ...new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.code)),
];
const usage = async (agent: Trader) => {
  const { safeguards } = await agent.client.getMarketContext(market.id);
  return { trades: safeguards.tradesToday.used, amount: safeguards.dailyTradeAmount.used };
};

describe('1,000 concurrent trades from 50 connections', () => {
  test('maxTradesPerDay', async () => {
    const agent = await newTrader(service);
    await agent.client.updateSettings({ maxTradesPerDay: 137 });
    const answers = await flood(agent, await make(() => resting(agent, 5)));
    expect(answers.filter(({ status }) => status === 201).length).toBe(137);
    expect(codes(answers)).toEqual(['max_trades_per_day_exceeded']);
    expect((await usage(agent)).trades).toBe(137);
    expect(service.exchange.openOrders(agent.funder).length).toBe(137);
    const { total } = await agent.client.listAgentTrades({ limit: 1 });
    expect(total).toBe(137 + Math.min(1_000, TRADES - 137));
  });

  test('dailyTradeAmountLimit', async () => {
    const agent = await newTrader(service);
    // 0.07 collateral each: 142 fit under 9.999999, and 0.059999 is left.
    await agent.client.updateSettings({ dailyTradeAmountLimit: 9.999999 });
    const answers = await flood(agent, await make(() => resting(agent, 7)));
    expect(answers.filter(({ status }) => status === 201).length).toBe(142);
    expect(codes(answers)).toEqual(['daily_trade_amount_exceeded']);
    expect(micro((await usage(agent)).amount)).toBe(142n * 70_000n);
  });

  test('maxPositionValue, with fills that arrive meanwhile', async () => {
    const agent = await newTrader(service);
    const cap = 30_000_000n;
    await agent.client.updateSettings({ maxPositionValue: 30 });
    const [, second] = (await openMarkets(agent.client)) as [Market, Market];
    const bid = Number(second.bestBid);
    // Some rest at the best bid and match another agent's sales, some are filled at once, some rest far below.
    const kinds = [
      () => resting(agent, 5, second, bid),
      () => marketBuy(agent, second, 1),
      () => resting(agent, 20, second, 0.01),
    ];
    const requests = await Promise.all(
      Array.from({ length: TRADES }, (_, i) => (kinds[i % kinds.length] as (typeof kinds)[number])()),
    );
    const seller = await newTrader(service);
    await seller.client.placeTrade(await marketBuy(seller, second, 300));
    let stop = false;
    const selling = (async () => {
      while (!stop) {
        const request = await limitOrder(seller, second, {
          side: 'SELL',
          price: bid.toFixed(2),
          size: 5,
          type: 'FAK',
        });
        await seller.client.placeTrade(request).catch(() => {});
      }
    })();
    const answers = await flood(agent, requests);
    stop = true;
    await selling;
    expect(codes(answers)).toEqual(['max_position_value_exceeded']);
    const [position] = await agent.client.getCurrentPositions();
    const open = await agent.client.listOpenOrders({ limit: 100 });
    const atStake =
      micro(position?.initialValue ?? 0) +
      open.reduce(
        (sum, { price, remainingSize }) =>
          sum + (micro(remainingSize) * BigInt(Math.round(price * 100))) / 100n,
        0n,
      );
    expect(atStake).toBeLessThanOrEqual(cap);
    // The limit is used up: no further order would fit, except for price improvement.
    expect(atStake).toBeGreaterThan(cap - 3_000_000n);
    for (const { body } of answers.filter(({ status }) => status === 403)) {
      expect(body.context.limit).toBe(30);
      expect(micro(body.context.used) + micro(body.context.asked)).toBeGreaterThan(cap);
    }
  });

  test('dailyLossLimit: once the loss is realised, no order that adds exposure', async () => {
    const agent = await newTrader(service);
    await agent.client.updateSettings({ dailyLossLimit: 1 });
    const { filledSize } = await agent.client.placeTrade(await marketBuy(agent, market, 200));
    const sell = await marketSell(agent, market, Math.floor(filledSize));
    const buys = await make(() => resting(agent, 5), 200);
    const [sold, ...answers] = await Promise.all([post(agent, sell), ...buys.map((buy) => post(agent, buy))]);
    expect(sold?.body.success).toBe(true);
    expect(codes(answers).filter((code) => code !== 'daily_loss_limit_reached')).toEqual([]);
    const after = await post(agent, await resting(agent, 5));
    expect(after).toMatchObject({ status: 403, body: { code: 'daily_loss_limit_reached' } });
    // Calls that reduce exposure still go through.
    const rest = await agent.client.getCurrentPositions();
    if ((rest[0]?.size ?? 0) >= 0.01) {
      const out = await marketSell(agent, market, 0.01 * Math.floor((rest[0]?.size ?? 0) * 100));
      expect((await post(agent, out)).status).toBe(201);
    }
  });
});

describe('UTC days', () => {
  let clock: ManualClock;
  let timed: TestService;
  let agent: Trader;
  let on: Market;
  let midnight: number;
  const used = async () => {
    const { safeguards } = await agent.client.getMarketContext(on.id);
    return { trades: safeguards.tradesToday.used, amount: safeguards.dailyTradeAmount.used };
  };

  beforeAll(async () => {
    clock = manualClock();
    midnight = (Math.floor(clock.now() / 86_400_000) + 1) * 86_400_000;
    timed = await startTestService({ PAPER_WORLD: 'off', PAPER_GTD_MIN_LEAD_S: '3' }, { clock });
    agent = await newTrader(timed);
    const markets = await openMarkets(agent.client);
    on = markets.find(({ endDate }) => Date.parse(endDate) > midnight + 3 * 86_400_000) as Market;
    clock.moveTo(midnight - 10_000);
  });

  test('a new day has a new budget; a return goes to the day of its reservation', async () => {
    await agent.client.updateSettings({ maxTradesPerDay: 3 });
    const place = async () => (await agent.client.placeTrade(await resting(agent, 100, on))).orderId;
    const [yesterday] = [await place(), await place(), await place()];
    await expect(place()).rejects.toMatchObject({ code: 'max_trades_per_day_exceeded' });
    expect(await used()).toEqual({ trades: 3, amount: 3 });
    clock.moveTo(midnight + 1_000);
    expect(await used()).toEqual({ trades: 0, amount: 0 });
    await place();
    // Yesterday's order is canceled today: today's budget does not grow.
    await agent.client.cancelOrder(yesterday as string);
    expect(await used()).toEqual({ trades: 1, amount: 1 });
    await place();
    expect(await used()).toEqual({ trades: 2, amount: 2 });
    await place();
    await expect(place()).rejects.toMatchObject({ code: 'max_trades_per_day_exceeded' });
  });

  test('a trade that waited for the lock across midnight counts on the new day', async () => {
    const { caller } = await (async () => {
      const { agentId } = agent;
      const row = await timed.needs.agents.byId(agentId);
      return { caller: { agentId, userId: row?.userId as bigint, keyId: row?.key.id as bigint } };
    })();
    let late: TradeScope | undefined;
    await timed.needs.ledger.admit({
      caller,
      venue: on.venue,
      orderId: 'none',
      clientOrderId: null,
      wallets: [],
      funder: agent.funder as never,
      signer: agent.funder as never,
      conditionId: on.conditionId,
      tokenIds: on.clobTokenIds as [string, string],
      at: midnight - 1,
      judge(scope) {
        late = scope;
        return { kind: 'same', answer: async () => null };
      },
    });
    // Its time is yesterday's; it is checked against the new day.
    expect(late?.usage.trades).toBe(3);
  });

  test('GTD: expires at the exchange by wall time, is reported as expired, and returns the budget', async () => {
    await agent.client.updateSettings({ maxTradesPerDay: 100 });
    const before = await used();
    const expiration = Math.floor(clock.now() / 1000) + 30;
    const { orderId } = await agent.client.placeTrade(
      await limitOrder(agent, on, { side: 'BUY', price: 0.01, size: 100, type: 'GTD', expiration }),
    );
    expect(await used()).toEqual({ trades: before.trades + 1, amount: before.amount + 1 });
    await timed.exchange.step();
    expect((await agent.client.getOrder(orderId)).status).toBe('live');
    clock.moveTo(expiration * 1000 + 1);
    await timed.exchange.step();
    const order = await agent.client.getOrder(orderId);
    expect(order).toMatchObject({ status: 'expired', orderStatus: 3, remainingSize: 0 });
    expect(order.journal.map(({ event }) => event)).toEqual(['recorded', 'accepted', 'expired']);
    expect(await used()).toEqual({ trades: before.trades + 1, amount: before.amount });
    expect(timed.exchange.account(agent.funder).held).toBe(
      timed.exchange
        .openOrders(agent.funder)
        .reduce((sum, { size, limit }) => sum + (size * BigInt(limit)) / 10_000n, 0n),
    );
    expect(await agent.client.cancelOrder(orderId)).toMatchObject({
      canceled: [],
      notCanceled: { [orderId]: 'already expired' },
    });
  });
});
