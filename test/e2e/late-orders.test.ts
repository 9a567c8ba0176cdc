/** Orders with `cancelAfterMs`: what is not filled by then is canceled by the desk, and the order says so. */
import { Faults } from '@bellwether/exchange/doors/polymarket';
import type { Market } from '@bellwether/sdk';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  aMarket,
  call,
  limitOrder,
  marketBuy,
  newTrader,
  openMarkets,
  sharedTestService,
  type TestService,
  type Trader,
  withTurns,
} from '../harness.ts';
import {
  liveOrder,
  newLiveTrader,
  orderAt,
  startLiveDesk,
  startVenue,
  venueLosingAnswers,
} from '../live-desk.ts';
import { aSandboxMarket, newSandboxTrader } from '../sandbox.ts';

const SOON_MS = 300;
const LATER_MS = 600_000;

const ended = (desk: TestService, trader: Trader, orderId: string) =>
  withTurns(
    desk,
    ['cancel late orders'],
    expect.poll(async () => (await orderAt(desk, trader, orderId)).status).toBe('canceled'),
  );

/** The detail of the last entry of its journal. */
const lastDetail = async (desk: TestService, trader: Trader, orderId: string): Promise<string | undefined> =>
  (await orderAt(desk, trader, orderId)).journal.at(-1).detail;
const NOT_FILLED = 'not filled by cancelAt';

describe('on paper', () => {
  let service: TestService;
  let trader: Trader;
  let market: Market;
  beforeAll(async () => {
    service = await sharedTestService();
    trader = await newTrader(service);
    market = await aMarket(trader.client);
  });
  const resting = (more: object = {}) =>
    limitOrder(trader, market, { side: 'BUY', size: 10, ...more, price: Number(market.tickSize) });

  test('a resting order ends in time, and its journal says who ended it', async () => {
    const placed = await trader.client.placeTrade(await resting({ cancelAfterMs: SOON_MS }));
    expect(placed.status).toBe('live');
    const before = await trader.client.getOrder(placed.orderId);
    expect(Date.parse(before.cancelAt as string) - Date.parse(before.createdAt)).toBe(SOON_MS);
    await ended(service, trader, placed.orderId);
    expect(await lastDetail(service, trader, placed.orderId)).toBe(NOT_FILLED);
  });

  test('a filled order, a later one and one without a time stay as they are', async () => {
    const buy = await marketBuy(trader, market, 5, { cancelAfterMs: 100 });
    const filled = await trader.client.placeTrade(buy);
    expect(filled.success).toBe(true);
    const later = await trader.client.placeTrade(await resting({ cancelAfterMs: LATER_MS }));
    const never = await trader.client.placeTrade(await resting());
    const soon = await trader.client.placeTrade(await resting({ cancelAfterMs: SOON_MS }));
    await ended(service, trader, soon.orderId);
    for (const { orderId } of [later, never])
      expect(await trader.client.getOrder(orderId)).toMatchObject({ status: 'live' });
    expect((await trader.client.getOrder(filled.orderId)).status).not.toBe('canceled');
    await trader.client.cancelOrder(later.orderId);
    expect(await lastDetail(service, trader, later.orderId)).toBeUndefined();
    expect(await trader.client.getOrder(never.orderId)).toMatchObject({ cancelAt: null });
  });

  test('a deadline of the SDK is the same', async () => {
    const placed = await trader.client.placeTrade(
      await resting({ deadline: new Date(Date.now() + 1_000), cancelAfterMs: LATER_MS }),
    );
    await ended(service, trader, placed.orderId);
  });

  test('a wrong or misspelt time is refused as a field, and so is a deadline that has passed', async () => {
    const order = await resting();
    for (const fields of [
      { cancelAfterMs: 99 },
      { cancelAfterMs: 1.5 },
      { cancelAfterMs: 604_800_001 },
      { cancelAfter: 500 },
    ])
      expect(await trader.post('/markets/trade', { ...order, ...fields })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
    await expect(resting({ deadline: Date.now() - 1 })).rejects.toMatchObject({ code: 'deadline_passed' });
  });

  test('an order of venue B shows its time, and a fill before it stays', async () => {
    const agent = await newSandboxTrader(service);
    const quoted = await aSandboxMarket(agent.client);
    const { orderId } = await agent.client.venueB.trade({
      ...{ ticker: quoted.id, side: 'YES', action: 'BUY', amount: 5, cancelAfterMs: LATER_MS },
      signer: agent.signer,
    });
    const order = await agent.ended(orderId);
    expect(order.status).toBe('filled');
    expect(Date.parse(order.cancelAt as string) - Date.parse(order.createdAt)).toBe(LATER_MS);
  });
});

describe('at a live venue', () => {
  const faults = new Faults(Date.now);
  let isLost = false;
  let venue: TestService;
  let desk: TestService;
  let trader: Trader;
  let market: Market;
  beforeAll(async () => {
    venue = await startVenue({}, { faults });
    const { exchange } = venue;
    const url = await venueLosingAnswers(venue.url, '/order', () => isLost);
    desk = await startLiveDesk({ url, exchange });
    trader = await newLiveTrader(desk, venue);
    [market] = (await openMarkets(trader.client)) as [Market];
  });

  test('a resting order is canceled there, too', async () => {
    const body = { ...(await liveOrder(trader, market, { side: 'BUY' })), cancelAfterMs: SOON_MS };
    const { orderId } = await trader.client.placeTrade(body);
    await ended(desk, trader, orderId);
  });

  test('so is one whose answer was lost after the venue had taken it, and no later fill surprises', async () => {
    isLost = true;
    const body = { ...(await liveOrder(trader, market, { side: 'BUY' })), cancelAfterMs: SOON_MS };
    const answer = await call(desk, 'POST', '/markets/trade', { key: trader.apiKey, body });
    // The desk may have found it meanwhile; if not, it says that it does not know.
    expect([undefined, 'order_outcome_unknown']).toContain(answer.body.code);
    isLost = false;
    await ended(desk, trader, answer.body.orderId);
    expect(await lastDetail(desk, trader, answer.body.orderId)).toBe(NOT_FILLED);
    expect(venue.exchange.openOrders(trader.funder)).toEqual([]);
  });

  test('a venue that is slower than the time of the order surprises no one', async () => {
    faults.set({ latencyMs: { least: 1_500, most: 1_500 } });
    const body = { ...(await liveOrder(trader, market, { side: 'BUY' })), cancelAfterMs: 800 };
    const answer = await call(desk, 'POST', '/markets/trade', { key: trader.apiKey, body });
    faults.set({});
    await ended(desk, trader, answer.body.orderId);
    expect(venue.exchange.openOrders(trader.funder)).toEqual([]);
  });

  test('the next desk cancels it, where the first one stopped in between', async () => {
    const first = await startLiveDesk(venue);
    const one = await newLiveTrader(first, venue);
    const body = { ...(await liveOrder(one, market, { side: 'BUY' })), cancelAfterMs: 1_000 };
    const { orderId } = await one.client.placeTrade(body);
    await first.stop();
    const { databaseUrl, masterKey } = first;
    const next = await startLiveDesk(venue, { DATABASE_URL: databaseUrl, MASTER_KEY: masterKey });
    await ended(next, one, orderId);
  });
});
