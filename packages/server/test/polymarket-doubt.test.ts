/**
 * An order whose answer proved nothing is looked for at once, and again soon; that it is not found is no proof. Later the
 * replica that keeps the venue looks it up, others when it can arrive no more.
 */
import { describe, expect, test } from 'vitest';
import { within } from '../../../test/service-process.ts';
import { leftAloneMs, type ResolveDoubtNeeds, resolveDoubt } from '../src/trading/doubts.ts';
import { createOrderStore } from '../src/trading/order-store.ts';
import type { Venue } from '../src/venues/venue.ts';
import { type Answer, isPost, live, type Stage, startStage } from './live-orders-stage.ts';

const SOON = [40, 80, 160];
const FAR = 3_600_000;
const record = (id: string, given: object = {}): Answer => ({
  body: { id, status: 'LIVE', original_size: '10', size_matched: '0', ...given },
});
const looks = (stage: Stage, orderId: string): number =>
  stage.asked.filter(({ path }) => path === `/data/order/${orderId}`).length;

/** An order whose sending the venue answers so, and each look at it, by the number of the look. */
async function doubtful(
  sending: Answer,
  lookAfterMs: readonly number[],
  look: (orderId: string, nth: number) => Answer | undefined = () => undefined,
  given: Parameters<Stage['newOrder']>[0] = {},
) {
  const stage = await startStage({ lookAfterMs });
  const made = await stage.newOrder(given);
  const { orderId } = made.order;
  stage.answer = (asked) => {
    if (isPost(asked)) return sending;
    return asked.path === `/data/order/${orderId}` ? look(orderId, looks(stage, orderId)) : undefined;
  };
  return { stage, made, orderId };
}

const PROVES_NOTHING: readonly (readonly [string, Answer])[] = [
  ['a 429 without the limiter’s headers', { status: 429, body: { error: 'Too Many Requests' } }],
  ['a 425', { status: 425 }],
  ['a page in HTML', { status: 200, body: '<html>Checking your browser</html>' }],
  ['a bad gateway', { status: 502, body: '<html>bad gateway</html>' }],
  [
    'success: false in words that are not known',
    { body: { success: false, errorMsg: 'try the other door', orderID: '', status: '' } },
  ],
  ['success: false without words', { body: { success: false, errorMsg: '', orderID: '', status: '' } }],
];

describe('the record of an order in doubt', () => {
  /** Found by a look, with this state. */
  const foundAs = async (status: string, given: Parameters<Stage['newOrder']>[0] = {}) => {
    const { stage, made, orderId } = await doubtful(
      { status: 425 },
      [FAR],
      (id) => record(id, { status }),
      given,
    );
    await made.submit();
    const [row] = await createOrderStore(stage.sql).byIds([orderId]);
    return row;
  };

  test.each([
    ['CANCELLED', 0, 'canceled'],
    ['canceled', 0, 'canceled'],
    ['order_status_canceled', 0, 'canceled'],
    ['canceled_market_resolved', 0, 'market_resolved'],
    ['EXPIRED', 0, 'canceled'],
    // The venue ends an order a minute before the time that it signed.
    ['CANCELED', 61_000, 'expired'],
    ['CANCELED', 180_000, 'canceled'],
  ])('ends it when it says %s, %i ms before it expires', async (word, before, status) => {
    const gtd = { timeInForce: 'GTD', expiration: Date.now() + before } as const;
    expect(await foundAs(word, before === 0 ? {} : gtd)).toMatchObject({ status });
  });

  test('that the venue removed as invalid says why', async () => {
    const detail = expect.stringContaining('balance or an approval');
    expect((await foundAs('INVALID'))?.journal.at(-1)).toMatchObject({ status: 'canceled', detail });
  });
});

describe('an order that the venue took and does not show', () => {
  const HOUR_MS = 3_600_000;
  /** Answered so, and never shown. */
  const hidden = async (word: string, given: Parameters<Stage['newOrder']>[0]) => {
    const stage = await startStage({ followMs: 20 });
    const made = await stage.newOrder(given);
    const { orderId } = made.order;
    stage.answer = (asked) => (isPost(asked) ? live(orderId, word) : undefined);
    await made.submit();
    return { stage, made, orderId };
  };

  test.each([
    ['held back', 'delayed', 'FAK', 'delayed'],
    ['resting', 'live', 'GTC', 'live'],
  ] as const)('is not over while it is young: %s', async (_, word, timeInForce, status) => {
    // Of the future: it stays young for as long as the test runs.
    const createdAt = Date.now() + HOUR_MS;
    const { stage, made, orderId } = await hidden(word, {
      ...{ timeInForce, createdAt, deadline: Date.now() + 60_000 },
    });
    await expect.poll(() => looks(stage, orderId)).toBeGreaterThan(8);
    expect((await made.row()).status).toBe(status);
    const trade = {
      ...{ id: 't1', taker_order_id: orderId, market: made.order.conditionId, asset_id: '1001', side: 'BUY' },
      ...{ size: '10', price: '0.5', status: 'CONFIRMED', match_time: String(Math.floor(Date.now() / 1000)) },
      maker_orders: [{ order_id: '0xmaker', matched_amount: '10', price: '0.5', asset_id: '1002' }],
    };
    stage.answer = ({ path }) =>
      path.startsWith('/data/trades') ? { body: { data: [trade], next_cursor: 'LTE=' } } : undefined;
    await expect.poll(() => made.row()).toMatchObject({ status: 'filled', filled: 10_000_000n });
  });

  test('is over when it is old', async () => {
    const { made } = await hidden('live', { createdAt: Date.now() - HOUR_MS, deadline: Date.now() + 60_000 });
    await expect.poll(async () => (await made.row()).status).toBe('canceled');
  });
});

test.each(PROVES_NOTHING)(
  'after %s an order that the venue has is found at once, and the answer says so',
  async (_, answer) => {
    const { stage, made } = await doubtful(answer, [FAR], (orderId) => record(orderId));
    expect(await made.submit()).toMatchObject({ kind: 'accepted', status: 'live' });
    expect((await made.row()).status).toBe('live');
    expect(stage.asked.filter(isPost)).toHaveLength(1);
    expect(stage.orders.counts().orders_looked_for).toBe(0);
  },
);

// Each of these answers proves nothing, whatever follows: two of them are enough for the later looks.
const TWO = [PROVES_NOTHING[0], PROVES_NOTHING.at(-1)] as typeof PROVES_NOTHING;

test.each(TWO)('after %s an order that is shown late is found by a later look', async (_, answer) => {
  const shownLate = (orderId: string, nth: number) => (nth > 2 ? record(orderId) : undefined);
  const { stage, made } = await doubtful(answer, [40, 80, FAR], shownLate);
  expect(await made.submit()).toEqual({ kind: 'unknown' });
  expect((await made.row()).status).toBe('submitting');
  await expect.poll(async () => (await made.row()).status).toBe('live');
  expect(stage.orders.counts().orders_looked_for).toBe(0);
});

test.each(TWO)(
  'after %s an order that is nowhere stays in doubt with its budget, after four looks',
  async (_, answer) => {
    const { stage, made, orderId } = await doubtful(answer, SOON);
    expect(await made.submit()).toEqual({ kind: 'unknown' });
    await expect.poll(() => looks(stage, orderId)).toBe(4);
    await expect.poll(() => stage.orders.counts().orders_looked_for).toBe(0);
    expect((await made.row()).status).toBe('submitting');
    expect(await stage.sql`select 1 from budget_returns where order_id = ${orderId}`).toEqual([]);
    expect(stage.asked.filter(isPost)).toHaveLength(1);
  },
);

test('an answer in units that the order did not sign is believed only in what its trades say', async () => {
  const stage = await startStage();
  const made = await stage.newOrder({ timeInForce: 'FAK' });
  const { orderId, conditionId } = made.order;
  const trade = {
    ...{ id: 't1', taker_order_id: orderId, market: conditionId, asset_id: '1001', side: 'BUY', size: '10' },
    ...{ price: '0.5', status: 'CONFIRMED', match_time: String(Math.floor(Date.now() / 1000)) },
    maker_orders: [],
  };
  stage.answer = (asked) => {
    if (isPost(asked))
      return {
        body: {
          ...{ success: true, errorMsg: '', orderID: orderId, status: 'matched' },
          ...{ makingAmount: '5000000', takingAmount: '10000000', tradeIDs: ['t1'] },
        },
      };
    return asked.path.startsWith('/data/trades')
      ? { body: { data: [trade], next_cursor: 'LTE=' } }
      : undefined;
  };
  expect(await made.submit()).toEqual({
    ...{ kind: 'accepted', status: 'matched', filled: 10_000_000n, cost: 5_000_000n, fees: 0n },
  });
  expect(stage.logged.join()).toContain('gave more than it signed');
});

test('a look that never ends keeps no caller waiting beyond the deadline', async () => {
  const stage = await startStage({ lookAfterMs: [FAR] });
  const made = await stage.newOrder({ deadline: Date.now() + 600 });
  stage.answer = (asked) => (isPost(asked) ? { status: 425 } : 'hang');
  expect(await within(3_000, made.submit())).toEqual({ kind: 'unknown' });
});

test('a look that fails is followed by the next one', async () => {
  const { made } = await doubtful({ status: 425 }, SOON, (orderId, nth) =>
    nth < 3 ? { status: 401, body: { error: 'no' } } : record(orderId),
  );
  expect(await made.submit()).toEqual({ kind: 'unknown' });
  await expect.poll(async () => (await made.row()).status).toBe('live');
});

test('an order that was answered is not looked for', async () => {
  const stage = await startStage({ lookAfterMs: SOON });
  const made = await stage.newOrder();
  stage.answer = (asked) => (isPost(asked) ? live(made.order.orderId) : undefined);
  await made.submit();
  expect(looks(stage, made.order.orderId)).toBe(0);
});

test('a signer that is not of the API key is refused with the addresses of both', async () => {
  const stage = await startStage();
  const made = await stage.newOrder();
  const error = 'the order signer address has to be the address of the API KEY';
  stage.answer = (asked) => (isPost(asked) ? { status: 400, body: { error } } : undefined);
  const eoa = made.message.signer;
  expect(await made.submit()).toEqual({
    ...{ kind: 'rejected', reason: 'signer_not_of_api_key' },
    detail: `The order (signatureType 0) has signer ${eoa} and maker ${eoa}; the API key that is registered for ${eoa} belongs to ${eoa}.`,
  });
  // It is no credential that was rotated: it is sent once.
  expect(stage.asked.filter(isPost)).toHaveLength(1);
});

describe.each(['FOK', 'FAK'] as const)(
  'a %s order that is delayed, and whose answer is lost',
  (timeInForce) => {
    const found = async (status: string, size_matched = '0') => {
      const doubt = await doubtful(
        { status: 502, body: '' },
        [FAR],
        (orderId) => record(orderId, { status, size_matched }),
        { timeInForce },
      );
      return { ...doubt, answer: await doubt.made.submit() };
    };

    test.each(['LIVE', 'DELAYED', 'ORDER_STATUS_LIVE'])(
      'is answered as delayed, never as one that rests, where its record says %s',
      async (status) => {
        const { made, answer } = await found(status);
        expect(answer).toEqual({ kind: 'accepted', status: 'delayed', filled: 0n, cost: 0n, fees: 0n });
        expect((await made.row()).status).toBe('delayed');
      },
    );

    test('is answered so, too, when its match is known before its trades are', async () => {
      const { answer } = await found('LIVE', '5');
      expect(answer).toMatchObject({ kind: 'accepted', status: 'delayed' });
    });

    test('ends as refused once the venue has killed it, and as filled once it is matched', async () => {
      const killed = await found('LIVE');
      await killed.stage.say({
        ...{ event_type: 'order', type: 'CANCELLATION', id: killed.orderId, status: 'CANCELED' },
        ...{ market: '0xc1', original_size: '10', size_matched: '0' },
      });
      await expect.poll(async () => (await killed.made.row()).status).toBe('rejected');
      const filled = await found('LIVE');
      const trade = {
        ...{ id: 't1', taker_order_id: filled.orderId, asset_id: '1001', size: '10', price: '0.5' },
        ...{ event_type: 'trade', status: 'CONFIRMED', market: '0xc1', match_time: '1790000000' },
        maker_orders: [],
      };
      await filled.stage.say(trade);
      await expect.poll(async () => (await filled.made.row()).filled).toBe(10_000_000n);
      expect((await filled.made.row()).status).toBe('partially_filled');
    });
  },
);

describe('orders in doubt that a replica looks up', () => {
  const NOW = Date.UTC(2026, 10, 21);

  interface DoubtfulOrder {
    readonly status: 'submitting' | 'unknown';
    readonly ageMs: number;
  }

  /** Asks about orders with these ages. @param keptForMs `null`: another process keeps the venue */
  async function asked(
    orders: readonly DoubtfulOrder[],
    keptForMs: number | null,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    const venue = {
      id: 'paper',
      signedOrders: {
        keptSince: () => (keptForMs === null ? null : NOW - keptForMs),
        async resolve(orderId: string) {
          found.push(orderId);
          return { kind: 'accepted' };
        },
      },
    } as unknown as Venue;
    const rows = orders.map(({ status, ageMs }) => ({
      ...{ venue: 'paper', orderId: `${status} ${ageMs}`, status },
      ...{ createdAt: NOW - ageMs, sentAt: NOW - ageMs },
    }));
    const needs = {
      clock: { now: () => NOW },
      venues: new Map([['paper', venue]]),
      orders: { inDoubt: async (before: number) => rows.filter(({ createdAt }) => createdAt < before) },
    } as unknown as ResolveDoubtNeeds;
    await resolveDoubt(needs, leftAloneMs(true));
    return found;
  }

  const AGES = [1, 600, 4_100, 11_900, 12_100];
  const ORDERS = AGES.flatMap((ageMs): DoubtfulOrder[] => [
    { status: 'submitting', ageMs },
    { status: 'unknown', ageMs },
  ]);

  test('the replica that keeps the venue asks at once about orders whose senders have stopped', async () => {
    const unknown = AGES.map((ageMs) => `unknown ${ageMs}`);
    const found = await asked(ORDERS, 60_000);
    expect(found).toEqual(expect.arrayContaining([...unknown, 'submitting 4100', 'submitting 11900']));
    expect(found).not.toContain('submitting 600');
  });

  test('it asks about orders of an earlier lead as soon as their senders have had time to send them to it', async () => {
    expect(await asked([{ status: 'submitting', ageMs: 600 }], 400)).toEqual([]);
    expect(await asked([{ status: 'submitting', ageMs: 600 }], 550)).toEqual(['submitting 600']);
    expect(await asked([{ status: 'submitting', ageMs: 500 }], 550)).toEqual([]);
  });

  test('another replica leaves them alone until they can arrive no more by any clock', async () => {
    expect(await asked(ORDERS, null)).toEqual(['submitting 12100', 'unknown 12100']);
  });
});
