import { expect, test } from 'vitest';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import {
  type HttpReply,
  type HttpRequest,
  MAX_REPLY_CHARS,
  NoAnswer,
} from '../src/platform/outbound/http.ts';
import { createVenueHttp, type VenueCall } from '../src/venues/polymarket/http.ts';

type Step = HttpReply | Error;
const reply = (status: number, body = '', headers: Record<string, string> = {}): HttpReply => ({
  status,
  headers,
  body,
});

function venueOf(...steps: readonly Step[]) {
  const seen: HttpRequest[] = [];
  const counted: string[] = [];
  const http = createVenueHttp({
    service: 'the CLOB',
    baseUrl: 'https://venue.test/clob/',
    clock: { now: () => 1_000_000 },
    random: () => 0,
    log: {
      warn: () => {},
      info: () => {},
      failed: (service, reason) => counted.push(`${service}: ${reason}`),
    },
    send: async (request) => {
      const step = steps[Math.min(seen.push(request) - 1, steps.length - 1)]!;
      if (step instanceof Error) throw step;
      return step;
    },
  });
  return { http, seen, counted };
}

const ORDER: VenueCall = {
  method: 'POST',
  path: '/order',
  body: '{"order":1}',
  headers: { POLY_API_KEY: 'k' },
};
const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);

test('the path goes below the base, a list repeats its key, and what is not given is left out', async () => {
  const { http, seen } = venueOf(reply(200, '"x"'));
  await http.ask({ path: '/markets', query: { id: ['1', '2'], closed: false, limit: undefined } });
  expect(seen[0]).toMatchObject({
    method: 'GET',
    url: 'https://venue.test/clob/markets?id=1&id=2&closed=false',
    headers: { 'user-agent': 'bellwether', accept: 'application/json' },
  });
});

test('a body is sent byte for byte with its headers', async () => {
  const { http, seen } = venueOf(reply(200, '{}'));
  await http.send(ORDER);
  expect(seen[0]).toMatchObject({
    method: 'POST',
    body: '{"order":1}',
    headers: { POLY_API_KEY: 'k', 'content-type': 'application/json' },
  });
});

test.each([
  [reply(500), 'server_error'],
  [reply(429), 'rate_limited'],
  [reply(302), 'unreadable'],
  [new NoAnswer(true, true), 'timeout'],
  [new NoAnswer(true, false), 'network'],
  [new NoAnswer(false, false), 'network'],
  [reply(400, '{"error":"no"}'), null],
  [reply(200, '{}'), null],
])('an order’s call that has no usable answer is counted by its reason: %#', async (step, reason) => {
  const { http, counted } = venueOf(step);
  await http.send(ORDER);
  expect(counted).toEqual(reason === null ? [] : [`the CLOB: ${reason}`]);
});

test('a read is repeated after a failure of the service; a call with an effect is sent once', async () => {
  const read = venueOf(reply(503), new NoAnswer(true, false), reply(200, '"found"'));
  expect(await read.http.read({ path: '/x' }, asText)).toBe('found');
  expect(read.seen).toHaveLength(3);
  for (const step of [reply(500), reply(425), new NoAnswer(true, true)]) {
    const { http, seen } = venueOf(step, reply(200, '{}'));
    await http.send(ORDER);
    expect(seen).toHaveLength(1);
  }
});

test('404 is nothing; another refusal, a shape that is not known and silence are no answer', async () => {
  const read = (step: Step) => venueOf(step).http.read({ path: '/x' }, asText);
  expect(await read(reply(404, '{"error":"not found"}'))).toBeNull();
  for (const step of [reply(400, '"x"'), reply(200, '{'), reply(200, '1'), reply(302, '"x"')])
    await expect(read(step)).rejects.toBeInstanceOf(VenueUnavailable);
  await expect(read(new NoAnswer(true, false))).rejects.toBeInstanceOf(VenueUnavailable);
});

test('the outcome of a call with an effect is answered, not sent, or unknown', async () => {
  const outcome = (step: Step) => venueOf(step).http.send(ORDER);
  for (const status of [200, 400, 401, 404, 425, 429, 500, 503])
    expect(await outcome(reply(status, '{"error":"e"}'))).toMatchObject({
      kind: 'answered',
      reply: { status, value: { error: 'e' }, text: '{"error":"e"}' },
    });
  expect(await outcome(new NoAnswer(false, false))).toEqual({ kind: 'not_sent' });
  expect(await outcome(new NoAnswer(false, true))).toEqual({ kind: 'not_sent' });
  expect(await outcome(new NoAnswer(true, true))).toEqual({ kind: 'unknown', reason: 'timeout' });
  expect(await outcome(new Error('anything'))).toEqual({ kind: 'unknown', reason: 'connection' });
  expect(await outcome(reply(302))).toEqual({ kind: 'unknown', reason: 'unreadable' });
  expect(await outcome(reply(200, 'x'.repeat(MAX_REPLY_CHARS + 1)))).toEqual({
    kind: 'unknown',
    reason: 'unreadable',
  });
});

test('a service that refuses orders for a while still gets cancels', async () => {
  const { http, seen } = venueOf(reply(503, '{"code":"post_only_mode"}'));
  for (let i = 0; i < 20; i++) expect((await http.send(ORDER)).kind).toBe('answered');
  expect(seen).toHaveLength(20);
  expect(http.status()).toBe('ready');
});

test('the limiter is read, and what is no number is left out', async () => {
  const limitsOf = async (headers: Record<string, string>) => {
    const outcome = await venueOf(reply(429, '', headers)).http.send(ORDER);
    return outcome.kind === 'answered' ? outcome.reply.limits : null;
  };
  expect(
    await limitsOf({
      'poly-ratelimit-remaining': '-3',
      'poly-ratelimit-reset': '1790000000',
      'poly-ratelimit-tier': 'Standard',
      'retry-after': '7',
    }),
  ).toEqual({ remaining: -3, reset: 1_790_000_000, tier: 'Standard', retryAfterMs: 7_000 });
  expect(
    await limitsOf({ 'poly-ratelimit-remaining': 'many', 'retry-after': new Date(1_005_000).toUTCString() }),
  ).toEqual({
    remaining: null,
    reset: null,
    tier: null,
    retryAfterMs: 5_000,
  });
});

test('errors contain neither the address, nor a body, nor a header', async () => {
  const { http } = venueOf(
    new Error('POST https://venue.test/?key=hidden failed with POLY_SIGNATURE hidden'),
  );
  const error: unknown = await http
    .ask({ path: '/hidden', headers: { POLY_SIGNATURE: 'hidden' } })
    .catch((e) => e);
  expect(error).toBeInstanceOf(VenueUnavailable);
  expect(JSON.stringify([String(error), error])).not.toContain('hidden');
});
