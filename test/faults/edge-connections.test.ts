/** Slow, silent and broken clients are disconnected in time, without effect on others. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';
import { openSocket, rawRequest, sendRaw } from '../raw-http.ts';
import { dataFolder, type ServiceProcess, startProcess, within } from '../service-process.ts';

const opened: Socket[] = [];

afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
});

interface Slow {
  readonly socket: Socket;
  received: string;
  closedAfterMs: number | null;
}

async function open(url: string, first: string, localAddress?: string): Promise<Slow> {
  const socket = await openSocket(url, localAddress);
  opened.push(socket);
  const slow: Slow = { socket, received: '', closedAfterMs: null };
  const start = performance.now();
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    slow.received += chunk;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    slow.closedAfterMs = performance.now() - start;
  });
  if (first !== '') socket.write(first);
  return slow;
}

const quantile = (sorted: readonly number[], q: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] as number;

async function latencies(url: string, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    const { status } = await call({ url }, 'GET', '/agents/health');
    expect(status).toBe(200);
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b);
}

describe('a body that takes longer than the work may take', () => {
  const head = (length: number) =>
    `POST /agents/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
  const start = () =>
    startTestService({ PAPER_WORLD: 'off', REQUEST_DEADLINE_MS: '1000', RECEIVE_TIMEOUT_S: '4' });

  test('is 408 when it does not end, which is no fault of the service', async () => {
    const service = await start();
    const slow = await open(service.url, `${head(500)}{"name":"slow`);
    await expect.poll(() => slow.closedAfterMs).not.toBeNull();
    expect(slow.received).toMatch(/^HTTP\/1\.1 408 /);
    expect(slow.received).toContain('"code":"request_timeout"');
  });

  test('is served when it arrives whole', async () => {
    const service = await start();
    const body = '{"name":"slow"}';
    const slow = await open(service.url, head(body.length) + body.slice(0, 5));
    await sleep(1_800);
    slow.socket.write(body.slice(5));
    await expect.poll(() => slow.received).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a thousand slow clients', () => {
  const RECEIVE_S = 4;
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startProcess({
      dataDir: dataFolder(),
      env: { RECEIVE_TIMEOUT_S: String(RECEIVE_S), PAPER_WORLD: 'off', LOG_LEVEL: 'error' },
    });
  });

  test('get an error and are closed in time, without delaying other clients', async () => {
    const quiet = await latencies(service.url, 50);
    const head = 'POST /agents/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const kinds = [
      // Sends nothing.
      '',
      // Headers without an end.
      'GET /agents/health HTTP/1.1\r\nHost: loc',
      // A body that never comes.
      `${head}Content-Length: 500\r\n\r\n`,
      // A body that stops half-way.
      `${head}Content-Length: 500\r\n\r\n{"name":"slow`,
      // Chunks without an end.
      `${head}Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\n`,
    ];
    const slow: Slow[] = [];
    for (let i = 0; i < 1_000; i += 50)
      slow.push(
        ...(await Promise.all(
          Array.from({ length: 50 }, (_, n) => open(service.url, kinds[(i + n) % kinds.length] as string)),
        )),
      );
    // Occasional single bytes do not keep a connection open.
    const drip = setInterval(() => {
      for (const { socket } of slow.filter((_, i) => i % 5 === 3)) if (socket.writable) socket.write('x');
    }, 500);
    const busy = await latencies(service.url, 100);
    expect(slow.filter(({ closedAfterMs }) => closedAfterMs === null).length).toBeGreaterThan(900);
    const deadline = performance.now() + (RECEIVE_S + 6) * 1_000;
    while (performance.now() < deadline && slow.some(({ closedAfterMs }) => closedAfterMs === null))
      await sleep(100);
    clearInterval(drip);
    expect(slow.filter(({ closedAfterMs }) => closedAfterMs === null)).toHaveLength(0);
    expect(Math.max(...slow.map(({ closedAfterMs }) => closedAfterMs as number))).toBeLessThan(
      (RECEIVE_S + 5) * 1_000,
    );
    for (const [i, { received }] of slow.entries()) {
      expect(received, kinds[i % kinds.length]).toMatch(/^HTTP\/1\.1 408 /);
      expect(received).toContain('"code":"request_timeout"');
    }
    expect(quantile(busy, 0.99)).toBeLessThan(Math.max(500, quantile(quiet, 0.99) * 10));
  });

  test('five thousand idle connections are accepted, and the service still answers', async () => {
    const quiet = await latencies(service.url, 50);
    const idle: Slow[] = [];
    const request = 'GET /agents/health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    for (let i = 0; i < 5_000; i += 100)
      idle.push(...(await Promise.all(Array.from({ length: 100 }, () => open(service.url, request)))));
    await sleep(200);
    expect(idle.filter(({ closedAfterMs }) => closedAfterMs === null)).toHaveLength(5_000);
    const beside = await latencies(service.url, 50);
    expect(quantile(beside, 0.99)).toBeLessThan(Math.max(1_000, quantile(quiet, 0.99) * 10));
  });
});

test('a stop does not wait for clients that never finish', async () => {
  const service = await startProcess({ dataDir: dataFolder(), env: { PAPER_WORLD: 'off' } });
  const head = 'POST /agents/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  for (const bytes of ['', 'GET /agents/hea', `${head}Content-Length: 500\r\n\r\n{`])
    await open(service.url, bytes);
  await sleep(200);
  service.child.kill('SIGTERM');
  expect((await within(8_000, service.exit())).code).toBe(0);
});

describe('the limit of connections', () => {
  test('gives one address at most half of them', async () => {
    const service = await startTestService({ MAX_CONNECTIONS: '20', PAPER_WORLD: 'off' });
    const held: Slow[] = [];
    for (let i = 0; i < 15; i++) held.push(await open(service.url, '', '127.0.0.2'));
    await sleep(200);
    expect(held.filter(({ closedAfterMs }) => closedAfterMs === null)).toHaveLength(10);
    expect((await call(service, 'GET', '/agents/health')).status).toBe(200);
    held[0]?.socket.destroy();
    await sleep(100);
    const next = await open(service.url, '', '127.0.0.2');
    await sleep(100);
    expect(next.closedAfterMs).toBeNull();
  });

  test('applies to all addresses together', async () => {
    const service = await startTestService({ MAX_CONNECTIONS: '20', PAPER_WORLD: 'off' });
    const held: Slow[] = [];
    for (let i = 0; i < 40; i++) held.push(await open(service.url, '', `127.0.0.${2 + (i % 8)}`));
    await sleep(200);
    expect(held.filter(({ closedAfterMs }) => closedAfterMs === null).length).toBeLessThanOrEqual(20);
  });

  test('does not apply per address to trusted proxies', async () => {
    const service = await startTestService({
      MAX_CONNECTIONS: '20',
      TRUST_PROXY: '127.0.0.2',
      PAPER_WORLD: 'off',
    });
    const held: Slow[] = [];
    for (let i = 0; i < 15; i++) held.push(await open(service.url, '', '127.0.0.2'));
    await sleep(200);
    expect(held.filter(({ closedAfterMs }) => closedAfterMs === null)).toHaveLength(15);
  });
});

describe('bytes that are not an HTTP request', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ PAPER_WORLD: 'off' });
  });

  test('too large headers: 431, as a problem', async () => {
    for (const [line, header] of [
      ['GET /agents/health HTTP/1.1', `X-Long: ${'x'.repeat(20_000)}`],
      [`GET /agents/health?${'x'.repeat(20_000)} HTTP/1.1`, 'X-Short: x'],
    ] as const) {
      const { status, body, headers } = await rawRequest(service.url, line, [header]);
      expect({ status, code: body.code }).toEqual({ status: 431, code: 'headers_too_large' });
      expect(headers.get('content-type')).toContain('application/problem+json');
      expect(body).toMatchObject({
        title: expect.any(String),
        fix: expect.any(String),
        requestId: expect.any(String),
      });
    }
  });

  test.each([
    ['noise', 'hello\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a NUL in the target', 'GET /agents\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    [
      'two lengths',
      'POST /agents/register HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    ],
    [
      'length and chunks',
      'POST /agents/register HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
  ])('%s: 400, as a problem', async (_name, bytes) => {
    const { status, body } = await sendRaw(service.url, bytes);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'invalid_request' });
  });
});
