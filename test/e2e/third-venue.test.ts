/**
 * Proves that a venue is one folder and one line: a third one is configured, printed, listed, traded on, canceled and shown by
 * every read. Nothing but test/house/ knows it.
 */
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { bannerOf } from '../../packages/server/src/banner.ts';
import { readConfig } from '../../packages/server/src/config.ts';
import type { ConfiguredVenue } from '../../packages/server/src/venues/configured.ts';
import { VENUES } from '../../packages/server/src/wiring/venue-registry.ts';
import { call, limitOrder, newTrader, startTestService, type TestService, type Trader } from '../harness.ts';
import { houseVenue } from '../house/index.ts';
import { houseMarket } from '../house/market.ts';

const MARKET = houseMarket();
const REGISTRY = [...VENUES, houseVenue];

let service: TestService;
let trader: Trader;
let market: Market;

const get = async (path: string, by: Pick<Trader, 'get'> = trader) => {
  const { status, body } = await by.get(path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const order = (fields: { side: 'BUY' | 'SELL'; price: string; size: number }) =>
  limitOrder(trader, market, { venue: 'house', ...fields });

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, {}, REGISTRY);
  trader = await newTrader(service);
  [market] = (await get('/markets?q=*&venue=house')) as [Market];
});

describe('what its folder declares', () => {
  const refusalOf = (environment: Record<string, string>): string => {
    try {
      readConfig(environment, REGISTRY);
    } catch (error) {
      return (error as Error).message;
    }
    return 'accepted';
  };

  test.for([
    [{ HOUSE_ASK_PIPS: '0' }, 'HOUSE_ASK_PIPS must be >= 1.'],
    [{ HOUSE_ASK_PIPS: '50.5' }, 'HOUSE_ASK_PIPS must be integer.'],
    [
      { HOUSE_BID_PIPS: '6000' },
      'HOUSE_BID_PIPS must be below HOUSE_ASK_PIPS: the house would pay callers to trade with it.',
    ],
    [{ HOUSE_ASKS: '6000' }, 'HOUSE_ASKS is not a setting of this service. Did you mean HOUSE_ASK_PIPS?'],
    [{ HOUSE_NAME: 'kalshi' }, 'VENUE_B_NAME and HOUSE_NAME must differ.'],
    [
      { HOUSE_NAME: 'agents' },
      'HOUSE_NAME=agents is the first segment of a route or a reserved word; choose another name.',
    ],
    [
      { HOUSE_ASK_PIPS: 'x', PORT: 'x', HOUSE_BIDS: '1' },
      'HOUSE_BIDS is not a setting of this service. Did you mean HOUSE_BID_PIPS? PORT must be integer; HOUSE_ASK_PIPS must be integer.',
    ],
    [
      { PAPER_DOORS: 'shop' },
      'PAPER_DOORS must be auto, on, off, or some of clob, dflow, solana, house, separated by commas; not "shop".',
    ],
  ] as const)('%j is refused', ([environment, sentence]) => {
    expect(refusalOf(environment)).toBe(sentence);
  });

  test('its line is in the banner, and its door among what others can use without a key', () => {
    const config = readConfig({ HOST: '0.0.0.0', HOUSE_ASK_PIPS: '5100' }, REGISTRY);
    const lines = bannerOf(config, service, 1.5).split('\n');
    expect(lines).toContain('  venue C     house: PAPER; the house buys at 4800 and sells at 5100');
    expect(lines.findIndex((line) => line.includes('venue C'))).toBe(
      lines.findIndex((line) => line.includes('venue B')) + 1,
    );
    expect(lines.join('\n')).toContain('/paper/house/* (the venue’s own authentication)');
  });

  test('its door answers, and its job has run', async () => {
    const prices = async () => (await call(service, 'GET', '/paper/house/prices')).body;
    expect(await prices()).toMatchObject({ bid: 4_800, ask: 5_000 });
    const first = (await prices()).countedAt;
    await service.runJob('count the house');
    expect((await prices()).countedAt).toBeGreaterThan(first ?? 0);
    const metrics = await call(service, 'GET', '/metrics');
    expect(metrics.body).toMatch(/job="count the house"/);
  });

  test('its door is shut where PAPER_DOORS does not name it, and its setting decides its prices', async () => {
    const environment = {
      PAPER_WORLD: 'off',
      PAPER_DOORS: 'clob',
      HOUSE_NAME: 'casino',
      HOUSE_ASK_PIPS: '5500',
    };
    const other = await startTestService(environment, {}, REGISTRY);
    expect((await call(other, 'GET', '/paper/house/prices')).status).toBe(404);
    const agent = await newTrader(other);
    const [found] = await agent.client.listMarkets({ q: '*', venue: 'casino' });
    expect(found).toMatchObject({ venue: 'casino', bestBid: '0.48', bestAsk: '0.55' });
  });
});

const withHouse = (changes: Partial<ConfiguredVenue>) =>
  startTestService({ PAPER_WORLD: 'off' }, {}, [
    ...VENUES,
    { ...houseVenue, make: (environment: never) => ({ ...houseVenue.make(environment), ...changes }) },
  ]);

test('it is stopped with the service', async () => {
  const { open } = readConfig({}, REGISTRY).venues[2] as ConfiguredVenue;
  const stop = vi.fn(async () => {});
  const other = await withHouse({ open: async (tools) => ({ ...(await open(tools)), stop }) });
  expect(stop).not.toHaveBeenCalled();
  expect(await other.stop()).toBe(true);
  expect(stop).toHaveBeenCalledTimes(1);
});

describe('a start is refused, in words', () => {
  test('where two venues want the paper exchange', async () => {
    await expect(withHouse({ paperExchange: { followLive: null } })).rejects.toThrow(
      'polymarket and house both trade on the paper exchange; one venue can.',
    );
  });

  test('where a venue cannot be opened', async () => {
    const open = async () => {
      throw new Error('HOUSE_KEY_FILE=x cannot be read.');
    };
    await expect(withHouse({ open })).rejects.toThrow('HOUSE_KEY_FILE=x cannot be read.');
  });
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
    const history = await trader.get(`/markets/prices-history?market=${MARKET.tokenIds[0]}&interval=1d`);
    expect({ status: history.status, code: history.body.code }).toEqual({
      status: 400,
      code: 'invalid_request',
    });
  });

  test('the refusal of an unknown venue lists it', async () => {
    const { body } = await trader.get('/markets?q=*&venue=nowhere');
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
    const canceled = await trader.post('/markets/orders/cancel', { orderId: placed.orderId });
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
    const { body } = await trader.post('/markets/trade', elsewhere);
    expect(body.code).toBe('order_already_placed');
    const { body: all } = await call(service, 'DELETE', '/markets/orders', {
      key: trader.apiKey,
      body: {},
    });
    expect(all).toMatchObject({ totalCanceled: 1 });
  });

  test('a missing capability gives a documented refusal', async () => {
    const { body } = await trader.post('/markets/redeem', { marketId: 'house-1', venue: 'house' });
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
      const me = await trader.get('/agents/me');
      expect({ status: me.status, code: me.body.code }).toEqual({ status: 503, code: 'service_unavailable' });
    } finally {
      Object.assign(accounts, { balances });
      Object.assign(markets, { listedAfter });
    }
  });
});

describe('the default venue', () => {
  test('applies to requests without a venue, and is listed first', async () => {
    const other = await startTestService({ PAPER_WORLD: 'off', DEFAULT_VENUE: 'house' }, {}, REGISTRY);
    const agent = await newTrader(other);
    expect((await agent.client.getMe()).venues.map(({ name }) => name)).toEqual([
      'house',
      'polymarket',
      'kalshi',
    ]);
    const [found] = await agent.client.listMarkets({ q: '*' });
    expect(found).toMatchObject({ venue: 'house' });
    const placed = await agent.client.placeTrade(
      await limitOrder(agent, found as Market, { side: 'BUY', price: '0.5', size: 5 }),
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
