/** Bodies that are too large, of another type or wrong in too many places; the owner's cookie. */
import { beforeAll, describe, expect, test } from 'vitest';
import { sessionCookie, sessionTokens } from '../../packages/server/src/platform/http/identify.ts';
import { call, newAgent, sharedTestService, type TestService } from '../harness.ts';
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
