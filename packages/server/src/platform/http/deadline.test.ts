import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { FirstLooks, RequestDeadline } from './deadline.ts';
import { admitRequests, Gatekeeper } from './load-control.ts';

const AFTER_MS = 1_000;

afterEach(() => {
  vi.useRealTimers();
});

function stage() {
  vi.useFakeTimers();
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
    const log = { child: () => log };
    const reply = {
      ...{ sent: false, raw, log, hijack: () => {}, getHeaders: () => ({}) },
    } as unknown as FastifyReply;
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

/** How a handler can answer after its deadline. `hold` lets a hook wait before what was sent goes out. */
type Late = (reply: FastifyReply, later: Promise<void>, hold: (until: Promise<void>) => void) => unknown;

async function* chunks(later: Promise<void>, fails: boolean) {
  await later;
  if (fails) throw new Error('late');
  yield 'late';
  yield 'later';
}

const LATE: Readonly<Record<string, Late>> = {
  'sends later': (reply, later) => later.then(() => reply.type('text/html').send('late')),
  'returns later': (_reply, later) => later.then(() => ({ said: 'late' })),
  'redirects later': (reply, later) => later.then(() => reply.redirect('/elsewhere', 302)),
  'fails later': (_reply, later) => later.then(() => Promise.reject(new Error('late'))),
  'has sent what a hook holds back': (reply, later, hold) => {
    hold(later);
    return reply.send('late');
  },
  'sends a stream whose first chunk comes later': (reply, later) =>
    reply.send(Readable.from(chunks(later, false))),
  'sends a stream that fails later': (reply, later) => reply.send(Readable.from(chunks(later, true))),
};

test.each(Object.entries(LATE))('one answer, none in the log, where the handler %s', async (_, handler) => {
  const said: string[] = [];
  const app = Fastify({ logger: { level: 'warn', stream: { write: (line) => said.push(line) } } });
  onTestFinished(() => app.close());
  app.decorate('publicUrl', () => 'http://localhost');
  admitRequests(app, {
    gatekeeper: new Gatekeeper({ maxTrades: 1, maxRequests: 1, now: () => performance.now() }),
    deadlineMs: 20,
    isDatabaseAway: () => false,
    log: { warn: () => {} },
  });
  const later = Promise.withResolvers<void>();
  let held = Promise.resolve();
  app.addHook('onSend', () => held);
  app.get('/late', (_request, reply) =>
    handler(reply, later.promise, (until) => {
      held = until;
    }),
  );
  const answer = await fetch(`${await app.listen({ host: '127.0.0.1', port: 0 })}/late`);
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ code: 'service_unavailable' });
  later.resolve();
  for (let turns = 0; turns < 5; turns += 1) await turn();
  expect(said).toEqual([]);
});
