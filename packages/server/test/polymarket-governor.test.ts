/** The venue's limits as quotas of the desk: who waits, who is not sent, and who never waits. */
import { beforeEach, describe, expect, test } from 'vitest';
import { createRateLimits } from '../src/platform/http/rate-limits.ts';
import type { HttpRequest } from '../src/platform/outbound/http.ts';
import { createGovernor, createVenueHttp, type Governor, OverQuota } from '../src/venues/polymarket/http.ts';

const clock = { now: () => performance.now() };
const NEVER = 1e-9;

interface Bank {
  isShared: () => boolean;
  lease: (bucket: string, policy: object, want: number) => Promise<{ granted: number; remaining: number }>;
  sweep: () => Promise<void>;
}
const alone: Bank = {
  isShared: () => false,
  lease: async () => ({ granted: 0, remaining: 0 }),
  sweep: async () => {},
};

let sent: HttpRequest[];
beforeEach(() => {
  sent = [];
});

function govern(quotas: Record<string, { burst: number; perSecond: number }>, bank = alone) {
  const governor = createGovernor({
    venue: 'a',
    quotas,
    bucketsOf: (policies) => createRateLimits({ policies, clock, bank }),
  });
  const http = createVenueHttp({
    ...{ service: 'the CLOB', baseUrl: 'https://venue.test/clob/', clock },
    log: { info: () => {}, warn: () => {} },
    governor: { of: governor, service: 'clob' },
    send: async (request) => {
      sent.push(request);
      return { status: 200, headers: {}, body: '{}' };
    },
  });
  return { governor, http };
}
const order = (timeoutMs = 200) => ({ method: 'POST' as const, path: '/order', body: '{}', timeoutMs });
const cancel = { method: 'DELETE' as const, path: '/orders', body: '[]' };
const heartbeat = { method: 'POST' as const, path: '/v1/heartbeats', body: '{}' };
const update = (timeoutMs: number) => ({ path: '/balance-allowance/update', query: { a: 'b' }, timeoutMs });
const countsOf = (governor: Governor, quota: string) => {
  const counts = governor.counts();
  return ['left', 'waited', 'refused'].map((what) => counts[`quota_${what}_${quota}`]);
};

describe('a quota', () => {
  test('lets through what it holds, makes the next ones wait in their order, and is counted', async () => {
    const { governor, http } = govern({ balance_updates: { burst: 3, perSecond: 20 } });
    const started = performance.now();
    await Promise.all(Array.from({ length: 7 }, () => http.ask(update(6_000))));
    // Four of them waited for a twentieth of a second each.
    expect(performance.now() - started).toBeGreaterThan(150);
    expect(sent).toHaveLength(7);
    const [left, waited, refused] = countsOf(governor, 'balance_updates');
    expect(left).toBeLessThanOrEqual(1);
    expect(waited).toBe(4);
    expect(refused).toBeUndefined();
  });

  test('that stays empty: an order is provably not sent, a read gives up as if asked for fewer, the circuit stays closed', async () => {
    const { governor, http } = govern({
      orders: { burst: 1, perSecond: NEVER },
      balance_updates: { burst: 1, perSecond: NEVER },
    });
    expect(await http.send(order())).toMatchObject({ kind: 'answered' });
    expect(await http.send(order())).toEqual({ kind: 'not_sent', isOverQuota: true });
    expect(sent).toHaveLength(1);
    await http.ask(update(100));
    for (let nth = 0; nth < 6; nth++)
      await expect(http.ask(update(100))).rejects.toThrow('it asks for fewer requests');
    expect(http.status()).toBe('ready');
    expect(countsOf(governor, 'orders')).toEqual([0, 1, 1]);
  });

  test('of one kind holds no other kind up', async () => {
    const { http } = govern({ balance_updates: { burst: 1, perSecond: NEVER } });
    await http.ask(update(100));
    await expect(http.ask(update(100))).rejects.toThrow();
    await http.ask({ path: '/data/orders' });
    expect(await http.send(order())).toMatchObject({ kind: 'answered' });
  });

  test('is the time of the request, which the venue then has less of', async () => {
    const { http } = govern({ orders: { burst: 1, perSecond: 5 } });
    await http.send(order(1_000));
    await http.send(order(1_000));
    expect(sent[1]?.timeoutMs).toBeLessThan(900);
  });

  test('has a bounded line', async () => {
    const { http } = govern({ orders: { burst: 1, perSecond: NEVER } });
    const all = await Promise.all(Array.from({ length: 1_100 }, () => http.send(order(100))));
    expect(all.filter(({ kind }) => kind === 'answered')).toHaveLength(1);
    expect(all.filter(({ kind }) => kind === 'not_sent')).toHaveLength(1_099);
  });
});

describe('a limit that all requests share', () => {
  test('leaves its last part to what is more important: cancels before orders before reads', async () => {
    const { http } = govern({ clob: { burst: 100, perSecond: NEVER } });
    const read = { path: '/book', timeoutMs: 60 };
    let reads = 0;
    while (
      await http.ask(read).then(
        () => true,
        () => false,
      )
    )
      reads += 1;
    let orders = 0;
    while ((await http.send(order(60))).kind === 'answered') orders += 1;
    expect(reads).toBeGreaterThan(50);
    expect(reads).toBeLessThanOrEqual(66);
    expect(orders).toBeGreaterThan(5);
    // Reads that were not sent took a little of it, too.
    expect(reads + orders).toBeLessThanOrEqual(96);
    for (let nth = 0; nth < 20; nth++) expect((await http.send(cancel)).kind).toBe('answered');
  });

  test('never holds a cancel or a heartbeat back, not even while the buckets do not answer', async () => {
    const broken: Bank = {
      ...alone,
      isShared: () => true,
      lease: () => Promise.reject(new Error('the database is away')),
    };
    const { http } = govern({}, broken);
    expect((await http.send(cancel)).kind).toBe('answered');
    expect((await http.send(heartbeat)).kind).toBe('answered');
    expect(await http.send(order())).toEqual({ kind: 'not_sent', isOverQuota: true });
  });
});

test('two replicas together take no more than one quota holds', async () => {
  let tokens = 10;
  const bank: Bank = {
    ...alone,
    isShared: () => true,
    async lease(_bucket, _policy, want) {
      const granted = Math.max(-10, Math.min(want, tokens));
      tokens -= granted;
      return { granted, remaining: tokens };
    },
  };
  const policies = { orders: { burst: 10, perSecond: NEVER }, clob: { burst: 1e9, perSecond: 1e9 } };
  const one = createGovernorAlone(policies, bank);
  const two = createGovernorAlone(policies, bank);
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, nth) => (nth % 2 === 0 ? one : two)(nth).then(() => 1, overQuota)),
  );
  const passed = all.reduce<number>((sum, one) => sum + one, 0);
  expect(passed).toBeGreaterThan(6);
  expect(passed).toBeLessThanOrEqual(10);
});

const overQuota = (error: unknown): number => {
  expect(error).toBeInstanceOf(OverQuota);
  return 0;
};
function createGovernorAlone(quotas: Record<string, { burst: number; perSecond: number }>, bank: Bank) {
  const clobOnly: Bank = {
    ...bank,
    lease: (bucket, policy, want) =>
      bucket.includes('orders')
        ? bank.lease(bucket, policy, want)
        : Promise.resolve({ granted: want, remaining: 1e6 }),
  };
  const governor = createGovernor({
    venue: 'a',
    quotas,
    bucketsOf: (policies) => createRateLimits({ policies, clock, bank: clobOnly }),
  });
  const send = governor.govern('clob', 'https://x', async () => ({ status: 200, headers: {}, body: '' }));
  return (nth: number) =>
    send({ method: 'POST', url: `https://x/order?${nth}`, headers: {}, timeoutMs: 200 });
}
