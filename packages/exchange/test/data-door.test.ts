/** The data API's door on a real exchange: positions, trades, activity, holders, in both versions (wire reference 3). */
import { MICRO } from '@bellwether/contract/decimals';
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import { dataDoor } from '../src/doors/data/index.ts';
import { addressBuckets } from '../src/doors/limits.ts';
import {
  type JournalledExchange,
  migrateExchange,
  type NewOrder,
  openExchange,
  type Side,
} from '../src/index.ts';
import { ALICE, orderId, restingBid } from './open-exchange-stage.ts';

const BOB = '0x0000000000000000000000000000000000000b0b';
const CAROL = '0x000000000000000000000000000000000000ca01';
const STRANGER = `0x${'9'.repeat(40)}`;

let exchange: JournalledExchange;
const clock = { time: Date.UTC(2026, 10, 21, 12) };
let app: FastifyInstance;
let isOpen = true;
let order: NewOrder;
let tick: number;
let tokens: readonly [string, string];
let madeAt: number;

let nth = 100;
async function place(account: string, side: Side, limit: number, shares: bigint): Promise<void> {
  nth += 1;
  await exchange.execute({
    kind: 'place',
    order: { ...order, orderId: orderId(nth), account, side, limit, size: shares * MICRO },
  });
}

beforeAll(async () => {
  const sql = await openTestDatabase();
  await migrateExchange(sql);
  exchange = await openExchange({
    sql,
    seed: 'test',
    autoStep: false,
    clock: { now: () => clock.time, every: () => ({ stop: () => {} }) },
    settlement: { minedAfterMs: 1_000, confirmedAfterMs: 3_000 },
  });
  for (const account of [ALICE, BOB, CAROL])
    await exchange.execute({ kind: 'deposit', account, amount: 1_000n * MICRO });
  // Room for two prices between the house's quotes.
  const market = [...exchange.markets()].find(
    ({ bestBid, bestAsk, tickSize }) => bestBid! > 2_000 && bestAsk! - bestBid! >= 3 * tickSize,
  )!;
  const { conditionId, tickSize } = market;
  tick = tickSize;
  tokens = market.tokenIds;
  const limit = market.bestBid! + tick;
  order = { ...restingBid(exchange, 1), conditionId, limit };
  await exchange.execute({ kind: 'split', account: CAROL, conditionId, amount: 50n * MICRO });
  clock.time += 1_000;
  // Alice and Bob bid, Carol sells to both.
  await place(ALICE, 'BUY', limit, 8n);
  await place(BOB, 'BUY', limit, 7n);
  await place(CAROL, 'SELL', limit, 12n);
  madeAt = clock.time;
  clock.time += 10_000;
  await exchange.execute({ kind: 'cancel', account: BOB, orderIds: [orderId(102)] });
  await exchange.execute({ kind: 'merge', account: CAROL, conditionId, amount: 5n * MICRO });
  clock.time += 10_000;
  app = fastify();
  await app.register(dataDoor, {
    prefix: '/paper/data',
    exchange: () => (isOpen ? exchange : undefined),
    now: () => clock.time,
    guard: null,
  });
});
afterAll(async () => {
  await app?.close();
  await exchange?.close();
});

async function get(path: string) {
  const answer = await app.inject({ url: `/paper/data${path}` });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}
// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client in JavaScript reads them
const bodyOf = async (path: string): Promise<any> => (await get(path)).body;

/** All rows, page by page. */
async function walk(path: string) {
  const rows = [];
  for (let cursor = ''; ; ) {
    const { data, pagination } = await bodyOf(path + cursor);
    rows.push(data);
    if (!pagination.has_more) return rows;
    cursor = `&cursor=${pagination.next_cursor}`;
  }
}

const price = () => order.limit / 10_000;
const worth = () => {
  const { bestBid, bestAsk } = exchange.market(order.conditionId)!;
  return (bestBid! + bestAsk!) / 20_000;
};

describe('positions', () => {
  test('have size, average price, cost and results', async () => {
    const { data, pagination } = await bodyOf(`/v2/positions?user=${ALICE}`);
    expect(pagination).toEqual({ limit: 100, offset: 0, has_more: false, next_cursor: null });
    const [row] = data;
    expect(data).toHaveLength(1);
    expect(row).toMatchObject({
      proxy_wallet: ALICE,
      condition_id: order.conditionId,
      token_id: tokens[0],
      opposite_token_id: tokens[1],
      outcome: 'Yes',
      outcome_index: 0,
      opposite_outcome: 'No',
      current_size: 8,
      total_size: 8,
      avg_price: price(),
      current_price: worth(),
      entry_fees_usdc: 0,
      realized_pnl: 0,
      status: 'OPEN',
      redeemable: false,
      mergeable: false,
      last_event_at: Math.floor(madeAt / 1000),
    });
    expect(row.entry_cost_usdc).toBeCloseTo(8 * price(), 6);
    expect(row.current_value).toBeCloseTo(8 * worth(), 5);
    expect(row.unrealized_pnl).toBeCloseTo(row.current_value - row.entry_cost_usdc, 6);
    const [legacy] = await bodyOf(`/positions?user=${ALICE}`);
    expect(legacy).toMatchObject({
      proxyWallet: ALICE,
      asset: tokens[0],
      conditionId: order.conditionId,
      size: 8,
      avgPrice: price(),
      curPrice: worth(),
      initialValue: row.entry_cost_usdc,
      currentValue: row.current_value,
      cashPnl: row.unrealized_pnl,
      outcome: 'Yes',
      oppositeAsset: tokens[1],
    });
  });

  test('count a split as half a collateral a token, a sale and a merge against the average', async () => {
    const rows = (await bodyOf(`/v2/positions?user=${CAROL}&sort_by=TOKENS`)).data;
    expect(rows).toMatchObject([
      {
        outcome: 'No',
        current_size: 45,
        avg_price: 0.5,
        entry_cost_usdc: 22.5,
        realized_pnl: 0,
        mergeable: true,
      },
      { outcome: 'Yes', current_size: 33, avg_price: 0.5, entry_cost_usdc: 16.5, mergeable: true },
    ]);
    expect(rows[1].realized_pnl).toBeCloseTo(12 * (price() - 0.5), 6);
    expect(rows[1].percent_realized_pnl).toBeCloseTo((100 * rows[1].realized_pnl) / 25, 4);
    const { body } = await get(`/v2/value?user=${CAROL}`);
    expect(body.data.value).toBeCloseTo(rows[0].current_value + rows[1].current_value, 6);
    expect((await get(`/value?user=${CAROL}`)).body).toEqual([{ user: CAROL, value: body.data.value }]);
  });

  test('are filtered, sorted and paged with a cursor that pins its order', async () => {
    const first = await bodyOf(`/v2/positions?user=${CAROL}&limit=1&sort_by=TOKENS&sort_direction=ASC`);
    expect(first.data).toMatchObject([{ current_size: 33 }]);
    const second = await bodyOf(
      `/v2/positions?user=${CAROL}&limit=1&cursor=${first.pagination.next_cursor}&sort_by=TIMESTAMP`,
    );
    expect(second.data).toMatchObject([{ current_size: 45 }]);
    expect(second.pagination.has_more).toBe(false);
    expect((await bodyOf(`/v2/positions?user=${CAROL}&filter_amount=40`)).data).toHaveLength(1);
    expect((await bodyOf(`/v2/positions?user=${CAROL}&status=MERGEABLE`)).data).toHaveLength(2);
    expect((await bodyOf(`/v2/positions?user=${CAROL}&status=REDEEMABLE`)).data).toEqual([]);
    expect((await bodyOf(`/v2/positions?user=${CAROL}&conditionId=0x${'1'.repeat(64)}`)).data).toEqual([]);
    expect((await bodyOf(`/v2/positions?condition=${order.conditionId}`)).data.length).toBeGreaterThan(2);
    expect((await bodyOf(`/v2/positions?user=${STRANGER}`)).data).toEqual([]);
    const { eventId } = exchange.market(order.conditionId)!;
    expect((await bodyOf(`/v2/positions?user=${ALICE}&event_id=${eventId}`)).data).toHaveLength(1);
  });
});

describe('trades', () => {
  test('of a user are its own part; takers alone by default', async () => {
    const { data } = await bodyOf(`/v2/trades?user=${CAROL}`);
    expect(data).toMatchObject([
      {
        proxy_wallet: CAROL,
        side: 'SELL',
        token_id: tokens[0],
        condition_id: order.conditionId,
        size: 12,
        price: price(),
        timestamp: Math.floor(madeAt / 1000),
        outcome: 'Yes',
        outcome_index: 0,
        transaction_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
    ]);
    expect((await bodyOf(`/v2/trades?user=${BOB}`)).data).toEqual([]);
    expect((await bodyOf(`/v2/trades?user=${BOB}&taker_only=false`)).data).toMatchObject([
      { proxy_wallet: BOB, side: 'BUY', size: 4, price: price() },
    ]);
    expect(await bodyOf(`/trades?user=${BOB}&takerOnly=false`)).toMatchObject([
      { proxyWallet: BOB, asset: tokens[0], side: 'BUY', size: 4, transactionHash: data[0].transaction_hash },
    ]);
  });

  test('of a market are those of all parties, in pages that may end within a trade', async () => {
    const all = (await bodyOf(`/v2/trades?condition=${order.conditionId}&taker_only=false&limit=1000`)).data;
    const own = all.filter(({ proxy_wallet }: { proxy_wallet: string }) =>
      [ALICE, BOB, CAROL].includes(proxy_wallet),
    );
    expect(own).toHaveLength(3);
    const pages = await walk(`/v2/trades?condition=${order.conditionId}&taker_only=false&limit=2`);
    expect(pages.flat()).toEqual(all);
    const page = await bodyOf(`/trades?market=${order.conditionId}&takerOnly=false&offset=1&limit=2`);
    expect(page.map(({ proxyWallet }: { proxyWallet: string }) => proxyWallet)).toEqual(
      all.slice(1, 3).map(({ proxy_wallet }: { proxy_wallet: string }) => proxy_wallet),
    );
  });

  test('appear with their transaction, and not before', async () => {
    const before = (await bodyOf(`/v2/trades?user=${BOB}`)).data.length;
    // Bob takes what Alice offers.
    const higher = order.limit + tick;
    await place(ALICE, 'SELL', higher, 5n);
    await place(BOB, 'BUY', higher, 5n);
    expect((await bodyOf(`/v2/positions?user=${BOB}`)).data).toMatchObject([{ current_size: 9 }]);
    expect((await bodyOf(`/v2/trades?user=${BOB}`)).data).toHaveLength(before);
    clock.time += 1_000;
    expect((await bodyOf(`/v2/trades?user=${BOB}`)).data).toHaveLength(before + 1);
    clock.time += 5_000;
    const [alices] = (await bodyOf(`/v2/positions?user=${ALICE}`)).data;
    expect(alices).toMatchObject({ current_size: 3, avg_price: price() });
    expect(alices.realized_pnl).toBeCloseTo((5 * tick) / 10_000, 6);
    const [bobs] = (await bodyOf(`/v2/positions?user=${BOB}`)).data;
    expect(bobs.avg_price).toBeCloseTo((4 * price() + 5 * (price() + tick / 10_000)) / 9, 5);
    expect(bobs.entry_fees_usdc).toBeGreaterThan(0);
    expect(bobs.total_cost_usdc).toBeCloseTo(bobs.entry_cost_usdc + bobs.entry_fees_usdc, 6);
  });
});

test('activity holds trades, splits and merges, newest first, and deposits when they are asked for', async () => {
  const typesOf = (rows: readonly { readonly type: string }[]) => rows.map(({ type }) => type);
  const { data } = await bodyOf(`/v2/activity?user=${CAROL}`);
  expect(typesOf(data)).toEqual(['MERGE', 'TRADE', 'SPLIT']);
  expect(data[0]).toMatchObject({ size: 5, usdc_size: 5, outcome_index: 999, side: '' });
  const { data: oldestFirst } = await bodyOf(`/v2/activity?user=${CAROL}&sort_direction=ASC`);
  expect(oldestFirst).toEqual(data.toReversed());
  expect(typesOf((await bodyOf(`/v2/activity?user=${CAROL}&type=DEPOSIT`)).data)).toEqual(['DEPOSIT']);
  expect((await bodyOf(`/v2/activity?user=${CAROL}&type=REWARD`)).data).toEqual([]);
  expect(typesOf((await walk(`/v2/activity?user=${CAROL}&limit=1`)).flat())).toEqual(typesOf(data));
  expect(typesOf(await bodyOf(`/activity?user=${CAROL}&type=SPLIT,MERGE`))).toEqual(['MERGE', 'SPLIT']);
  const stats = (await bodyOf(`/v2/user-stats?user=${CAROL}`)).data;
  expect(stats).toMatchObject({ proxy_wallet: CAROL, trades: 1, join_date: expect.any(Number) });
  const { data: volume } = await bodyOf(`/v2/user-volume?user=${CAROL}`);
  expect(stats.all_time_pnl).toMatchObject({ realized_pnl: expect.any(Number), ...volume });
  expect(volume).toEqual({ volume: expect.any(Number), volume_usdc: expect.any(Number), trade_count: 1 });
  for (const path of ['user-stats', 'user-volume', 'leaderboard'])
    expect(await bodyOf(`/v2/${path}?user=${STRANGER}`), path).toEqual({ data: null });
  expect(await bodyOf(`/traded?user=${CAROL}`)).toEqual({ user: CAROL, traded: 1 });
});

test('each approval that trading needs is given, in the form in which others captured it', async () => {
  const { data } = await bodyOf(`/v2/approvals?user=${STRANGER}`);
  expect(data).toMatchObject({ address: STRANGER, chain_id: 137, checked_at: expect.any(String) });
  expect(data.contracts).toHaveLength(12);
  const given = { feature: 'trading', approved: true };
  const [token, spender] = [
    '0xc011a7e12a19f7b1f670d46f03b03f3342e82dfb',
    '0x12121212006e4cd160d18e3f00711da5c3372600',
  ];
  const collateral = { id: 'PusdV2Router', token, spender, standard: 'ERC20', amount: 'max', ...given };
  const [ctf, adapter] = [
    '0x4d97dcd97ec945f40cf65f87097ace5ea0476045',
    '0xada2005600dec949baf300f4c6120000bdb6eaab',
  ];
  const id = 'CtfNegRiskCollateralAdapterIsApprovedForAll';
  const tokens = { id, token: ctf, spender: adapter, standard: 'ERC1155', ...given };
  expect(data.contracts).toEqual(expect.arrayContaining([collateral, tokens]));
});

test('holders, open interest, volume and resolutions of a market', async () => {
  const { data } = await bodyOf(`/v2/holders?condition=${order.conditionId}`);
  const amounts = Object.fromEntries(
    data
      .filter(({ outcome_index }: { outcome_index: number }) => outcome_index === 0)
      .map(({ proxy_wallet, amount }: { proxy_wallet: string; amount: number }) => [proxy_wallet, amount]),
  );
  expect(amounts).toMatchObject({ [ALICE]: 3, [BOB]: 9, [CAROL]: 33 });
  expect(
    data.every(({ proxy_wallet }: { proxy_wallet: string }) => /^0x[0-9a-f]{40}$/.test(proxy_wallet)),
  ).toBe(true);
  const legacy = await bodyOf(`/holders?market=${order.conditionId}&limit=1`);
  expect(legacy).toMatchObject([
    { token: tokens[0], holders: [{ outcomeIndex: 0 }] },
    { token: tokens[1], holders: [{ outcomeIndex: 1 }] },
  ]);
  const total = Object.values(amounts as Record<string, number>).reduce((sum, amount) => sum + amount, 0);
  expect((await bodyOf(`/v2/oi?condition=${order.conditionId}`)).data[0].value).toBeCloseTo(total, 6);
  expect((await bodyOf(`/v2/resolutions?condition=${order.conditionId}`)).data).toEqual([
    {
      condition_id: order.conditionId,
      question_id: order.conditionId,
      status: 'open',
      payouts: [],
      resolved_at: null,
    },
  ]);
  const { eventId } = exchange.market(order.conditionId)!;
  const volume = await bodyOf(`/v2/live-volume?event_id=${eventId}`);
  expect(volume.data.taker_volume_total).toBeGreaterThan(0);
  const rows: { readonly taker_volume: number }[] = volume.data.conditions;
  expect(rows[0]).toEqual({ condition_id: expect.any(String), taker_volume: expect.any(Number) });
  expect(rows.reduce((sum, { taker_volume }) => sum + taker_volume, 0)).toBeCloseTo(
    volume.data.taker_volume_total,
    6,
  );
});

test('prices of a token come in pages, of both outcomes, for a span, an interval or a moment', async () => {
  for (let minute = 0; minute < 6; minute += 1) {
    clock.time += 60_000;
    await exchange.step();
  }
  const now = Math.floor(clock.time / 1000);
  const all = await bodyOf(`/v2/prices-history?token_id=${tokens[0]}&interval=1d`);
  expect(all.data.length).toBeGreaterThan(0);
  expect(all.pagination.has_more).toBe(false);
  const times = all.data.map(({ t }: { t: number }) => t);
  expect(times).toEqual([...times].sort((a, b) => a - b));
  const no = await bodyOf(`/v2/prices-history?token_id=${tokens[1]}&start=${now - 86_400}`);
  expect(no.data.map(({ p }: { p: number }) => Math.round((1 - p) * 1e4))).toEqual(
    all.data.map(({ p }: { p: number }) => Math.round(p * 1e4)),
  );
  const pages = await walk(`/v2/prices-history?token_id=${tokens[0]}&interval=1d&limit=1`);
  expect(pages.reverse().flat()).toEqual(all.data);
  const { data: moment } = await bodyOf(`/v2/prices-history?token_id=${tokens[0]}&as_of=${now}`);
  expect(moment).toEqual([{ t: now, p: all.data.at(-1).p }]);
  expect((await bodyOf('/v2/prices-history?token_id=7&interval=1d')).data).toEqual([]);
  for (const bad of ['interval=1d&as_of=1', 'interval=2d', '', `start=1&end=${now}`, 'start=5&end=1'])
    expect((await get(`/v2/prices-history?token_id=1&${bad}`)).status, bad).toBe(400);
});

describe('lists of version 1 about a market and an event', () => {
  test('/v1/market-positions shows who has what, by outcome, of all or of one', async () => {
    const path = `/v1/market-positions?market=${order.conditionId}`;
    const all = await bodyOf(path);
    expect(all.map(({ token }: { token: string }) => token)).toEqual(tokens);
    const sizes = (of: typeof all) =>
      of.map(({ positions }: { positions: { proxyWallet: string; size: number }[] }) =>
        Object.fromEntries(positions.map(({ proxyWallet, size }) => [proxyWallet, size])),
      );
    expect(sizes(all)).toEqual([{ [ALICE]: 3, [BOB]: 9, [CAROL]: 33 }, { [CAROL]: 45 }]);
    expect(sizes(await bodyOf(`${path}&user=${BOB}&status=OPEN`))).toEqual([{ [BOB]: 9 }, {}]);
    expect(sizes(await bodyOf(`${path}&user=${BOB}&status=CLOSED`))).toEqual([{}, {}]);
    const [yes] = await bodyOf(`${path}&sortBy=TOKENS&sortDirection=ASC&limit=2`);
    expect(yes.positions).toMatchObject([{ proxyWallet: ALICE }, { proxyWallet: BOB }]);
    expect((await get('/v1/market-positions')).status).toBe(400);
    expect((await get(`${path}&status=HALF`)).status).toBe(400);
  });

  test('/live-volume is that of an event, and of an unknown one nothing', async () => {
    const { eventId, volume } = exchange.market(order.conditionId)!;
    const [{ total, markets }] = await bodyOf(`/live-volume?id=${eventId}`);
    const row = { market: order.conditionId, value: Number(volume) / Number(MICRO) };
    expect(markets).toContainEqual(row);
    expect(total).toBeGreaterThanOrEqual(row.value);
    expect(await bodyOf('/live-volume?id=none')).toEqual([{ total: 0, markets: [] }]);
    expect((await get('/live-volume')).status).toBe(400);
  });
});

describe('refusals', () => {
  test('of version 2 have a code, a trace and the parameter', async () => {
    const bad: readonly [string, string][] = [
      ['/v2/positions', 'user'],
      ['/v2/positions?user=0x12', 'user'],
      [`/v2/positions?user=${ALICE}&offset=10`, 'offset'],
      [`/v2/trades?market=${'1'}`, 'market'],
      ['/v2/trades?cursor=xyz', 'cursor'],
      [`/v2/trades?cursor=${Buffer.from('[[0],[0]]').toString('base64url')}`, 'cursor'],
      [`/v2/positions?user=${ALICE}&cursor=${Buffer.from('[]').toString('base64url')}`, 'cursor'],
      ['/v2/trades?limit=many', 'limit'],
      ['/v2/trades?condition=0x1', 'condition'],
      [`/v2/activity?user=${ALICE}&type=WIBBLE`, 'type'],
      ['/v2/holders', 'condition'],
    ];
    for (const [path, parameter] of bad) {
      const { status, body } = await get(path);
      expect([status, body], path).toEqual([
        400,
        {
          error: expect.any(String),
          code: 'invalid_request',
          retryable: false,
          trace_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          parameter,
        },
      ]);
    }
    expect(await get('/v2/wibble')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('of version 1 have the venue’s texts', async () => {
    expect((await get('/trades?offset=10001')).body).toEqual({
      error: 'max historical trades offset of 10000 exceeded',
    });
    expect((await get(`/activity?user=${ALICE}&offset=5001`)).body).toEqual({
      error: 'max historical activity offset of 5000 exceeded',
    });
    expect((await get('/positions')).body).toEqual({ error: 'user is required' });
  });

  test('while another process leads the exchange are 503 with Retry-After', async () => {
    isOpen = false;
    const { status, headers, body } = await get('/v2/trades');
    isOpen = true;
    expect([status, headers['retry-after']]).toEqual([503, '1']);
    expect(body).toMatchObject({ code: 'dependency_unavailable', retryable: true });
  });

  test('of an address without tokens say when to come back, and paid pages go on from their cursor', async () => {
    const limited = fastify();
    await limited.register(dataDoor, {
      prefix: '/d',
      exchange: () => exchange,
      now: () => clock.time,
      guard: addressBuckets({ perSecond: 1, burst: 12, now: () => 0 }),
    });
    const path = `/d/v2/trades?condition=${order.conditionId}&limit=2`;
    const first = await limited.inject(path);
    expect(first.statusCode).toBe(200);
    const refused = await limited.inject(path.replace('limit=2', 'limit=1000'));
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'rate_limited', retryable: true });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await limited.close();
  });
});
