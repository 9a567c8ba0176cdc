import { describe, expect, test } from 'vitest';
import type { TokenBank } from '../src/platform/database/replica-watch.ts';
import { createRateLimits, type Draw } from '../src/platform/http/rate-limits.ts';

const POLICIES = { trade: { perSecond: 2, burst: 4 }, slow: { perSecond: 0.01, burst: 1 } };

/** A manual clock, and a bank without other processes. */
function alone(policies: typeof POLICIES | null = POLICIES) {
  let now = 1_000_000;
  const bank: TokenBank = {
    isShared: () => false,
    lease: () => Promise.reject(new Error('a single process needs no bank')),
    sweep: () => Promise.resolve(),
  };
  const limits = createRateLimits({ policies, clock: { now: () => now }, bank });
  return {
    limits,
    pass: (ms: number) => (now += ms),
    draw: (who = 'a', name = 'trade') => limits.draw(name, who) as Draw,
  };
}

describe('a single process', () => {
  test('allows the burst at once, then refuses with the time to wait', () => {
    const { draw } = alone();
    expect([draw(), draw(), draw(), draw()].map(({ allowed, remaining }) => [allowed, remaining])).toEqual([
      [true, 3],
      [true, 2],
      [true, 1],
      [true, 0],
    ]);
    expect(draw()).toEqual({ allowed: false, remaining: 0, resetS: 2, retryAfterS: 1 });
    expect(alone().draw('a', 'slow')).toMatchObject({ allowed: true });
  });

  test('gives several tokens all or none, with the time that they take', () => {
    const { limits, draw, pass } = alone();
    const several = (count: number) => limits.draw('trade', 'a', count) as Draw;
    expect(several(3)).toMatchObject({ allowed: true, remaining: 1 });
    expect(several(3)).toMatchObject({ allowed: false, remaining: 1, retryAfterS: 1 });
    expect(several(4)).toMatchObject({ allowed: false, remaining: 1, retryAfterS: 2 });
    expect(draw()).toMatchObject({ allowed: true, remaining: 0 });
    pass(1_500);
    expect(several(3).allowed).toBe(true);
  });

  test('refills at its rate, to the millisecond, and never beyond the burst', () => {
    const { draw, pass } = alone();
    for (let i = 0; i < 4; i++) draw();
    pass(499);
    expect(draw().allowed).toBe(false);
    pass(1);
    expect(draw().allowed).toBe(true);
    expect(draw().allowed).toBe(false);
    pass(3_600_000);
    expect(draw()).toMatchObject({ allowed: true, remaining: 3 });
  });

  test('has a token after exactly the announced wait', () => {
    const { draw, pass } = alone();
    draw('a', 'slow');
    const { retryAfterS } = draw('a', 'slow');
    expect(retryAfterS).toBe(100);
    pass(retryAfterS * 1000 - 1);
    expect(draw('a', 'slow').allowed).toBe(false);
    pass(1);
    expect(draw('a', 'slow').allowed).toBe(true);
  });

  test('each caller and class has its own bucket', () => {
    const { draw } = alone();
    for (let i = 0; i < 4; i++) draw('a');
    expect(draw('a').allowed).toBe(false);
    expect(draw('b').allowed).toBe(true);
    expect(draw('a', 'slow').allowed).toBe(true);
  });

  test('sweeping forgets full buckets only', async () => {
    const { limits, draw, pass } = alone();
    for (let i = 0; i < 4; i++) draw('a');
    await limits.sweep();
    expect(draw('a').allowed).toBe(false);
    pass(2_000);
    await limits.sweep();
    expect(draw('a')).toMatchObject({ allowed: true, remaining: 3 });
  });

  test('a class without a policy, or no policies at all, are not limited', () => {
    expect(alone().limits.draw('none', 'a')).toBeNull();
    expect(alone(null).limits.draw('trade', 'a')).toBeNull();
  });

  test('a clock that steps back removes no tokens', () => {
    const { draw, pass } = alone();
    draw();
    pass(-60_000);
    expect(draw()).toMatchObject({ allowed: true, remaining: 2 });
  });
});

/** The bank that replicas share: one full bucket, never refilled. */
function oneBucket(isShared: () => boolean = () => true): TokenBank {
  let left = POLICIES.trade.burst;
  return {
    isShared,
    async lease(_bucket, _policy, want) {
      await Promise.resolve();
      const granted = Math.min(want, left);
      left -= granted;
      return { granted, remaining: left };
    },
    sweep: () => Promise.resolve(),
  };
}

test('replicas together give out no more than one bucket holds', async () => {
  const bank = oneBucket();
  const clock = { now: () => 0 };
  const replicas = [1, 2, 3].map(() => createRateLimits({ policies: POLICIES, clock, bank }));
  const draws = await Promise.all(
    Array.from({ length: 30 }, (_, i) => replicas[i % 3]?.draw('trade', 'a') as Promise<Draw>),
  );
  expect(draws.filter(({ allowed }) => allowed)).toHaveLength(POLICIES.trade.burst);
});

test('replicas give several tokens all or none, and keep a lease that was not enough', async () => {
  const bank = oneBucket();
  const [here, there] = [1, 2].map(() =>
    createRateLimits({ policies: POLICIES, clock: { now: () => 0 }, bank }),
  ) as [ReturnType<typeof createRateLimits>, ReturnType<typeof createRateLimits>];
  expect(await here.draw('trade', 'a', 3)).toMatchObject({ allowed: true, remaining: 1 });
  expect(await there.draw('trade', 'a', 2)).toMatchObject({ allowed: false });
  expect(await there.draw('trade', 'a', 1)).toMatchObject({ allowed: true, remaining: 0 });
  expect(await here.draw('trade', 'a', 1)).toMatchObject({ allowed: false });
});

test('processes that join and leave do not change what one bucket gives out', async () => {
  let isShared = false;
  const bank = oneBucket(() => isShared);
  const limits = createRateLimits({ policies: POLICIES, clock: { now: () => 0 }, bank });
  const draw = async () => (await limits.draw('trade', 'a'))?.allowed;
  expect(await draw()).toBe(true);
  isShared = true;
  expect(await draw()).toBe(true);
  isShared = false;
  expect([await draw(), await draw(), await draw()]).toEqual([true, true, false]);
});
