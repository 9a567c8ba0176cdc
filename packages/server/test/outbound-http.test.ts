import { beforeAll, describe, expect, test, vi } from 'vitest';
import { standIn } from '../../../test/stand-in.ts';
import {
  createHttp,
  fetchSend,
  type HttpOptions,
  type HttpReply,
  type HttpRequest,
  HttpUnavailable,
  MAX_REPLY_CHARS,
  parseJson,
} from '../src/platform/outbound/http.ts';

type Step = HttpReply | Error | 'silence';
const ok: HttpReply = { status: 200, headers: {}, body: '{}' };
const failed = (status: number, headers: Record<string, string> = {}): HttpReply => ({
  status,
  headers,
  body: '',
});

/** A service that answers step by step; the last step repeats. */
function serviceOf(...steps: readonly Step[]) {
  return movingService(undefined, ...steps);
}

/** @param arrived see HttpOptions */
function movingService(arrived: HttpOptions['arrived'], ...steps: readonly Step[]) {
  const seen: HttpRequest[] = [];
  const said: string[] = [];
  const counted: string[] = [];
  const clock = { offset: 0, now: () => Date.now() + clock.offset };
  const http = createHttp({
    service: 'the service',
    clock,
    random: () => 0,
    arrived,
    log: {
      warn: (_c, message) => said.push(message),
      info: (_c, message) => said.push(message),
      failed: (service, reason) => counted.push(`${service}: ${reason}`),
    },
    send: async (request) => {
      const step = steps[Math.min(seen.push(request) - 1, steps.length - 1)]!;
      if (step === 'silence') return new Promise(() => {});
      if (step instanceof Error) throw step;
      return step;
    },
  });
  const call = (repeatable: boolean, timeoutMs = 2_000) =>
    http.call({ method: 'GET', url: 'https://x.test/?api-key=hidden', headers: {}, timeoutMs, repeatable });
  const reasonOf = async (answer: Promise<unknown>): Promise<string> =>
    answer.then(
      () => 'answered',
      (error: HttpUnavailable) => error.reason,
    );
  return { http, call, reasonOf, seen, said, counted, clock };
}

describe('retries', () => {
  test('a request without effects is tried three times at most', async () => {
    const lucky = serviceOf(failed(503), new Error('ECONNRESET'), ok);
    expect((await lucky.call(true)).status).toBe(200);
    expect(lucky.seen).toHaveLength(3);

    const unlucky = serviceOf(failed(500));
    expect(await unlucky.reasonOf(unlucky.call(true))).toBe('server_error');
    expect(unlucky.seen).toHaveLength(3);
  });

  test('a request that may have effects is sent once', async () => {
    for (const step of [failed(503), failed(429), new Error('ECONNRESET'), 'silence'] as const) {
      const service = serviceOf(step, ok);
      expect(await service.reasonOf(service.call(false, 60))).not.toBe('answered');
      expect(service.seen).toHaveLength(1);
    }
  });

  test('a refusal is not retried', async () => {
    const service = serviceOf(failed(400), ok);
    expect((await service.call(true)).status).toBe(400);
  });

  test('a first attempt that hangs leaves time for a second, and all attempts share a deadline', async () => {
    const once = serviceOf('silence', ok);
    expect((await once.call(true, 2_000)).status).toBe(200);

    const silent = serviceOf('silence');
    expect(await silent.reasonOf(silent.call(true, 400))).toBe('timeout');
    const given = silent.seen.map(({ timeoutMs }) => timeoutMs);
    expect(given[0]).toBe(200);
    // Each is rounded up to a whole millisecond.
    expect(given.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(400 + given.length);
  });

  test('Retry-After is respected unless it ends after the deadline', async () => {
    const patient = serviceOf(failed(429, { 'retry-after': '1' }), ok);
    const began = performance.now();
    expect((await patient.call(true, 30_000)).status).toBe(200);
    expect(performance.now() - began).toBeGreaterThan(990);

    const late = serviceOf(failed(429, { 'retry-after': '60' }), ok);
    expect(await late.reasonOf(late.call(true))).toBe('rate_limited');
    expect(late.seen).toHaveLength(1);
  });
});

describe('a service that moves', () => {
  const left = () => new HttpUnavailable('the service', 'moving');

  test('gets a call again that nothing has looked at, also one that may have effects', async () => {
    const service = serviceOf(left(), ok);
    expect((await service.call(false)).status).toBe(200);
    expect(service.seen).toHaveLength(2);
    for (let i = 0; i < 3; i++) {
      const lost = serviceOf(left());
      expect(await lost.reasonOf(lost.call(false))).toBe('moving');
      expect([lost.http.status(), lost.counted]).toEqual(['ready', []]);
    }
  });

  test('is waited for before each attempt, and that is not its time', async () => {
    let hasArrived = () => {};
    const waits: Promise<void>[] = [];
    const service = movingService(
      () => {
        waits.push(
          new Promise((resolve) => {
            hasArrived = resolve;
          }),
        );
        return waits.at(-1) as Promise<void>;
      },
      left(),
      ok,
    );
    const answer = service.call(false, 500);
    for (const count of [1, 2]) {
      await vi.waitFor(() => expect(waits).toHaveLength(count));
      service.clock.offset += 60_000;
      expect(service.seen).toHaveLength(count - 1);
      hasArrived();
    }
    expect((await answer).status).toBe(200);
    expect(service.seen.at(-1)?.timeoutMs).toBeGreaterThan(0);
  });
});

describe('the circuit', () => {
  test('opens after five failures in a row; one call decides if it closes', async () => {
    const service = serviceOf(...new Array<Step>(6).fill(failed(503)), ok);
    for (let i = 0; i < 5; i++) await service.reasonOf(service.call(false));
    expect(service.http.status()).toBe('the service does not answer');
    expect(await service.reasonOf(service.call(false))).toBe('circuit_open');
    expect(service.seen).toHaveLength(5);

    service.clock.offset += 5_001;
    // The probe fails: the circuit opens again.
    expect(await service.reasonOf(service.call(false))).toBe('server_error');
    expect(await service.reasonOf(service.call(false))).toBe('circuit_open');
    expect(service.seen).toHaveLength(6);

    service.clock.offset += 5_001;
    expect((await service.call(false)).status).toBe(200);
    expect(service.http.status()).toBe('ready');
    expect(service.said).toEqual(['it does not answer; asked again in a few seconds', 'it answers again']);
    // An operator counts every attempt that failed, and those that were not made.
    expect(service.counted).toEqual([
      ...new Array(5).fill('the service: server_error'),
      'the service: circuit_open',
      'the service: server_error',
      'the service: circuit_open',
    ]);
  });

  test('reports nothing about a service without recent calls', async () => {
    const service = serviceOf(...new Array<Step>(5).fill(failed(503)), 'silence');
    for (let i = 0; i < 5; i++) await service.reasonOf(service.call(false));
    service.clock.offset += 5_001;
    expect(service.http.status()).toBe('ready');
    const probe = service.reasonOf(service.call(false, 100));
    expect(service.http.status()).toBe('the service does not answer');
    await probe;
    expect(service.http.status()).toBe('the service does not answer');
  });

  test('lets one probe through at a time', async () => {
    const service = serviceOf(...new Array<Step>(5).fill(failed(503)), 'silence');
    for (let i = 0; i < 5; i++) await service.reasonOf(service.call(false));
    service.clock.offset += 5_001;
    const probe = service.reasonOf(service.call(false, 100));
    expect(await service.reasonOf(service.call(false))).toBe('circuit_open');
    expect(await probe).toBe('timeout');
  });

  test('does not count refusals or rate limits as failures', async () => {
    for (const status of [400, 404, 429]) {
      const service = serviceOf(failed(status));
      for (let i = 0; i < 8; i++) await service.reasonOf(service.call(false));
      expect(service.http.status()).toBe('ready');
    }
  });
});

test('errors contain neither the address nor its secrets', async () => {
  const service = serviceOf(new Error('connect to https://x.test/?api-key=hidden'));
  const error = await service.call(false).catch((reason: unknown) => reason as Error);
  expect(JSON.stringify([String(error), (error as Error).message])).not.toContain('hidden');
  expect((error as Error).cause).toBeUndefined();
});

describe('over the network', () => {
  let base: string;
  beforeAll(async () => {
    base = await standIn(({ url, headers }, response) => {
      if (url === '/redirect') return response.writeHead(302, { location: '/' }).end();
      if (url === '/large') return response.end('x'.repeat(MAX_REPLY_CHARS + 10));
      response.writeHead(201, { 'X-Kind': 'small' });
      return response.end(headers['x-api-key']);
    });
  });
  const get = (path: string) =>
    fetchSend({ method: 'GET', url: base + path, headers: { 'x-api-key': 'key' }, timeoutMs: 5_000 });

  test('status, headers and body arrive', async () => {
    expect(await get('/')).toMatchObject({ status: 201, headers: { 'x-kind': 'small' }, body: 'key' });
  });

  test('redirects are not followed, and an endless answer is cut', async () => {
    await expect(get('/redirect')).rejects.toThrow();
    const { http } = serviceOf(await get('/large'));
    await expect(
      http.call({ method: 'GET', url: base, headers: {}, timeoutMs: 1_000, repeatable: false }),
    ).rejects.toMatchObject({ reason: 'too_large' });
  });
});

test('integers of any size survive JSON', () => {
  expect(parseJson('{"a":18446744073709551615,"b":-9007199254740993,"c":1.5,"d":12,"e":1e300}')).toEqual({
    a: 18446744073709551615n,
    b: -9007199254740993n,
    c: 1.5,
    d: 12,
    e: 1e300,
  });
});
