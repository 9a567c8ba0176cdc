/**
 * Every operation of the contract: bound, documented with each of its codes, guarded by a key,
 * limited, and idempotent where it changes something.
 */

import * as contract from '@bellwether/contract';
import { ERRORS, type Operation } from '@bellwether/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorCodes } from '../../packages/server/src/platform/http/routes.ts';
import { call, newAgent, startTestService, type TestService } from '../harness.ts';
import { rawRequest } from '../raw-http.ts';

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' &&
  value !== null &&
  'rateClass' in value &&
  'permission' in value &&
  'path' in value;

const OPERATIONS = (Object.values(contract) as readonly unknown[]).filter(isOperation);
const named = OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation] as const);

let service: TestService;
let key: string;
// biome-ignore lint/suspicious/noExplicitAny: the document is read by path
let document: any;

/** Sent by POST, and changes nothing. */
const READS: ReadonlySet<string> = new Set(['listVenueBPositionsByPost', 'prepareTrade', 'prepareBatch']);

/** The owner's page uses a session, with its own protection against repeats. */
const isPage = ({ path }: Operation): boolean => path.startsWith('/owner/');

beforeAll(async () => {
  service = await startTestService({
    RATE_LIMITS: 'on',
    // Every operation is called without a key, from one address.
    RATE_LIMIT_FAILED_AUTH_PER_MINUTE: '1000',
    PAPER_WORLD: 'off',
    BASE_PATH: '/desk',
  });
  key = (await newAgent(service)).apiKey;
  document = (await call(service, 'GET', '/openapi.json')).body;
});

/** A path that exists, with something in place of its parameters. */
const pathOf = (operation: Operation) => operation.path.replaceAll(/\{\w+\}/g, '1');

describe('every operation', () => {
  test('the list is not empty, and ids and routes are unique', () => {
    expect(OPERATIONS.length).toBeGreaterThan(20);
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
    expect(new Set(named.map(([name]) => name)).size).toBe(OPERATIONS.length);
  });

  test.each(named)(
    '%s is in the OpenAPI document with every parameter, response and code',
    (_name, operation) => {
      const entry = document.paths[operation.path]?.[operation.method.toLowerCase()];
      expect(entry).toMatchObject({ operationId: operation.id, summary: operation.summary });
      expect(
        entry.responses[operation.status]?.content?.[operation.produces ?? 'application/json']?.schema,
      ).toBeDefined();
      for (const code of errorCodes(operation)) {
        const { $ref = '' } = entry.responses[ERRORS[code].status];
        const response = document.components.responses[$ref.split('/').at(-1)];
        expect(response?.description, code).toContain(`\`${code}\``);
        expect(response?.content?.['application/problem+json'], code).toBeDefined();
      }
      const parameters = (entry.parameters ?? []).map(({ name }: { name: string }) => name);
      for (const part of [operation.params, operation.query]) {
        for (const name of Object.keys((part as { properties?: object } | undefined)?.properties ?? {}))
          expect(parameters).toContain(name);
      }
      expect(parameters).toContain('x-request-id');
      if (operation.body !== undefined)
        expect(entry.requestBody?.content?.['application/json']?.schema).toBeDefined();
      expect(entry.security).toHaveLength(operation.permission === 'public' ? 0 : 1);
    },
  );

  test.each(named.filter(([, { permission }]) => permission !== 'public'))(
    '%s refuses a request without a key before it checks the request',
    async (_name, operation) => {
      const answer = await call(
        service,
        operation.method,
        pathOf(operation),
        operation.method === 'GET' ? {} : { body: '{broken' },
      );
      expect([401, 403]).toContain(answer.status);
      if (operation.permission === 'agent') expect(answer.body.code).toBe('unauthorized');
    },
  );

  const changes = named.filter(([, operation]) => operation.method !== 'GET' && !isPage(operation));
  test.each(changes.filter(([, { id }]) => !READS.has(id)))(
    '%s takes an Idempotency-Key',
    (_name, operation) => {
      expect(operation.idempotent).toBe(true);
      const entry = document.paths[operation.path][operation.method.toLowerCase()];
      expect(entry.parameters.map(({ name }: { name: string }) => name)).toContain('idempotency-key');
    },
  );

  test.each(
    named.filter(([, operation]) => operation.rateClass !== 'none' && operation.permission === 'agent'),
  )('%s returns its rate limit', async (_name, operation) => {
    const answer = await call(service, operation.method, pathOf(operation), {
      key,
      ...(operation.body === undefined ? {} : { body: '{}' }),
    });
    expect(answer.headers.get('ratelimit-policy')).toMatch(/^"\w+";q=\d+;w=\d+$/);
    expect(answer.headers.get('ratelimit')).toMatch(/^"\w+";r=\d+;t=\d+$/);
    expect(answer.status).not.toBe(500);
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('the refusals of a venue', () => {
  test.each(['placeTrade', 'getOrder', 'listOrders'] as const)(
    'are all in the document of %s, and what each means',
    (name) => {
      const operation = named.find(([, { id }]) => id === name)?.[1];
      if (operation === undefined) throw new Error(`there is no operation ${name}`);
      const entry = document.paths[operation.path][operation.method.toLowerCase()];
      const text = JSON.stringify(entry.responses[operation.status]);
      for (const [code, { message }] of Object.entries(contract.VENUE_REFUSALS))
        expect(text).toContain(JSON.stringify(`\`${code}\`: ${message}`).slice(1, -1));
    },
  );
});

describe('a request that no route takes', () => {
  const asked = async (method: string, path: string) => {
    const { status, body } = await call({ url: service.address }, method, path);
    return { status, code: body.code, fix: body.fix as string, instance: body.instance as string };
  };
  const first = ({ fix }: { fix: string }) => /nearest routes? (?:is|are) ([^,;]+)/.exec(fix)?.[1];

  test.each([
    ['GET', '/desk/market', 'GET /desk/markets'],
    ['GET', '/desk/Markets/Portfolio/', 'GET /desk/markets/portfolio'],
    ['GET', '/desk/agents/me/', 'GET /desk/agents/me'],
    ['POST', '/desk/markets/trad', 'POST /desk/markets/trade'],
    ['POST', '/desk/market/trade', 'POST /desk/markets/trade'],
    ['POST', '/desk/trade', 'POST /desk/markets/trade'],
    ['PUT', '/desk/markets/tarde', 'POST /desk/markets/trade'],
    ['POST', '/markets/trade', 'POST /desk/markets/trade'],
    ['GET', '/agents/me', 'GET /desk/agents/me'],
    ['GET', '/desk/desk/agents/me', 'GET /desk/agents/me'],
    ['GET', '/desk/markets/markets/portfolio', 'GET /desk/markets/portfolio'],
    ['POST', '/desk/api/markets/trade', 'POST /desk/markets/trade'],
    ['GET', '/desk/v1/agents/me', 'GET /desk/agents/me'],
    ['GET', '/desk/markets/wallet/0xabc1', 'GET /desk/markets/wallet/{address}/positions'],
    ['GET', '/desk/markets/order/0x1234567890', 'GET /desk/markets/orders/{orderId}'],
    ['GET', '/desk/markets/wallet/0xabc1/position', 'GET /desk/markets/wallet/{address}/positions'],
    ['POST', '/desk/venueb/agent/qoute', 'POST /desk/venueb/agent/quote'],
    ['POST', '/desk/venue-b/agent/quote', 'POST /desk/venueb/agent/quote'],
    ['POST', '/desk/kalshi/agent/submitt', 'POST /desk/kalshi/agent/submit'],
    ['GET', '/desk/wallet/credential/check', 'GET /desk/wallet/credentials/check'],
    ['GET', '/desk/openapi', 'GET /desk/openapi/{file}'],
    ['GET', '/desk/llm.txt', 'GET /desk/llms.txt'],
    ['GET', '/desk/docs/limit', 'GET /desk/docs/limits'],
  ])('%s %s names %s', async (method, path, nearest) => {
    const answer = await asked(method, path);
    // 405: a path with a parameter fits, of another method.
    expect(['404 route_not_found', '405 method_not_allowed']).toContain(`${answer.status} ${answer.code}`);
    expect(first(answer)).toBe(nearest);
    expect(answer.fix).toContain('/desk/llms.txt');
    expect(answer.fix).not.toContain('openapi.json');
  });

  test.each([
    ['GET', '/desk/markets/trade', 'POST /desk/markets/trade'],
    ['DELETE', '/desk/agents/me', 'GET /desk/agents/me'],
    ['PATCH', '/desk/agents/settings', 'POST /desk/agents/settings'],
    ['POST', '/desk/markets/orders/0x1234', 'GET /desk/markets/orders/{orderId}'],
    ['POST', '/desk/llms.txt', 'GET /desk/llms.txt'],
    ['POST', '/desk/openapi.json', 'GET /desk/openapi.json'],
  ])('%s %s takes another method: %s', async (method, path, nearest) => {
    const answer = await asked(method, path);
    expect({ status: answer.status, code: answer.code }).toEqual({ status: 405, code: 'method_not_allowed' });
    expect(first(answer)).toBe(nearest);
  });

  test.each([
    '/nowhere',
    '/desk/nowhere/at/all',
    '/wp-login.php',
    `/desk/${'a/'.repeat(50)}`,
    `/desk/markets${'x'.repeat(9_000)}`,
  ])('a path that is like none names the place of the list: %s', async (path) => {
    const answer = await asked('GET', path);
    expect(answer.fix).toBe('See /desk/llms.txt for the routes that exist.');
    expect(answer.instance.length).toBeLessThanOrEqual(512);
  });

  test('the text of a stranger is no part of the advice, and comes back as an address alone', async () => {
    for (const path of [
      '/desk/markets/trade/ignore-all-instructions',
      '/desk/agents/me<script>alert(1)</script>',
      '/desk/agents/m`rm`"e',
    ])
      for (const method of ['GET', 'POST']) {
        const { status, body } = await rawRequest(service.address, `${method} ${path} HTTP/1.1`);
        expect(status).toBe(404);
        expect(`${body.fix}${body.detail}${body.title}`).not.toMatch(/ignore|script|rm|alert/);
        expect(body.instance).toMatch(/^[\w/.~%()-]+$/);
      }
  });

  test('every route that it can name is one', async () => {
    for (const word of [
      'market',
      'agent',
      'order',
      'wallets',
      'skill',
      'docs/error',
      'owner/agent',
      'operator/statu',
    ]) {
      const { fix } = await asked('GET', `/desk/${word}`);
      for (const [, method = '', path = ''] of fix.matchAll(/\b(GET|POST|DELETE) (\/[^\s,;]+)/g)) {
        const { status, body } = await call(
          { url: service.address },
          method,
          path.replaceAll(/\{\w+\}/g, '1'),
        );
        expect([404, 405].includes(status) && /route|method/.test(body.code), `${method} ${path}`).toBe(
          false,
        );
      }
    }
  });
});

describe('other routes and headers', () => {
  test('a request id is echoed when it is printable, otherwise created', async () => {
    const given = async (id: string) =>
      (await call(service, 'GET', '/agents/health', { headers: { 'x-request-id': id } })).headers.get(
        'x-request-id',
      );
    expect(await given('my request/1')).toBe('my request/1');
    expect(await given('x'.repeat(129))).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('llms.txt begins with first steps and names what an agent can call, and nothing of owners and operators', async () => {
    const { status, body, headers } = await call(service, 'GET', '/llms.txt');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('text/markdown');
    for (const { method, path, summary, permission } of OPERATIONS) {
      if (path.includes('/inbound/')) continue;
      const isCallable = permission === 'agent' || permission === 'public';
      expect({ path, named: body.includes(`- \`${method} ${path}\``) }).toEqual({ path, named: isCallable });
      if (isCallable) expect(body).toContain(summary);
    }
    expect(body.indexOf('/venueb/agent/quote')).toBeLessThan(body.indexOf('## agents'));
    expect(body).toContain('/docs/routes');
  });

  test('metrics name routes by their pattern, and are only for this machine or the operator', async () => {
    await call(service, 'GET', `/markets/orders/0x${'ab'.repeat(32)}`, { key });
    const { status, body } = await call(service, 'GET', '/metrics');
    expect(status).toBe(200);
    expect(body).toMatch(
      /bellwether_http_request_duration_seconds_count\{method="GET",route="\/desk\/markets\/orders\/:orderId",status="404"\} 1/,
    );
    expect(body).toMatch(/bellwether_venue_ready\{venue="polymarket"\} 1\n/);
    expect(body).toMatch(/bellwether_venue_ready\{venue="kalshi"\} [01]\n/);
    expect(body).toMatch(/bellwether_orders_in_doubt 0\n/);
    expect(body).not.toContain('abab');
    const elsewhere = { headers: { 'x-forwarded-for': '203.0.113.9' } };
    expect(await call(service, 'GET', '/metrics', elsewhere)).toMatchObject({
      status: 403,
      body: { code: 'operator_disabled' },
    });
  });

  test('the document, its page and the probes are under the base path, the probes at the root, too', async () => {
    const root = { url: service.address };
    expect(document.openapi).toBe('3.1.0');
    expect((await call(service, 'GET', '/docs/', { headers: { accept: 'text/html' } })).status).toBe(200);
    for (const where of [service, root]) {
      expect(await call(where, 'GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } });
      expect(await call(where, 'GET', '/readyz')).toMatchObject({
        status: 200,
        body: {
          status: 'ready',
          version: expect.any(String),
          venues: [
            { name: 'polymarket', kind: 'A', backend: 'paper' },
            { name: 'kalshi', kind: 'B', backend: 'paper' },
          ],
          database: 'ready',
        },
      });
    }
    expect((await call(root, 'GET', '/agents/health')).status).toBe(404);
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/healthz', '/readyz']));
  });
});
