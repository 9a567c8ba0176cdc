/**
 * Proves that a venue is one object: a third one, registered from outside, is listed, traded on, canceled and shown
 * by every read. Nothing but test/house-venue.ts knows it.
 */
import { buildLimitOrder, type Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import type { MarketRecord } from '../../packages/server/src/domain/market.ts';
import { call, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import { createHouseVenue } from '../house-venue.ts';

const M = 1_000_000n;
const DAY_MS = 24 * 3_600_000;
const MARKET: MarketRecord = {
  id: 'house-1',
  conditionId: `0x${'7'.repeat(64)}`,
  tokenIds: ['700000000000000001', '700000000000000002'],
  slug: 'house-one',
  question: 'Will the house win?',
  description: 'It does.',
  category: 'test',
  eventId: 'house',
  eventTitle: 'The house',
  negRisk: false,
  tickSize: 100,
  minOrderSize: 5n * M,
  feeRate: 0n,
  feeExponent: 1,
  createdAt: Date.now() + 60_000,
  endDate: Date.now() + 30 * DAY_MS,
  updatedAt: Date.now(),
  status: 'open',
  bestBid: 4_800,
  bestAsk: 5_000,
  volume: 0n,
  volume24h: 0n,
  liquidity: 1_000n * M,
};

let service: TestService;
let trader: Trader;
let market: Market;

const get = async (path: string, by: Pick<Trader, 'apiKey'> = trader) => {
  const { status, body } = await call(service, 'GET', path, { key: by.apiKey });
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const order = (fields: { side: 'BUY' | 'SELL'; price: string; size: number }) =>
  buildLimitOrder({ signer: trader.signer, market, outcome: 'YES', venue: 'house', ...fields });

beforeAll(async () => {
  service = await startTestService(
    { PAPER_WORLD: 'off' },
    { venues: (tools) => [createHouseVenue('house', MARKET, tools)] },
  );
  trader = await newTrader(service);
  [market] = (await get('/markets?q=*&venue=house')) as [Market];
});

describe('listing', () => {
  test('/agents/me, /readyz and the front page show it as a venue for signed orders', async () => {
    const house = { name: 'house', kind: 'A', backend: 'paper', status: 'ready' };
    expect((await get('/agents/me')).venues).toEqual([
      { ...house, name: 'polymarket' },
      { ...house, name: 'kalshi', kind: 'B' },
      house,
    ]);
    expect((await get('/readyz')).venues).toContainEqual(house);
    expect(JSON.stringify(await get('/'))).toContain('house');
  });

  test('its markets are found by search and by id, token or slug, named or not', async () => {
    expect(market).toMatchObject({ id: 'house-1', venue: 'house', question: MARKET.question });
    for (const id of ['house-1', MARKET.conditionId, MARKET.tokenIds[1], 'house-one'])
      expect(await get(`/markets/${id}`)).toMatchObject({ id: 'house-1', venue: 'house' });
    expect(await get(`/markets/orderbook/${MARKET.tokenIds[0]}`)).toMatchObject({ outcome: 'YES' });
    // The venue has no price history, and its answer says so.
    const history = await call(
      service,
      'GET',
      `/markets/prices-history?market=${MARKET.tokenIds[0]}&interval=1d`,
      {
        key: trader.apiKey,
      },
    );
    expect({ status: history.status, code: history.body.code }).toEqual({
      status: 400,
      code: 'invalid_request',
    });
  });

  test('the refusal of an unknown venue lists it', async () => {
    const { body } = await call(service, 'GET', '/markets?q=*&venue=nowhere', { key: trader.apiKey });
    expect(body.detail).toBe('There is no venue "nowhere". Enabled: polymarket, kalshi, house.');
  });
});

describe('trading', () => {
  test('a BUY fills; portfolio, positions, context, orders and briefing show it under the venue', async () => {
    const placed = await trader.client.placeTrade(await order({ side: 'BUY', price: '0.5', size: 20 }));
    expect(placed).toMatchObject({ success: true, status: 'matched', filledSize: 20, avgPrice: 0.5 });
    expect(await get(`/markets/orders/${placed.orderId}`)).toMatchObject({
      venue: 'house',
      status: 'filled',
    });
    expect(await get('/markets/orders?venue=house')).toMatchObject([{ orderId: placed.orderId }]);
    expect(await get('/markets/orders?venue=polymarket')).toEqual([]);

    const position = { venue: 'house', marketId: 'house-1', outcome: 'YES', size: 20, currentValue: 9.8 };
    expect(await get('/markets/current-positions')).toMatchObject([position]);
    expect(await get('/markets/current-positions?venue=house')).toMatchObject([position]);
    expect(await get('/markets/current-positions?venue=polymarket')).toEqual([]);

    const portfolio = await get('/markets/portfolio');
    expect(portfolio.venues.house).toMatchObject({ balance: 990, positionsCount: 1 });
    expect(portfolio.venues.polymarket).toMatchObject({ positionsCount: 0, pnl: 0 });
    expect(portfolio.total).toMatchObject({ positionsCount: 1, totalExposure: 10 });

    const briefing = await get('/markets/briefing');
    expect(Object.keys(briefing.venues)).toEqual(['polymarket', 'kalshi', 'house']);
    expect(briefing.venues.house).toMatchObject({ balance: 990, currentPositionsCount: 1, actions: [] });
    expect(briefing.venues.polymarket).toMatchObject({ currentPositionsCount: 0 });
    expect(briefing.opportunities.newMarkets).toContainEqual(
      expect.objectContaining({ id: 'house-1', venue: 'house' }),
    );
    expect((await get('/markets/briefing?venue=house')).recentTrades).toMatchObject([
      { orderId: placed.orderId },
    ]);
    expect(await get('/markets/context/house-1')).toMatchObject({
      market: { venue: 'house' },
      account: { available: 990, yesShares: 20 },
      positions: [position],
    });
  });

  test('a resting order is open until it is canceled, and its hold is released', async () => {
    const placed = await trader.client.placeTrade(await order({ side: 'BUY', price: '0.1', size: 50 }));
    expect(placed.status).toBe('live');
    const { venues, nextCursor } = await get('/markets/briefing');
    expect(venues.house).toMatchObject({ openOrdersCount: 1, balance: 990, availableBalance: 985 });
    const canceled = await call(service, 'POST', '/markets/orders/cancel', {
      key: trader.apiKey,
      body: { orderId: placed.orderId },
    });
    expect(canceled.body).toMatchObject({ success: true, canceled: [placed.orderId] });
    expect(await get(`/markets/orders/${placed.orderId}`)).toMatchObject({ status: 'canceled' });
    const after = await get(`/markets/briefing?since=${nextCursor}`);
    expect(after.venues.house).toMatchObject({ openOrdersCount: 0, availableBalance: 990 });
    expect(after.recentTrades).toMatchObject([{ orderId: placed.orderId, status: 'canceled' }]);
    // The briefing reported the listing once.
    expect(after.opportunities.newMarkets).toEqual([]);
  });

  test('a SELL closes the position: its result counts for the venue', async () => {
    await trader.client.placeTrade(await order({ side: 'SELL', price: '0.4', size: 20 }));
    expect(await get('/markets/current-positions?venue=house')).toEqual([]);
    expect(await get('/markets/closed-positions?venue=house')).toMatchObject([
      { venue: 'house', realizedPnl: -0.4 },
    ]);
    expect(await get('/markets/closed-positions?venue=polymarket')).toEqual([]);
    const { venues } = await get('/markets/portfolio');
    expect(venues).toMatchObject({ house: { pnl: -0.4, balance: 999.6 }, polymarket: { pnl: 0 } });
  });

  test('a signed order that was placed at one venue is refused at another', async () => {
    const request = await order({ side: 'BUY', price: '0.1', size: 10 });
    await trader.client.placeTrade(request);
    const { venue: _, ...elsewhere } = request as unknown as Record<string, unknown>;
    const { body } = await call(service, 'POST', '/markets/trade', { key: trader.apiKey, body: elsewhere });
    expect(body.code).toBe('order_already_placed');
    const { body: all } = await call(service, 'DELETE', '/markets/orders', {
      key: trader.apiKey,
      body: {},
    });
    expect(all).toMatchObject({ totalCanceled: 1 });
  });

  test('a missing capability gives a documented refusal', async () => {
    const { body } = await call(service, 'POST', '/markets/redeem', {
      key: trader.apiKey,
      body: { marketId: 'house-1', venue: 'house' },
    });
    expect(body).toMatchObject({ code: 'wrong_venue_route', detail: '"house" does not offer this.' });
  });
});

describe('a venue that does not answer', () => {
  test('does not remove the others from any read, even when it is the default', async () => {
    await trader.client.placeTrade(await order({ side: 'BUY', price: '0.5', size: 10 }));
    const { accounts, markets } = service.needs.venues.default;
    const { balances } = accounts;
    const { listedAfter } = markets;
    Object.assign(accounts, { balances: async () => ({ total: 0n, available: 0n, ageMs: null }) });
    Object.assign(markets, { listedAfter: () => new Promise(() => {}) });
    try {
      const portfolio = await get('/markets/portfolio');
      expect(portfolio.warnings).toMatchObject([{ code: 'venue_not_answering' }]);
      expect(portfolio.warnings[0].message).toContain('polymarket');
      expect(portfolio.venues.house).toMatchObject({ positionsCount: 1 });
      const briefing = await get('/markets/briefing');
      expect(briefing.riskAlerts).toMatchObject([{ code: 'venue_not_answering' }]);
      expect(briefing.venues.house).toMatchObject({ currentPositionsCount: 1 });
      const listed = new Set(briefing.opportunities.newMarkets.map(({ venue }: Market) => venue));
      expect([...listed].sort()).toEqual(['house', 'kalshi']);
      // A request that depends on it is refused.
      const me = await call(service, 'GET', '/agents/me', { key: trader.apiKey });
      expect({ status: me.status, code: me.body.code }).toEqual({ status: 503, code: 'service_unavailable' });
    } finally {
      Object.assign(accounts, { balances });
      Object.assign(markets, { listedAfter });
    }
  });
});

describe('the default venue', () => {
  test('applies to requests without a venue, and is listed first', async () => {
    const other = await startTestService(
      { PAPER_WORLD: 'off', DEFAULT_VENUE: 'house' },
      { venues: (tools) => [createHouseVenue('house', MARKET, tools)] },
    );
    const agent = await newTrader(other);
    expect((await agent.client.getMe()).venues.map(({ name }) => name)).toEqual([
      'house',
      'polymarket',
      'kalshi',
    ]);
    const [found] = await agent.client.listMarkets({ q: '*' });
    expect(found).toMatchObject({ venue: 'house' });
    const placed = await agent.client.placeTrade(
      await buildLimitOrder({
        ...{ signer: agent.signer, market: found as Market, outcome: 'YES', side: 'BUY' },
        ...{ price: '0.5', size: 5 },
      }),
    );
    expect(await agent.client.getOrder(placed.orderId)).toMatchObject({ venue: 'house', status: 'filled' });
    expect((await agent.client.getBriefing()).venue).toBe('house');
  });

  test('must be one of the service’s venues', async () => {
    await expect(startTestService({ PAPER_WORLD: 'off', DEFAULT_VENUE: 'nowhere' })).rejects.toThrow(
      'DEFAULT_VENUE=nowhere is no venue of this service.',
    );
  });
});
