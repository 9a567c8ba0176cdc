/** Slow, silent and broken clients are disconnected in time, without effect on others. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { call, startTestService, type TestService } from '../harness.ts';
import { openSocket, rawRequest, sendRaw } from '../raw-http.ts';
import { dataFolder, type ServiceProcess, startProcess } from '../service-process.ts';

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

const isOpen = ({ closedAfterMs }: Slow): boolean => closedAfterMs === null;

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

describe('a thousand slow clients', () => {
  /** Headers have half of it. Long enough for a busy machine to open a thousand sockets. */
  const RECEIVE_S = 8;
  let service: ServiceProcess;

  beforeAll(async () => {
    service = await startProcess({
      dataDir: dataFolder(),
      env: {
        RECEIVE_TIMEOUT_S: String(RECEIVE_S),
        REQUEST_DEADLINE_MS: '100000',
        PAPER_WORLD: 'off',
        LOG_LEVEL: 'error',
      },
    });
  });

  test('get an error and are closed in time, without delaying other clients', async () => {
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
    const busy = await latencies(service.url, 40);
    expect(slow.filter(isOpen).length).toBeGreaterThan(900);
    await expect
      .poll(() => slow.filter(isOpen).length, { timeout: 60_000 + RECEIVE_S * 1_000, interval: 100 })
      .toBe(0);
    clearInterval(drip);
    for (const [i, { received }] of slow.entries()) {
      expect(received, kinds[i % kinds.length]).toMatch(/^HTTP\/1\.1 408 /);
      expect(received).toContain('"code":"request_timeout"');
    }
    // A client that had to wait for the slow ones would wait until they are disconnected.
    expect(quantile(busy, 0.5)).toBeLessThan((RECEIVE_S * 1_000) / 20);
  });

  test('five thousand idle connections are accepted, and the service still answers', async () => {
    const idle: Slow[] = [];
    const request = 'GET /agents/health HTTP/1.1\r\nHost: localhost\r\n\r\n';
    for (let i = 0; i < 5_000; i += 100)
      idle.push(...(await Promise.all(Array.from({ length: 100 }, () => open(service.url, request)))));
    await expect
      .poll(() => idle.filter(({ received }) => received.startsWith('HTTP/1.1 200')).length)
      .toBe(5_000);
    expect(idle.filter(isOpen)).toHaveLength(5_000);
    expect(await latencies(service.url, 20)).toHaveLength(20);
  });
});

test('a stop does not wait for clients that never finish', async () => {
  const service = await startProcess({
    dataDir: dataFolder(),
    env: { PAPER_WORLD: 'off', RECEIVE_TIMEOUT_S: '600' },
  });
  const head = 'POST /agents/register HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  for (const bytes of ['', 'GET /agents/hea', `${head}Content-Length: 500\r\n\r\n{`])
    await open(service.url, bytes);
  await sleep(200);
  service.child.kill('SIGTERM');
  // It fails after a minute; the clients would be waited for ten.
  expect((await service.exit()).code).toBe(0);
});

describe('the limit of connections', () => {
  test('gives one address at most half of them', async () => {
    const service = await startTestService({ MAX_CONNECTIONS: '20', PAPER_WORLD: 'off' });
    const held: Slow[] = [];
    for (let i = 0; i < 15; i++) held.push(await open(service.url, '', '127.0.0.2'));
    await expect.poll(() => held.filter(isOpen).length).toBeLessThanOrEqual(10);
    await sleep(200);
    expect(held.filter(isOpen)).toHaveLength(10);
    expect((await call(service, 'GET', '/agents/health')).status).toBe(200);
    held.find(isOpen)?.socket.destroy();
    // Its place is free once the service has noticed.
    const next = () => rawRequest(service.url, 'GET /agents/health HTTP/1.1', [], '', '127.0.0.2');
    await expect.poll(next, { interval: 50 }).toMatchObject({ status: 200 });
  });

  test('applies to all addresses together', async () => {
    const service = await startTestService({ MAX_CONNECTIONS: '20', PAPER_WORLD: 'off' });
    const held: Slow[] = [];
    for (let i = 0; i < 40; i++) held.push(await open(service.url, '', `127.0.0.${2 + (i % 8)}`));
    await expect.poll(() => held.filter(isOpen).length).toBeLessThanOrEqual(20);
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
    expect(held.filter(isOpen)).toHaveLength(15);
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
