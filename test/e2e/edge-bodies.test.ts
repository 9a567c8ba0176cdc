/** Bodies that are too large, of another type, wrong in too many places, or say a thing twice; the owner's cookie. */
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionCookie, sessionTokens } from '../../packages/server/src/platform/http/identify.ts';
import {
  aMarket,
  call,
  newAgent,
  newTrader,
  restingOrder,
  sharedTestService,
  type TestService,
} from '../harness.ts';
import { rawRequest } from '../raw-http.ts';

let service: TestService;
let key: string;

beforeAll(async () => {
  service = await sharedTestService();
  key = (await newAgent(service)).apiKey;
});

describe('size, then type, then syntax', () => {
  const post = (path: string, type: string | null, body: string) =>
    call(service, 'POST', path, {
      key,
      body,
      headers: type === null ? { 'content-type': '' } : { 'content-type': type },
    });
  const LARGE = 'x'.repeat(70_000);

  test.each(['/agents/settings', '/webhooks/1/enable', '/agents/api-key/1/revoke'])(
    '%s: too large comes before the wrong type',
    async (path) => {
      expect(await post(path, 'text/plain', LARGE)).toMatchObject({
        status: 413,
        body: { code: 'body_too_large' },
      });
      expect(await post(path, 'application/xml', LARGE)).toMatchObject({ status: 413 });
      expect(await post(path, 'application/json', LARGE)).toMatchObject({ status: 413 });
      expect(await post(path, 'text/plain', 'x')).toMatchObject({
        status: 415,
        body: { code: 'unsupported_media_type' },
      });
      expect(await post(path, 'application/json', '{broken')).toMatchObject({
        status: 400,
        body: { code: 'invalid_json' },
      });
    },
  );

  test.each([
    '{"__proto__": {"a": 1}}',
    '{"a": {"b": [{"__proto__" : 1}]}}',
    String.raw`{"\u005f_proto\u005F_": {"a": 1}}`,
    '{"constructor": {"prototype": {"a": 1}}}',
    String.raw`{"constr\u0075ctor": {"prototype": {"a": 1}}}`,
    '{"a": "b"',
    'undefined',
  ])('%s is not taken', async (body) => {
    expect(await post('/agents/settings', 'application/json', body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_json' },
    });
  });

  test.each(['\ufeff{}', ' \n{}', String.raw`{"\u006dodel": null, "constructor_": 1}`])(
    '%s is JSON',
    async (body) => {
      const answer = await post('/agents/settings', 'application/json', body);
      expect(answer.body.code).not.toBe('invalid_json');
    },
  );

  test.each(['gzip', 'br', 'x-of-its-own'])(
    'a body in the coding %s is of no type that is taken, and the answer says which coding is',
    async (coding) => {
      const { status, body, headers } = await call(service, 'POST', '/agents/settings', {
        key,
        body: { maxTradesPerDay: 5 },
        headers: { 'content-encoding': coding },
      });
      expect({ status, code: body.code, fix: body.fix }).toEqual({
        status: 415,
        code: 'unsupported_media_type',
        fix: expect.stringContaining('not compressed'),
      });
      expect(headers.get('accept-encoding')).toBe('identity');
      const other = await post('/agents/settings', 'text/plain', 'x');
      expect(other.headers.get('accept-encoding')).toBeNull();
    },
  );

  test.each([
    ['Latin-1', Buffer.from('{"name":"Ren\xe9"}', 'latin1')],
    ['half a letter', Buffer.from('{"name":"é"}').subarray(0, 10)],
    ['half a surrogate pair', Buffer.from([...Buffer.from('{"name":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d])],
  ])('bytes that are no UTF-8 are not taken: %s', async (_name, bytes) => {
    const answer = await fetch(`${service.url}/agents/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: bytes,
    });
    expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
      status: 400,
      code: 'invalid_json',
      detail: expect.stringContaining('UTF-8'),
    });
  });

  test('also without Content-Length', async () => {
    const chunk = `${(70_000).toString(16)}\r\n${LARGE}\r\n0\r\n\r\n`;
    const { status, body } = await rawRequest(
      service.url,
      'POST /agents/settings HTTP/1.1',
      [`Authorization: Bearer ${key}`, 'Content-Type: text/plain', 'Transfer-Encoding: chunked'],
      chunk,
    );
    expect({ status, code: body.code }).toEqual({ status: 413, code: 'body_too_large' });
  });

  test('an empty body has no type', async () => {
    const { status } = await rawRequest(service.url, 'POST /agents/api-key/999/revoke HTTP/1.1', [
      `Authorization: Bearer ${key}`,
      'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: 0',
    ]);
    expect(status).toBe(404);
  });

  test('the OpenAPI document says so for every operation, also for those without a body', async () => {
    const { paths } = (await call(service, 'GET', '/openapi.json')).body;
    for (const path of ['/webhooks/{id}/enable', '/agents/api-key/{id}/revoke', '/agents/settings']) {
      const { responses } = paths[path].post;
      expect(Object.keys(responses)).toEqual(
        expect.arrayContaining(['400', '408', '413', '415', '421', '431']),
      );
    }
    expect(Object.keys(paths['/agents/me'].get.responses)).toEqual(
      expect.arrayContaining(['400', '403', '421', '431']),
    );
  });
});

describe('a request with many faults', () => {
  test('is refused with fifty named fields and the count of the rest', async () => {
    const body = Object.fromEntries(Array.from({ length: 160 }, (_, i) => [`unknown${i}`, i]));
    const { status, body: problem } = await call(service, 'POST', '/agents/settings', { key, body });
    expect(status).toBe(400);
    expect(problem.errors).toHaveLength(50);
    expect(problem.errorCount).toBeGreaterThan(100);
    expect(problem.detail).toContain(`and ${problem.errorCount - 50} more`);
    expect(problem.detail.length).toBeLessThan(10_000);
  });

  test('has no count when its faults are few', async () => {
    const { body } = await call(service, 'POST', '/agents/settings', { key, body: { maxTradesPerDay: -1 } });
    expect(body.errors).toHaveLength(1);
    expect(body.errorCount).toBeUndefined();
  });

  test('with thousands of faults is refused without a look at all of them', async () => {
    const events = `[${'1,'.repeat(32_000)}1]`;
    const { status, body } = await call(service, 'POST', '/webhooks', {
      key,
      body: `{"url":"https://a.example/","events":${events}}`,
    });
    expect(status).toBe(400);
    expect(body.errors.length).toBeLessThanOrEqual(50);
    // The faults that it counted are those of a list that is too long by one.
    expect(body.errorCount ?? 0).toBeLessThan(100);
  });
});

describe('a key that an object has twice', () => {
  const post = (path: string, body: string, bearer = key) =>
    call(service, 'POST', path, { key: bearer, body, headers: { 'content-type': 'application/json' } });

  test.each([
    ['maxTradesPerDay', '{"maxTradesPerDay": 5, "maxTradesPerDay": 500}'],
    ['maxTradesPerDay', '{"maxTradesPerDay":5,"maxTradesPerDay":5}'],
    ['maxTradesPerDay', String.raw`{"maxTradesPerDay": 5, "\u006daxTradesPerDay" : 500}`],
    ['maxTradesPerDay', '{"maxTradesPerDay"\t:5,\r\n"maxTradesPerDay"\n :500}'],
    ['maxTradesPerDay', '\ufeff{"maxTradesPerDay": 5, "maxTradesPerDay": 500}'],
    ['a.b', '{"a": {"b": 1, "c": {"b": 2}, "b": [3]}}'],
    ['a.1.b', '{"a": [{"b": 1}, {"b": [{}, {"b": 2}], "b": "\\": \\\\"}]}'],
    ['1.b', '[{"b": 1}, {"b": 2, "b": 3}]'],
    ['', '{"": 1, "": 2}'],
    ['1', '{"1": 1, "0": 2, "1": 3}'],
    ['constructor', '{"constructor": 1, "constructor": 2}'],
    ['toString', '{"toString": 1, "toString": 2}'],
  ])('is named: %s in %s', async (path, body) => {
    const answer = await post('/agents/settings', body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json', errors: [{ path }] } });
    expect(answer.body.detail).toContain(JSON.stringify(path));
    expect((await call(service, 'GET', '/agents/settings', { key })).body.maxTradesPerDay).toBe(50);
  });

  test.each([
    '{"description": "\\"maxTradesPerDay\\": \\":\\", \\" :", "a": {"a": [{"a": 1}, {"a": 1}]}}',
    '{"A": 1, "a": 2, "a ": 3, " a": 4, "\\u0061\\u0301": 5, "\\u00e1": 6}',
    '{"a": ":", "b": "\\\\", "c": ":\\"", "d": "{\\"d\\":"}',
  ])('is none where another object, or a text, has it: %s', async (body) => {
    expect((await post('/agents/settings', body)).body.code).toBe('invalid_request');
  });

  test('is a name as long as an answer may repeat, and found at any depth', async () => {
    const name = 'n'.repeat(20_000);
    const long = await post('/agents/settings', `{"${name}": 1, "${name}": 2}`);
    expect(long.body).toMatchObject({ code: 'invalid_json', errors: [{ path: `${'n'.repeat(100)}…` }] });
    expect(long.body.detail.length).toBeLessThan(300);
    const deep = await post('/agents/settings', `${'{"a":'.repeat(9_000)}{"b":1,"b":2}${'}'.repeat(9_000)}`);
    expect(deep).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(deep.body.detail.length).toBeLessThan(300);
  });

  test('leaves an order unplaced, wherever it stands and whichever value is the signed one', async () => {
    const trader = await newTrader(service);
    const order = await restingOrder(trader, await aMarket(trader.client));
    const text = JSON.stringify(order);
    const twice: readonly (readonly [string, string])[] = [
      ['price', text.replace('{', '{"price":0.99,')],
      ['price', text.replace(/\}$/, ',"price":0.99}')],
      ['order.makerAmount', text.replace('"order":{', '"order":{"makerAmount":"1",')],
      ['order.expiration', text.replace('"order":{', '"order":{"expiration":"0","expiration":"0",')],
      ['order.side', text.replace('"side":', String.raw`"s\u0069de":"SELL","side":`)],
      ['order', text.replace('"order":{', '"order":{},"order":{')],
    ];
    for (const [path, body] of twice) {
      const answer = await post('/markets/trade', body, trader.apiKey);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json', errors: [{ path }] } });
    }
    const batch = await post(
      '/markets/batch-trade',
      `{"orders":[${text},${text.replace('{', '{"price":0.99,')}]}`,
      trader.apiKey,
    );
    expect(batch).toMatchObject({ status: 400, body: { errors: [{ path: 'orders.1.price' }] } });
    expect((await call(service, 'GET', '/markets/orders', { key: trader.apiKey })).body).toEqual([]);
    expect((await post('/markets/trade', text, trader.apiKey)).status).toBe(201);
  });

  test('is refused by every operation that an agent or a stranger may send a body to', async () => {
    const { paths } = (await call(service, 'GET', '/openapi.json')).body;
    const routes = Object.entries<Record<string, { security: readonly object[] }>>(paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods)
          .filter(
            ([method, { security }]) => method !== 'get' && !/owner|operator/.test(JSON.stringify(security)),
          )
          .map(([method]) => [method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '1')] as const),
    );
    expect(routes.length).toBeGreaterThan(40);
    const taken: string[] = [];
    const headers = { origin: new URL(service.needs.publicUrl).origin };
    for (const [method, path] of routes) {
      const { body } = await call(service, method, path, {
        key,
        headers,
        body: '{"amount": 1, "amount": 2}',
      });
      if (body.code !== 'invalid_json') taken.push(`${method} ${path}: ${body.code}`);
    }
    // A callback's signature covers its bytes: what they mean is agreed with the holder of the secret.
    expect(taken).toEqual(['POST /webhooks/inbound/1: webhook_signature_invalid']);
  });
});

describe('the owner’s session cookie', () => {
  test('is a `__Host-` cookie on https, and no other cookie name is read there', () => {
    const https = 'https://desk.example.com/desk';
    const cookie = sessionCookie('T', https, 60);
    // The order of attributes has no meaning.
    const attributesOf = (text: string) => text.split('; ').sort();
    expect(attributesOf(cookie)).toEqual(
      attributesOf('__Host-bw_owner=T; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure'),
    );
    const tokensOf = (text: string, url: string) =>
      sessionTokens({ headers: { cookie: text } } as never, url);
    expect(tokensOf('bw_owner=planted; __Host-bw_owner=own', https)).toEqual(['own']);
    expect(tokensOf('bw_owner=planted', https)).toEqual([]);
    expect(attributesOf(sessionCookie('T', 'http://localhost:8080/desk', 60))).toEqual(
      attributesOf('bw_owner=T; Path=/desk; Max-Age=60; HttpOnly; SameSite=Strict'),
    );
    expect(tokensOf('bw_owner=own', 'http://localhost:8080')).toEqual(['own']);
    expect(tokensOf('bw_owner=x; bw_owner=own', 'http://localhost:8080')).toEqual(['x', 'own']);
    expect(tokensOf('bw_owner=x; '.repeat(99), 'http://localhost:8080')).toHaveLength(4);
  });
});
