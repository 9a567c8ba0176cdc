/** Faults of the venue's doors, as plans that a test or an operator gives: over HTTP, delayed matches and late balances, and at sockets. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import { exchangeDomains, nobleRecover } from '@bellwether/protocol';
import { AssetType, ClobClient, OrderType, Side } from '@polymarket/clob-client';
import { type FastifyInstance, fastify } from 'fastify';
import { createWalletClient, custom } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { polygon } from 'viem/chains';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { injectFaults, openLine } from '../src/doors/polymarket/faults.ts';
import {
  EXCHANGE_KEYS_SCHEMA,
  type FaultPlan,
  Faults,
  parseFaultPlan,
  polymarketDoor,
  VenueKeys,
} from '../src/doors/polymarket/index.ts';
import { restingBid, stage } from './open-exchange-stage.ts';
import { socketStage } from './socket-stage.ts';

const START = Date.UTC(2026, 10, 21, 12);
let now = START;
let app: FastifyInstance;
let base: string;
let executed: string[];
const faults = new Faults(() => now);

beforeEach(async () => {
  now = START;
  executed = [];
  faults.set({});
  app = fastify();
  await app.register(
    async (door) => {
      door.removeAllContentTypeParsers();
      door.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      injectFaults(door, door.prefix, faults);
      for (const path of ['/order', '/orders'])
        door.post(path, (request) => {
          executed.push(String(request.body));
          return {
            success: true,
            status: 'matched',
            makingAmount: '5',
            takingAmount: '10',
            tradeIDs: ['t1'],
          };
        });
      for (const path of ['/order', '/orders', '/cancel-all', '/cancel-market-orders'])
        door.delete(path, () => {
          executed.push(path);
          return { canceled: [] };
        });
      door.get('/data/orders', () => ({ data: [{ id: `order ${executed.length}` }], next_cursor: 'LTE=' }));
      door.get('/data/order/:id', () => ({ id: '0x1' }));
    },
    { prefix: '/paper/clob' },
  );
  base = `${await app.listen({ host: '127.0.0.1', port: 0 })}/paper/clob`;
});

afterEach(() => app.close());

async function call(method: string, path: string, body?: unknown) {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(base + path, { method, ...sent });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers, json: jsonIn(text) };
}
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
const post = (postOnly = false) => call('POST', '/order', { order: {}, postOnly });

test('without a plan nothing is touched', async () => {
  expect(faults.isOn).toBe(false);
  expect(await post()).toMatchObject({ status: 200, json: { success: true } });
});

describe('modes', () => {
  const meet = async (mode: FaultPlan['mode']) => {
    faults.set({ mode });
    const order = await post();
    const passive = await post(true);
    const cancel = await call('DELETE', '/cancel-all');
    const read = await call('GET', '/data/orders?next_cursor=MA==');
    return { order, statuses: [order.status, passive.status, cancel.status, read.status] };
  };

  test('a restart answers orders and cancels with 425 and no body', async () => {
    const { order, statuses } = await meet('restarting');
    expect(statuses).toEqual([425, 425, 425, 200]);
    expect(order.text).toBe('');
    expect(order.headers.get('retry-after')).toBe('1');
    expect(executed).toEqual([]);
  });

  test('post-only lets post-only orders and cancels through', async () => {
    const { order, statuses } = await meet('post_only');
    expect(statuses).toEqual([503, 200, 200, 200]);
    expect(JSON.parse(order.text)).toEqual({
      error: 'post-only mode: only post-only orders and cancels are allowed',
      code: 'post_only_mode',
      retry_after_seconds: 60,
    });
    expect(order.headers.get('retry-after')).toBe('60');
    const batch = [{ postOnly: true }, { postOnly: false }];
    expect((await call('POST', '/orders', batch)).status).toBe(503);
    expect((await call('POST', '/orders', batch.slice(0, 1))).status).toBe(200);
  });

  test('cancel-only, disabled and a blocked region say so in the venue’s words', async () => {
    const cancelOnly = await meet('cancel_only');
    expect(cancelOnly.statuses).toEqual([503, 503, 200, 200]);
    expect(cancelOnly.order.text).toContain('Trading is currently cancel-only. New orders are not accepted');
    const disabled = await meet('disabled');
    expect(disabled.statuses).toEqual([503, 503, 503, 200]);
    expect(disabled.order.text).toContain('Trading is currently disabled.');
    const blocked = await meet('geo_blocked');
    expect(blocked.statuses).toEqual([403, 403, 200, 200]);
    expect(blocked.order.text).toContain('Trading restricted in your region');
  });

  test('restarts come again and again, each with its post-only minutes behind it', () => {
    faults.set({ restart: { everyMs: 1_000, downMs: 100, postOnlyMs: 200 } });
    const at = (ms: number) => {
      now = START + ms;
      return faults.mode();
    };
    expect(at(699)).toEqual({ mode: 'open', leftMs: null });
    expect(at(700)).toEqual({ mode: 'restarting', leftMs: 100 });
    expect(at(850)).toEqual({ mode: 'post_only', leftMs: 150 });
    expect(at(1_000)).toEqual({ mode: 'open', leftMs: null });
    expect(at(1_701)).toEqual({ mode: 'restarting', leftMs: 99 });
  });
});

describe('refusals before anything happened', () => {
  test('429 with the venue’s headers, and bare', async () => {
    faults.set({ limitedShare: 1 });
    const limited = await post();
    expect([limited.status, limited.headers.get('poly-ratelimit-remaining')]).toEqual([429, '0']);
    expect(limited.headers.get('poly-ratelimit-reset')).toBe(String(START / 1_000 + 1));
    faults.set({ bareLimitedShare: 1 });
    const bare = await call('DELETE', '/order', {});
    expect([bare.status, bare.headers.get('poly-ratelimit-remaining')]).toEqual([429, null]);
    expect(executed).toEqual([]);
  });

  test('503 also for reads', async () => {
    faults.set({ unavailableShare: 1 });
    expect((await call('GET', '/data/orders')).status).toBe(503);
  });
});

describe('answers that are lost after the execution', () => {
  test('the connection is cut', async () => {
    faults.set({ droppedShare: 1 });
    await expect(post()).rejects.toThrow();
    expect(executed).toHaveLength(1);
    expect((await call('GET', '/data/orders')).status).toBe(200);
  });

  test('500, and 200 that is no JSON', async () => {
    faults.set({ failedAfterShare: 1 });
    expect(await post()).toMatchObject({ status: 500, text: '{"error":"could not run the execution"}' });
    faults.set({ garbledShare: 1 });
    const garbled = await call('DELETE', '/cancel-all');
    expect(garbled.status).toBe(200);
    expect(() => JSON.parse(garbled.text)).toThrow();
    expect(executed).toHaveLength(2);
  });

  test('an order that times out was executed or not', async () => {
    faults.set({ timedOutShare: 1 });
    let sent = 0;
    for (; sent < 40; sent += 1) {
      expect(await post()).toMatchObject({ status: 500, text: '{"error":"order timed out"}' });
    }
    expect(executed.length).toBeGreaterThan(5);
    expect(executed.length).toBeLessThan(sent - 5);
  });
});

describe('half answers', () => {
  const all = async (ask: () => Promise<{ readonly json: unknown }>) => {
    const answers = new Map<string, unknown>();
    for (let nth = 0; nth < 40; nth += 1) {
      const { json } = await ask();
      answers.set(JSON.stringify(json), json);
    }
    return [...answers.values()];
  };

  test('of an order turn its amounts, lose a trade’s name or its status', async () => {
    faults.set({ halfAnswersShare: 1 });
    const whole = { success: true, status: 'matched', makingAmount: '5', takingAmount: '10' };
    const answers = await all(() => post());
    expect(answers).toHaveLength(3);
    expect(answers).toContainEqual({
      ...{ ...whole, makingAmount: '5000000', takingAmount: '10000000' },
      tradeIDs: ['t1'],
    });
    expect(answers).toContainEqual({ ...whole, tradeIDs: [null] });
    expect(executed).toHaveLength(40);
  });

  test('of a cancel leave its orders out or name them on both sides, and nothing was done', async () => {
    faults.set({ halfAnswersShare: 1 });
    const answers = await all(() => call('DELETE', '/orders', ['0x1']));
    expect(answers).toHaveLength(2);
    expect(answers).toContainEqual({ canceled: [], not_canceled: {} });
    expect(answers).toContainEqual({ canceled: ['0x1'], not_canceled: { '0x1': 'try again' } });
    expect(executed).toEqual([]);
  });

  test('of a list say rows twice, or end half way without a cursor or with one that leads back; a record has another id', async () => {
    faults.set({ halfAnswersShare: 1 });
    const data = [{ id: 'order 0' }];
    const answers = await all(() => call('GET', '/data/orders'));
    expect(answers).toHaveLength(3);
    expect(answers).toContainEqual({ data: [...data, ...data], next_cursor: 'LTE=' });
    expect(answers).toContainEqual({ data: [] });
    expect(answers).toContainEqual({ data: [], next_cursor: 'MA==' });
    expect((await call('GET', '/data/order/0x1')).json).toEqual({ id: `0x${'f'.repeat(64)}` });
  });
});

test('a list that was shown stays as it was for a while', async () => {
  faults.set({ lateListsMs: 1_000 });
  const list = async () => (await call('GET', '/data/orders')).json;
  expect(await list()).toMatchObject({ data: [{ id: 'order 0' }] });
  await post();
  now += 999;
  expect(await list()).toMatchObject({ data: [{ id: 'order 0' }] });
  now += 1;
  expect(await list()).toMatchObject({ data: [{ id: 'order 1' }] });
});

test('the same seed hits the same requests, another one others', async () => {
  const hits = async (seed: string) => {
    faults.set({ seed, limitedShare: 0.5 });
    const statuses = [];
    for (let i = 0; i < 24; i += 1) statuses.push((await post()).status);
    return statuses;
  };
  const first = await hits('a');
  expect(new Set(first)).toEqual(new Set([200, 429]));
  expect(await hits('a')).toEqual(first);
  expect(await hits('b')).not.toEqual(first);
});

test.each([
  ['{"droppedshare":1}', /there is no fault "droppedshare"/],
  ['{"droppedShare":2}', /droppedShare is a number from 0 to 1/],
  ['{"droppedShare":"1"}', /droppedShare is a number/],
  ['{"delayedMs":-1}', /delayedMs is whole milliseconds/],
  ['{"mode":"shut"}', /the mode of faults is one of open/],
  ['{"restart":{"everyMs":100,"downMs":60,"postOnlyMs":60}}', /restart.everyMs is longer/],
  ['{"restart":{"everyMs":1000,"downMs":1,"postOnlyMs":1,"x":1}}', /there is no "restart.x"/],
  ['{"latencyMs":{"least":5,"most":1}}', /latencyMs.least is at most/],
  ['[]', /is an object/],
  ['nonsense', /is no JSON/],
])('%s is refused by name', (text, message) => {
  expect(() => parseFaultPlan(text)).toThrow(message);
});

async function door(plan: Partial<FaultPlan>) {
  const { open, sql, clock } = await stage();
  // Keys are judged by real time.
  clock.time = Date.now();
  const exchange = await open();
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  const faults = new Faults(() => clock.time);
  const app = fastify();
  await app.register(polymarketDoor, {
    prefix: '/clob',
    exchange: () => exchange,
    keys: new VenueKeys({ sql, secret: new Uint8Array(32).fill(7) }),
    recover: nobleRecover,
    chainId: 137,
    domains: exchangeDomains(),
    now: () => clock.time,
    orderVersion: 1,
    gtdMinLeadS: 180,
    limitsSigners: true,
    guard: null,
    faults,
  });
  const host = `${await app.listen({ host: '127.0.0.1', port: 0 })}/clob`;
  onTestFinished(async () => {
    await app.close();
    await exchange.close();
  });
  const account = privateKeyToAccount(generatePrivateKey());
  const transport = custom({ request: () => Promise.reject(new Error('no chain here')) });
  const wallet = createWalletClient({ account, chain: polygon, transport });
  const creds = await new ClobClient(host, 137, wallet).createOrDeriveApiKey();
  const clob = new ClobClient(host, 137, wallet, creds);
  const funder = account.address.toLowerCase();
  await exchange.execute({ kind: 'deposit', account: funder, amount: 1_000n * MICRO });
  const market = [...exchange.markets()].find((one) => one.status === 'open' && one.tickSize === 100)!;
  const tokenID = market.tokenIds[0];
  const options = { tickSize: '0.01', negRisk: market.negRisk } as const;
  faults.set(plan);
  return { exchange, clob, clock, funder, tokenID, options };
}

test('a delayed order waits, cannot be cancelled or posted again, and then is matched once', async () => {
  const { exchange, clob, funder, tokenID, options } = await door({ delayedShare: 1, delayedMs: 1_500 });
  const order = await clob.createMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options);
  const posted = await clob.postOrder(order, OrderType.FAK);
  expect(posted).toMatchObject({
    success: true,
    errorMsg: '',
    orderID: expect.stringMatching(/^0x/),
    status: 'delayed',
    makingAmount: '',
    takingAmount: '',
  });
  const { orderID } = posted;
  expect(exchange.available(funder)).toBe(1_000n * MICRO);
  expect(await clob.getOrder(orderID)).toMatchObject({ id: orderID, status: 'DELAYED', size_matched: '0' });
  expect(await clob.cancelOrder({ orderID })).toEqual({
    canceled: [],
    not_canceled: { [orderID]: expect.any(String) },
  });
  expect(await clob.cancelAll()).toEqual({ canceled: [], not_canceled: {} });
  expect((await clob.postOrder(order, OrderType.FAK)).error).toContain('Duplicated');
  await vi.waitFor(async () => expect(await clob.getOrder(orderID)).toMatchObject({ status: 'MATCHED' }), {
    timeout: 30_000,
  });
  expect(await clob.getTrades()).toHaveLength(1);
  expect(exchange.available(funder)).toBeLessThanOrEqual(990n * MICRO);
  expect((await clob.postOrder(order, OrderType.FAK)).error).toContain('Duplicated');
  // An order that would rest is not delayed.
  const bid = await clob.createAndPostOrder({ tokenID, side: Side.BUY, price: 0.01, size: 10 }, options);
  expect(bid).toMatchObject({ status: 'live' });
});

test('a balance that lags is shown until its time is over, or until an update is asked for', async () => {
  const { clob, clock, tokenID, options } = await door({ balanceLagMs: 60_000 });
  const read = async () =>
    (await clob.getBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: tokenID })).balance;
  expect(await read()).toBe('0');
  const bought = await clob.createAndPostMarketOrder({ tokenID, side: Side.BUY, amount: 10 }, options);
  const shares = String(BigInt(Math.round(Number(bought.takingAmount) * 1e6)));
  expect(await read()).toBe('0');
  await clob.updateBalanceAllowance({ asset_type: AssetType.CONDITIONAL, token_id: tokenID });
  expect(await read()).toBe(shares);
  await clob.createAndPostMarketOrder({ tokenID, side: Side.SELL, amount: 5 }, options);
  expect(await read()).toBe(shares);
  clock.time += 61_000;
  expect(Number(await read())).toBeLessThan(Number(shares));
});

/** Sends a hundred messages through a socket with faults, and returns what came out. */
function sent(plan: Partial<FaultPlan>) {
  const frames: string[] = [];
  const faults = new Faults(() => 0);
  faults.set(plan);
  const line = openLine(
    { send: (text) => frames.push(text), close: () => {}, cut: () => frames.push('cut') },
    faults,
  );
  for (let i = 0; i < 100; i += 1) line.send(String(i));
  line.pong();
  return frames;
}
const numbers = Array.from({ length: 100 }, (_, i) => String(i));

test('without faults every message is sent once, in order', () => {
  expect(sent({})).toEqual([...numbers, 'PONG']);
});

test('gaps lose some, duplicates repeat some, reordering sends some after their successor', () => {
  const gaps = sent({ gapsShare: 0.3 });
  expect(gaps.length).toBeGreaterThan(50);
  expect(gaps.length).toBeLessThan(95);
  const twice = sent({ duplicatesShare: 0.3 });
  expect(new Set(twice).size).toBe(101);
  expect(twice.length).toBeGreaterThan(110);
  const reordered = sent({ reorderedShare: 0.3 });
  expect(reordered).not.toEqual([...numbers, 'PONG']);
  // The last one may wait for a successor.
  expect(new Set(reordered).size).toBeGreaterThanOrEqual(100);
});

test('a frozen socket stays open and says nothing more, not even PONG; a dropped one is cut', () => {
  expect(sent({ frozenSocketsShare: 1 })).toEqual(numbers.slice(0, 5));
  const cut = sent({ droppedSocketsShare: 1 });
  expect(cut.slice(0, 6)).toEqual([...numbers.slice(0, 5), 'cut']);
});

test('a stale book is shown late, and then as it is', async () => {
  const faults = new Faults(() => Date.now());
  faults.set({ staleBooksMs: 400 });
  const { exchange, watch } = await socketStage({ faults, now: () => Date.now() });
  const order = restingBid(exchange, 1);
  const client = await watch([exchange.market(order.conditionId)!.tokenIds[0]]);
  const shownAt = Date.now();
  await exchange.execute({ kind: 'place', order });
  await client.until((one) => one.of('price_change').length === 1);
  expect(Date.now() - shownAt).toBeGreaterThan(250);
});

test('a frozen socket over TCP: open, silent to PING', async () => {
  const faults = new Faults(() => Date.now());
  faults.set({ frozenSocketsShare: 1 });
  const { exchange, connect } = await socketStage({ faults });
  const tokens = exchange.market(restingBid(exchange, 1).conditionId)!.tokenIds;
  const client = await connect('market');
  for (let i = 0; i < 6; i += 1) client.send({ type: 'market', assets_ids: [...tokens] });
  await client.until(({ frames }) => frames.length === 5);
  client.send('PING');
  await sleep(100);
  expect(client.frames).toHaveLength(5);
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});
