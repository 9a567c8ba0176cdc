/** A follower’s doors reach the leader’s doors and nothing else. */

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPool } from '../../packages/server/src/platform/database/connection.ts';
import { call, startTestService, type TestService } from '../harness.ts';
import { rawRequest } from '../raw-http.ts';

let leader: TestService;
let follower: TestService;
/** A server that must receive no request. */
let stranger: Server;
const heard: IncomingMessage[] = [];
let strangerHost: string;

beforeAll(async () => {
  stranger = createServer((request, response) => {
    heard.push(request);
    if (request.url === '/redirects/paper/clob/time') response.writeHead(302, { location: '/elsewhere' });
    if (request.url === '/endless/paper/clob/time') {
      response.writeHead(200, { 'content-type': 'application/json' });
      const fill = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', fill);
      fill();
      return;
    }
    response.end('{"secret":"of the stranger"}');
  });
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  strangerHost = `127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  leader = await startTestService({ PAPER_WORLD: 'off', BASE_PATH: '/desk' });
  follower = await startTestService({
    PAPER_WORLD: 'off',
    BASE_PATH: '/desk',
    DATABASE_URL: leader.databaseUrl,
    MASTER_KEY: leader.masterKey,
  });
  expect(follower.exchange).toBeNull();
});

afterAll(() => {
  stranger.closeAllConnections();
  stranger.close();
});

const get = (target: string, headers?: readonly string[]) =>
  rawRequest(follower.url, `GET ${target} HTTP/1.1`, headers);

describe('a follower that forwards a door', () => {
  test('serves it through the leader', async () => {
    const { status, text } = await get('/desk/paper/clob/time');
    expect(status).toBe(200);
    expect(Number(text)).toBeGreaterThan(1_700_000_000);
    expect((await get('/desk/paper/dflow/metadata/api/v1/markets?limit=1')).status).toBe(200);
  });

  test.each(['absolute-form', 'scheme-relative'])('%s targets are refused', async (form) => {
    const before = heard.length;
    const target = form === 'absolute-form' ? `http://${strangerHost}` : `//${strangerHost}`;
    for (const path of ['/desk/paper/clob/time', '/paper/clob/time', '/desk/paper/solana']) {
      const { status, text } = await get(target + path);
      expect(status).toBe(400);
      expect(text).not.toContain('secret');
    }
    expect(heard.length).toBe(before);
  });

  test.each([
    '/desk/paper/clob/../../metrics',
    '/desk/paper/clob/%2e%2e/%2e%2e/metrics',
    '/desk/paper/clob/.%2e/%2E./metrics',
    '/desk/paper/clob/..%2f..%2fmetrics',
    '/desk/paper/clob/..\\..\\metrics',
    '/desk/paper/clob/x/%2e%2e/../../metrics',
    '/desk/paper/clob/%252e%252e/%252e%252e/metrics',
    '/desk/paper/clob/;/../../metrics',
    '/desk/paper/clob/../../internal/exchange',
    '/desk/paper/dflow/metadata/../../../metrics',
  ])('%s stays under the door', async (target) => {
    const { status, text } = await get(target);
    expect([400, 404]).toContain(status);
    expect(text).not.toContain('bellwether_http_request_duration');
  });

  describe('an impostor of the leader', () => {
    const pretend = async (path: string): Promise<void> => {
      const sql = openPool(leader.databaseUrl, { max: 1, applicationName: 'edge test' });
      await sql`update exchange_leader set url = ${`http://${strangerHost}${path}`}, replica_id = 'stranger'`;
      await sql.end();
      heard.length = 0;
      const asked = async () => {
        await get('/desk/paper/clob/time');
        return heard.some(({ url }) => url === `${path}/paper/clob/time`);
      };
      // The follower looks for its leader about once a second.
      await expect.poll(asked, { interval: 50 }).toBe(true);
    };

    test('receives no secret of the caller, only the headers that doors read', async () => {
      await pretend('');
      heard.length = 0;
      await get('/desk/paper/clob/time', [
        'Cookie: bw_owner=abc',
        'Authorization: Bearer bw_secret',
        'X-Forwarded-For: 1.2.3.4',
        'X-Anything: goes',
        'POLY_ADDRESS: 0xabc',
      ]);
      const seen = heard.find(({ url }) => url?.endsWith('/paper/clob/time'))?.headers ?? {};
      expect(seen.poly_address).toBe('0xabc');
      for (const name of ['cookie', 'authorization', 'x-forwarded-for', 'x-anything'])
        expect(seen[name], name).toBeUndefined();
    });

    test('cannot redirect the follower', async () => {
      await pretend('/redirects');
      heard.length = 0;
      const { status } = await get('/desk/paper/clob/time');
      expect(status).toBeGreaterThanOrEqual(500);
      expect(heard.some(({ url }) => url === '/elsewhere')).toBe(false);
    });

    test('cannot fill the follower’s memory', async () => {
      await pretend('/endless');
      const before = process.memoryUsage().rss;
      const { status, text } = await get('/desk/paper/clob/time');
      expect(status).toBeGreaterThanOrEqual(500);
      expect(text.length).toBeLessThan(10_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    });
  });
});

describe('the call between replicas', () => {
  const body = JSON.stringify({ port: 'markets', method: 'find', args: ['1'] });
  const send = (headers: Record<string, string>, text = body) =>
    call(leader, 'POST', '/internal/exchange', {
      body: text,
      headers: { 'content-type': 'text/plain', ...headers },
    });
  /** The follower's last signed call, as an eavesdropper sees it. */
  const captured = async (): Promise<{ headers: Record<string, string>; text: string }> => {
    const sql = openPool(leader.databaseUrl, { max: 1, applicationName: 'edge test' });
    let seen: { headers: Record<string, string>; text: string } | undefined;
    const tap = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => (text += chunk));
      request.on('end', () => {
        seen ??= { headers: request.headers as Record<string, string>, text };
        response.end();
      });
    });
    await new Promise<void>((resolve) => tap.listen(0, '127.0.0.1', resolve));
    const { port } = tap.address() as AddressInfo;
    await sql`update exchange_leader set url = ${`http://127.0.0.1:${port}/desk`}, replica_id = 'tap'`;
    await sql.end();
    const asked = async () => {
      await call(follower, 'GET', '/markets/orderbook/1').catch(() => {});
      await follower.needs.venues.default.markets.find('1').catch(() => {});
      return seen;
    };
    // The follower looks for its leader about once a second.
    await expect.poll(asked, { interval: 50 }).toBeDefined();
    await new Promise((resolve) => tap.close(resolve));
    return seen as NonNullable<typeof seen>;
  };

  test('is signed over body, path and time, and accepted once', async () => {
    const proofOf = ({ headers }: { headers: Record<string, string> }) =>
      Object.fromEntries(
        Object.entries(headers).filter(([name]) => /^(authorization|x-bellwether)/.test(name)),
      );
    const first = await captured();
    const elsewhere = await call(leader, 'POST', '/internal/exchange?x=1', {
      body: first.text,
      headers: { 'content-type': 'text/plain', ...proofOf(first) },
    });
    expect(elsewhere.status).toBe(404);
    expect((await send(proofOf(first), first.text)).status).toBe(200);
    expect((await send(proofOf(first), first.text)).status).toBe(404);
    const second = await captured();
    expect((await send(proofOf(second), second.text.replace('find', 'book'))).status).toBe(404);
  });

  test('is refused with any other signature', async () => {
    const digest = createHash('sha256').update(body).digest('hex');
    for (const headers of [
      {},
      { authorization: 'Bearer x' },
      { 'x-bellwether-replica': 'x' },
      { 'x-bellwether-replica': `v1 ${Date.now()} ${'a'.repeat(32)} ${digest} ${'0'.repeat(64)}` },
    ])
      expect((await send(headers)).status).toBe(404);
  });
});
