/** A batch of orders at a live venue: one request there, and an answer, a record and a doubt for each order. */
import type { Market } from '@bellwether/sdk';
import { beforeAll, expect, test } from 'vitest';
import { call, limitOrder, openMarkets, type TestService, type Trader } from '../harness.ts';
import {
  liveOrder,
  newLiveTrader,
  orderAt,
  PROFILE,
  startLiveDesk,
  startVenue,
  venueLosingAnswers,
} from '../live-desk.ts';

let isLost = false;
let venue: TestService;
let desk: TestService;
let trader: Trader;
let market: Market;
beforeAll(async () => {
  venue = await startVenue();
  const { exchange } = venue;
  const url = await venueLosingAnswers(venue.url, '/orders', () => isLost);
  desk = await startLiveDesk({ url, exchange });
  trader = await newLiveTrader(desk, venue);
  [market] = (await openMarkets(trader.client)) as [Market];
});

const bid = (size: number) => liveOrder(trader, market, { side: 'BUY', size });
const batch = async (orders: readonly unknown[]) =>
  (await call(desk, 'POST', '/markets/batch-trade', { key: trader.apiKey, body: { orders } })).body;

/** Tokens left of what the venue takes of a kind of request; `null`: none was asked. */
async function quotaLeft(quota: string): Promise<number | null> {
  const { body } = await call(desk, 'GET', '/metrics');
  const [, left] = new RegExp(`what="quota_left_${quota}"} (\\d+)`).exec(body) ?? [];
  return left === undefined ? null : Number(left);
}

test('they go there as one request; what the venue or the desk refuses of one touches no other', async () => {
  const crossing = await limitOrder(trader, market, {
    profile: PROFILE,
    side: 'BUY',
    size: 5,
    price: Number(market.bestAsk),
    postOnly: true,
  });
  const good = await bid(10);
  const orders = [good, crossing, { ...(await bid(11)), outcome: 'NO' }, good, await bid(12)];
  const { succeeded, results } = await batch(orders);
  expect(succeeded).toBe(3);
  expect(results).toMatchObject([
    { success: true, trade: { status: 'live' } },
    { success: false, status: 201, trade: { errorCode: 'post_only_would_cross' } },
    { success: false, problem: { code: 'outcome_token_mismatch' } },
    { success: true, trade: { orderId: results[0].orderId } },
    { success: true, trade: { status: 'live' } },
  ]);
  expect(venue.exchange.openOrders(trader.funder)).toHaveLength(2);
  expect(await quotaLeft('order_batches')).toBe(999);
  expect(await quotaLeft('orders')).toBeNull();
});

test('safeguards count the orders before it in the batch', async () => {
  await trader.client.updateSettings({ maxOpenOrders: 4 });
  const { results } = await batch([await bid(10), await bid(11), await bid(12)]);
  expect(results).toMatchObject([
    { success: true },
    { success: true },
    { success: false, problem: { code: 'max_open_orders_exceeded' } },
  ]);
  await trader.client.updateSettings({ maxOpenOrders: null });
});

test('a lost answer leaves each in doubt until the venue shows it', async () => {
  isLost = true;
  const { results } = await batch([await bid(20), await bid(21)]);
  isLost = false;
  for (const { problem, trade } of results)
    expect([undefined, 'order_outcome_unknown']).toContain(problem?.code ?? trade?.errorCode);
  const ids = results.map(({ orderId }: { orderId: string }) => orderId);
  expect(new Set(ids).size).toBe(2);
  for (const orderId of ids)
    await expect.poll(async () => (await orderAt(desk, trader, orderId)).status).toBe('live');
});

test('more than the venue takes at once are answered, each of them', async () => {
  await trader.client.cancelAll();
  const orders = await Promise.all(Array.from({ length: 17 }, (_, nth) => bid(30 + nth)));
  expect(await batch(orders)).toMatchObject({ total: 17, succeeded: 17 });
  expect(venue.exchange.openOrders(trader.funder)).toHaveLength(17);
});
