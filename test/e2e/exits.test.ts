/** Guarded exits: signed ahead, left with the desk, and sent when their trigger holds, with one effect. */
import { randomUUID } from 'node:crypto';
import { buildLimitOrder, type ExitRequest, type GuardedExit, type Market } from '@bellwether/sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Book } from '../../packages/server/src/domain/market.ts';
import { expectBooksToAgree } from '../books.ts';
import { bidOf, type ExitOrder, exitOrder, hold, lasts, passes, pushBidTo, sellDownTo } from '../exits.ts';
import {
  limitOrder,
  newTrader,
  openMarkets,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { manualClock } from '../world.ts';

const clock = manualClock();
let service: TestService;
let markets: Market[];
let market: Market;
let trader: Trader;
let seller: Trader;
let place = 0;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  seller = await newTrader(service);
  markets = await openMarkets(seller.client);
});
/** Each test has a market and a trader of its own, with 30 shares of either outcome. */
beforeEach(async () => {
  market = markets[place] as Market;
  place += 1;
  trader = await newTrader(service);
  await hold(trader, market, 30);
});

afterEach(() => void vi.restoreAllMocks());

const tick = (price: number) => Math.round(price * 100) / 100;
type Trigger = ExitRequest['trigger'];
const below = (price: number): Trigger => ({ kind: 'price_at_or_below', price });
const above = (price: number): Trigger => ({ kind: 'price_at_or_above', price });

const requestFor = async (order: ExitOrder, trigger: object, more: object = {}, by = trader) =>
  ({ ...(await exitOrder(by, market, order)), trigger, ...more }) as ExitRequest;
const leave = async (order: ExitOrder, trigger: Trigger, more: object = {}) =>
  trader.client.leaveExit(await requestFor(order, trigger, more));
const refused = async (order: ExitOrder, trigger: object, more: object = {}) =>
  (await trader.post('/markets/exits', await requestFor(order, trigger, more))).body;
const pass = (ms: number) => passes(service, clock, ms);
/** Longer than a trigger must hold. */
async function becomes(exitId: string, status: string): Promise<void> {
  await pass(2_500);
  expect((await trader.client.getExit(exitId)).status).toBe(status);
}
/** Looked up past the API: a request would be a sign of life. */
const statusNow = async ({ exitId }: GuardedExit) =>
  (await service.needs.exits.byId(exitId, trader.agentId))?.status;
/** The last call is written, as the desk does every five seconds. */
async function written(): Promise<void> {
  const keys = await service.needs.agents.keys(trader.agentId);
  await service.needs.agents.touch(new Map(keys.map(({ id }) => [id, service.needs.clock.now()])));
}
/** Second by second: a longer step would be a pause of the desk. */
async function saysNothingFor(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    await service.runJob('keep watch');
  }
  await pass(500);
}
const sales = async () =>
  (await trader.client.listOrders({ limit: 100 })).filter(
    ({ side, orderType }) => side === 'SELL' && orderType !== 'MERGE',
  );
async function bidFor(size: number, price: number): Promise<void> {
  const { client, signer } = await newTrader(service);
  const terms = { signer, market, outcome: 'YES', side: 'BUY' } as const;
  await client.placeTrade(await buildLimitOrder({ ...terms, size, price: price.toFixed(2) }));
}
/** A stop three ticks below the bid, with the price where it sells at the worst. */
const stopPrices = () => {
  const stop = tick(bidOf(service, market) - 0.03);
  return { stop, worst: tick(stop * 0.95) };
};

describe('a price', () => {
  test('a stop waits while the book pays more, and sells once when it pays so little', async () => {
    const bid = bidOf(service, market);
    const { stop, worst } = stopPrices();
    const exit = await leave({ worst }, below(stop));
    expect(exit).toMatchObject({ status: 'armed', size: 10, worstPrice: worst, fired: null });
    expect(exit.watch).toMatchObject({ bid, note: null, distance: expect.closeTo(bid - stop, 2) });
    await pushBidTo(service, { market, price: stop });
    await becomes(exit.exitId, 'fired');
    const { fired } = await trader.client.getExit(exit.exitId);
    expect(fired).toMatchObject({ cause: 'trigger', bid: stop, price: expect.any(Number) });
    expect(fired?.bids[0]?.price).toBe(stop);
    expect(Date.parse(fired?.at ?? '') - Date.parse(fired?.heldSince ?? '')).toBeGreaterThanOrEqual(2_000);
    expect(await trader.client.getOrder(exit.orderId)).toMatchObject({ filledSize: 10, status: 'filled' });
    expect(await sales()).toHaveLength(1);
    await expectBooksToAgree(service, [trader]);
  });

  test('a profit is taken once the book pays so much for the whole size', async () => {
    const profit = tick(bidOf(service, market) - 0.02);
    await pushBidTo(service, { market, price: tick(profit - 0.02) });
    const exit = await leave({ worst: profit, type: 'FOK' }, above(profit));
    await bidFor(9, profit);
    await pass(3_000);
    expect((await trader.client.getExit(exit.exitId)).status).toBe('armed');
    await bidFor(5, profit);
    await becomes(exit.exitId, 'fired');
    expect(await trader.client.getOrder(exit.orderId)).toMatchObject({ filledSize: 10 });
  });

  test('a price that comes back within two seconds sells nothing', async () => {
    const { stop, worst } = stopPrices();
    const exit = await leave({ worst }, below(stop));
    await pushBidTo(service, { market, price: stop });
    await bidFor(500, tick(stop + 0.02));
    await pass(3_000);
    expect(await trader.client.getExit(exit.exitId)).toMatchObject({ status: 'armed' });
    expect(await sales()).toEqual([]);
  });

  test.each([
    ['has ended or does not answer', () => null],
    ['is crossed', (book: Book) => ({ ...book, asks: [[book.bids[0]?.[0] ?? 0, 1_000_000n] as const] })],
    ['has no bid', (book: Book) => ({ ...book, bids: [] })],
  ])('a book that %s triggers nothing, and says so; one that is believed does', async (_what, seen) => {
    const { stop, worst } = stopPrices();
    const exit = await leave({ worst }, below(stop));
    const { markets: data } = service.needs.venues.default;
    const real = data.book.bind(data);
    const spied = vi
      .spyOn(data, 'book')
      .mockImplementation(async (...asked) => seen((await real(...asked)) as Book) as Book | null);
    // More than rests there: the makers quote lower then.
    await sellDownTo(service, { market, price: stop, size: 9_000 });
    await pass(3_000);
    // A busy desk does not look at its books at once.
    const seenNow = async () => {
      const { status, watch } = await trader.client.getExit(exit.exitId);
      return watch === null ? null : { status, ...watch };
    };
    await expect.poll(seenNow, { timeout: 30_000 }).toMatchObject({
      ...{ status: 'armed', bid: null, distance: null },
      note: expect.stringMatching(/triggers/),
    });
    spied.mockRestore();
    await pushBidTo(service, { market, price: stop });
    await becomes(exit.exitId, 'fired');
  });

  test('a worst price far below the bid is refused when it is sent, too: the market had risen', async () => {
    const at = new Date(clock.now() + 5_000).toISOString();
    const exit = await leave({ worst: 0.02 }, { kind: 'time', at });
    await pass(5_500);
    expect((await trader.client.getExit(exit.exitId)).trouble?.code).toBe('exit_price_out_of_range');
    await lasts(service, clock);
    expect(await sales()).toEqual([]);
    const { riskAlerts, exits } = await trader.client.getBriefing();
    expect(riskAlerts.map(({ code }) => code)).toContain('exit_in_trouble');
    expect(exits.map(({ exitId }) => exitId)).toEqual([exit.exitId]);
  });

  test('an order that executes at once is not spent where the book would not take it', async () => {
    const { stop, worst } = stopPrices();
    const exit = await leave({ worst, type: 'FAK' }, below(stop));
    await pushBidTo(service, { market, price: tick(worst - 0.01) });
    await pass(2_500);
    expect((await trader.client.getExit(exit.exitId)).trouble?.code).toBe('exit_liquidity_required');
    expect(await sales()).toEqual([]);
  });
});

describe('a time', () => {
  test('of its own, and before the end of the market', async () => {
    const bid = bidOf(service, market);
    const inAMinute = new Date(clock.now() + 60_000).toISOString();
    const timed = await leave({ worst: bid }, { kind: 'time', at: inAMinute });
    const ending = await leave({ worst: bid, outcome: 'YES' }, { kind: 'before_end', minutes: 60 });
    expect(await trader.client.listExits({ status: 'armed' })).toHaveLength(2);
    clock.advance(61_000);
    await becomes(timed.exitId, 'fired');
    clock.moveTo(Date.parse(market.endDate) - 3_600_000);
    await becomes(ending.exitId, 'fired');
    expect((await trader.client.getExit(ending.exitId)).fired).toMatchObject({ cause: 'trigger', bid });
  });

  test('silence sells by the exit, and leaves what it has placed', async () => {
    await trader.client.updateSettings({ silenceSeconds: 60 });
    const silent = await leave({ worst: bidOf(service, market) }, { kind: 'silence' });
    await written();
    await saysNothingFor(60);
    expect(await statusNow(silent)).toBe('armed');
    await saysNothingFor(7);
    expect(await statusNow(silent)).toBe('fired');
    expect((await service.needs.orders.byIds([silent.orderId]))[0]?.cancelAt).toBeNull();
  });

  test.each([
    ['shortened', 30, [30, 600]],
    ['lengthened', 900, [600, 900]],
    ['switched off', null, [30, 600]],
  ] as const)(
    'silence that is %s since: the longer time counts',
    async (_how, silenceSeconds, [early, late]) => {
      await trader.client.updateSettings({ silenceSeconds: 600 });
      const silent = await leave({ worst: bidOf(service, market) }, { kind: 'silence' });
      // Whoever stole the key could sell so.
      await trader.client.updateSettings({ silenceSeconds });
      await written();
      await saysNothingFor(early);
      expect(await statusNow(silent)).toBe('armed');
      await saysNothingFor(late - early + 7);
      expect(await statusNow(silent)).toBe('fired');
    },
  );

  test('a time in which the desk did not look is no silence, also for the first look after it', async () => {
    await trader.client.updateSettings({ silenceSeconds: 60 });
    const silent = await leave({ worst: bidOf(service, market) }, { kind: 'silence' });
    await written();
    await saysNothingFor(2);
    clock.advance(600_000);
    await pass(500);
    await saysNothingFor(30);
    expect(await statusNow(silent)).toBe('armed');
  });

  test('an exit that has expired is sent no more', async () => {
    const bid = bidOf(service, market);
    const inAnHour = new Date(clock.now() + 3_600_000).toISOString();
    const exit = await leave({ worst: bid }, below(tick(bid - 0.05)), { expiresAt: inAnHour });
    expect(exit.endsAt).toBe(inAnHour);
    const { riskAlerts } = await trader.client.getBriefing();
    expect(riskAlerts.map(({ code }) => code)).toContain('exit_ends_soon');
    clock.advance(3_600_001);
    await becomes(exit.exitId, 'expired');
    expect((await service.needs.exits.byId(exit.exitId, trader.agentId))?.sealed).toBeNull();
  });
});

describe('several', () => {
  test('of a group one is sent, and cancels the rest', async () => {
    const { stop, worst } = stopPrices();
    const group = 'stop or profit';
    const loss = await leave({ worst }, below(stop), { group });
    const profit = await leave({ worst: tick(stop + 0.15) }, above(tick(stop + 0.15)), { group });
    const apart = await leave({ worst: tick(stop + 0.15) }, above(tick(stop + 0.15)));
    await pushBidTo(service, { market, price: stop });
    await becomes(loss.exitId, 'fired');
    expect(await trader.client.getExit(profit.exitId)).toMatchObject({
      status: 'canceled',
      because: 'group',
    });
    expect(await trader.client.getExit(apart.exitId)).toMatchObject({ status: 'armed' });
  });

  test('a group whose exits hold together sends one', async () => {
    const bid = bidOf(service, market);
    const exits: GuardedExit[] = [];
    for (let nth = 0; nth < 3; nth += 1)
      exits.push(await leave({ worst: bid }, below(bid), { group: 'ladder of one' }));
    await pass(2_500);
    const statuses = exits.map(async ({ exitId }) => (await trader.client.getExit(exitId)).status);
    expect((await Promise.all(statuses)).sort()).toEqual(['canceled', 'canceled', 'fired']);
    expect(await sales()).toHaveLength(1);
    await pass(3_000);
    expect(await sales()).toHaveLength(1);
  });

  test('one replaces another in one commit, and each is taken back once', async () => {
    const { stop, worst } = stopPrices();
    const first = await leave({ worst }, below(stop));
    const second = await leave({ worst: tick(worst - 0.01) }, below(tick(stop - 0.01)), {
      replaces: first.exitId,
    });
    expect(await trader.client.getExit(first.exitId)).toMatchObject({
      status: 'canceled',
      because: 'replaced',
    });
    const canceled = await trader.client.cancelExit({ exitId: second.exitId });
    expect(canceled).toMatchObject({ status: 'canceled', because: 'by_agent' });
    expect(await trader.client.cancelExit({ exitId: second.exitId })).toEqual(canceled);
    expect((await refused({ worst }, below(stop), { replaces: second.exitId })).code).toBe('exit_gone');
    const checked = { replaces: second.exitId, validateOnly: true };
    expect((await refused({ worst }, below(stop), checked)).code).toBe('exit_gone');
    expect(await trader.client.listExits({ status: 'open' })).toEqual([]);
  });

  test('an armed exit keeps a place of the day; a group keeps one', async () => {
    const { stop, worst } = stopPrices();
    const used = (await trader.client.getMe()).tradesToday;
    await trader.client.updateSettings({ maxTradesPerDay: used + 2 });
    const exit = await leave({ worst }, below(stop), { group: 'a' });
    await leave({ worst }, below(tick(stop - 0.01)), { group: 'a' });
    expect((await trader.client.getMe()).tradesRemaining).toBe(1);
    const buy = async () =>
      limitOrder(trader, market, { side: 'BUY', size: 5, price: '0.01', clientOrderId: randomUUID() });
    await trader.client.placeTrade(await buy());
    // The agent loops: what is kept for the exit is not its to use.
    await expect(trader.client.placeTrade(await buy())).rejects.toMatchObject({
      code: 'max_trades_per_day_exceeded',
      detail: expect.stringContaining('kept for guarded exits'),
    });
    expect((await refused({ worst }, below(stop))).code).toBe('max_trades_per_day_exceeded');
    await pushBidTo(service, { market, price: stop });
    await becomes(exit.exitId, 'fired');
    expect((await trader.client.getMe()).tradesRemaining).toBe(0);
  });
});

describe('what is left twice, or wrongly', () => {
  test('the same exit is one; with other terms it is refused', async () => {
    const { stop, worst } = stopPrices();
    const request = await requestFor({ worst }, below(stop));
    const exit = await trader.client.leaveExit(request);
    expect((await trader.client.leaveExit(request)).exitId).toBe(exit.exitId);
    const [known, checked] = await Promise.all([
      trader.post('/markets/exits', request),
      trader.post('/markets/exits', { ...request, validateOnly: true }),
    ]);
    expect([known.status, known.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
    expect([checked.status, checked.headers.get('idempotency-replayed')]).toEqual([200, null]);
    const other = { ...request, trigger: below(tick(stop - 0.01)) };
    await expect(trader.client.leaveExit(other)).rejects.toMatchObject({ code: 'exit_order_already_used' });
    await trader.client.placeTrade(await exitOrder(trader, market, { worst: 0.9 }));
    expect(await trader.client.listExits({})).toHaveLength(1);
  });

  test('the first answer is no repetition; that of a repeated request, of its twin and of a second cancel is one', async () => {
    const { stop, worst } = stopPrices();
    const old = await leave({ worst }, below(stop));
    const request = await requestFor({ worst }, below(stop), { replaces: old.exitId });
    const answers = await Promise.all([1, 2].map(() => trader.post('/markets/exits', request)));
    answers.push(await trader.post('/markets/exits', request));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.exitId)).size).toBe(1);
    const marks = answers.map(({ headers }) => headers.get('idempotency-replayed'));
    expect(marks.filter((mark) => mark === null)).toHaveLength(1);
    expect(marks[2]).toBe('true');
    for (const mark of [null, 'true']) {
      const canceled = await trader.post('/markets/exits/cancel', { exitId: answers[2]?.body.exitId });
      expect([canceled.status, canceled.headers.get('idempotency-replayed')]).toEqual([200, mark]);
    }
  });

  test('checking alone leaves nothing', async () => {
    const { stop, worst } = stopPrices();
    const checked = await trader.client.leaveExit(
      await requestFor({ worst }, below(stop), { validateOnly: true }),
    );
    expect(checked).toMatchObject({ status: 'validated', worstPrice: worst });
    expect(await trader.client.listExits({})).toEqual([]);
  });

  test('more than is held, a worst price too low, and an order that cannot be', async () => {
    const { stop, worst } = stopPrices();
    expect((await refused({ worst, size: 31 }, below(stop))).code).toBe('insufficient_balance');
    expect(await refused({ worst: tick(stop * 0.8) }, below(stop))).toMatchObject({
      code: 'exit_price_out_of_range',
      detail: expect.stringContaining("trigger's price"),
    });
    const placed = await exitOrder(trader, market, { worst: 0.9 });
    await trader.client.placeTrade(placed);
    const again = { ...placed, trigger: below(stop) } as ExitRequest;
    await expect(trader.client.leaveExit(again)).rejects.toMatchObject({ code: 'order_already_placed' });
  });

  test('every fault of its own terms at once, and a misspelt field', async () => {
    const { stop, worst } = stopPrices();
    const faulty = await refused({ worst }, { kind: 'time', price: 0.4 }, { postOnly: true });
    expect(faulty.errors.map(({ path }: { path: string }) => path)).toEqual([
      'postOnly',
      'trigger.price',
      'trigger.at',
    ]);
    expect(await refused({ worst }, below(stop), { expireAt: '2030-01-01T00:00:00Z' })).toMatchObject({
      code: 'invalid_request',
      errors: [expect.objectContaining({ path: 'expireAt' })],
    });
    expect((await refused({ worst }, { kind: 'silence' })).code).toBe('exit_trigger_out_of_range');
    const soon = new Date(clock.now() + 60_000).toISOString();
    const later = new Date(clock.now() + 120_000).toISOString();
    expect((await refused({ worst }, { kind: 'time', at: later }, { expiresAt: soon })).code).toBe(
      'exit_trigger_out_of_range',
    );
  });

  test('a venue that trades by quotes says why not', async () => {
    const { stop, worst } = stopPrices();
    expect(await refused({ worst }, below(stop), { venue: 'kalshi' })).toMatchObject({
      code: 'wrong_venue_route',
      detail: expect.stringContaining('no sale can be signed ahead'),
    });
  });

  test("another agent's exit does not exist", async () => {
    const { stop, worst } = stopPrices();
    const { exitId } = await leave({ worst }, below(stop));
    await expect(seller.client.getExit(exitId)).rejects.toMatchObject({ code: 'exit_not_found' });
    await expect(seller.client.cancelExit({ exitId })).rejects.toMatchObject({ code: 'exit_not_found' });
    await expect(
      seller.client.leaveExit(await requestFor({ worst }, below(stop), {}, trader)),
    ).rejects.toMatchObject({ status: 403 });
    await hold(seller, market, 10);
    for (const replaces of [exitId, 'no-such-exit'])
      for (const validateOnly of [false, true]) {
        const request = await requestFor({ worst }, below(stop), { replaces, validateOnly }, seller);
        const { status, body } = await seller.post('/markets/exits', request);
        expect({ status, code: body.code, path: body.errors[0].path }).toEqual({
          ...{ status: 404, code: 'exit_not_found', path: 'replaces' },
        });
      }
    expect(await trader.client.getExit(exitId)).toMatchObject({ status: 'armed' });
  });
});
