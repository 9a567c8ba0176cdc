import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import * as contract from '@bellwether/contract';
import {
  BellwetherApiError,
  BellwetherClient,
  BellwetherConnectionError,
  buildLimitOrder,
  Signer,
} from '@bellwether/sdk';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MARKET } from './market.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}
type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | 'cut' | 'hang';

const KEY = `bw_${'k'.repeat(61)}`;
let server: Server;
let base: string;
let seen: Seen[];
let replies: Reply[];
let waits: number[];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body });
      const reply = replies.shift() ?? { status: 200, body: { fine: true } };
      if (reply === 'hang') return;
      if (reply === 'cut') {
        request.socket.destroy();
        return;
      }
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/desk`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen = [];
  replies = [];
  waits = [];
});

const client = (more: Partial<ConstructorParameters<typeof BellwetherClient>[0]> = {}) =>
  new BellwetherClient({
    baseUrl: `${base}/`,
    apiKey: KEY,
    wait: async (ms) => {
      waits.push(ms);
    },
    ...more,
  });

const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => {
      throw new Error('expected a refusal');
    },
    (error: unknown) => error,
  );

test('there is a method for every operation', () => {
  // Aliases of another operation.
  const aliases = ['getClaimByQuery', 'revokeApiKeyByPost', 'listSkillsAlias'];
  const ids = (Object.values(contract) as readonly unknown[])
    .filter((value) => typeof value === 'object' && value !== null && 'rateClass' in value)
    .map((value) => value as contract.Operation)
    // The SDK is for agents: owners use the pages, operators their own tools.
    .filter(({ tag }) => tag !== 'owners' && tag !== 'operator')
    .map((operation) => operation.id)
    // Called by venues and signing providers.
    .filter((id) => id !== 'receiveWebhook')
    .filter((id) => !aliases.includes(id));
  expect(ids.length).toBeGreaterThan(20);
  for (const id of ids)
    expect(typeof (client() as unknown as Record<string, unknown>)[id], id).toBe('function');
});

describe('requests', () => {
  test('path, query, key and options', async () => {
    await client().listMarkets({ q: 'a b&c', limit: 3, closed: false });
    await client().getMarket('a/b?c');
    await client().revokeApiKey('7', { force: true }, { idempotencyKey: 'once', requestId: 'r1' });
    await client().updateSettings({ tradingPaused: true });
    await client({ apiKey: undefined as never }).registerAgent({ name: 'x' });
    await client().checkCredentials();
    expect(seen.map((request) => [request.method, request.url, request.body])).toEqual([
      ['GET', '/desk/markets?q=a+b%26c&limit=3&closed=false', ''],
      ['GET', '/desk/markets/a%2Fb%3Fc', ''],
      ['DELETE', '/desk/agents/api-key/7?force=true', ''],
      ['POST', '/desk/agents/settings', '{"tradingPaused":true}'],
      ['POST', '/desk/agents/register', '{"name":"x"}'],
      ['GET', '/desk/wallet/credentials/check', ''],
    ]);
    expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, accept: 'application/json' });
    expect(seen[0]?.headers['content-type']).toBeUndefined();
    expect(seen[2]?.headers).toMatchObject({ 'idempotency-key': 'once', 'x-request-id': 'r1' });
    expect(seen[3]?.headers['content-type']).toBe('application/json');
    expect(seen[4]?.headers.authorization).toBeUndefined();
  });

  test('withApiKey', async () => {
    await client().withApiKey('bw_other').getMe();
    expect(seen[0]?.headers.authorization).toBe('Bearer bw_other');
  });
});

const problem = (status: number, code: string, headers: Record<string, string> = {}): Reply => ({
  status,
  headers,
  body: {
    code,
    detail: `it is ${code}`,
    fix: 'Do this.',
    requestId: 'req-1',
    errors: [{ path: 'order.salt', code: 'x', message: 'y' }],
    diagnosis: { check: 'signer' },
    context: { limit: 5 },
    orderId: '0x1',
  },
});
const trade = () =>
  buildLimitOrder({
    signer: Signer.generate(),
    market: MARKET,
    outcome: 'YES',
    side: 'BUY',
    price: 0.5,
    size: 10,
  });

describe('errors', () => {
  test('carry the status, code and detail of the answer', async () => {
    replies = [problem(403, 'trading_paused')];
    const error = await caught(client().placeTrade(await trade()));
    expect(error).toBeInstanceOf(BellwetherApiError);
    expect(error).toMatchObject({
      message: 'it is trading_paused Do this.',
      status: 403,
      code: 'trading_paused',
      detail: 'it is trading_paused',
      fix: 'Do this.',
      errors: [{ path: 'order.salt', code: 'x', message: 'y' }],
      diagnosis: { check: 'signer' },
      context: { limit: 5 },
      orderId: '0x1',
      requestId: 'req-1',
    });
    expect(seen).toHaveLength(1);
  });

  test('are readable when the answer is not from the service', async () => {
    replies = [{ status: 404, body: '<html>' }];
    expect(await caught(client().getMe())).toMatchObject({ status: 404, code: 'unknown', errors: [] });
    replies = [{ status: 200, body: '<html>' }];
    expect(await caught(client({ maxRetries: 0 }).getMe())).toMatchObject({ reason: 'broken' });
  });

  test('report a closed port, a cut connection and a timeout', async () => {
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    const unreachable = client({ baseUrl: `http://127.0.0.1:${port}`, maxRetries: 0 });
    expect(await caught(unreachable.getHealth())).toMatchObject({ reason: 'unreachable' });
    replies = ['cut'];
    expect(await caught(client({ maxRetries: 0 }).getHealth())).toMatchObject({ reason: 'broken' });
    replies = ['hang'];
    const slow = await caught(client({ maxRetries: 0, timeoutMs: 100 }).getHealth());
    expect(slow).toBeInstanceOf(BellwetherConnectionError);
    expect(slow).toMatchObject({ reason: 'timeout' });
  });

  test('never show the key', async () => {
    replies = [problem(401, 'unauthorized'), 'cut'];
    const me = client({ maxRetries: 0 });
    const leaky = () => {
      throw Object.assign(new Error(`failed with ${KEY}`), { headers: { authorization: KEY } });
    };
    const errors = [
      await caught(me.getMe()),
      await caught(me.getMe()),
      await caught(client({ maxRetries: 0, fetch: leaky }).getMe()),
    ];
    for (const shown of [
      inspect(me, { depth: 20, showHidden: true }),
      JSON.stringify(me),
      ...errors.flatMap((error) => [
        inspect(error, { depth: 20, showHidden: true }),
        JSON.stringify(error),
        String((error as Error).stack),
      ]),
    ])
      expect(shown).not.toContain(KEY);
  });
});

describe('retries', () => {
  test('a GET is repeated after cut connections, 502 and 429 with Retry-After', async () => {
    replies = ['cut', { status: 502 }, problem(429, 'rate_limited', { 'retry-after': '2' })];
    expect(await client().getMe()).toEqual({ fine: true });
    expect(seen).toHaveLength(4);
    expect(waits[2]).toBeGreaterThanOrEqual(2_000);
    expect(waits[0]).toBeLessThan(500);
  });

  test('a signed order is sent again, byte for byte, until its outcome is known', async () => {
    replies = [
      'cut',
      problem(500, 'order_outcome_unknown', { 'retry-after': '1' }),
      problem(409, 'idempotency_in_flight', { 'retry-after': '1' }),
    ];
    expect(await client().placeTrade(await trade())).toEqual({ fine: true });
    expect(new Set(seen.map((request) => request.body)).size).toBe(1);
    expect(seen).toHaveLength(4);
  });

  test('the last error is thrown when all attempts fail', async () => {
    replies = Array(9).fill(problem(500, 'order_outcome_unknown'));
    expect(await caught(client({ maxRetries: 2 }).placeTrade(await trade()))).toMatchObject({
      code: 'order_outcome_unknown',
      orderId: '0x1',
    });
    expect(seen).toHaveLength(3);
  });

  test('other changes are repeated only with an Idempotency-Key', async () => {
    replies = ['cut'];
    expect(await caught(client().createApiKey('k'))).toMatchObject({ reason: 'broken' });
    expect(seen).toHaveLength(1);
    replies = ['cut'];
    await client().createApiKey('k', { idempotencyKey: 'i' });
    expect(seen).toHaveLength(3);
    replies = [problem(429, 'rate_limited')];
    await client().createApiKey('k');
    expect(seen).toHaveLength(5);
  });

  test('a 503 after the deadline is repeated only where that is safe, `overloaded` everywhere', async () => {
    replies = [problem(503, 'service_unavailable')];
    expect(await caught(client().createApiKey('k'))).toMatchObject({ code: 'service_unavailable' });
    expect(seen).toHaveLength(1);
    replies = [problem(503, 'service_unavailable')];
    await client().createApiKey('k', { idempotencyKey: 'i' });
    expect(seen).toHaveLength(3);
    replies = [problem(503, 'overloaded')];
    await client().createApiKey('k');
    expect(seen).toHaveLength(5);
  });

  test('a request that the service did not receive whole is repeated everywhere', async () => {
    replies = [problem(408, 'request_timeout')];
    await client().createApiKey('k');
    expect(seen).toHaveLength(2);
    // A 408 of something in between proves nothing.
    replies = [{ status: 408 }];
    expect(await caught(client().createApiKey('k'))).toMatchObject({ status: 408 });
    expect(seen).toHaveLength(3);
  });

  test.each([
    [500, 'internal_error'],
    [400, 'invalid_order_payload'],
    [403, 'max_trade_amount_exceeded'],
    [409, 'order_already_placed'],
  ])('%i %s of a trade is final', async (status, code) => {
    replies = [problem(status, code)];
    expect(await caught(client().placeTrade(await trade()))).toMatchObject({ status, code });
    expect(seen).toHaveLength(1);
  });

  test('a Retry-After above the configured maximum is thrown', async () => {
    replies = [problem(429, 'rate_limited', { 'retry-after': '3600' })];
    expect(await caught(client().getMe())).toMatchObject({ status: 429, retryAfterS: 3600 });
    expect(waits).toEqual([]);
  });

  test('a Retry-After may be a date, as proxies send it', async () => {
    const at = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
    replies = [problem(429, 'rate_limited', { 'retry-after': at(300) })];
    await client({ maxWaitMs: 1_000_000 }).getMe();
    expect(waits[0]).toBeGreaterThan(200_000);
    replies = [problem(503, 'overloaded', { 'retry-after': at(3600) })];
    expect(await caught(client().getMe())).toMatchObject({ code: 'overloaded' });
    replies = [problem(429, 'rate_limited', { 'retry-after': at(-60) })];
    await client().getMe();
    expect(waits[1]).toBeLessThan(300);
  });

  test.each(['', 'soon', '-5', '1e3', 'NaN'])('a Retry-After of "%s" is not followed', async (text) => {
    replies = [problem(429, 'rate_limited', { 'retry-after': text })];
    await client().getMe();
    expect(waits[0]).toBeLessThan(500);
  });

  test('an abort signal ends the wait between two attempts', async () => {
    const controller = new AbortController();
    const reason = new Error('the caller gave up');
    replies = [problem(429, 'rate_limited', { 'retry-after': '3600' })];
    const patient = new BellwetherClient({ baseUrl: base, apiKey: KEY, maxWaitMs: 10_000_000 });
    const call = patient.getMe({ signal: controller.signal });
    setTimeout(() => controller.abort(reason), 200);
    await expect(call).rejects.toBe(reason);
    expect(seen).toHaveLength(1);
  });

  test.each(['idempotencyKey', 'requestId'])('a %s that no header can carry is not sent', async (name) => {
    const fault = await caught(client().createApiKey('k', { [name]: 'zwölf\n' }));
    expect(fault).toMatchObject({ name: 'BellwetherUsageError', message: expect.stringContaining(name) });
    expect(seen).toHaveLength(0);
  });

  test('an abort signal stops the retries', async () => {
    const controller = new AbortController();
    replies = ['hang'];
    const call = client().getMe({ signal: controller.signal });
    const failure = caught(call);
    await expect.poll(() => seen.length).toBe(1);
    controller.abort();
    expect(await failure).toMatchObject({ name: 'AbortError' });
    expect(seen).toHaveLength(1);
  });
});

test.each(['.', '..', ''])('a parameter that would change the path is not sent: "%s"', async (id) => {
  const client = new BellwetherClient({ baseUrl: base, apiKey: KEY });
  await expect(client.revokeApiKey(id)).rejects.toThrow(RangeError);
  await expect(client.getOrder(id)).rejects.toThrow(RangeError);
  expect(seen).toHaveLength(0);
});
