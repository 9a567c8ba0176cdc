/** Guarded exits at a live venue: one effect each, repeated until there is proof, whatever the venue does meanwhile. */
import { Faults } from '@bellwether/exchange/doors/polymarket';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { VenueWith } from '../../packages/server/src/venues/venue.ts';
import { bidOf, passes, pushBidTo } from '../exits.ts';
import { openMarkets, type TestService, type Trader } from '../harness.ts';
import { liveOrder, newLiveTrader, PROFILE, startLiveDesk, startVenue } from '../live-desk.ts';
import { movingClock } from '../world.ts';

/** Of the venue and the desk. */
const clock = movingClock();
const faults = new Faults(clock.now);
let venue: TestService;
let desk: TestService;
let trader: Trader;
let markets: Market[];
let market: Market;
let place = 0;

beforeAll(async () => {
  venue = await startVenue({}, { faults, clock });
  desk = await startLiveDesk(venue, {}, { clock });
  trader = await newLiveTrader(desk, venue);
  markets = await openMarkets(trader.client);
});
beforeEach(async () => {
  faults.set({});
  market = markets[place] as Market;
  place += 1;
  const ask = Number(market.bestAsk);
  await trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'BUY', size: 20, price: ask, type: 'FAK' } as never),
  );
  await expect.poll(held).toBe(20);
});

const tick = (price: number) => Math.round(price * 100) / 100;
const held = () => Number(venue.exchange.freeTokens(trader.funder, market.conditionId, 'YES')) / 1e6;
async function leaveStop(): Promise<{ exitId: string; stop: number }> {
  const stop = tick(bidOf(venue, market) - 0.03);
  const order = await liveOrder(trader, market, {
    side: 'SELL',
    size: 10,
    price: tick(stop * 0.95),
  } as never);
  const { exitId } = await trader.client.leaveExit({
    ...order,
    trigger: { kind: 'price_at_or_below', price: stop },
  });
  return { exitId, stop };
}
const crash = (price: number) => pushBidTo(venue, { market, price, profile: PROFILE });
const statusOf = async (exitId: string, client = trader.client) => (await client.getExit(exitId)).status;

/** The desk looks at its exits meanwhile, and then asks for the orders that are in doubt. */
async function pass(ms: number, on = desk): Promise<void> {
  await passes(on, clock, ms);
  await on.runJob('resolve doubt');
}
/** Lets time pass until it is so. */
const becomes = (look: () => unknown, on = desk) =>
  expect.poll(async () => {
    await pass(500, on);
    return look();
  });

test('a stop is sent from the book that the venue streams, and its fill is booked', async () => {
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  await becomes(() => statusOf(exitId)).toBe('fired');
  const exit = await trader.client.getExit(exitId);
  expect(exit.fired).toMatchObject({ cause: 'trigger', bid: expect.any(Number) });
  await expect.poll(held).toBe(10);
  await expect.poll(async () => (await trader.client.getOrder(exit.orderId)).filledSize).toBe(10);
});

test.each([
  ['loses the order', { droppedShare: 1 }],
  ['executes it, and loses the answer', { failedAfterShare: 1 }],
  ['answers with garbage', { garbledShare: 1 }],
])('a venue that %s: sold once', async (_what, plan) => {
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  faults.set(plan);
  await becomes(() => statusOf(exitId)).not.toBe('armed');
  await pass(2_000);
  faults.set({});
  await becomes(() => statusOf(exitId)).toBe('fired');
  await expect.poll(held).toBe(10);
  await pass(60_000);
  expect(held()).toBe(10);
});

test('an order that the venue proves never to have received is sent again, and sold once', async () => {
  const { signedOrders } = desk.needs.venues.default as VenueWith<'signedOrders'>;
  const real = signedOrders.submit;
  const lost = vi
    .spyOn(signedOrders, 'submit')
    .mockImplementationOnce(async () => ({ kind: 'unknown' }))
    .mockImplementation((...sent) => real(...sent));
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  await becomes(() => statusOf(exitId)).toBe('fired');
  expect(lost).toHaveBeenCalledTimes(2);
  expect(lost.mock.calls[1]?.[0].orderId).toBe(lost.mock.calls[0]?.[0].orderId);
  lost.mockRestore();
  await expect.poll(held).toBe(10);
});

test('a pause ends the sending again of an order that never came', async () => {
  const { signedOrders } = desk.needs.venues.default as VenueWith<'signedOrders'>;
  const lost = vi.spyOn(signedOrders, 'submit').mockResolvedValue({ kind: 'unknown' });
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  await becomes(() => lost.mock.calls.length).toBe(1);
  await trader.client.updateSettings({ tradingPaused: true });
  await becomes(() => statusOf(exitId)).toBe('failed');
  expect((await trader.client.getExit(exitId)).because).toBe('not_received');
  lost.mockRestore();
  await trader.client.updateSettings({ tradingPaused: false });
  expect(held()).toBe(20);
});

test('a venue that is away: sold once it is back, and once', async () => {
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  faults.set({ unavailableShare: 1 });
  await pass(5_000);
  faults.set({});
  await becomes(() => statusOf(exitId)).toBe('fired');
  await expect.poll(held).toBe(10);
  await pass(60_000);
  expect(held()).toBe(10);
});

test('a desk that ends before it knows of its order: the next one goes on, and sells once', async () => {
  const { signedOrders } = desk.needs.venues.default as VenueWith<'signedOrders'>;
  const lost = vi.spyOn(signedOrders, 'submit').mockResolvedValue({ kind: 'unknown' });
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  await becomes(() => lost.mock.calls.length).toBe(1);
  await desk.stop();
  expect(held()).toBe(20);
  const next = await startLiveDesk(
    venue,
    { DATABASE_URL: desk.databaseUrl, MASTER_KEY: desk.masterKey },
    { clock },
  );
  const client = new BellwetherClient({ baseUrl: next.url, apiKey: trader.apiKey });
  await becomes(() => statusOf(exitId, client), next).toBe('fired');
  await expect.poll(held).toBe(10);
  await pass(60_000, next);
  expect(held()).toBe(10);
});
