/** The venue gave no answer: the desk reports it, keeps the budget reserved, and finds the outcome. */

import { type Market, type OrderDetail, orderIdOf, type TradeRequest } from '@bellwether/sdk';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  FIRST_STATUS,
  isInDoubt,
  ORDER_STATUSES,
  type OrderStatus,
  transition,
} from '../../packages/server/src/domain/lifecycle.ts';
import { venueFor } from '../../packages/server/src/venues/asking.ts';
import type { CancelAnswer, SignedOrders } from '../../packages/server/src/venues/venue.ts';
import {
  aMarket,
  marketBuy,
  newTrader,
  recordFirst,
  restingOrder,
  startTestService,
  type TestService,
  type Trader,
} from '../harness.ts';
import { movingClock } from '../world.ts';

/** Longer than the resolver leaves an order alone. */
const LEFT_ALONE_MS = 12_000;
const clock = movingClock();

let service: TestService;
let trader: Trader;
let market: Market;
let signedOrders: SignedOrders;
let real: SignedOrders;

beforeAll(async () => {
  service = await startTestService({ PAPER_WORLD: 'off' }, { clock });
  recordFirst(service);
  signedOrders = venueFor(service.needs, undefined, 'signedOrders').signedOrders;
  real = { ...signedOrders };
  market = await aMarket((await newTrader(service)).client);
});

/** Replaces methods of the venue; the others stay real. */
const wrapVenue = (replaced: Partial<SignedOrders>) => Object.assign(signedOrders, replaced);
const unwrapVenue = () => Object.assign(signedOrders, real);
afterEach(unwrapVenue);

const UNKNOWN = { kind: 'unknown' } as const;
const send = (request: TradeRequest) => trader.post('/markets/trade', request);
const usage = async () => {
  const { safeguards } = await trader.client.getMarketContext(market.id);
  return { trades: safeguards.tradesToday.used, amount: safeguards.dailyTradeAmount.used };
};
const balance = async () => (await trader.client.getMe()).simulationBalance;
const eventsOf = (order: OrderDetail) => order.journal.map(({ event, status }) => `${event} → ${status}`);

/** Sends it to a venue that gives no answer, and checks the agent's answer. */
async function sendUnanswered(request: TradeRequest) {
  const { status, body, headers } = await send(request);
  expect({ status, code: body.code, orderId: body.orderId }).toEqual({
    status: 500,
    code: 'order_outcome_unknown',
    orderId: orderIdOf(request),
  });
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

async function resolved(orderId: string, wanted: readonly OrderStatus[]): Promise<void> {
  await service.runJob('resolve doubt');
  expect(wanted).toContain((await trader.client.getOrder(orderId)).status);
}

describe('an order whose outcome is unknown', () => {
  test('it was executed and the answer is lost: the evidence decides', async () => {
    trader = await newTrader(service);
    const before = await balance();
    for (const request of [await marketBuy(trader, market, 20), await restingOrder(trader, market)]) {
      wrapVenue({
        submit: async (order, message) => {
          expect((await real.submit(order, message)).kind).toBe('accepted');
          return UNKNOWN;
        },
      });
      await sendUnanswered(request);
      unwrapVenue();
      // The venue's evidence arrived before the timeout was recorded, and must not be overwritten by it.
      const order = await trader.client.getOrder(orderIdOf(request));
      expect(isInDoubt(order.status as OrderStatus)).toBe(false);
      expect(eventsOf(order)).not.toContain('no_answer → unknown');
      const again = await send(request);
      expect(again).toMatchObject({
        status: 201,
        body: { success: true, filledSize: order.filledSize, feePaid: order.feePaid },
      });
      expect((await send(request)).body).toEqual(again.body);
    }
    const [resting, bought] = await trader.client.listOrders();
    expect(resting).toMatchObject({ status: 'live', filledSize: 0 });
    expect(['matched', 'filled']).toContain(bought?.status);
    const spent = (bought?.filledAmount as number) + (bought?.feePaid as number);
    expect(before - (await balance())).toBeCloseTo(spent, 6);
    expect((await usage()).trades).toBe(2);
  });

  test('it is executed later: the order is in doubt and its budget reserved until then', async () => {
    trader = await newTrader(service);
    const request = await marketBuy(trader, market, 20);
    let execute: () => Promise<unknown> = async () => {};
    wrapVenue({
      submit: async (order, message) => {
        execute = () => real.submit(order, message);
        return UNKNOWN;
      },
      // Asked, the venue would refuse for good what it has not received.
      resolve: async () => UNKNOWN,
    });
    await sendUnanswered(request);
    const orderId = orderIdOf(request);
    expect(await trader.client.getOrder(orderId)).toMatchObject({
      status: 'unknown',
      orderStatus: 1,
      filledSize: 0,
    });
    expect((await trader.client.listOpenOrders()).map((order) => order.orderId)).toEqual([orderId]);
    expect(await usage()).toEqual({ trades: 1, amount: 20 });
    await sendUnanswered(request);
    // An order that the venue does not know may still reach it.
    expect((await trader.client.cancelOrder(orderId)).notCanceled[orderId]).toMatch(/in doubt.*ask again/);

    await execute();
    const order = await trader.client.getOrder(orderId);
    expect(eventsOf(order).slice(0, 3)).toEqual([
      'recorded → submitting',
      'no_answer → unknown',
      'accepted → live',
    ]);
    expect(order.filledSize).toBeGreaterThan(0);
    expect(await send(request)).toMatchObject({
      status: 201,
      body: { success: true, status: 'matched', filledSize: order.filledSize },
    });
    expect((await usage()).trades).toBe(1);
  });

  test('it never arrived: in doubt until that is proved, then rejected, and the budget is returned', async () => {
    trader = await newTrader(service);
    const request = await restingOrder(trader, market, 100);
    const orderId = orderIdOf(request);
    const money = await balance();
    let late: () => Promise<unknown> = async () => {};
    let asked = 0;
    wrapVenue({
      submit: async (order, message) => {
        late = () => real.submit(order, message);
        return UNKNOWN;
      },
      // The venue is unreachable for a while longer: no proof either way.
      resolve: async (id, unplaced) => {
        if (id === orderId) asked += 1;
        return id === orderId && asked === 1 ? UNKNOWN : real.resolve(id, unplaced);
      },
    });
    await sendUnanswered(request);
    expect(await usage()).toEqual({ trades: 1, amount: 1 });
    expect(await trader.client.getOrder(orderId)).toMatchObject({ status: 'unknown', errorCode: null });
    clock.advance(LEFT_ALONE_MS);
    await service.runJob('resolve doubt');
    expect(asked).toBe(1);
    expect(await trader.client.getOrder(orderId)).toMatchObject({ status: 'unknown' });
    expect(await usage()).toEqual({ trades: 1, amount: 1 });

    await resolved(orderId, ['rejected']);
    expect(await trader.client.getOrder(orderId)).toMatchObject({
      orderStatus: 5,
      errorCode: 'not_received',
      filledSize: 0,
    });
    expect(await usage()).toEqual({ trades: 0, amount: 0 });
    const again = await send(request);
    expect(again).toMatchObject({
      status: 201,
      body: {
        success: false,
        status: 'rejected',
        errorCode: 'not_received',
        errorMessage: expect.any(String),
      },
    });

    // A late message is refused after its deadline, so the proof stays true.
    await late();
    await service.runJob('resolve doubt');
    expect(await trader.client.getOrder(orderId)).toMatchObject({ status: 'rejected', fills: [] });
    const place = { funder: trader.signer.address, conditionId: market.conditionId };
    expect((await real.resolve(orderId, place)).kind).toBe('never_received');
    expect(await balance()).toBe(money);
    expect(await usage()).toEqual({ trades: 0, amount: 0 });
  });

  test('its silence causes one event, also when two parts of the desk notice it at once', async () => {
    trader = await newTrader(service);
    const request = await restingOrder(trader, market);
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let resolving: Promise<unknown> = asked.promise;
    wrapVenue({
      submit: async () => {
        clock.advance(LEFT_ALONE_MS);
        resolving = service.runJob('resolve doubt');
        await asked.promise;
        return UNKNOWN;
      },
      resolve: async () => {
        asked.resolve();
        await answered.promise;
        return UNKNOWN;
      },
    });
    const ending = new AbortController();
    const told: string[] = [];
    for await (const event of trader.client.events({ signal: ending.signal })) {
      if (event.type === 'ready') {
        await sendUnanswered(request);
        clock.advance(1);
        answered.resolve();
        await resolving;
        await trader.client.updateSettings({ maxTradesPerDay: 7 });
      } else if (event.type === 'safeguards' && event.data.settings.maxTradesPerDay === 7) ending.abort();
      else if (event.type.startsWith('order.')) told.push(event.type);
    }
    expect(told).toEqual(['order.unknown']);
  });

  test('a cancel goes to the venue, which may hold the order', async () => {
    trader = await newTrader(service);
    const request = await restingOrder(trader, market);
    const orderId = orderIdOf(request);
    // Nor does a look at the venue settle it meanwhile.
    wrapVenue({ submit: async () => UNKNOWN, resolve: async () => UNKNOWN });
    await sendUnanswered(request);
    const { cancel } = venueFor(service.needs, undefined, 'cancel');
    const atVenue = cancel.orders;
    const asked: string[] = [];
    const canceling = (answer: CancelAnswer) =>
      Object.assign(cancel, {
        orders: async (_account: string, orderIds: readonly string[]) => {
          asked.push(...orderIds);
          return answer;
        },
      });
    try {
      canceling(UNKNOWN);
      expect(await trader.client.cancelOrder(orderId)).toMatchObject({
        success: false,
        syncedToMkOrder: false,
      });
      canceling({ kind: 'answered', canceled: [orderId], notCanceled: {} });
      expect(await trader.client.cancelAll()).toMatchObject({ totalCanceled: 1 });
      expect(await trader.client.cancelOrder(orderId)).toMatchObject({ success: true, canceled: [orderId] });
      expect(asked).toEqual([orderId, orderId, orderId]);
    } finally {
      Object.assign(cancel, { orders: atVenue });
    }
  });

  test('while the order is in doubt its budget counts against the caps', async () => {
    trader = await newTrader(service);
    await trader.client.updateSettings({ maxTradesPerDay: 1 });
    wrapVenue({ submit: async () => UNKNOWN });
    await sendUnanswered(await restingOrder(trader, market));
    unwrapVenue();
    expect((await send(await restingOrder(trader, market))).body.code).toBe('max_trades_per_day_exceeded');
  });
});

test('evidence can move an order out of doubt, and nothing can move it back', () => {
  for (const status of ['submitting', 'unknown'] as const) {
    expect(transition('signed', status, 'accepted')).toBe('live');
    expect(transition('signed', status, 'rejected')).toBe('rejected');
  }
  for (const status of ORDER_STATUSES.filter((one) => one !== FIRST_STATUS))
    expect(transition('signed', status, 'no_answer')).toBeNull();
});
