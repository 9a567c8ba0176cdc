/** GET /markets/context/{marketId}: its prediction matches the trade that follows. */
import type { Market, MarketContext } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  limitOrder,
  marketBuy,
  marketSell,
  newAgent,
  newTrader,
  openMarkets,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';

const HOUR = 3_600_000;

let service: TestService;
let markets: Market[];
let ahead = 0;

beforeAll(async () => {
  service = await startTestService(
    { PAPER_WORLD: 'off' },
    {
      clock: { now: () => Date.now() + ahead },
    },
  );
  markets = await openMarkets((await newAgent(service)).client);
});

const buy = async (trader: Trader, amount: number, market: Market) =>
  trader.client.placeTrade(await marketBuy(trader, market, amount));
const codes = (context: MarketContext) => context.warnings.map(({ code }) => code);
const row = (context: MarketContext, side: string, outcome: string, amount: number) =>
  context.slippage.find((one) => one.side === side && one.outcome === outcome && one.amount === amount);

describe('slippage and fees', () => {
  test('a BUY and a SELL execute as predicted, to a micro-unit per fill', async () => {
    for (const [index, amount] of [10, 50, 250, 777].entries()) {
      const market = markets[index + 1] as Market;
      const trader = await newTrader(service);
      const context = await trader.client.getMarketContext(market.id, { size: amount });
      const reported = row(context, 'BUY', 'YES', amount);
      const bought = await buy(trader, amount, market);
      expect(reported?.filledShares).toBeCloseTo(bought.filledSize, 3);
      expect(reported?.averagePrice).toBeCloseTo(bought.avgPrice as number, 5);
      expect(reported?.fee).toBeCloseTo(bought.feePaid, 4);

      const shares = Math.floor(bought.filledSize / 2);
      const again = await trader.client.getMarketContext(market.id, { size: shares, side: 'SELL' });
      const sale = row(again, 'SELL', 'YES', shares);
      const sold = await trader.client.placeTrade(await marketSell(trader, market, shares));
      expect(sale?.filledShares).toBeCloseTo(sold.filledSize, 3);
      expect(sale?.averagePrice).toBeCloseTo(sold.avgPrice as number, 5);
      expect(sale?.fee).toBeCloseTo(sold.feePaid, 4);
    }
  });

  test('covers three standard sizes and the requested one, both sides and outcomes; `side` filters', async () => {
    const { client } = await newTrader(service);
    const market = markets[0] as Market;
    expect((await client.getMarketContext(market.id)).slippage.length).toBe(12);
    expect((await client.getMarketContext(market.id, { size: 33 })).slippage.length).toBe(16);
    const narrow = await client.getMarketContext(market.id, { size: 33, side: 'SELL' });
    expect(narrow.slippage.length).toBe(8);
    for (const one of narrow.slippage) {
      expect(one.side).toBe('SELL');
      expect(one.priceImpact).toBeCloseTo((one.price as number) - (one.averagePrice as number), 5);
    }
  });

  test('a size beyond the book is incomplete, has a warning, and moves the price', async () => {
    const trader = await newTrader(service);
    const market = markets[0] as Market;
    const context = await trader.client.getMarketContext(market.id, { size: 50_000_000, side: 'BUY' });
    expect(row(context, 'BUY', 'YES', 50_000_000)).toMatchObject({ complete: false });
    expect(codes(context)).toEqual(
      expect.arrayContaining([
        'thin_book',
        'high_price_impact',
        'insufficient_balance',
        'max_trade_amount_exceeded',
      ]),
    );
    expect(context.recommendation).toMatch(/^Do not trade here now/);
  });
});

describe('edge', () => {
  test('is computed after fees, for the best price and for the requested size', async () => {
    const { client } = await newTrader(service);
    const market = markets[0] as Market;
    const context = await client.getMarketContext(market.id, { myProbability: 0.95, size: 20, side: 'BUY' });
    const ask = Number(market.bestAsk);
    const fee = context.fees.rate * (ask * (1 - ask)) ** context.fees.exponent;
    expect(context.edge?.buyYes).toBeCloseTo(0.95 - ask - fee, 5);
    expect(context.edge?.best).toBe('YES');
    const reported = row(context, 'BUY', 'YES', 20);
    const sized = context.edge?.sized.find(({ outcome }) => outcome === 'YES');
    expect(context.edge?.sized.length).toBe(2);
    expect(sized?.expectedProfit).toBeCloseTo(
      (reported?.filledShares as number) * 0.95 - (reported?.cost as number) - (reported?.fee as number),
      4,
    );
    expect(context.edge?.sellYes).toBeLessThan(0);
    expect(context.recommendation).toMatch(/^BUY YES, paying no more than 0\.9\d?: expected gain/);
  });

  test('the limit price is the last one that is profitable after fees', async () => {
    const { client } = await newTrader(service);
    const market = markets[0] as Market;
    const context = await client.getMarketContext(market.id, { myProbability: 0.95 });
    const limit = Number(/no more than ([\d.]+):/.exec(context.recommendation ?? '')?.[1]);
    const worth = (price: number) =>
      0.95 - price - context.fees.rate * (price * (1 - price)) ** context.fees.exponent;
    expect(worth(limit)).toBeGreaterThanOrEqual(-1e-6);
    expect(worth(limit + 0.01)).toBeLessThan(0);
  });

  test('a fair price recommends no trade; the mirrored probability recommends NO', async () => {
    const { client } = await newTrader(service);
    const market = markets[0] as Market;
    const fair = await client.getMarketContext(market.id, { myProbability: market.yesPrice });
    expect(fair.edge?.best).toBeNull();
    expect(fair.recommendation).toMatch(/^No trade/);
    // The cost of a share is the best ask, never the middle of the book.
    expect(fair.recommendation).toContain(`YES costs ${Number(fair.orderbook.bestAsk)}`);
    for (const { side, price, averagePrice } of fair.slippage.filter((one) => one.averagePrice !== null)) {
      const worse = side === 'BUY' ? [price, averagePrice] : [averagePrice, price];
      expect(worse[0]).toBeLessThanOrEqual(worse[1] as number);
    }
    expect((await client.getMarketContext(market.id, { myProbability: 0.02 })).recommendation).toMatch(
      /^BUY NO/,
    );
    const plain = await client.getMarketContext(market.id);
    expect(plain.edge).toBeNull();
    expect(plain.recommendation).toBeUndefined();
  });
});

describe('safeguards', () => {
  test('the remaining amount counts open BUYs, as the safeguard itself does', async () => {
    const trader = await newTrader(service);
    const market = markets[0] as Market;
    await trader.client.updateSettings({
      maxPositionValue: 30,
      dailyTradeAmountLimit: 40,
      maxTradesPerDay: 10,
    });
    await buy(trader, 20, market);
    await trader.client.placeTrade(await limitOrder(trader, market, { side: 'BUY', price: 0.01, size: 500 }));
    const { safeguards, positions, account } = await trader.client.getMarketContext(market.id);
    expect(safeguards).toMatchObject({
      tradesToday: { limit: 10, used: 2, left: 8 },
      dailyTradeAmount: { limit: 40, used: 25, left: 15 },
      positionValue: { limit: 30, used: 25, left: 5 },
      dailyLoss: { limit: null, left: null },
    });
    expect(positions).toEqual(await trader.client.getCurrentPositions());
    expect(account?.yesShares).toBeCloseTo(positions[0]?.size as number, 6);
    // The warning names the code with which the trade is then refused.
    const warned = await trader.client.getMarketContext(market.id, { size: 5.01, side: 'BUY' });
    expect(warned.warnings[0]).toMatchObject({ code: 'max_position_value_exceeded', severity: 'critical' });
    await expect(buy(trader, 5.01, market)).rejects.toMatchObject({ code: 'max_position_value_exceeded' });
    expect(codes(await trader.client.getMarketContext(market.id, { size: 5, side: 'BUY' }))).not.toContain(
      'max_position_value_exceeded',
    );
    expect((await buy(trader, 5, market)).success).toBe(true);
  });

  test('pause, missing credentials, no shares to sell, no money', async () => {
    const market = markets[0] as Market;
    const fresh = await newAgent(service);
    const bare = await fresh.client.getMarketContext(market.id);
    expect(bare).toMatchObject({ account: null, positions: [] });
    expect(bare.warnings[0]).toMatchObject({ code: 'credentials_not_registered', severity: 'critical' });
    const trader = await newTrader(service);
    expect(codes(await trader.client.getMarketContext(market.id, { side: 'SELL', size: 5 }))).toContain(
      'insufficient_balance',
    );
    expect(codes(await trader.client.getMarketContext(market.id, { side: 'BUY', size: 10_001 }))).toContain(
      'insufficient_balance',
    );
    await trader.client.updateSettings({ tradingPaused: true });
    expect((await trader.client.getMarketContext(market.id)).warnings[0]).toMatchObject({
      code: 'trading_paused',
      severity: 'critical',
    });
  });
});

describe('warnings', () => {
  test('the agent’s own orders, positions in both outcomes, a near end', async () => {
    const trader = await newTrader(service);
    const market = markets[0] as Market;
    await trader.client.placeTrade(await restingOrder(trader, market));
    await buy(trader, 10, market);
    await trader.client.placeTrade(await marketBuy(trader, market, 10, { outcome: 'NO' }));
    const context = await trader.client.getMarketContext(market.id);
    expect(codes(context)).toEqual(expect.arrayContaining(['own_open_orders', 'both_outcomes_held']));
    expect(codes(context)).not.toContain('market_closing_soon');
    ahead = Date.parse(market.endDate) - Date.now() - HOUR;
    const late = await trader.client.getMarketContext(market.id).finally(() => {
      ahead = 0;
    });
    expect(codes(late)).toContain('market_closing_soon');
  });

  test('a neg-risk market', async () => {
    const { client } = await newTrader(service);
    const [contest] = await openMarkets(client, '0.01', true);
    expect(codes(await client.getMarketContext((contest as Market).id))).toContain('negative_risk');
  });

  test('a market that has ended', async () => {
    const fast = await startTestService({ PAPER_WORLD: 'off', PAPER_SPEED: '100000' });
    const { client } = await newAgent(fast);
    let closed: Market[] = [];
    for (let i = 0; i < 3_000 && closed.length === 0; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await fast.exchange.step();
      closed = await client.listMarkets({ q: '*', eventsStatus: 'resolved' });
    }
    const context = await client.getMarketContext((closed[0] as Market).conditionId, {
      myProbability: 0.7,
      size: 5,
    });
    expect(codes(context)).toContain('market_not_active');
    expect(context.edge).toMatchObject({ buyYes: null, buyNo: null, best: null });
    expect(context.recommendation).toMatch(/^Do not trade here now/);
  });
});

describe('access and names', () => {
  test('untrusted texts are marked; in the market record they are plain', async () => {
    const { client } = await newAgent(service);
    const { untrustedText, market } = await client.getMarketContext((markets[0] as Market).slug);
    expect(untrustedText.title).toBe(market.question);
    expect(untrustedText.rules).toBe(market.description);
    expect(untrustedText.notice).toContain('strangers');
  });

  test('a wallet out of reach is not found; every id finds the market', async () => {
    const market = markets[0] as Market;
    const trader = await newTrader(service);
    const stranger = await newTrader(service);
    const answer = await stranger.get(`/markets/context/${market.id}?user=${trader.funder}`);
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 404,
      code: 'wallet_not_found',
    });
    for (const id of [market.id, market.conditionId, market.slug, ...market.clobTokenIds])
      expect((await trader.client.getMarketContext(id, { user: trader.funder })).market.id).toBe(market.id);
  });

  test('of many agents at a time: each sees what is its own', async () => {
    const traders = await Promise.all([1, 2, 3].map(() => newTrader(service)));
    const market = markets[0] as Market;
    for (const [index, trader] of traders.entries())
      await trader.client.faucet({ address: trader.funder, amount: 1_000 + index });
    const ask = () =>
      Promise.all(
        Array.from({ length: 30 }, (_, turn) =>
          traders[turn % traders.length]?.client.getMarketContext(market.id),
        ),
      );
    const alone = await Promise.all(traders.map(({ client }) => client.getMarketContext(market.id)));
    const together = await ask();
    for (const [turn, context] of together.entries())
      expect(context?.account).toEqual(alone[turn % traders.length]?.account);
    expect(new Set(together.map((context) => context?.account?.walletAddress)).size).toBe(traders.length);
  });
});
