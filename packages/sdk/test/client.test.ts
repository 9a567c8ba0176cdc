/** The client: what each method sends, what its errors say and which codes they have, and what is tried again. */
import { inspect } from 'node:util';
import * as contract from '@bellwether/contract';
import {
  BellwetherApiError,
  BellwetherClient,
  BellwetherConnectionError,
  buildLimitOrder,
  type ErrorCode,
  isProblem,
  type ProblemCode,
  Signer,
} from '@bellwether/sdk';
import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { type Asked, standIn } from '../../../test/stand-in.ts';
import { errorCodes } from '../../server/src/platform/http/routes.ts';
import { MARKET } from './market.ts';

type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | 'cut' | 'hang';

const KEY = `bw_${'k'.repeat(61)}`;
let base: string;
let seen: Asked[];
let replies: Reply[];
let waits: number[];

beforeEach(async () => {
  seen = [];
  replies = [];
  waits = [];
  const url = await standIn((asked, response) => {
    seen.push(asked);
    const reply = replies.shift() ?? { status: 200, body: { fine: true } };
    if (reply === 'hang') return;
    if (reply === 'cut') {
      response.destroy();
      return;
    }
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body ?? {}));
  });
  base = `${url}/desk`;
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

const OPERATIONS = Object.entries(contract).flatMap(([name, value]) =>
  // Streams are methods of their own: streams.test.ts.
  typeof value === 'object' && 'permission' in value && 'path' in value && !('produces' in value)
    ? [[name, value as contract.Operation] as const]
    : [],
);
// Aliases of another operation, and what venues and signing providers call.
const LEFT_OUT = ['getClaimByQuery', 'listSkillsAlias', 'revokeApiKeyByPost', 'receiveWebhook'];
// The SDK is for agents: owners use the pages, operators their own tools.
const AGENTS = OPERATIONS.filter(
  ([name, { permission, tag }]) =>
    ['agent', 'public'].includes(permission) && tag !== 'owners' && !LEFT_OUT.includes(name),
);
const OTHERS = OPERATIONS.filter(([name]) => !AGENTS.some(([offered]) => offered === name));

describe('the operations that agents call', () => {
  const call = (name: string, id: string, asking = client()) =>
    (asking as unknown as Record<string, (id: string) => Promise<unknown>>)[name]!(id);

  test('are more than a few, and none is for owners or operators', () => {
    expect(AGENTS.length).toBeGreaterThan(50);
    expect(OTHERS.length).toBeGreaterThan(10);
    for (const [name] of OTHERS) expect(name in client(), name).toBe(false);
  });

  test.each(AGENTS)('%s sends its method and path', async (name, { method, path, body }) => {
    await call(name, 'x/1');
    expect(seen[0]).toMatchObject({ method });
    expect(seen[0]?.url.split('?')[0]).toBe(`/desk${path.replace(/\{\w+\}/, 'x%2F1')}`);
    expect(seen[0]?.body === '').toBe(body === undefined);
  });

  test.each(AGENTS)('%s is repeated only where the contract allows it', async (name, operation) => {
    replies = ['cut', 'cut'];
    await expect(call(name, 'x', client({ maxRetries: 1 }))).rejects.toThrow(BellwetherConnectionError);
    expect(seen).toHaveLength(operation.method === 'GET' || operation.repeatable === true ? 2 : 1);
  });
});

describe('requests', () => {
  test('path, query, key and options', async () => {
    await client().listMarkets({ q: 'a b&c', limit: 3, closed: false });
    await client().getMarket('a/b?c');
    await client().revokeApiKey('7', { force: true }, { idempotencyKey: 'once', requestId: 'r1' });
    await client().updateSettings({ tradingPaused: true });
    await client({ apiKey: undefined as never }).registerAgent({ name: 'x' });
    await client().checkCredentials();
    await client().createApiKey('spare', { requestId: 'r' });
    await client().checkMarket('m', { venue: 'v' });
    await client().getDelegation();
    await client().unlinkWallet();
    await client().cancelMarket();
    await client().batchTrade([]);
    await client().getOrder('o', { requestId: 'r' });
    expect(seen.map((request) => [request.method, request.url, request.body])).toEqual([
      ['GET', '/desk/markets?q=a+b%26c&limit=3&closed=false', ''],
      ['GET', '/desk/markets/a%2Fb%3Fc', ''],
      ['DELETE', '/desk/agents/api-key/7?force=true', ''],
      ['POST', '/desk/agents/settings', '{"tradingPaused":true}'],
      ['POST', '/desk/agents/register', '{"name":"x"}'],
      ['GET', '/desk/wallet/credentials/check', ''],
      ['POST', '/desk/agents/create-api-key', '{"keyName":"spare"}'],
      ['GET', '/desk/markets/check?marketId=m&venue=v', ''],
      ['GET', '/desk/venueb/agent/delegation', ''],
      ['POST', '/desk/wallet/unlink', '{}'],
      ['POST', '/desk/markets/orders/cancel-market', '{}'],
      ['POST', '/desk/markets/batch-trade', '{"orders":[]}'],
      ['GET', '/desk/markets/orders/o', ''],
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
    // No program listens at port 2.
    const unreachable = client({ baseUrl: 'http://127.0.0.1:2', maxRetries: 0 });
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
  await expect(client().revokeApiKey(id)).rejects.toThrow(RangeError);
  await expect(client().getOrder(id)).rejects.toThrow(RangeError);
  expect(seen).toHaveLength(0);
});

test('arguments and answers have the types of the contract', () => {
  type Client = BellwetherClient;
  expectTypeOf<Parameters<Client['getMarket']>>().toExtend<
    readonly [string, { readonly venue?: string }?, object?]
  >();
  expectTypeOf<Awaited<ReturnType<Client['getMarket']>>>().toEqualTypeOf<contract.Market>();
  expectTypeOf<Awaited<ReturnType<Client['placeTrade']>>>().toEqualTypeOf<contract.TradeResponse>();
  expectTypeOf<Parameters<Client['placeTrade']>[0]>().toEqualTypeOf<contract.TradeRequest>();
  expectTypeOf<Client>().not.toHaveProperty('approveSkill');
  // @ts-expect-error an order is required
  const missing = (client: Client) => client.placeTrade();
  // @ts-expect-error a misspelt field
  const misspelt = (client: Client) => client.updateSettings({ maxTradesPerDai: 1 });
  expect([missing, misspelt]).toHaveLength(2);
});

const refused = (code?: string) => new BellwetherApiError(400, code === undefined ? {} : { code });

describe('isProblem', () => {
  test('is true for a refusal with one of the codes', () => {
    expect(isProblem(refused('insufficient_balance'), 'insufficient_balance')).toBe(true);
    expect(isProblem(refused('market_not_found'), 'insufficient_balance', 'market_not_found')).toBe(true);
    expect(isProblem(refused('market_not_found'), 'insufficient_balance')).toBe(false);
    expect(isProblem(refused(), 'insufficient_balance')).toBe(false);
  });

  test('without a code it is true for every refusal, and for nothing else', () => {
    expect(isProblem(refused('a_code_of_a_later_version'))).toBe(true);
    for (const other of [
      new Error('insufficient_balance'),
      { code: 'insufficient_balance' },
      null,
      undefined,
      'x',
    ])
      expect([isProblem(other), isProblem(other, 'insufficient_balance')]).toEqual([false, false]);
  });

  test('narrows the code and takes no misspelt one', () => {
    const error: unknown = refused('insufficient_balance');
    if (isProblem(error, 'insufficient_balance', 'rate_limited'))
      expectTypeOf(error.code).toEqualTypeOf<'insufficient_balance' | 'rate_limited'>();
    if (isProblem(error)) expectTypeOf(error).toEqualTypeOf<BellwetherApiError>();
    // @ts-expect-error no such code
    expect(isProblem(error, 'insuficient_balance')).toBe(false);
  });
});

test('the codes of a method are a type', () => {
  expectTypeOf<ProblemCode<'placeTrade'>>().toExtend<ErrorCode>();
  expectTypeOf<'insufficient_balance'>().toExtend<ProblemCode<'placeTrade'>>();
  expectTypeOf<'rate_limited'>().toExtend<ProblemCode<'placeTrade'>>();
  expectTypeOf<'skill_not_found'>().not.toExtend<ProblemCode<'placeTrade'>>();
  // @ts-expect-error no method of the client
  expectTypeOf<ProblemCode<'placeTrades'>>().not.toBeNever();
});

test.each(AGENTS)('%s answers only its own codes and those of requests in general', (_, operation) => {
  const others = errorCodes(operation).filter(
    (code) => !(code in contract.REQUEST_ERRORS) && !operation.errors.includes(code),
  );
  expect(others).toEqual([]);
});
