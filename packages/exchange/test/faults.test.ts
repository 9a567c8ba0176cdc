/** The venue's faults at its REST door, over TCP: what a client meets, and what was executed all the same. */
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { injectFaults } from '../src/doors/polymarket/fault-hooks.ts';
import { type FaultPlan, Faults, parseFaultPlan } from '../src/doors/polymarket/index.ts';

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
          return { success: true };
        });
      for (const path of ['/order', '/orders', '/cancel-all', '/cancel-market-orders'])
        door.delete(path, () => {
          executed.push(path);
          return { canceled: [] };
        });
      door.get('/data/orders', () => ({ data: [] }));
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
  return { status: response.status, text, headers: response.headers };
}
const post = (postOnly = false) => call('POST', '/order', { order: {}, postOnly });

test('without a plan nothing is touched', async () => {
  expect(faults.isOn).toBe(false);
  expect(await post()).toMatchObject({ status: 200, text: '{"success":true}' });
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
