/** Proofs in an answer of the live venue about an order, and what it does not prove. */
import { VENUE_REFUSALS } from '@bellwether/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import type { VenueOrder } from '../src/venues/venue.ts';
import { type Answer, isPost, live, SECRETS, type Stage, startStage } from './live-orders-stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});

/** Answers one after another; the last one again and again. */
const inTurn = (...answers: readonly Answer[]) => {
  let nth = 0;
  return () => answers[Math.min(nth++, answers.length - 1)] as Answer;
};

/** Sends a new order to a venue with these answers. */
async function sendTo(...answers: readonly Answer[]) {
  const made = await stage.newOrder();
  const next = inTurn(...answers);
  const before = stage.asked.length;
  stage.answer = (asked) => (isPost(asked) ? next() : undefined);
  const answer = await made.submit();
  const posts = stage.asked.slice(before).filter(isPost);
  return { ...made, answer, posts, status: (await made.row()).status };
}

const unreadable = (text: string): Answer => ({ status: 200, body: text });
const refused = (status: number, error: string, headers = {}): Answer => ({
  status,
  body: { error },
  headers,
});
const LIMITS = { 'poly-ratelimit-remaining': '0', 'poly-ratelimit-reset': '1' };

describe('an accepted order', () => {
  test('is sent as it was signed, under the key of its wallet', async () => {
    const made = await stage.newOrder({ timeInForce: 'GTC', postOnly: true });
    stage.answer = (asked) => (isPost(asked) ? live(made.order.orderId) : undefined);
    expect(await made.submit()).toEqual({ kind: 'accepted', status: 'live', filled: 0n, cost: 0n, fees: 0n });
    expect((await made.row()).status).toBe('live');
    const body = JSON.parse(stage.asked.filter(isPost).at(-1)?.body ?? '');
    expect(body).toMatchObject({ owner: SECRETS.apiKey, orderType: 'GTC', postOnly: true, deferExec: false });
    expect(Object.keys(body.order).sort()).toEqual(
      ['salt', 'maker', 'signer', 'tokenId', 'makerAmount', 'takerAmount', 'side', 'signatureType']
        .concat(['timestamp', 'expiration', 'metadata', 'builder', 'signature'])
        .sort(),
    );
    expect(body.order).toMatchObject({ salt: 7, side: 'BUY', makerAmount: '5000000', signature: '0xsigned' });
  });

  test('a match with one trade is recorded before the answer', async () => {
    const made = await stage.newOrder({ timeInForce: 'FAK' });
    const { orderId } = made.order;
    stage.answer = (asked) =>
      isPost(asked)
        ? {
            body: {
              ...{
                success: true,
                errorMsg: '',
                orderID: orderId.toUpperCase().replace('0X', '0x'),
                status: 'matched',
              },
              ...{ makingAmount: '4.5', takingAmount: '10', tradeIDs: ['t1'] },
            },
          }
        : undefined;
    expect(await made.submit()).toMatchObject({ status: 'matched', filled: 10_000_000n, cost: 4_500_000n });
    expect(await made.row()).toMatchObject({ status: 'matched', filled: 10_000_000n });
  });
});

describe('no proof of anything', () => {
  test('a cut connection: the identical body is sent once more', async () => {
    const made = await stage.newOrder();
    const next = inTurn('reset', live(made.order.orderId));
    const before = stage.asked.length;
    stage.answer = (asked) => (isPost(asked) ? next() : undefined);
    expect(await made.submit()).toMatchObject({ kind: 'accepted', status: 'live' });
    const posts = stage.asked.slice(before).filter(isPost);
    expect(posts).toHaveLength(2);
    expect(posts[0]?.body).toBe(posts[1]?.body);
  });

  test.each<readonly [string, Answer]>([
    ['Duplicated', refused(400, 'order 0x1 is invalid. Duplicated.')],
    ['a refusal', refused(400, 'not enough balance / allowance')],
    ['a refusal by the limiter', refused(429, 'Too Many Requests', LIMITS)],
  ])('after a cut connection %s says nothing of the first attempt', async (_, second) => {
    const fresh = await startStage();
    const made = await fresh.newOrder();
    const next = inTurn('reset', second);
    fresh.answer = (asked) => (isPost(asked) ? next() : undefined);
    expect(await made.submit()).toEqual({ kind: 'unknown' });
    expect(fresh.asked.filter(isPost)).toHaveLength(2);
    expect((await made.row()).status).toBe('submitting');
  });

  test('"order timed out" is sent again, as the venue allows', async () => {
    const made = await stage.newOrder();
    const next = inTurn(refused(500, 'order timed out'), live(made.order.orderId));
    stage.answer = (asked) => (isPost(asked) ? next() : undefined);
    expect(await made.submit()).toMatchObject({ kind: 'accepted' });
  });

  test('a request that never ends is given up at the deadline, and not repeated', async () => {
    const made = await stage.newOrder({ deadline: Date.now() + 2_000 });
    const before = stage.asked.length;
    stage.answer = (asked) => (isPost(asked) ? 'hang' : undefined);
    expect(await made.submit()).toEqual({ kind: 'unknown' });
    expect(stage.asked.slice(before).filter(isPost)).toHaveLength(1);
  });
});

describe('proof that the order was not taken', () => {
  test.each([
    ["order couldn't be fully filled. FOK orders are fully filled or killed.", 'fok_not_filled'],
    [
      'no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found.',
      'fak_no_match',
    ],
    ['invalid post-only order: order crosses book', 'post_only_would_cross'],
    ['order 0xab crosses the book', 'post_only_would_cross'],
    ['invalid post-only order: only GTC and GTD order types are allowed', 'post_only_needs_gtc_or_gtd'],
    [
      'not enough balance / allowance: the balance is not enough -> balance: 1, order amount: 2',
      'insufficient_balance',
    ],
    ['order 0xab is invalid. Price (0.555) breaks minimum tick size rule: 0.01', 'price_off_tick_grid'],
    ['order 0xab is invalid. Size (1) lower than the minimum: 5', 'size_below_minimum'],
    ['invalid amount for a marketable BUY order ($0.5), min size: $1', 'amount_below_minimum'],
    [
      'invalid amounts, the market buy orders maker amount supports a max accuracy of 2 decimals, taker amount a max of 4 decimals',
      'amounts_too_precise',
    ],
    [
      "invalid amounts, the taker amount for a $0.5 order of size 10 should be '5' but the value submited is '6'",
      'amounts_too_precise',
    ],
    ['invalid expiration', 'already_expired'],
    ['order_version_mismatch', 'order_version_refused'],
    ['maker address not allowed, please use the deposit wallet flow', 'wallet_not_allowed'],
    ["'0xab' address banned", 'account_restricted'],
    ["'0xab' address in closed only mode", 'account_restricted'],
    ['the market is not yet ready to process new orders', 'market_not_ready'],
    ['Rate limit exceeded for tokenId: 1', 'venue_rate_limited'],
    ['invalid signature', 'order_not_understood'],
    ['Invalid order payload', 'order_not_understood'],
    ['the order owner has to be the owner of the API KEY', 'credentials_refused'],
    ['order canceled in the CTF exchange contract', 'order_not_understood'],
  ] as const)('400 %s is %s', async (text, code) => {
    const { answer, status, posts } = await sendTo(refused(400, text));
    expect(answer).toEqual({ kind: 'rejected', reason: code });
    expect([status, posts.length]).toEqual(['rejected', 1]);
    expect(VENUE_REFUSALS[code].fix).not.toBe('');
  });

  test.each([
    [401, 'Unauthorized/Invalid api key', 'credentials_refused'],
    [401, '', 'credentials_refused'],
    [403, 'Trading restricted in your region, please refer to available regions - x', 'region_restricted'],
    [404, 'No orderbook exists for the requested token id', 'market_closed'],
  ] as const)('%i %s', async (status, text, code) => {
    expect((await sendTo(refused(status, text))).answer).toEqual({ kind: 'rejected', reason: code });
  });

  test('a leg of a 200 that was killed', async () => {
    const text = "order couldn't be fully filled. FOK orders are fully filled or killed.";
    const { answer } = await sendTo({ body: { success: true, errorMsg: text, orderID: '', status: '' } });
    expect(answer).toEqual({ kind: 'rejected', reason: 'fok_not_filled' });
  });

  test('words without a code are kept, counted and shown', async () => {
    const before = stage.orders.counts().unmapped_refusals as number;
    const text = 'the moon is in the wrong house\u0007';
    const { answer, row } = await sendTo(refused(400, text));
    expect(answer).toEqual({
      kind: 'rejected',
      reason: 'refused_by_venue',
      detail: 'the moon is in the wrong house ',
    });
    expect(await row()).toMatchObject({ status: 'rejected', error_code: 'refused_by_venue' });
    expect(stage.orders.counts().unmapped_refusals).toBe(before + 1);
  });

  test('the returned budget of a refused order includes the trade', async () => {
    const { order } = await sendTo(refused(400, 'invalid signature'));
    const rows = await stage.sql`select trades, amount from budget_returns where order_id = ${order.orderId}`;
    expect(rows).toMatchObject([{ trades: 1, amount: 5_000_000n }]);
  });

  test('after the deadline nothing is sent', async () => {
    const made = await stage.newOrder({ deadline: Date.now() - 1 });
    const before = stage.asked.length;
    expect(await made.submit()).toEqual({ kind: 'rejected', reason: 'venue_unavailable' });
    expect(stage.asked).toHaveLength(before);
  });

  test('a connection that never stood', async () => {
    const fresh = await startStage();
    await fresh.closeVenue();
    const made = await fresh.newOrder();
    expect(await made.submit()).toEqual({ kind: 'rejected', reason: 'venue_unavailable' });
    expect((await made.row()).status).toBe('rejected');
  });

  test('LIVE_ORDERS=off sends nothing', async () => {
    const dry = await startStage({ sends: false });
    const made = await dry.newOrder();
    expect(await made.submit()).toEqual({ kind: 'rejected', reason: 'dry_run' });
    expect([dry.asked.length, (await made.row()).status]).toEqual([0, 'rejected']);
  });

  test('a shortage is answered with the allowance that is missing, where that is known', async () => {
    const short = await startStage({ shortage: 'The allowance is missing.' });
    const made = await short.newOrder();
    short.answer = (asked) =>
      isPost(asked) ? refused(400, 'not enough balance / allowance: ...') : undefined;
    const rejected = {
      kind: 'rejected',
      reason: 'allowance_missing',
      detail: 'The allowance is missing.',
    };
    expect(await made.submit()).toEqual(rejected);
    // Recorded with the first answer, so that a replay says the same.
    expect((await made.row()).error_code).toBe('allowance_missing');
  });

  test('a sale of shares that are not settled is refused for that, and no other shortage is', async () => {
    const fresh = await startStage();
    const bought = await fresh.newOrder();
    fresh.answer = (asked) => (isPost(asked) ? live(bought.order.orderId) : undefined);
    await bought.submit();
    const { orderId, conditionId } = bought.order;
    fresh.answer = (asked) =>
      isPost(asked) ? refused(400, 'not enough balance / allowance: balance: 0, order amount: 1') : undefined;
    const sell = async (given: Partial<VenueOrder> = {}) => {
      const { order, message } = await fresh.newOrder();
      return fresh.orders.submit({ ...order, side: 'SELL', ...given }, message);
    };
    const trade = (status: string) => ({
      ...{ event_type: 'trade', id: 't1', taker_order_id: orderId, market: conditionId, asset_id: '1001' },
      ...{ side: 'BUY', size: '10', price: '0.5', status, match_time: '1790000000' },
      maker_orders: [{ order_id: '0xmaker', matched_amount: '10', price: '0.5', asset_id: '1001' }],
    });
    await fresh.say(trade('MATCHED'));
    await expect.poll(() => bought.row()).toMatchObject({ filled: 10_000_000n });
    expect(await sell()).toMatchObject({ kind: 'rejected', reason: 'shares_not_settled' });
    expect(await sell({ outcome: 'NO' })).toMatchObject({ reason: 'insufficient_balance' });
    await fresh.say(trade('CONFIRMED'));
    await expect.poll(() => sell()).toMatchObject({ reason: 'insufficient_balance' });
  });
});

describe('the venue’s modes', () => {
  const other = `0x${'22'.repeat(20)}` as never;

  test('a restart pauses every order until the time that the venue named; cancels go out', async () => {
    const fresh = await startStage();
    const resting = await fresh.newOrder();
    fresh.answer = (asked) => (isPost(asked) ? live(resting.order.orderId) : undefined);
    await resting.submit();
    const made = await fresh.newOrder();
    fresh.answer = (asked) => (isPost(asked) ? { status: 425, headers: { 'retry-after': '60' } } : undefined);
    expect(await made.submit()).toEqual({ kind: 'unknown' });
    expect(fresh.orders.status()).toContain('restarts its matching engine');
    expect(fresh.orders.pause({ postOnly: true, signer: other })).toMatchObject({
      mode: 'restarting',
      retryAfterS: 60,
    });
    const later = await fresh.newOrder();
    const posts = fresh.asked.filter(isPost).length;
    expect(await later.submit()).toEqual({ kind: 'rejected', reason: 'venue_unavailable' });
    expect(fresh.asked.filter(isPost)).toHaveLength(posts);
    const { orderId, funder } = resting.order;
    fresh.answer = ({ method }) =>
      method === 'DELETE' ? { body: { canceled: [orderId], not_canceled: {} } } : undefined;
    expect(await fresh.orders.cancel(funder, [orderId])).toEqual({
      kind: 'answered',
      canceled: [orderId],
      notCanceled: {},
      // This venue knows nothing of what was matched before.
      isRecorded: false,
    });
  });

  test('post-only minutes let post-only orders through', async () => {
    const fresh = await startStage();
    const made = await fresh.newOrder();
    fresh.answer = (asked) =>
      isPost(asked)
        ? {
            status: 503,
            body: {
              error: 'post-only mode: only post-only orders and cancels are allowed',
              code: 'post_only_mode',
              retry_after_seconds: 79,
            },
          }
        : undefined;
    await made.submit();
    expect(fresh.orders.status()).toBe('ready');
    expect(fresh.orders.pause({ postOnly: false, signer: other })).toMatchObject({
      mode: 'post_only',
      retryAfterS: 79,
    });
    expect(fresh.orders.pause({ postOnly: true, signer: other })).toBeNull();
  });

  test('the limiter of one signer pauses no other', async () => {
    const fresh = await startStage();
    const made = await fresh.newOrder();
    fresh.answer = (asked) =>
      isPost(asked) ? refused(429, 'Too Many Requests', { ...LIMITS, 'retry-after': '30' }) : undefined;
    expect(await made.submit()).toEqual({ kind: 'rejected', reason: 'venue_rate_limited' });
    const { signer } = made.message;
    expect(fresh.orders.pause({ postOnly: false, signer })).toMatchObject({
      mode: 'rate_limited',
      retryAfterS: 30,
    });
    expect(fresh.orders.pause({ postOnly: false, signer: other })).toBeNull();
    expect(fresh.orders.status()).toBe('ready');
  });

  test('a bare 429 pauses every order, for longer each time; an answer ends it', async () => {
    const fresh = await startStage();
    const made = await fresh.newOrder();
    fresh.answer = (asked) => (isPost(asked) ? { status: 429 } : undefined);
    await made.submit();
    expect(fresh.orders.pause({ postOnly: false, signer: other })).toMatchObject({ mode: 'rate_limited' });
    await expect.poll(() => fresh.orders.pause({ postOnly: false, signer: other })).toBeNull();
    const again = await fresh.newOrder();
    await again.submit();
    expect(fresh.orders.pause({ postOnly: false, signer: other })).toMatchObject({ retryAfterS: 2 });
  });
});

describe('an order in doubt', () => {
  const inDoubt = async (on: Stage, terms: Parameters<Stage['newOrder']>[0] = {}) => {
    const made = await on.newOrder(terms);
    on.answer = () => undefined;
    return made;
  };

  const resolve = ({ order }: Awaited<ReturnType<typeof inDoubt>>, on = stage) =>
    on.orders.resolve(order.orderId, order);

  test('is found by its record', async () => {
    const made = await inDoubt(stage);
    const { orderId } = made.order;
    stage.answer = ({ path }) =>
      path === `/data/order/${orderId}`
        ? { body: { id: orderId, status: 'ORDER_STATUS_LIVE', original_size: '10', size_matched: '0' } }
        : undefined;
    expect(await resolve(made)).toMatchObject({ kind: 'accepted', status: 'live' });
    expect((await made.row()).status).toBe('live');
  });

  test('is canceled at a venue that holds it', async () => {
    const made = await inDoubt(stage);
    const { orderId, funder } = made.order;
    const record = { id: orderId, status: 'ORDER_STATUS_CANCELED', original_size: '10', size_matched: '0' };
    stage.answer = ({ method, path }) => {
      if (method === 'DELETE') return { body: { canceled: [orderId], not_canceled: {} } };
      return path === `/data/order/${orderId}` ? { body: record } : undefined;
    };
    expect(await stage.orders.cancel(funder, [orderId])).toMatchObject({ canceled: [orderId] });
    expect((await made.row()).status).toBe('canceled');
  });

  test('is found by its trades when the venue has forgotten the order', async () => {
    const made = await inDoubt(stage, { timeInForce: 'FOK' });
    const { orderId } = made.order;
    const trade = {
      ...{ id: 't1', taker_order_id: orderId, market: made.order.conditionId, asset_id: '1001', side: 'BUY' },
      ...{
        size: '10',
        price: '0.45',
        status: 'TRADE_STATUS_CONFIRMED',
        match_time: String(Math.floor(Date.now() / 1000)),
      },
      maker_orders: [{ order_id: '0xmaker', matched_amount: '10', price: '0.55', asset_id: '1002' }],
    };
    stage.answer = ({ path }) =>
      path.startsWith('/data/trades') ? { body: { data: [trade], next_cursor: 'LTE=' } } : undefined;
    expect(await resolve(made)).toMatchObject({
      kind: 'accepted',
      status: 'matched',
      filled: 10_000_000n,
      cost: 4_500_000n,
    });
  });

  test('is found among the open orders', async () => {
    const made = await inDoubt(stage, { createdAt: Date.now() - 3_600_000 });
    const row = { id: made.order.orderId, status: 'LIVE', original_size: '10', size_matched: '' };
    stage.answer = ({ path }) =>
      path.startsWith('/data/orders') ? { body: { data: [row], next_cursor: '' } } : undefined;
    expect(await resolve(made)).toMatchObject({ kind: 'accepted' });
  });

  test('stays in doubt while the request may still arrive, and counts as never received afterwards', async () => {
    const young = await inDoubt(stage, { createdAt: Date.now() - 30_000 });
    expect(await resolve(young)).toEqual({ kind: 'unknown' });
    const old = await inDoubt(stage, { createdAt: Date.now() - 61_000 });
    expect(await resolve(old)).toEqual({ kind: 'never_received' });
    const expired = await inDoubt(stage, {
      ...{ timeInForce: 'GTD', createdAt: Date.now() - 30_000, expiration: Date.now() - 1_000 },
    });
    expect(await resolve(expired)).toEqual({ kind: 'never_received' });
  });

  test('is not asked for again and again', async () => {
    const made = await inDoubt(stage, { createdAt: Date.now() - 30_000 });
    await resolve(made);
    const before = stage.asked.length;
    for (let nth = 0; nth < 5; nth += 1) expect(await resolve(made)).toEqual({ kind: 'unknown' });
    expect(stage.asked).toHaveLength(before);
  });
});

test('no log line holds a secret', async () => {
  await sendTo('reset', 'reset');
  await sendTo(unreadable('not json'));
  expect(stage.logged.length).toBeGreaterThan(0);
  for (const line of stage.logged)
    for (const secret of Object.values(SECRETS)) expect(line).not.toContain(secret);
});
