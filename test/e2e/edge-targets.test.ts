/** Accepted targets, Hosts and Origins of a request. All others are refused with a problem. */
import * as contract from '@bellwether/contract';
import { beforeAll, describe, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';
import { rawRequest, sendRaw } from '../raw-http.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({
    PAPER_WORLD: 'off',
    PUBLIC_URL: 'https://desk.example.com',
    ALLOWED_HOSTS: 'desk.internal,gateway',
    ALLOWED_ORIGINS: 'https://console.example.com',
    REPLICA_URL: 'http://replica-1.example.net:8080',
  });
});

const get = (target: string, headers?: readonly string[]) =>
  rawRequest(service.url, `GET ${target} HTTP/1.1`, headers);

describe('the target begins with a single slash', () => {
  test.each([
    ['absolute-form', 'http://169.254.169.254/agents/health'],
    ['absolute-form of a door', 'http://other.example:9999/paper/clob/time'],
    ['scheme-relative', '//other.example/agents/health'],
    ['scheme-relative door', '//other.example/paper/clob/time'],
    ['a backslash, which URL parsers read as a slash', '/\\other.example/agents/health'],
  ])('%s is refused', async (_name, target) => {
    const { status, headers, body } = await get(target);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_target' });
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(body.fix).toEqual(expect.any(String));
  });

  test('`OPTIONS *` is refused, too', async () => {
    const { status, body } = await rawRequest(service.url, 'OPTIONS * HTTP/1.1');
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_target' });
  });

  test('the same paths in origin-form are served', async () => {
    expect((await get('/agents/health')).status).toBe(200);
    expect((await get('/paper/clob/time')).status).toBe(200);
  });

  test.each([
    '/agents/claim/AB%00CD',
    '/markets?q=a%00b',
    '/markets/orders/%00',
    '/agents/claim?claimCode=%00',
    '/owner/assets/%00.js',
    '/agents/health?%00=1',
  ])('NUL in %s is 400', async (target) => {
    const { status, body } = await get(target);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
  });
});

describe('the Host must be accepted', () => {
  const asked = async (host: string, target = '/agents/health') => {
    const { status, body } = await get(target, [`Host: ${host}`]);
    return { status, code: body.code };
  };

  test.each([
    'desk.example.com',
    'DESK.example.com:443',
    'localhost:1234',
    '127.0.0.1',
    '[::1]:8080',
    'desk.internal',
    'gateway:80',
    'replica-1.example.net:8080',
  ])('%s is known', async (host) => {
    expect((await asked(host)).status).toBe(200);
  });

  test.each(['evil.example', 'desk.example.com.evil.example', '10.0.0.7:8080', '127.0.0.1.nip.io'])(
    '%s is refused',
    async (host) => {
      expect(await asked(host)).toEqual({ status: 421, code: 'host_not_allowed' });
      expect((await asked(host, '/paper/clob/time')).status).toBe(421);
      expect((await asked(host, '/metrics')).status).toBe(421);
      expect((await asked(host, '/openapi.json')).status).toBe(421);
    },
  );

  test('probes answer for every Host', async () => {
    expect((await asked('10.0.0.7:8080', '/healthz')).status).toBe(200);
    expect((await asked('10.0.0.7:8080', '/readyz')).status).toBe(200);
  });

  test.each([
    ['two Hosts', ['Host: localhost', 'Host: evil.example']],
    ['the same Host twice', ['Host: localhost', 'host: localhost']],
    ['an invalid Host', ['Host: a b/c']],
    ['an empty Host', ['Host:']],
  ])('%s: 400', async (_name, headers) => {
    const { status, body } = await get('/agents/health', headers);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_target' });
  });

  test('a missing Host: 400, as a problem', async () => {
    const { status, body } = await sendRaw(
      service.url,
      'GET /agents/health HTTP/1.1\r\nConnection: close\r\n\r\n',
    );
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_target' });
  });

  test('a browser on another address is redirected to the public URL once', async () => {
    const html = 'Accept: text/html,application/xhtml+xml';
    const first = await get('/console/pause', ['Host: 10.0.0.7:8080', html]);
    expect(first.status).toBe(302);
    expect(first.headers.get('location')).toBe('https://desk.example.com/console/pause?moved=1');
    expect((await get('/console/pause?moved=1', ['Host: 10.0.0.7:8080', html])).status).toBe(421);
    const claim = await get('/agents/claim/AAAAA-BBBBB', ['Host: 10.0.0.7:8080', html]);
    expect(claim.headers.get('location')).toBe('https://desk.example.com/agents/claim/AAAAA-BBBBB?moved=1');
  });
});

const ALLOWED = 'https://console.example.com';
const WALLET = '7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK';
const corsOf = ({ headers }: { readonly headers: Headers }) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));

describe('a browser’s Origin must be ours or allowed', () => {
  const from = (origin: string, method = 'GET', path = '/agents/health', headers = {}) =>
    call(service, method, path, { headers: { origin, ...headers } });

  test.each(['https://evil.example', 'null', 'http://desk.example.com', 'https://desk.example.com:444'])(
    '%s is refused on every route of the desk, probes included',
    async (origin) => {
      for (const path of ['/agents/health', '/openapi.json', '/markets', '/nowhere', '/docs'])
        expect(await from(origin, 'GET', path)).toMatchObject({
          status: 403,
          body: { code: 'origin_not_allowed' },
        });
      expect((await from(origin, 'POST', '/agents/register')).status).toBe(403);
    },
  );

  describe.each(['https://evil.example', 'https://console.example.com', 'null'])(
    'the paper doors, for a page of %s',
    (origin) => {
      const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
        call(service, 'POST', path, { headers: { origin, ...headers }, body });

      test('answer reads, without CORS headers, however the path is spelt', async () => {
        for (const path of ['/paper/clob/time', '/paper/%63lob/time', '/paper/gamma/markets?limit=1']) {
          const answer = await from(origin, 'GET', path);
          expect({ path, status: answer.status, cors: corsOf(answer) }).toEqual({
            path,
            status: 200,
            cors: [],
          });
        }
        expect((await from(origin, 'GET', '/paper/nowhere')).status).toBe(403);
      });

      test('take writes that a browser asks about first, or that have no body', async () => {
        const slot = { jsonrpc: '2.0', id: 1, method: 'getSlot' };
        expect((await post('/paper/solana', slot)).status).toBe(200);
        expect((await from(origin, 'POST', '/paper/clob/auth/api-key')).status).toBe(401);
        for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch'])
          expect((await post('/paper/solana', slot, { 'content-type': type })).status, type).toBe(403);
        const asked = await from(origin, 'OPTIONS', '/paper/solana', {
          'access-control-request-method': 'POST',
        });
        expect(asked.status).toBe(403);
        expect(corsOf(asked)).toEqual([]);
      });

      test('give no money', async () => {
        const airdrop = { jsonrpc: '2.0', id: 1, method: 'requestAirdrop', params: [WALLET, 1] };
        for (const body of [airdrop, [airdrop]]) expect((await post('/paper/solana', body)).status).toBe(403);
        const gift = { address: `0x${'1'.repeat(40)}`, amount: 1 };
        if (origin !== ALLOWED) expect((await post('/paper/faucet', gift)).status).toBe(403);
      });
    },
  );

  test('the origin of the public URL and the page’s own address are accepted', async () => {
    expect((await from('https://desk.example.com')).status).toBe(200);
    expect((await from(service.address)).status).toBe(200);
    const other = service.address.replace(/:\d+$/, ':1');
    expect((await from(other)).status).toBe(403);
  });

  test('an allowed one is accepted and may read the answer; a preflight is answered', async () => {
    const allowed = 'https://console.example.com';
    const answer = await from(allowed);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(answer.headers.get('vary')).toMatch(/origin/i);
    const preflight = await from(allowed, 'OPTIONS', '/markets/trade', {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
    // The page may read refusals, too.
    expect((await from(allowed, 'GET', '/agents/me')).headers.get('access-control-allow-origin')).toBe(
      allowed,
    );
  });

  const preflight = (path: string, method = 'POST', headers = 'authorization') =>
    from(ALLOWED, 'OPTIONS', path, {
      'access-control-request-method': method,
      'access-control-request-headers': headers,
    });
  const operations = (Object.values(contract) as readonly unknown[]).filter(
    (value): value is contract.Operation =>
      typeof value === 'object' && value !== null && 'permission' in value && 'rateClass' in value,
  );
  const routes = operations.map((one) => [`${one.method} ${one.path}`, one] as const);
  const pathOf = ({ path }: contract.Operation) => path.replaceAll(/\{\w+\}/g, '1');

  test.each(routes.filter(([, { permission }]) => permission === 'owner' || permission === 'operator'))(
    '%s stays closed to an allowed page',
    async (_name, operation) => {
      const path = pathOf(operation);
      const answer = await from(ALLOWED, operation.method, path, { cookie: 'bw_owner=x' });
      expect(answer).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
      expect(corsOf(answer)).toEqual([]);
      const asked = await preflight(path, operation.method);
      expect(asked.status).toBe(403);
      expect(corsOf(asked)).toEqual([]);
    },
  );

  const forAgents = routes.filter(
    ([, { permission, path }]) =>
      permission === 'agent' || (permission === 'public' && !path.startsWith('/owner/')),
  );
  test.each(forAgents)('%s is open to an allowed page', async (_name, operation) => {
    const path = pathOf(operation);
    expect((await preflight(path, operation.method)).status).toBe(204);
    const answer = await from(ALLOWED, operation.method, path);
    expect(answer.body.code).not.toBe('origin_not_allowed');
    expect(answer.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each([
    '/owner',
    '/console/pause',
    '/owner/session',
    '/owner/assets/owner.js',
    '/%6fwner/session',
    '/internal/exchange',
    '/internal/timeline',
    '/metrics',
  ])('%s stays closed to an allowed page, however it is spelt', async (path) => {
    const answer = await from(ALLOWED, 'GET', path);
    expect(answer).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
    expect(corsOf(answer)).toEqual([]);
  });

  test.each([
    'https://console.example.com.evil.example',
    'https://evil-console.example.com',
    'http://console.example.com',
    'https://console.example.com:8443',
    'https://CONSOLE.example.com',
    'https://console.example.com/',
    'null',
    '*',
  ])('%s is not the allowed one', async (origin) => {
    const answer = await from(origin);
    expect(answer).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } });
    expect(corsOf(answer)).toEqual([]);
    const asked = await from(origin, 'OPTIONS', '/markets/trade', {
      'access-control-request-method': 'POST',
    });
    expect(asked.status).toBe(403);
    expect(corsOf(asked)).toEqual([]);
  });

  test('a page may send only the headers of agents', async () => {
    const asked = await preflight(
      '/markets/trade',
      'POST',
      'authorization, x-forwarded-for, cf-ipcountry, cookie',
    );
    const given = asked.headers.get('access-control-allow-headers') ?? '';
    expect(given.split(', ').sort()).toEqual([
      'authorization',
      'content-type',
      'idempotency-key',
      'last-event-id',
      'x-request-id',
    ]);
  });

  test('caches keep what each origin may read apart', async () => {
    for (const path of ['/agents/health', '/', '/docs/errors', '/agents/claim/AAAAA-BBBBB', '/agents/me'])
      for (const answer of [await from(ALLOWED, 'GET', path), await call(service, 'GET', path)])
        expect(answer.headers.get('vary'), path).toMatch(/origin/i);
  });

  test('below a base path the same stays closed', async () => {
    const below = await startTestService({
      PAPER_WORLD: 'off',
      BASE_PATH: '/desk',
      ALLOWED_ORIGINS: ALLOWED,
    });
    const statusOf = async (path: string) =>
      (await call({ url: below.address }, 'GET', path, { headers: { origin: ALLOWED } })).status;
    expect(await statusOf('/desk/agents/health')).toBe(200);
    for (const path of ['/desk/owner/session', '/desk/%6fwner/session', '/metrics'])
      expect(await statusOf(path), path).toBe(403);
  });

  test('without an Origin nothing changes, and OPTIONS is not supported', async () => {
    expect(
      (await call(service, 'GET', '/agents/health')).headers.get('access-control-allow-origin'),
    ).toBeNull();
    expect((await call(service, 'OPTIONS', '/markets/trade')).status).toBe(405);
  });
});
