/** The HTTP door of the MCP server: for programs of this user, and no other user of the machine or in a browser. */
import { statSync } from 'node:fs';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/setup/clean-up.ts';
import { type HttpHandle, readToken, serveHttp } from '../src/serve-http.ts';

const TOKEN = 'the-token';
let handle: HttpHandle;

const createMcp = () => new McpServer({ name: 'empty', version: '0' }, { capabilities: { tools: {} } });

beforeAll(async () => {
  handle = await serveHttp({ createMcp, token: TOKEN, port: 0, mostSessions: 2, idleMs: 0 });
});
afterAll(() => handle.close());

interface DoorRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly host?: string;
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } },
});

/** `fetch` would not send a foreign Host. */
function ask({
  method = 'POST',
  path = '/mcp',
  headers = {},
  body = INITIALIZE,
  host = '127.0.0.1',
}: DoorRequest = {}) {
  const { port } = new URL(handle.url);
  const sent = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  return new Promise<{ status: number; session: string; text: string; kept: string }>((resolve, reject) => {
    const asked = request({ host, port, method, path, headers: sent }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => (text += chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          session: String(answer.headers['mcp-session-id'] ?? ''),
          text,
          kept: String(answer.headers['keep-alive']),
        }),
      );
    });
    asked.once('error', reject);
    asked.end(method === 'GET' || method === 'DELETE' ? undefined : body);
  });
}

describe('who may call', () => {
  test.each([
    ['without a token', { authorization: '' }, 401],
    ['with another token', { authorization: 'Bearer the-tokem' }, 401],
    ['with the token in another scheme', { authorization: TOKEN }, 401],
    ['under a foreign name, as a page whose DNS name points here would', { host: 'attacker.example' }, 403],
    ['from a page of another site', { origin: 'https://attacker.example' }, 403],
    ['from a page without an origin', { origin: 'null' }, 403],
  ])('%s: refused', async (_title, headers, status) => {
    const answer = await ask({ headers });
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain(TOKEN);
  });

  test('only programs on this machine reach it', async () => {
    const others = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal);
    for (const { address } of others) await expect(ask({ host: address })).rejects.toThrow('ECONNREFUSED');
    expect(new URL(handle.url).hostname).toBe('127.0.0.1');
  });

  test('the token is made once, in a file of this user alone', () => {
    const path = join(temporaryFolder(), 'x.mcp-token');
    const token = readToken(path);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(readToken(path)).toBe(token);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('what may be asked', () => {
  test.each([
    ['another path', { path: '/other' }, 404],
    ['a body that is not JSON', { body: '{' }, 400],
    ['a body that is too large', { body: JSON.stringify({ text: 'x'.repeat(1_100_000) }) }, 413],
    ['a call without a session', { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }, 400],
    ['a session that is not there', { headers: { 'mcp-session-id': 'none' } }, 404],
  ])('%s: refused', async (_title, asked, status) => {
    expect((await ask(asked)).status).toBe(status);
  });
});

describe('sessions', () => {
  test('are bounded by those in use; an idle one makes room', async () => {
    const narrow = await serveHttp({ createMcp, token: TOKEN, port: 0, mostSessions: 1, idleMs: 3_600_000 });
    const wide = handle;
    handle = narrow;
    try {
      const first = await ask();
      expect(first).toMatchObject({ status: 200, session: expect.stringMatching(/^[\da-f-]{36}$/) });
      expect((await ask()).status).toBe(503);
      const ended = await ask({ method: 'DELETE', headers: { 'mcp-session-id': first.session } });
      // The connection stays while a model thinks, as long as one to the desk.
      expect(ended).toMatchObject({ status: 200, kept: 'timeout=65' });
      expect((await ask()).status).toBe(200);
    } finally {
      handle = wide;
      await narrow.close();
    }
    // The server sees the end of an answer a moment after its client.
    for (let i = 0; i < 5; i++) await expect.poll(async () => (await ask()).status).toBe(200);
  });
});
