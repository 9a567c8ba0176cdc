import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { standIn } from '../../../test/stand-in.ts';
import { createPooledSend, MAX_REPLY_CHARS, type NoAnswer } from '../src/platform/outbound/http.ts';

const { send, close } = createPooledSend();
let base: string;
let connections = 0;

beforeAll(async () => {
  const counting = (listener: RequestListener) =>
    createServer(listener).on('connection', () => {
      connections += 1;
    });
  base = await standIn(({ method, url, body }, response) => {
    if (url === '/redirect') return response.writeHead(302, { location: '/' }).end();
    if (url === '/large') return response.end('x'.repeat(MAX_REPLY_CHARS + 10));
    if (url === '/cut') {
      response.writeHead(200, { 'content-length': '100' }).write('half');
      return setImmediate(() => response.destroy());
    }
    if (url === '/silent') return undefined;
    const isZipped = url === '/bomb' || url === '/zipped';
    const text = url === '/bomb' ? 'x'.repeat(MAX_REPLY_CHARS + 10) : `${method} ${body}`;
    if (isZipped) return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
    return response.writeHead(201, { 'X-Kind': 'small' }).end(text);
  }, counting);
});
afterAll(close);

/** A server below HTTP: what it does with each connection. */
async function overTcp(onConnection: (socket: Socket) => unknown): Promise<string> {
  const server = createTcpServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = (path: string, timeoutMs = 5_000) =>
  send({ method: 'GET', url: base + path, headers: {}, timeoutMs });
const failureOf = (answer: Promise<unknown>): Promise<NoAnswer> =>
  answer.then(
    () => expect.unreachable('it was answered'),
    (error: NoAnswer) => error,
  );

test('status, headers and body arrive, also of a DELETE with a body and of a zipped answer', async () => {
  const body = '{"orderID":"0x1"}';
  const reply = await send({ method: 'DELETE', url: base, headers: {}, body, timeoutMs: 5_000 });
  expect(reply).toMatchObject({ status: 201, headers: { 'x-kind': 'small' }, body: `DELETE ${body}` });
  expect((await get('/zipped')).body).toBe('GET ');
});

test('requests share a connection', async () => {
  await get('/');
  const before = connections;
  for (let i = 0; i < 10; i++) await get('/');
  expect(connections).toBe(before);
});

test('a redirect is an answer and is not followed; an endless answer is cut', async () => {
  expect((await get('/redirect')).status).toBe(302);
  expect((await get('/large')).body.length).toBe(MAX_REPLY_CHARS + 1);
  expect((await failureOf(get('/bomb'))).sent).toBe(true);
});

describe('without an answer', () => {
  test('a refused connection proves that nothing was sent', async () => {
    const url = 'http://127.0.0.1:2';
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 5_000 }));
    expect(failure).toMatchObject({ name: 'NoAnswer', sent: false, timedOut: false });
  });

  test('a TLS handshake that fails proves that nothing was sent', async () => {
    const url = `https://${await overTcp((socket) => socket.end('this is not TLS'))}/order`;
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 5_000 }));
    expect(failure.sent).toBe(false);
  });

  test('a TLS handshake that never ends proves the same at the deadline', async () => {
    const url = `https://${await overTcp(() => {})}/order`;
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 100 }));
    expect(failure).toMatchObject({ sent: false, timedOut: true });
  });

  test('silence, a cut answer and a cut connection after the request prove nothing', async () => {
    expect(await failureOf(get('/silent', 100))).toMatchObject({ sent: true, timedOut: true });
    expect(await failureOf(get('/cut'))).toMatchObject({ sent: true, timedOut: false });
    const url = `http://${await overTcp((socket) => socket.once('data', () => socket.destroy()))}`;
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 5_000 }));
    expect(failure).toMatchObject({ sent: true, timedOut: false });
  });

  test('the error names neither the address nor a header', async () => {
    const failure = await failureOf(
      send({
        method: 'GET',
        url: 'http://127.0.0.1:1/?k=hidden',
        headers: { key: 'hidden' },
        timeoutMs: 500,
      }),
    );
    expect(JSON.stringify([String(failure), failure, failure.cause ?? null])).not.toContain('hidden');
  });
});
