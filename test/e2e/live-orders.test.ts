/**
 * Duties of every venue of signed orders, on the paper exchange and on the live connection to the doors of another
 * service. The live one settles its trades after they were matched.
 */
import type { Market } from '@bellwether/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  marketBuy,
  newTrader,
  openMarkets,
  sharedTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import {
  liveOrder,
  newLiveTrader,
  orderAt,
  PROFILE,
  poolOf,
  startLiveDesk,
  startVenue,
} from '../live-desk.ts';

interface Stage {
  readonly desk: TestService;
  /** Where orders are matched. */
  readonly venue: TestService;
  readonly newTrader: () => Promise<Trader>;
}

const stages: readonly (readonly [string, () => Promise<Stage>])[] = [
  [
    'paper',
    async () => {
      const desk = await sharedTestService({ VENUE_A_ORDER_PROFILE: PROFILE });
      return { desk, venue: desk, newTrader: () => newTrader(desk) };
    },
  ],
  [
    'live',
    async () => {
      const venue = await startVenue();
      const desk = await startLiveDesk(venue);
      return { desk, venue, newTrader: () => newLiveTrader(desk, venue) };
    },
  ],
];

const settled = (stage: Stage, trader: Trader, orderId: string, status: string) =>
  expect
    .poll(async () => (await orderAt(stage.desk, trader, orderId)).status, { timeout: 30_000, interval: 100 })
    .toBe(status);

/** With room for an order between its best prices. */
async function roomyMarket({ client }: Trader): Promise<Market> {
  const found = (await openMarkets(client)).find(
    ({ bestBid, bestAsk }) => Number(bestAsk) - Number(bestBid) > 0.025,
  );
  if (found === undefined) throw new Error('the world has no such market');
  return found;
}

describe.each(stages)('orders at the %s venue', (name, start) => {
  let stage: Stage;
  let one: Trader;
  let two: Trader;
  let market: Market;

  beforeAll(async () => {
    stage = await start();
    [one, two] = [await stage.newTrader(), await stage.newTrader()];
    market = await roomyMarket(one);
  });

  afterAll(async () => {
    if (name !== 'live') return;
    // Its socket spoke of every order in time.
    const metrics = await (await fetch(`${stage.desk.url}/metrics`)).text();
    expect(metrics).toContain('bellwether_venue_count{venue="polymarket",what="sockets_found_deaf"} 0');
  });

  const get = async (path: string, by: Trader) =>
    (await call(stage.desk, 'GET', path, { key: by.apiKey })).body;
  const bestPrices = () => {
    const [bid, ask] = [Number(market.bestBid), Number(market.bestAsk)];
    return { bid, ask };
  };

  test('a limit order rests, is open, and is canceled', async () => {
    const placed = await one.client.placeTrade(await liveOrder(one, market, { side: 'BUY', size: 20 }));
    expect(placed).toMatchObject({ success: true, status: 'live', filledSize: 0 });
    const open = await get('/markets/orders/open', one);
    expect(open).toMatchObject([{ orderId: placed.orderId, status: 'live', orderStatus: 1 }]);
    expect(stage.venue.exchange.openOrders(one.funder)).toHaveLength(1);
    const { body } = await call(stage.desk, 'POST', '/markets/orders/cancel', {
      key: one.apiKey,
      body: { orderId: placed.orderId },
    });
    expect(body).toMatchObject({ success: true, canceled: [placed.orderId] });
    await settled(stage, one, placed.orderId, 'canceled');
    expect(await get('/markets/orders/open', one)).toEqual([]);
    expect(stage.venue.exchange.openOrders(one.funder)).toEqual([]);
    const again = await call(stage.desk, 'POST', '/markets/orders/cancel', {
      key: one.apiKey,
      body: { orderId: placed.orderId },
    });
    expect(again.body).toMatchObject({ success: false, canceled: [] });
  });

  test('a market BUY is filled, with its position, its fee and the rest of its budget', async () => {
    const { ask } = bestPrices();
    const order = await marketBuy(one, market, 10, {
      profile: PROFILE,
      worstPrice: Math.min(0.99, Number((ask + 0.05).toFixed(2))),
    });
    const placed = await one.client.placeTrade(order);
    expect(placed).toMatchObject({ success: true, status: 'matched' });
    expect(placed.filledSize).toBeGreaterThan(10);
    const now = await orderAt(stage.desk, one, placed.orderId);
    expect(now).toMatchObject({ filledSize: placed.filledSize, feePaid: placed.feePaid, remainingSize: 0 });
    await settled(stage, one, placed.orderId, 'filled');
    const held = stage.venue.exchange.account(one.funder).tokens.get(market.conditionId);
    const [position] = await get('/markets/current-positions', one);
    expect(BigInt(Math.round(position.size * 1e6))).toBe(held?.yes);
    expect(position).toMatchObject({ marketId: market.id, outcome: 'YES' });
    const detail = await orderAt(stage.desk, one, placed.orderId);
    expect(detail.fills.reduce((sum: number, { size }: { size: number }) => sum + size, 0)).toBeCloseTo(
      detail.filledSize,
      6,
    );
    expect(detail.orderStatus).toBe(2);
    const words = detail.journal.map(({ status }: { status: string }) => status);
    if (name === 'live') expect(words).toContain('matched');
    const me = await one.client.getMe();
    expect(me.tradesToday).toBe(2);
  });

  test('a resting order is filled by another agent’s, and both know', async () => {
    const { bid } = bestPrices();
    const price = Number((bid + 0.01).toFixed(2));
    const maker = await two.client.placeTrade(
      await liveOrder(two, market, { side: 'BUY', price, size: 12, postOnly: true }),
    );
    expect(maker).toMatchObject({ success: true, status: 'live' });
    const sold = await one.client.placeTrade(
      await liveOrder(one, market, { side: 'SELL', price, size: 5, type: 'FAK' }),
    );
    expect(sold).toMatchObject({ success: true, status: 'matched', filledSize: 5 });
    await settled(stage, one, sold.orderId, 'filled');
    await expect
      .poll(async () => (await orderAt(stage.desk, two, maker.orderId)).filledSize, { timeout: 30_000 })
      .toBe(5);
    expect(await orderAt(stage.desk, two, maker.orderId)).toMatchObject({
      status: 'partially_filled',
      remainingSize: 7,
      feePaid: 0,
    });
  });

  test('the same signed order again gets the first answer, and is executed once', async () => {
    const order = await liveOrder(one, market, { side: 'BUY', size: 15 });
    const first = await one.client.placeTrade(order);
    expect(await one.client.placeTrade(order)).toMatchObject({ orderId: first.orderId, status: 'live' });
    const open = stage.venue.exchange.openOrders(one.funder).filter(({ size }) => size === 15_000_000n);
    expect(open).toHaveLength(1);
  });

  test.each([
    ['FOK', 'fok_not_filled'],
    ['FAK', 'fak_no_match'],
  ] as const)('a refused %s order is rejected with its code, and returns its budget', async (type, code) => {
    const before = await one.client.getMe();
    const placed = await one.client.placeTrade(
      await liveOrder(one, market, { side: 'BUY', type, price: '0.1', size: 20 }),
    );
    expect(placed).toMatchObject({ success: false, errorCode: code });
    expect(await orderAt(stage.desk, one, placed.orderId)).toMatchObject({
      status: 'rejected',
      errorCode: code,
    });
    expect((await one.client.getMe()).tradesToday).toBe(before.tradesToday);
  });

  test('a post-only order that would take is refused', async () => {
    const { ask } = bestPrices();
    const order = await liveOrder(one, market, {
      side: 'BUY',
      price: Number((ask + 0.02).toFixed(2)),
      postOnly: true,
    });
    expect(await one.client.placeTrade(order).catch((error: unknown) => error)).toMatchObject({
      success: false,
      errorCode: 'post_only_would_cross',
    });
  });

  test('everything is canceled at once', async () => {
    for (const size of [21, 22, 23])
      await two.client.placeTrade(await liveOrder(two, market, { side: 'BUY', size }));
    const { body } = await call(stage.desk, 'DELETE', '/markets/orders', { key: two.apiKey, body: {} });
    expect(body.totalCanceled).toBeGreaterThanOrEqual(4);
    expect(stage.venue.exchange.openOrders(two.funder)).toEqual([]);
    await expect.poll(() => get('/markets/orders/open', two), { timeout: 30_000 }).toEqual([]);
  });

  test('nothing is left in doubt, and no budget is reserved for what has ended', async () => {
    const sql = poolOf(stage.desk);
    const rows = await sql`select order_id, status from orders where status in ('submitting', 'unknown')`;
    expect(rows).toEqual([]);
  });
});
