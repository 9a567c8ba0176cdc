import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Asked, standIn } from '../../../test/stand-in.ts';
import { createWebhookSender, type SenderOptions } from '../src/webhooks/sender.ts';

let seen: Asked[] = [];
let answer: (response: ServerResponse) => unknown = (response) => response.writeHead(204).end();
const record = (asked: Asked, response: ServerResponse) => {
  seen.push(asked);
  answer(response);
};
let port = '';

beforeEach(async () => {
  port = new URL(await standIn(record)).port;
});

const loopback = [{ address: '127.0.0.1', family: 4 }];
const sender = (options: Partial<SenderOptions> = {}) =>
  createWebhookSender({ allowLoopback: true, userAgent: 'test', ...options });
const send = (
  url: string,
  options: Partial<SenderOptions> = {},
  signal: AbortSignal = new AbortController().signal,
) => {
  seen = [];
  return sender(options).send(
    { url, body: Buffer.from('{"a":1}'), headers: { 'content-type': 'application/json', 'x-mine': 'yes' } },
    signal,
  );
};

describe('URLs that are refused without any look-up', () => {
  test.each([
    ['http://hooks.example.com/', 'https'],
    ['ftp://hooks.example.com/', 'https'],
    ['javascript:alert(1)', 'https'],
    ['file:///etc/passwd', 'https'],
    ['not a url', 'not a URL'],
    ['https://user:secret@hooks.example.com/', 'user name'],
    ['https://hooks.example.com:8443/', 'port 443'],
    ['https://hooks.example.com:80/', 'port 443'],
    ['https://127.0.0.1/', 'this machine'],
    ['https://127.1/', 'this machine'],
    ['https://0x7f000001/', 'this machine'],
    ['https://2130706433/', 'this machine'],
    ['https://0177.0.0.1/', 'this machine'],
    ['https://[::1]/', 'this machine'],
    ['https://localhost/', 'this machine'],
    ['https://LOCALHOST./', 'this machine'],
    ['https://api.localhost/', 'this machine'],
    ['https://10.0.0.1/', 'public address'],
    ['https://169.254.169.254/latest/meta-data/', 'public address'],
    ['https://[::ffff:127.0.0.1]/', 'public address'],
    ['https://[fd00::1]/', 'public address'],
    ['https://[64:ff9b::7f00:1]/', 'public address'],
    ['https://0.0.0.0/', 'public address'],
  ])('%s', (url, why) => {
    expect(sender({ allowLoopback: false }).refuse(url)).toContain(why);
  });

  test.each(['https://hooks.example.com/a?b=c', 'https://hooks.example.com:443/', 'https://8.8.8.8/'])(
    '%s is taken',
    (url) => {
      expect(sender({ allowLoopback: false }).refuse(url)).toBeNull();
    },
  );

  test('the development switch allows this machine, on any port', () => {
    expect(sender().refuse(`http://127.0.0.1:${port}/`)).toBeNull();
    expect(sender().refuse('http://localhost:3000/hook')).toBeNull();
    expect(sender().refuse('https://10.0.0.1/')).toContain('public address');
  });

  test('and nothing else: no other machine over http or another port, no other name for this machine', async () => {
    expect(sender().refuse('http://hooks.example.com/')).toContain('https://');
    expect(sender().refuse('https://hooks.example.com:8443/')).toContain('port 443');
    expect(sender().refuse('http://93.184.216.34/')).toContain('https://');
    expect(await send('https://hooks.example.com/', { resolve: async () => loopback })).toEqual({
      kind: 'failed',
      reason: 'the host name does not lead to a public address',
    });
    const outside = async () => [{ address: '93.184.216.34', family: 4 }];
    expect(await send('https://hooks.localhost/', { resolve: outside })).toEqual({
      kind: 'failed',
      reason: 'the host name does not lead to this machine',
    });
  });
});

describe('name resolution', () => {
  test.each([
    ['127.0.0.1', 4],
    ['10.1.2.3', 4],
    ['169.254.169.254', 4],
    ['::1', 6],
    ['::ffff:10.0.0.1', 6],
    ['fd00::1', 6],
    ['64:ff9b::a00:1', 6],
  ])('a name that resolves to %s is refused', async (address, family) => {
    const result = await send('https://hooks.example.com/', {
      allowLoopback: false,
      resolve: async () => [{ address, family }],
    });
    expect(result).toEqual({ kind: 'failed', reason: 'the host name does not lead to a public address' });
  });

  test('one forbidden address among allowed ones is refused', async () => {
    const result = await send('https://hooks.example.com/', {
      allowLoopback: false,
      resolve: async () => [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
    });
    expect(result).toMatchObject({ kind: 'failed', reason: expect.stringContaining('public address') });
  });

  test('the name is resolved once and the connection uses that address, which prevents DNS rebinding', async () => {
    const answers = [loopback, [{ address: '10.0.0.1', family: 4 }]];
    let asked = 0;
    const url = `http://rebound.localhost:${port}/hook?x=1`;
    const resolve = async () => answers[Math.min(asked++, 1)] ?? [];
    expect(await send(url, { resolve })).toEqual({ kind: 'answered', status: 204, retryAfterMs: null });
    expect(asked).toBe(1);
    expect(seen).toMatchObject([
      {
        url: '/hook?x=1',
        body: '{"a":1}',
        headers: {
          host: `rebound.localhost:${port}`,
          'x-mine': 'yes',
          'user-agent': 'test',
          'content-length': '7',
          connection: 'close',
        },
      },
    ]);
    // The next send resolves the name again, and checks the new addresses.
    expect(await send(url, { resolve })).toMatchObject({ kind: 'failed' });
    expect(seen).toEqual([]);
  });

  test('with the development switch, other machines still need https on port 443', async () => {
    const resolve = async () => [{ address: '93.184.216.34', family: 4 }];
    for (const url of ['http://hooks.example.com/', 'https://hooks.example.com:8443/'])
      expect(await send(url, { resolve })).toEqual({
        kind: 'failed',
        reason: expect.stringMatching(/^url must (begin with https|use port 443)/),
      });
  });

  test('a name server that hangs does not block the sender', async () => {
    const result = await send('https://hooks.example.com/', {
      timeoutMs: 50,
      resolve: () => new Promise(() => {}),
    });
    expect(result).toEqual({ kind: 'failed', reason: 'no answer within 0.05 s' });
  });

  test('a name that does not exist', async () => {
    const resolve = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND secret.internal'), { code: 'ENOTFOUND' });
    };
    expect(await send('https://hooks.example.com/', { resolve })).toEqual({
      kind: 'failed',
      reason: 'the host name could not be resolved',
    });
  });
});

describe('answers', () => {
  const url = () => `http://127.0.0.1:${port}/`;

  test('redirects are not followed', async () => {
    answer = (response) => response.writeHead(302, { location: `${url()}elsewhere` }).end();
    expect(await send(url())).toMatchObject({ kind: 'answered', status: 302 });
    expect(seen).toHaveLength(1);
  });

  test('an endless answer is cut, and still counts', async () => {
    let written = 0;
    answer = (response) => {
      response.writeHead(200);
      const more = () => {
        if (response.destroyed || written > 64_000_000) return;
        written += 65_536;
        if (response.write(Buffer.alloc(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    expect(await send(url())).toMatchObject({ kind: 'answered', status: 200 });
    expect(written).toBeLessThan(64_000_000);
  });

  test('a status in time counts, although the rest of the answer never comes', async () => {
    answer = (response) => {
      response.writeHead(202, { 'retry-after': '7' });
      response.write('taken');
    };
    expect(await send(url(), { timeoutMs: 300 })).toEqual({
      kind: 'answered',
      status: 202,
      retryAfterMs: 7_000,
    });
  });

  test('no answer is a timeout', async () => {
    answer = () => {};
    expect(await send(url(), { timeoutMs: 80 })).toEqual({
      kind: 'failed',
      reason: 'no answer within 0.08 s',
    });
  });

  test('a cut connection and a closed port are failures', async () => {
    answer = (response) => response.destroy();
    expect(await send(url())).toEqual({ kind: 'failed', reason: 'the connection was cut' });
    expect(await send('http://127.0.0.1:1/')).toEqual({
      kind: 'failed',
      reason: 'the connection was refused',
    });
  });

  test('Retry-After in seconds is returned', async () => {
    answer = (response) => response.writeHead(429, { 'retry-after': '7' }).end();
    expect(await send(url())).toEqual({ kind: 'answered', status: 429, retryAfterMs: 7000 });
  });

  test('the caller can abort', async () => {
    answer = () => {};
    const ending = new AbortController();
    const result = send(url(), {}, ending.signal);
    setTimeout(() => ending.abort(), 30);
    expect(await result).toEqual({ kind: 'aborted' });
  });
});

const hasOpenssl = (() => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasOpenssl)('TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-tls-'));
  let tlsPort = '';
  let ca = '';
  let names: unknown[] = [];

  beforeAll(async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        ...[
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-days',
          '2',
        ],
        ...['-keyout', key, '-out', cert, '-subj', '/CN=hooks.localhost'],
        ...['-addext', 'subjectAltName=DNS:hooks.localhost'],
      ],
      { stdio: 'ignore' },
    );
    ca = readFileSync(cert, 'utf8');
    const url = await standIn(record, (listener) =>
      createTlsServer({ key: readFileSync(key), cert: ca }, listener).on('secureConnection', (socket) =>
        names.push(socket.servername),
      ),
    );
    tlsPort = new URL(url).port;
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('the certificate is checked for the name although the connection uses the address', async () => {
    answer = (response) => response.writeHead(200).end('ok');
    names = [];
    const resolve = async () => loopback;
    expect(await send(`https://hooks.localhost:${tlsPort}/`, { resolve, ca })).toMatchObject({
      kind: 'answered',
      status: 200,
    });
    expect(names).toEqual(['hooks.localhost']);
    const refused = { kind: 'failed', reason: 'the TLS certificate was not accepted' };
    expect(await send(`https://other.localhost:${tlsPort}/`, { resolve, ca })).toEqual(refused);
    expect(await send(`https://hooks.localhost:${tlsPort}/`, { resolve })).toEqual(refused);
    expect(seen).toEqual([]);
  });
});
