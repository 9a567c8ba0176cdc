/** Orders that go to the live venue in one request: what its answer proves of each of them. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  isPost,
  live,
  type NewOrder,
  type Stage,
  startStage,
  type VenueRequest,
} from './live-orders-stage.ts';

let stage: Stage;
// One for each test: some answers pause the venue.
beforeEach(async () => {
  stage = await startStage();
});

const isBatch = ({ method, path }: VenueRequest): boolean => method === 'POST' && path === '/orders';
const LIMITS = { 'poly-ratelimit-remaining': '0', 'poly-ratelimit-reset': '1' };
const bodyOf = (leg: Answer) => (leg as { body: object }).body;
const leg = ({ order }: NewOrder) => bodyOf(live(order.orderId));
const refusedLeg = (errorMsg: string) => ({
  ...{ errorMsg, orderID: '', status: '', makingAmount: '', takingAmount: '', success: true },
});
const LIVE = { kind: 'accepted', status: 'live', filled: 0n, cost: 0n, fees: 0n };
const UNKNOWN = { kind: 'unknown' };

/** Sends new orders together. @param answers the venue's, to one batch after another */
async function sendAll(count: number, ...answers: readonly ((made: readonly NewOrder[]) => Answer)[]) {
  const made: NewOrder[] = [];
  for (let nth = 0; nth < count; nth += 1) made.push(await stage.newOrder());
  const before = stage.asked.length;
  let nth = 0;
  stage.answer = (asked) => {
    if (isPost(asked)) return { status: 400, body: { error: 'not enough balance / allowance' } };
    return isBatch(asked) ? answers[Math.min(nth++, answers.length - 1)]?.(made) : undefined;
  };
  const found = await Promise.all(
    stage.orders.submitAll(made.map(({ order, message }) => ({ order, message }))),
  );
  const asked = stage.asked.slice(before);
  const statuses = await Promise.all(made.map(async ({ row }) => (await row()).status));
  return { made, found, statuses, batches: asked.filter(isBatch), singles: asked.filter(isPost) };
}

const all = (made: readonly NewOrder[]): Answer => ({ body: made.map(leg) });

describe('an answer with a leg for each order', () => {
  test('goes out as one request, in the order given, and gives the outcome of each order', async () => {
    const { made, found, statuses, batches, singles } = await sendAll(3, all);
    expect(found).toEqual([LIVE, LIVE, LIVE]);
    expect(statuses).toEqual(['live', 'live', 'live']);
    expect([batches.length, singles.length]).toEqual([1, 0]);
    const bodies = JSON.parse(batches[0]?.body ?? '');
    expect(bodies).toHaveLength(made.length);
    for (const body of bodies)
      expect(body).toMatchObject({ orderType: 'GTC', order: { salt: 7, signature: '0xsigned' } });
  });

  test('one is refused among them', async () => {
    const { found, statuses } = await sendAll(3, ([one, , three]) => ({
      body: [leg(one!), refusedLeg('not enough balance / allowance'), leg(three!)],
    }));
    expect(found).toEqual([LIVE, { kind: 'rejected', reason: 'insufficient_balance' }, LIVE]);
    expect(statuses).toEqual(['live', 'rejected', 'live']);
  });

  test('words that are not known, and a duplicate, leave that one in doubt', async () => {
    const { found, statuses } = await sendAll(3, ([one]) => ({
      body: [leg(one!), refusedLeg('odd'), refusedLeg('order 0x1 is invalid. Duplicated.')],
    }));
    expect(found).toEqual([LIVE, UNKNOWN, UNKNOWN]);
    expect(statuses).toEqual(['live', 'submitting', 'submitting']);
  });
});

describe('an answer that does not fit', () => {
  test('in another order, legs are found by their ids; a refused one may be of any order', async () => {
    const { found } = await sendAll(3, ([one, , three]) => ({
      body: [leg(three!), refusedLeg('not enough balance / allowance'), leg(one!)],
    }));
    expect(found).toEqual([LIVE, UNKNOWN, LIVE]);
  });

  test.each<readonly [string, (made: readonly NewOrder[]) => unknown, readonly object[]]>([
    ['fewer legs', ([one, , three]) => [leg(three!), leg(one!)], [LIVE, UNKNOWN, LIVE]],
    [
      'fewer legs, one of them refused',
      ([, , three]) => [refusedLeg('not enough balance / allowance'), leg(three!)],
      [UNKNOWN, UNKNOWN, LIVE],
    ],
    ['one id twice', ([one, two]) => [leg(one!), leg(two!), leg(two!)], [LIVE, UNKNOWN, UNKNOWN]],
    [
      'the id of an order that was not sent',
      ([one, two]) => [leg(one!), bodyOf(live('0xf')), leg(two!)],
      [LIVE, LIVE, UNKNOWN],
    ],
    ['null and text', ([one]) => [leg(one!), null, 'text'], [LIVE, UNKNOWN, UNKNOWN]],
    ['an object', ([one]) => leg(one!), [UNKNOWN, UNKNOWN, UNKNOWN]],
    ['nothing', () => [], [UNKNOWN, UNKNOWN, UNKNOWN]],
  ])('%s', async (_name, body, expected) => {
    const { found } = await sendAll(3, (made) => ({ body: body(made) }));
    expect(found).toEqual(expected);
  });
});

describe('no answer', () => {
  test('after a cut connection the same batch goes out once more; what it refuses then proves nothing', async () => {
    const { found, batches } = await sendAll(
      2,
      () => 'reset',
      ([one]) => ({ body: [leg(one!), refusedLeg('not enough balance / allowance')] }),
    );
    expect(batches.length).toBeGreaterThanOrEqual(2);
    expect(new Set(batches.map(({ body }) => body)).size).toBe(1);
    expect(found).toEqual([LIVE, UNKNOWN]);
  });

  test.each<readonly [string, Answer]>([
    ['a 500', { status: 500, body: { error: 'could not run the execution' } }],
    ['a 425', { status: 425, body: '' }],
    ['a 429 without a text', { status: 429, body: '' }],
    ['a page', { status: 200, body: '<html>' }],
    [
      'a 400 about one of them',
      { status: 400, body: { error: 'order 0x1 is invalid. Price (1) breaks minimum tick size rule: 0.01' } },
    ],
  ])('%s leaves each in doubt', async (_name, answer) => {
    const { found, statuses, singles } = await sendAll(2, () => answer);
    expect(found).toEqual([UNKNOWN, UNKNOWN]);
    expect(statuses).toEqual(['submitting', 'submitting']);
    expect(singles).toEqual([]);
  });
});

describe('a refusal of the whole request', () => {
  test('of the venue’s limiter is one of each', async () => {
    const { found } = await sendAll(2, () => ({ status: 429, body: { error: 'x' }, headers: LIMITS }));
    expect(found).toEqual([1, 2].map(() => ({ kind: 'rejected', reason: 'venue_rate_limited' })));
  });

  test('of its form: each is sent by itself, and has an answer of its own', async () => {
    const { found, singles } = await sendAll(2, () => ({
      status: 400,
      body: { error: 'Invalid order payload' },
    }));
    expect(singles).toHaveLength(2);
    expect(found).toEqual([1, 2].map(() => ({ kind: 'rejected', reason: 'insufficient_balance' })));
  });
});

test('sixteen go out as fifteen and one', async () => {
  const { found, batches, singles } = await sendAll(16, all);
  expect(batches.map(({ body }) => JSON.parse(body).length)).toEqual([15]);
  expect(singles).toHaveLength(1);
  expect(found.slice(0, 15)).toEqual(Array.from({ length: 15 }, () => LIVE));
  expect(found[15]).toEqual({ kind: 'rejected', reason: 'insufficient_balance' });
});

test('one whose time is up is not among them', async () => {
  const late = await stage.newOrder({ deadline: Date.now() - 1 });
  const good = await stage.newOrder();
  const other = await stage.newOrder();
  stage.answer = (asked) => (isBatch(asked) ? all([good, other]) : undefined);
  const made = [late, good, other].map(({ order, message }) => ({ order, message }));
  expect(await Promise.all(stage.orders.submitAll(made))).toEqual([
    { kind: 'rejected', reason: 'venue_unavailable' },
    LIVE,
    LIVE,
  ]);
});
