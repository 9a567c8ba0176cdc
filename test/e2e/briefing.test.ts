/** GET /markets/briefing: the state, the alerts, and exactly what changed since. */
import { transact } from '@bellwether/durable';
import type { Briefing, Market } from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool, type Sql } from '../../packages/server/src/platform/database/connection.ts';
import { createFakeQuoteVenue } from '../fake-quote-venue.ts';
import {
  call,
  marketBuy,
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
let sql: Sql;
let markets: Market[];
let market: Market;
/** How far the desk's clock is ahead of the wall clock. */
let ahead = 0;

beforeAll(async () => {
  // Without the quote venue, which quoted-positions.test.ts covers.
  const quoting = createFakeQuoteVenue();
  quoting.listed.clear();
  service = await startTestService(
    { PAPER_WORLD: 'off' },
    {
      venues: () => [quoting],
      clock: { now: () => Date.now() + ahead },
    },
  );
  sql = openPool(service.databaseUrl, { max: 2 });
  markets = await openMarkets((await newAgent(service)).client);
  market = markets[0] as Market;
});
afterAll(() => sql.end());

/** Runs with the desk's clock ahead. */
async function later<T>(ms: number, run: () => Promise<T>): Promise<T> {
  ahead = ms;
  try {
    return await run();
  } finally {
    ahead = 0;
  }
}

const buy = async (trader: Trader, amount: number, on = market) =>
  trader.client.placeTrade(await marketBuy(trader, on, amount));
const rest = async (trader: Trader, on = market) =>
  (await trader.client.placeTrade(await restingOrder(trader, on))).orderId;
const ask = (key: string, query = '') => call(service, 'GET', `/markets/briefing${query}`, { key });
const codes = (briefing: Briefing) => briefing.riskAlerts.map(({ code }) => code);
const reported = (briefing: Briefing) =>
  briefing.recentTrades.map(({ orderId, status }) => `${orderId} ${status}`);
const brief = (briefing: Briefing) => briefing.venues.polymarket as Briefing['venues'][string];

describe('the state', () => {
  test('an agent without a wallet is advised to register credentials', async () => {
    const { client, agentId } = await newAgent(service, 'Fresh');
    const briefing = await client.getBriefing();
    expect(briefing).toMatchObject({
      venue: 'polymarket',
      agent: {
        agentId,
        name: 'Fresh',
        claimed: false,
        walletAddress: null,
        tradesToday: 0,
        tradesRemaining: 50,
      },
      settings: { maxTradesPerDay: 50, tradingPaused: false },
      riskAlerts: [],
      recentTrades: [],
      recentTradesTruncated: false,
    });
    expect(brief(briefing)).toMatchObject({
      walletAddress: null,
      openOrdersCount: 0,
      currentPositionsCount: 0,
      balance: 0,
      actions: [{ code: 'register_credentials', method: 'POST', path: '/wallet/credentials/paper' }],
    });
    expect(briefing.opportunities.recommendedSkills[0]).toMatchObject({ skillSlug: 'market-making' });
    const found = briefing.opportunities.newMarkets;
    expect(found.length).toBe(10);
    const times = found.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('orders, positions and money agree with the other routes', async () => {
    const trader = await newTrader(service);
    await rest(trader);
    await buy(trader, 50);
    const briefing = await trader.client.getBriefing();
    const me = await trader.client.getMe();
    const [position] = await trader.client.getCurrentPositions();
    expect(brief(briefing)).toMatchObject({
      walletAddress: trader.funder,
      openOrdersCount: 1,
      currentPositionsCount: 1,
      balance: me.simulationBalance,
      positionsValue: position?.currentValue,
      actions: [],
    });
    expect(brief(briefing).availableBalance).toBeCloseTo(me.simulationBalance - 0.1, 6);
    expect(briefing.agent).toMatchObject({ tradesToday: 2, amountToday: 50.1, tradesRemaining: 4998 });
    expect(briefing.settings).toEqual(await trader.client.getSettings());
    expect(briefing.recentTrades).toEqual(await trader.client.listOrders());
  });

  test('`user` accepts a wallet of the caller and refuses any other', async () => {
    const trader = await newTrader(service, 2);
    await trader.client.faucet({ address: trader.funder, amount: 5 });
    for (const user of [trader.funder, trader.funder.toUpperCase().replace('0X', '0x')]) {
      const briefing = await trader.client.getBriefing({ user });
      expect(brief(briefing)).toMatchObject({ walletAddress: trader.funder, balance: 10_005 });
    }
    const stranger = await newTrader(service);
    const answer = await ask(stranger.apiKey, `?user=${trader.funder}`);
    expect({ status: answer.status, code: answer.body.code }).toEqual({
      status: 404,
      code: 'wallet_not_found',
    });
  });

  test('is filtered by venue; an unknown venue is refused', async () => {
    const trader = await newTrader(service);
    await rest(trader);
    const { status, body } = await ask(trader.apiKey, '?venue=kalshi');
    expect(status).toBe(200);
    expect(Object.keys(body.venues)).toEqual(['kalshi']);
    expect(body).toMatchObject({
      venue: 'kalshi',
      venues: { kalshi: { walletAddress: null, openOrdersCount: 0, currentPositionsCount: 0, balance: 0 } },
      recentTrades: [],
      opportunities: { newMarkets: [] },
    });
    expect((await ask(trader.apiKey, '?venue=nasdaq')).body.code).toBe('unknown_venue');
  });

  test.each([
    ['includeMarkets=false', 0],
    ['include-markets=false', 0],
    ['include_markets=false', 0],
    ['include-markets=true', 10],
    ['includeMarkets=true&include-markets=true', 10],
  ])('%s gives %i new markets', async (query, count) => {
    const { apiKey } = await newAgent(service);
    expect((await ask(apiKey, `?${query}`)).body.opportunities.newMarkets.length).toBe(count);
  });

  test('two spellings of a parameter with different values are refused', async () => {
    const { apiKey } = await newAgent(service);
    const { status, body } = await ask(apiKey, '?includeMarkets=true&include-markets=false');
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'contradictory_filter' });
  });
});

describe('changes since the last call', () => {
  test('a cursor returns nothing at first, then each change once', async () => {
    const trader = await newTrader(service);
    const first = await rest(trader);
    const start = await trader.client.getBriefing();
    expect(reported(start)).toEqual([`${first} live`]);

    let { nextCursor } = start;
    const next = async () => {
      const briefing = await trader.client.getBriefing({ since: nextCursor });
      nextCursor = briefing.nextCursor;
      return briefing;
    };
    expect(await next()).toMatchObject({ recentTrades: [], opportunities: { newMarkets: [] } });
    const second = await rest(trader);
    expect(reported(await next())).toEqual([`${second} live`]);
    expect(reported(await next())).toEqual([]);
    await trader.client.cancelOrder(first);
    const { orderId } = await buy(trader, 20);
    expect(reported(await next()).toSorted()).toEqual([`${first} canceled`, `${orderId} filled`].toSorted());
    expect(reported(await next())).toEqual([]);
    // The old cursor still returns all changes.
    expect(reported(await trader.client.getBriefing({ since: start.nextCursor })).length).toBe(3);
  });

  test('under load no change is missed or repeated', async () => {
    const trader = await newTrader(service);
    const requests = await Promise.all(Array.from({ length: 60 }, () => restingOrder(trader, market)));
    const seen: string[] = [];
    let { nextCursor } = await trader.client.getBriefing();
    let done = false;
    const poll = async () => {
      for (let again = true; again; ) {
        again = !done;
        const briefing = await trader.client.getBriefing({ since: nextCursor });
        expect(briefing.recentTradesTruncated).toBe(false);
        seen.push(...reported(briefing).filter((line) => !line.endsWith('submitting')));
        nextCursor = briefing.nextCursor;
      }
    };
    const polling = poll();
    const placed = await Promise.all(requests.map((request) => trader.client.placeTrade(request)));
    await Promise.all(placed.slice(0, 30).map(({ orderId }) => trader.client.cancelOrder(orderId)));
    done = true;
    await polling;
    expect(new Set(seen).size).toBe(seen.length);
    // Two changes of one order between two calls appear as the last one.
    const ends = placed.map(({ orderId }, i) => `${orderId} ${i < 30 ? 'canceled' : 'live'}`);
    expect(seen.filter((line) => ends.includes(line)).toSorted()).toEqual(ends.toSorted());
  });

  test('a time is accepted in every format', async () => {
    const trader = await newTrader(service);
    await rest(trader);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const at = Date.now();
    const offset = new Date(at + 2 * HOUR).toISOString().replace('Z', '+02:00');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const second = await rest(trader);
    for (const since of [new Date(at).toISOString(), String(at), offset]) {
      expect(reported(await trader.client.getBriefing({ since })), since).toEqual([`${second} live`]);
    }
    // An unescaped plus sign.
    expect(reported((await ask(trader.apiKey, `?since=${offset}`)).body)).toEqual([`${second} live`]);
    const seconds = await trader.client.getBriefing({ since: String(Math.floor(at / 1000)) });
    expect(reported(seconds)).toEqual([`${second} live`]);
    const old = await trader.client.getBriefing({ since: '2001-01-01T00:00:00Z' });
    expect(old.recentTrades.length).toBe(2);
    expect(old.opportunities.newMarkets.length).toBe(50);
  });

  test.each([
    'yesterday',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-99-01T00:00:00Z',
    '17',
    'b1.1.1.',
    'b1.1.1.5:4:',
    'b1.1.1.5:9:9',
    'b1.1.1.5:9:7,6',
    'b1.1.1.0:9:',
    'b1.1.1.4294967296:4294967299:',
    "b1.1.1.5:9:'",
  ])('%s is neither a time nor a cursor: 400', async (since) => {
    const { apiKey } = await newAgent(service);
    const { status, body } = await ask(apiKey, `?since=${encodeURIComponent(since)}`);
    expect({ status, code: body.code, path: body.errors[0].path }).toEqual({
      status: 400,
      code: 'invalid_request',
      path: 'since',
    });
  });

  test('a cursor from before a database was restored is read as a time', async () => {
    const trader = await newTrader(service);
    const orderId = await rest(trader);
    const { body } = await ask(trader.apiKey, `?since=b1.${Date.now()}.0.999999999:999999999:`);
    expect(reported(body)).toEqual([`${orderId} live`]);
  });

  test('more changes than fit: the latest ones, marked as truncated', async () => {
    const trader = await newTrader(service);
    const { nextCursor } = await trader.client.getBriefing();
    const requests = await Promise.all(Array.from({ length: 101 }, () => restingOrder(trader, market)));
    await Promise.all(requests.map((request) => trader.client.placeTrade(request)));
    const briefing = await trader.client.getBriefing({ since: nextCursor });
    expect(briefing.recentTrades.length).toBe(100);
    expect(briefing.recentTradesTruncated).toBe(true);
  });

  test('another unclaimed agent sees none of it', async () => {
    const trader = await newTrader(service);
    const { nextCursor } = await trader.client.getBriefing();
    await rest(await newTrader(service));
    expect(await trader.client.getBriefing({ since: nextCursor })).toMatchObject({ recentTrades: [] });
  });
});

describe('alerts and what to do', () => {
  test('a pause, used-up limits and a stale order together, most severe first', async () => {
    const trader = await newTrader(service);
    const orderId = await rest(trader);
    await trader.client.updateSettings({
      tradingPaused: true,
      maxTradesPerDay: 1,
      dailyTradeAmountLimit: 0.12,
    });
    const briefing = await trader.client.getBriefing({ since: String(Date.now()) });
    expect(briefing.riskAlerts.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      'critical trading_paused',
      'critical quota_nearly_used',
      'warning daily_amount_nearly_used',
    ]);
    const stale = await later(25 * HOUR, () => trader.client.getBriefing());
    expect(stale.riskAlerts).toContainEqual(
      expect.objectContaining({ code: 'stale_open_order', marketId: market.id }),
    );
    const [action] = brief(stale).actions.filter(({ code }) => code === 'cancel_stale_order');
    expect(action).toMatchObject({ method: 'POST', path: '/markets/orders/cancel', body: { orderId } });
    // The action is a request that works as it stands.
    const done = await call(service, action?.method as string, action?.path as string, {
      key: trader.apiKey,
      body: action?.body,
    });
    expect(done.body.canceled).toEqual([orderId]);
    expect(codes(await later(25 * HOUR, () => trader.client.getBriefing()))).not.toContain(
      'stale_open_order',
    );
  });

  test('an order in doubt, with the request that shows its outcome', async () => {
    const trader = await newTrader(service);
    const orderId = await rest(trader);
    // As after a lost answer, before the resolver runs. Evidence has reached this order, so the lifecycle would
    // refuse this change.
    await transact(sql, async (tx) => {
      await tx`alter table orders disable trigger orders_next_status`;
      await tx`update orders set status = 'unknown', created_at = now() + interval '1 hour' where order_id = ${orderId}`;
      await tx`alter table orders enable trigger orders_next_status`;
    });
    const briefing = await trader.client.getBriefing();
    expect(briefing.riskAlerts[0]).toMatchObject({
      code: 'order_in_doubt',
      severity: 'critical',
      marketId: market.id,
    });
    expect(brief(briefing).actions[0]).toMatchObject({
      code: 'check_order',
      path: `/markets/orders/${orderId}`,
    });
  });

  test('a concentrated position near its market’s end, with an order that will be canceled', async () => {
    const trader = await newTrader(service);
    await trader.client.faucet({ address: trader.funder, amount: 10_000 });
    for (let i = 0; i < 8; i += 1) await buy(trader, 2_000).catch(() => {});
    await rest(trader);
    const [position] = await trader.client.getCurrentPositions();
    const toEnd = Date.parse(position?.endDate as string) - Date.now();
    const briefing = await later(toEnd - HOUR / 2, () => trader.client.getBriefing());
    expect(codes(briefing)).toEqual(
      expect.arrayContaining(['market_closing_soon', 'position_near_resolution']),
    );
    const far = await trader.client.getBriefing();
    expect(codes(far)).not.toContain('market_closing_soon');
    const share = (position?.currentValue as number) / (brief(far).balance + brief(far).positionsValue);
    expect(codes(far).includes('position_concentrated')).toBe(share >= 0.4);
  });

  test('take-profit and stop-loss alerts appear only when risk control is on', async () => {
    const trader = await newTrader(service);
    await buy(trader, 100);
    await trader.client.updateSettings({ stopLossPercent: 1, takeProfitPercent: 1 });
    const [row] = await sql`select cost from positions where wallet = ${trader.funder}`;
    const worth = async (factor: number) => {
      await sql`update positions set cost = ${Math.round(Number(row?.cost) * factor)} where wallet = ${trader.funder}`;
      return codes(await trader.client.getBriefing());
    };
    expect(await worth(3)).not.toContain('stop_loss_reached');
    await trader.client.updateSettings({ riskControlEnabled: true });
    expect(await worth(3)).toContain('stop_loss_reached');
    expect(await worth(0.3)).toContain('take_profit_reached');
    expect(await worth(0.3)).not.toContain('stop_loss_reached');
  });

  test('an empty paper account is advised to use the faucet', async () => {
    const empty = await startTestService({ PAPER_WORLD: 'off', SIMULATION_BALANCE: '0' });
    const trader = await newTrader(empty);
    const { actions } = brief(await trader.client.getBriefing());
    expect(actions).toMatchObject([{ code: 'draw_paper_money', body: { address: trader.funder } }]);
  });
});

describe('new markets', () => {
  test('are those listed since the last call; while left out, they stay new', async () => {
    const fast = await startTestService({ PAPER_WORLD: 'off', PAPER_SPEED: '100000' });
    const { client } = await newAgent(fast);
    const start = await client.getBriefing();
    expect((await client.getBriefing({ since: start.nextCursor })).opportunities.newMarkets).toEqual([]);
    for (let i = 0; i < 20; i += 1) {
      await new Promise((resolve) => setTimeout(resolve, 25));
      await fast.exchange.step();
    }
    const quiet = await client.getBriefing({ since: start.nextCursor, includeMarkets: false });
    const fresh = await client.getBriefing({ since: quiet.nextCursor });
    const ids = fresh.opportunities.newMarkets.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(0);
    const before = new Set(start.opportunities.newMarkets.map(({ id }) => id));
    expect(ids.filter((id) => before.has(id))).toEqual([]);
    for (const found of fresh.opportunities.newMarkets) expect(found.active).toBe(true);
    expect((await client.getBriefing({ since: fresh.nextCursor })).opportunities.newMarkets).toEqual([]);
  });
});
