import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_REPLY_CHARS } from '../src/platform/outbound/http.ts';
import { createPooledSend, type NoAnswer } from '../src/platform/outbound/pooled-send.ts';

const portOf = (server: Server | TcpServer): number => (server.address() as AddressInfo).port;
const listening = async <S extends Server | TcpServer>(server: S): Promise<S> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
};

const { send, close } = createPooledSend();
let server: Server;
let base: string;
let connections = 0;

beforeAll(async () => {
  server = await listening(
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (request.url === '/redirect') return response.writeHead(302, { location: '/' }).end();
        if (request.url === '/large') return response.end('x'.repeat(MAX_REPLY_CHARS + 10));
        if (request.url === '/cut') {
          response.writeHead(200, { 'content-length': '100' }).write('half');
          return setImmediate(() => response.destroy());
        }
        if (request.url === '/silent') return undefined;
        if (request.url === '/bomb') {
          response.writeHead(200, { 'content-encoding': 'gzip' });
          return response.end(gzipSync('x'.repeat(MAX_REPLY_CHARS + 10)));
        }
        const text = `${request.method} ${Buffer.concat(chunks)}`;
        if (request.url === '/zipped')
          return response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text));
        return response.writeHead(201, { 'X-Kind': 'small' }).end(text);
      });
    }),
  );
  server.on('connection', () => {
    connections += 1;
  });
  base = `http://127.0.0.1:${portOf(server)}`;
});

afterAll(() => {
  close();
  server.closeAllConnections();
  server.close();
});

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
    const gone = await listening(createTcpServer());
    const url = `http://127.0.0.1:${portOf(gone)}`;
    await new Promise((resolve) => gone.close(resolve));
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 5_000 }));
    expect(failure).toMatchObject({ name: 'NoAnswer', sent: false, timedOut: false });
  });

  test('a TLS handshake that fails proves that nothing was sent', async () => {
    const plain = await listening(createTcpServer((socket) => socket.end('this is not TLS')));
    const url = `https://127.0.0.1:${portOf(plain)}/order`;
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 5_000 }));
    expect(failure.sent).toBe(false);
    plain.close();
  });

  test('a TLS handshake that never ends proves the same at the deadline', async () => {
    const frozen = await listening(createTcpServer(() => {}));
    const url = `https://127.0.0.1:${portOf(frozen)}/order`;
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 100 }));
    expect(failure).toMatchObject({ sent: false, timedOut: true });
    frozen.close();
  });

  test('silence, a cut answer and a cut connection after the request prove nothing', async () => {
    expect(await failureOf(get('/silent', 100))).toMatchObject({ sent: true, timedOut: true });
    expect(await failureOf(get('/cut'))).toMatchObject({ sent: true, timedOut: false });
    const rude = await listening(createTcpServer((socket) => socket.once('data', () => socket.destroy())));
    const url = `http://127.0.0.1:${portOf(rude)}`;
    const failure = await failureOf(send({ method: 'POST', url, headers: {}, body: '{}', timeoutMs: 5_000 }));
    expect(failure).toMatchObject({ sent: true, timedOut: false });
    rude.close();
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
