/** A user socket that stands, answers PINGs, and says nothing of an order that was placed. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Answer, isPost, live, type NewOrder, type Stage, startStage } from './live-orders-stage.ts';

const SOON = 10_000;

// Time passes as it does by itself, and further when a test says so.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], shouldAdvanceTime: true });
});
afterEach(() => {
  vi.useRealTimers();
});

const open = (orders: readonly NewOrder[]): Answer => ({
  body: {
    data: orders.map(({ order: { orderId: id } }) => ({
      ...{ id, status: 'LIVE', original_size: '10', size_matched: '0' },
    })),
    next_cursor: 'LTE=',
  },
});
const placement = ({ order: { orderId: id } }: NewOrder) => ({
  ...{ event_type: 'order', type: 'PLACEMENT', id, status: 'LIVE', market: '0xc1' },
  ...{ original_size: '10', size_matched: '0' },
});
const looks = ({ asked }: Stage): number =>
  asked.filter(({ path }) => path.startsWith('/data/orders')).length;
const counts = ({ orders }: Stage) => {
  const { deaf_sockets, sockets_found_deaf } = orders.counts();
  return [deaf_sockets, sockets_found_deaf];
};

/** A stage whose wallet is followed, with an open socket that has spoken. */
async function followed() {
  const stage = await startStage({ eventMs: SOON });
  const orders: NewOrder[] = [];
  const place = async (): Promise<NewOrder> => {
    // The clock moves in steps: the order is later than what came before it.
    vi.advanceTimersByTime(1);
    const made = await stage.newOrder();
    orders.push(made);
    stage.answer = (asked) => {
      if (isPost(asked)) return live(made.order.orderId);
      return asked.path.startsWith('/data/orders') ? open(orders) : undefined;
    };
    await made.submit();
    return made;
  };
  const first = await place();
  await stage.say(placement(first));
  // The first look opens the socket, which asks for another one.
  await expect.poll(() => stage.orders.counts().resyncs).toBe(2);
  return { stage, place };
}

test('that is deaf to an own order is noticed: the wallet is asked for at once, the socket is replaced, and both are said', async () => {
  const { stage, place } = await followed();
  const before = looks(stage);
  const second = await place();
  vi.advanceTimersByTime(SOON);
  expect(counts(stage)).toEqual([1, 1]);
  await expect.poll(() => looks(stage)).toBeGreaterThan(before);
  expect(stage.logged.join()).toContain('open and deaf');
  expect(stage.logged.join()).toContain('the socket is replaced');
  // Once it speaks it is believed again.
  await stage.say(placement(second));
  await expect.poll(() => counts(stage)).toEqual([0, 1]);
});

test('that speaks in time, before the answer or after it, is not asked about', async () => {
  const { stage, place } = await followed();
  const before = looks(stage);
  const second = await stage.newOrder();
  stage.answer = (asked) => (isPost(asked) ? live(second.order.orderId) : undefined);
  await stage.say(placement(second));
  await second.submit();
  const third = await place();
  await stage.say({
    ...{
      event_type: 'trade',
      id: 't',
      taker_order_id: '0xother',
      status: 'MATCHED',
      size: '1',
      price: '0.5',
    },
    ...{ market: '0xc1', asset_id: '1001', match_time: '1790000000' },
    maker_orders: [{ order_id: third.order.orderId, matched_amount: '0', price: '0.5', asset_id: '1001' }],
  });
  vi.advanceTimersByTime(2 * SOON);
  expect(counts(stage)).toEqual([0, 0]);
  expect(looks(stage)).toBe(before);
});

test('that was opened after the order is expected to say nothing of it', async () => {
  const stage = await startStage({ eventMs: SOON });
  const made = await stage.newOrder();
  stage.answer = (asked) => {
    if (isPost(asked)) return live(made.order.orderId);
    return asked.path.startsWith('/data/orders') ? open([made]) : undefined;
  };
  await made.submit();
  await stage.say({});
  vi.advanceTimersByTime(2 * SOON);
  expect(counts(stage)).toEqual([0, 0]);
});

test('that is deaf to an order which another replica sent is found at the next look', async () => {
  const { stage } = await followed();
  vi.advanceTimersByTime(1);
  const other = await stage.newOrder();
  const { orderId } = other.order;
  await stage.sql`insert into venue_orders (order_id, venue, wallet_address)
    select order_id, venue, wallet_address from orders where order_id = ${orderId}`;
  stage.answer = (asked) => (asked.path.startsWith('/data/orders') ? open([other]) : undefined);
  vi.advanceTimersByTime(2 * SOON);
  // Something happens that makes the wallet be looked at.
  stage.answer = (asked) => {
    if (asked.method === 'DELETE') return 'reset';
    return asked.path.startsWith('/data/orders') ? open([other]) : undefined;
  };
  await stage.orders.cancel(other.order.funder, [orderId]);
  await expect.poll(() => counts(stage)).toEqual([1, 1]);
});

test('that stays deaf has its wallet asked for as often as without a socket, and no more often', async () => {
  const { stage, place } = await followed();
  await place();
  vi.advanceTimersByTime(SOON);
  // It is opened anew, and is not replaced again within the minute.
  await stage.say({});
  const unheard = await place();
  const before = looks(stage);
  vi.advanceTimersByTime(2 * SOON);
  await expect.poll(() => looks(stage)).toBeGreaterThan(before);
  // Long enough for many more than that of the order, and those of the socket that fell and opened.
  for (let nth = 0; nth < 300; nth += 1) await unheard.row();
  expect(looks(stage)).toBeLessThanOrEqual(before + 3);
  expect(counts(stage)).toEqual([1, 1]);
});

test('is not replaced for each order of a venue that says nothing of any', async () => {
  const { stage, place } = await followed();
  for (let nth = 0; nth < 3; nth += 1) {
    await place();
    vi.advanceTimersByTime(SOON);
    expect(counts(stage)).toEqual([1, 1]);
  }
  expect(stage.logged.filter((line) => line.includes('the socket is replaced'))).toHaveLength(1);
});

test('that opens while its wallet is looked at has the wallet looked at once more', async () => {
  const stage = await startStage();
  const made = await stage.newOrder();
  const held = Promise.withResolvers<Answer>();
  stage.answer = (asked) => {
    if (isPost(asked)) return live(made.order.orderId);
    if (asked.path.startsWith('/data/orders')) return looks(stage) === 1 ? held.promise : open([made]);
    return undefined;
  };
  await made.submit();
  await expect.poll(() => looks(stage)).toBe(1);
  await stage.say({});
  held.resolve(open([made]));
  await expect.poll(() => looks(stage)).toBe(2);
});
