import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FirstLooks, RequestDeadline } from './request-deadline.ts';

const AFTER_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function stage() {
  const firstLooks = new FirstLooks(AFTER_MS);
  const answered = new Map<string, number>();
  const startedAt = performance.now();
  let isAway = false;
  const open = (id: string, ownMs?: number): RequestDeadline => {
    const request = {
      id,
      url: '/markets/trade',
      raw: { complete: true },
      server: { publicUrl: () => 'http://localhost' },
    } as unknown as FastifyRequest;
    const raw = {
      headersSent: false,
      writeHead: () => {},
      end: () => answered.set(id, performance.now() - startedAt),
    };
    const reply = { sent: false, raw, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply;
    return new RequestDeadline(request, reply, { firstLooks, ownMs, isDatabaseAway: () => isAway });
  };
  return { open, answered, loseDatabase: () => (isAway = true) };
}

test('each request is answered when its own time is up', async () => {
  const { open, answered } = stage();
  open('first');
  await vi.advanceTimersByTimeAsync(400);
  open('second');
  await vi.advanceTimersByTimeAsync(0);
  open('third');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(Object.fromEntries(answered)).toEqual({ first: 1_000, second: 1_400, third: 1_400 });
});

test('a request that has ended is not answered, and delays no other', async () => {
  const { open, answered } = stage();
  const first = open('first');
  await vi.advanceTimersByTimeAsync(100);
  open('second');
  first.end();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(Object.fromEntries(answered)).toEqual({ second: 1_100 });
});

test('after a pause without requests the next one has its deadline', async () => {
  const { open, answered } = stage();
  open('first').end();
  await vi.advanceTimersByTimeAsync(10_000);
  open('second');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(Object.fromEntries(answered)).toEqual({ second: 11_000 });
  expect(vi.getTimerCount()).toBe(0);
});

test('a request with a longer time of its own is looked at again, and answered early without a database', async () => {
  const { open, answered, loseDatabase } = stage();
  const ended = open('ended', 60_000);
  open('long', 3_500);
  open('longest', 60_000);
  await vi.advanceTimersByTimeAsync(2_000);
  ended.end();
  await vi.advanceTimersByTimeAsync(2_500);
  expect(Object.fromEntries(answered)).toEqual({ long: 3_500 });
  loseDatabase();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(Object.fromEntries(answered)).toEqual({ long: 3_500, longest: 5_000 });
  expect(vi.getTimerCount()).toBe(0);
});

test('thousands of open requests wait on one timer', async () => {
  const { open, answered } = stage();
  for (let index = 0; index < 5_000; index++) open(`request ${index}`);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(AFTER_MS);
  expect(answered.size).toBe(5_000);
});
