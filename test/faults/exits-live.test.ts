/** Guarded exits at a live venue: one effect each, repeated until there is proof, whatever the venue does meanwhile. */
import { randomBytes } from 'node:crypto';
import { Faults } from '@bellwether/exchange/doors/polymarket';
import { BellwetherClient, type Market } from '@bellwether/sdk';
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { VenueWith } from '../../packages/server/src/venues/venue.ts';
import { bidOf, cursorOf, eventsOf, passes, pushBidTo } from '../exits.ts';
import { openMarkets, type TestService, type Trader } from '../harness.ts';
import {
  alteredVenue,
  liveOrder,
  newLiveTrader,
  PROFILE,
  startLiveDesk,
  startVenue,
  type VenueWords,
} from '../live-desk.ts';
import { movingClock } from '../world.ts';

/** Of the venue and the desk. */
const clock = movingClock();
const faults = new Faults(clock.now);
/** In place of answers to orders. */
let words: VenueWords | null = null;
/** Once all is sold it does not say what became of an order; its socket does. */
let isBlind = false;
/** Of every trade. */
let sayFailed = false;
let venue: TestService;
let desk: TestService;
let trader: Trader;
let markets: Market[];
let market: Market;
let place = 0;
/** The purchase of what is held. */
let bought: string;

beforeAll(async () => {
  venue = await startVenue({}, { faults, clock });
  const { exchange } = venue;
  const url = await alteredVenue(
    venue.url,
    (record) => (sayFailed && 'taker_order_id' in record ? { ...record, status: 'FAILED' } : record),
    (method, path) => {
      if (path.includes('/data/')) return isBlind && held() === 0 ? { status: 200, body: 'no JSON' } : null;
      return method === 'POST' && path.endsWith('/order') ? words : null;
    },
  );
  desk = await startLiveDesk({ url, exchange }, { VENUE_A_DOUBT_S: '30' }, { clock });
  trader = await newLiveTrader(desk, venue);
  markets = await openMarkets(trader.client);
});
beforeEach(async () => {
  faults.set({});
  words = null;
  sayFailed = false;
  isBlind = false;
  market = markets[place] as Market;
  place += 1;
  const ask = Number(market.bestAsk);
  const { orderId } = await trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'BUY', size: 20, price: ask, type: 'FAK' } as never),
  );
  bought = orderId;
  await expect.poll(held).toBe(20);
});

const tick = (price: number) => Math.round(price * 100) / 100;
const held = () => Number(venue.exchange.freeTokens(trader.funder, market.conditionId, 'YES')) / 1e6;
async function leaveStop(
  type: 'GTC' | 'FAK' = 'GTC',
  group?: string,
): Promise<{ exitId: string; stop: number }> {
  const stop = tick(bidOf(venue, market) - 0.03);
  const order = await liveOrder(trader, market, {
    ...{ side: 'SELL', size: 10, type },
    price: tick(stop * 0.95),
  } as never);
  const { exitId } = await trader.client.leaveExit({
    ...order,
    trigger: { kind: 'price_at_or_below', price: stop },
    ...(group === undefined ? {} : { group }),
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

test.each<[string, VenueWords]>([
  ['executes it, and loses the answer', 'lost'],
  ['answers with garbage', { status: 200, body: '{"success": tru' }],
])('a venue that %s: sold once', async (_what, said) => {
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  words = said;
  await becomes(() => statusOf(exitId)).not.toBe('armed');
  await pass(2_000);
  words = null;
  await becomes(() => statusOf(exitId)).toBe('fired');
  await expect.poll(held).toBe(10);
  await pass(60_000);
  expect(held()).toBe(10);
});

/** The venue's own words, wire reference 2.5 and 2.14. */
const REFUSALS: readonly (readonly [code: string, words: VenueWords])[] = [
  [
    'insufficient_balance',
    {
      status: 400,
      body: {
        error: 'not enough balance / allowance: the balance is not enough -> balance: 0, order amount: 1',
      },
    },
  ],
  [
    'insufficient_balance',
    { status: 200, body: { success: false, errorMsg: 'not enough balance / allowance', orderID: '' } },
  ],
  [
    'venue_rate_limited',
    {
      ...{ status: 429, body: { error: 'Too Many Requests' } },
      headers: { 'poly-ratelimit-remaining': '0', 'poly-ratelimit-reset': '1' },
    },
  ],
  ['market_not_ready', { status: 400, body: { error: 'the market is not yet ready to process new orders' } }],
  ['market_closed', { status: 404, body: { error: 'No orderbook exists for the requested token id' } }],
  [
    'price_off_tick_grid',
    { status: 400, body: { error: 'order 0x1 is invalid. Price (0.4) breaks minimum tick size rule: 0.1' } },
  ],
  [
    'fak_no_match',
    {
      status: 400,
      body: { error: 'no orders found to match with FAK order. FAK orders are partially filled or killed' },
    },
  ],
];

test.each(REFUSALS)(
  'a refusal (%s) is an attempt: it is told once, stays armed, and is sold once it is taken',
  async (code, said) => {
    const { exitId, stop } = await leaveStop(code === 'fak_no_match' ? 'FAK' : 'GTC');
    await crash(stop);
    const after = await cursorOf(trader);
    words = said;
    await becomes(async () => (await trader.client.getExit(exitId)).trouble?.code).toBe(code);
    const { status, orderId } = await trader.client.getExit(exitId);
    expect(status).toBe('armed');
    expect((await trader.client.getOrder(orderId)).status).toBe('rejected');
    await pass(20_000);
    expect(await statusOf(exitId)).toBe('armed');
    words = null;
    await becomes(() => statusOf(exitId)).toBe('fired');
    await expect.poll(held).toBe(10);
    await expect.poll(async () => (await trader.client.getOrder(orderId)).filledSize).toBe(10);
    const told = (await eventsOf(trader, after)).flatMap((event) =>
      event.type.startsWith('order.') && (event.data as { orderId?: string }).orderId === orderId
        ? [event]
        : [],
    );
    expect(told.filter(({ type }) => type === 'order.rejected')).toHaveLength(1);
    expect(new Set(told.map((event) => 'id' in event && event.id)).size).toBe(told.length);
  },
);

const HTML = '<html><body>502 Bad Gateway</body></html>';
test.each<[string, VenueWords]>([
  ['425', { status: 425, body: { error: 'Too Early' } }],
  ['a page', { status: 503, body: HTML, headers: { 'content-type': 'text/html' } }],
  ['a cut connection', 'cut'],
  ['429 of the edge', { status: 429, body: 'slow down' }],
])('two seconds of %s leave the order in doubt: it is sent again within seconds', async (_what, said) => {
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  words = said;
  await becomes(() => statusOf(exitId)).toBe('firing');
  await pass(2_000);
  expect(await statusOf(exitId)).toBe('firing');
  words = null;
  const since = clock.now();
  await becomes(() => statusOf(exitId)).toBe('fired');
  expect(clock.now() - since).toBeLessThan(12_000);
  await expect.poll(held).toBe(10);
  await pass(60_000);
  expect(held()).toBe(10);
});

test('refusals say nothing of an attempt in doubt: in trouble, and armed again once that one can arrive no more', async () => {
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  words = 'cut';
  await becomes(() => statusOf(exitId)).toBe('firing');
  words = (REFUSALS[0] as (typeof REFUSALS)[number])[1];
  await becomes(async () => (await trader.client.getExit(exitId)).trouble?.code).toBe('insufficient_balance');
  await pass(10_000);
  expect(await statusOf(exitId)).toBe('firing');
  await becomes(() => statusOf(exitId)).toBe('armed');
  words = null;
  await becomes(() => statusOf(exitId)).toBe('fired');
  await expect.poll(held).toBe(10);
});

test('two stops sell all that is held, and both answers are lost: both have sold', async () => {
  const [one, other] = [await leaveStop(), await leaveStop()];
  await crash(one.stop);
  words = 'lost';
  isBlind = true;
  await becomes(held).toBe(0);
  words = null;
  for (const { exitId } of [one, other]) await becomes(() => statusOf(exitId)).toBe('fired');
  isBlind = false;
  await pass(40_000);
  for (const { exitId } of [one, other]) expect(await statusOf(exitId)).toBe('fired');
});

test('an agent that posts the order of its exit is refused once and for all; the exit sells', async () => {
  const stop = tick(bidOf(venue, market) - 0.03);
  const price = tick(stop * 0.95);
  const order = await liveOrder(trader, market, { side: 'SELL', size: 10, price } as never);
  const trigger = { kind: 'price_at_or_below', price: stop } as const;
  const { exitId } = await trader.client.leaveExit({ ...order, trigger });
  words = (REFUSALS[0] as (typeof REFUSALS)[number])[1];
  const refused = await trader.client.placeTrade(order);
  expect(refused.status).toBe('rejected');
  words = null;
  expect(await trader.client.placeTrade(order)).toEqual(refused);
  expect([held(), await statusOf(exitId)]).toEqual([20, 'armed']);
  await crash(stop);
  await becomes(() => statusOf(exitId)).toBe('fired');
  await expect.poll(held).toBe(10);
  expect(await trader.client.placeTrade(order)).toMatchObject({ success: true });
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

/** A stop, and a sale in the far future: one of them sells. */
async function leaveGroup() {
  const { exitId, stop } = await leaveStop('GTC', 'one of them');
  const order = await liveOrder(trader, market, {
    side: 'SELL',
    size: 10,
    price: tick(stop * 0.95),
  } as never);
  const trigger = { kind: 'time', at: new Date(clock.now() + 3_600_000).toISOString() } as const;
  const other = await trader.client.leaveExit({ ...order, trigger, group: 'one of them' });
  return { exitId, stop, other: other.exitId };
}

/** Of every sale from here on; the purchase can fail no more. */
async function failSales(): Promise<void> {
  await becomes(async () => (await trader.client.getOrder(bought)).status).toBe('filled');
  sayFailed = true;
}

test('the others of a group go once the sale is confirmed', async () => {
  const { exitId, stop, other } = await leaveGroup();
  await crash(stop);
  await becomes(() => statusOf(exitId)).toBe('fired');
  expect(await statusOf(other)).toBe('armed');
  await becomes(async () => (await trader.client.getExit(other)).because).toBe('group');
  expect(await statusOf(exitId)).toBe('fired');
});

test('a sale that fails to settle leaves the others of the group armed, and says that it sold nothing', async () => {
  const { exitId, stop, other } = await leaveGroup();
  await failSales();
  await crash(stop);
  await becomes(async () => (await trader.client.getExit(exitId)).because).toBe('settlement_failed');
  expect(await statusOf(exitId)).toBe('failed');
  await pass(5_000);
  expect(await statusOf(other)).toBe('armed');
});

/** By hand, all of it: the venue's balance is 0 from now on. */
const sellAll = async () => {
  await trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'SELL', size: 20, price: 0.01, type: 'FAK' } as never),
  );
  await expect.poll(held).toBe(0);
};

test('what is sold and not confirmed sells nothing; confirmed it ends the exit, which sells no later purchase', async () => {
  const { exitId, stop } = await leaveStop();
  await pass(5_000);
  await sellAll();
  await crash(stop);
  await becomes(async () => (await trader.client.getExit(exitId)).trouble?.message ?? null).toContain(
    'that sale is not confirmed yet',
  );
  expect(await statusOf(exitId)).toBe('armed');
  await becomes(() => statusOf(exitId)).toBe('canceled');
  expect((await trader.client.getExit(exitId)).because).toBe('position_closed');
  await trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'BUY', size: 20, price: 0.99 } as never),
  );
  await pass(20_000);
  expect(held()).toBe(20);
});

test('shares that came past the desk are guarded, too: selling a part of them closes nothing', async () => {
  const { conditionId } = market;
  await venue.exchange.execute({
    ...{ kind: 'split', orderId: `0x${randomBytes(32).toString('hex')}`, account: trader.funder },
    ...{ conditionId, amount: 30_000_000n },
  } as never);
  await expect.poll(held).toBe(50);
  const { exitId } = await leaveStop();
  const { orderId } = await trader.client.placeTrade(
    await liveOrder(trader, market, { side: 'SELL', size: 35, price: 0.01, type: 'FAK' } as never),
  );
  await becomes(async () => (await trader.client.getOrder(orderId)).status).toBe('filled');
  await pass(40_000);
  expect(await statusOf(exitId)).toBe('armed');
});

test('a sale that fails is none: the exit guards what is held after all', async () => {
  const { exitId } = await leaveStop();
  await failSales();
  await sellAll();
  await expect
    .poll(async () => {
      await pass(500);
      return (await trader.client.getCurrentPositions({ market: market.conditionId }))[0]?.size;
    })
    .toBe(20);
  await pass(40_000);
  expect(await statusOf(exitId)).toBe('armed');
});

test('a pause ends the sending again of an order that never came', async () => {
  const { signedOrders } = desk.needs.venues.default as VenueWith<'signedOrders'>;
  const lost = vi.spyOn(signedOrders, 'submit').mockResolvedValue({ kind: 'unknown' });
  const { exitId, stop } = await leaveStop();
  await crash(stop);
  await becomes(() => lost.mock.calls.length).toBe(1);
  await trader.client.updateSettings({ tradingPaused: true });
  await becomes(() => statusOf(exitId)).toBe('suspended');
  const { orderId } = await trader.client.getExit(exitId);
  expect((await trader.client.getOrder(orderId)).errorCode).toBe('not_received');
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
