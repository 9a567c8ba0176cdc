/**
 * Streamable HTTP, for clients that cannot start a process. It listens on loopback alone; a page in a browser is kept out by
 * `Host` and `Origin`, another user of the machine by a token that is in a file of this user.
 *
 * Clients of the 2026 revision need no session: each request stands alone. Older ones get a session, of which there are few at a
 * time, and which ends when nothing is asked for a while.
 */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { privateText } from '@bellwether/sdk/keystore';
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
  toWebRequest,
} from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
} from '@modelcontextprotocol/server';

export const DEFAULT_HTTP_PORT = 8765;
const PATH = '/mcp';
const MOST_BODY_BYTES = 1024 * 1024;
const MOST_SESSIONS = 16;
const IDLE_MS = 15 * 60_000;
const MOST_CONNECTIONS = 64;
const RECEIVE_MS = 10_000;
/** As long as the desk keeps a connection on which nothing comes: a client takes both for one kind of server. */
const KEEP_ALIVE_MS = 65_000;
const TOKEN_BYTES = 32;

interface HttpOptions {
  readonly createMcp: () => McpServer;
  readonly token: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly mostSessions?: number;
  readonly idleMs?: number;
}

export interface HttpHandle {
  readonly url: string;
  close(): Promise<void>;
}

/** The token of this user for a desk, made by the first start. */
export function readToken(path: string): string {
  return privateText(path, () => randomBytes(TOKEN_BYTES).toString('base64url'));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function refuse(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null });
  response
    .writeHead(status, {
      'content-type': 'application/json',
      connection: 'close',
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    })
    .end(body);
}

/** `undefined` when it is too large or no JSON; the refusal is sent then. */
async function readBody(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > MOST_BODY_BYTES) {
      refuse(response, 413, 'The request is too large: send at most 1 MB.');
      return undefined;
    }
    chunks.push(chunk as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    refuse(response, 400, 'The body is not JSON.');
    return undefined;
  }
}

interface Session {
  readonly transport: NodeStreamableHTTPServerTransport;
  readonly mcp: McpServer;
  usedAt: number;
  /** Requests under way: a session that waits for a person is not idle. */
  open: number;
}

/** The sessions of older clients. */
class Sessions {
  readonly #sessions = new Map<string, Session>();
  readonly #options: Required<Pick<HttpOptions, 'createMcp' | 'mostSessions' | 'idleMs'>>;

  constructor(options: Required<Pick<HttpOptions, 'createMcp' | 'mostSessions' | 'idleMs'>>) {
    this.#options = options;
  }

  async handle(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const session = typeof id === 'string' ? this.#sessions.get(id) : undefined;
    if (session !== undefined) return this.#use(session, request, response, body);
    if (id !== undefined) return refuse(response, 404, 'This session has ended: initialize again.');
    if (!isInitializeRequest(body))
      return refuse(response, 400, 'Initialize first: there is no session yet.');
    this.#endIdle();
    if (this.#sessions.size >= this.#options.mostSessions)
      return refuse(response, 503, 'Too many sessions are open: end one, or wait until one has been idle.');
    await this.#use(await this.#begin(), request, response, body);
  }

  async #use(
    session: Session,
    request: IncomingMessage,
    response: ServerResponse,
    body: unknown,
  ): Promise<void> {
    session.usedAt = Date.now();
    // The stream on which an older client listens is open as long as the client is.
    const counts = request.method !== 'GET';
    if (counts) session.open += 1;
    response.once('close', () => {
      if (counts) session.open -= 1;
      session.usedAt = Date.now();
    });
    await session.transport.handleRequest(request, response, body);
  }

  async #begin(): Promise<Session> {
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session);
      },
    });
    const mcp = this.#options.createMcp();
    const session: Session = { transport, mcp, usedAt: Date.now(), open: 0 };
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    await mcp.connect(transport);
    return session;
  }

  #endIdle(): void {
    const before = Date.now() - this.#options.idleMs;
    for (const [id, { usedAt, open, mcp }] of this.#sessions)
      if (open === 0 && usedAt <= before) {
        this.#sessions.delete(id);
        void mcp.close();
      }
  }

  async close(): Promise<void> {
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(all.map(({ mcp }) => mcp.close()));
  }
}

export async function serveHttp({
  createMcp,
  token,
  port = DEFAULT_HTTP_PORT,
  mostSessions = MOST_SESSIONS,
  idleMs = IDLE_MS,
}: HttpOptions): Promise<HttpHandle> {
  const isOurHost = localhostHostValidation();
  const isOurOrigin = localhostOriginValidation();
  const expected = digest(`Bearer ${token}`);
  const sessions = new Sessions({ createMcp, mostSessions, idleMs });
  const modern = createMcpHandler(() => createMcp(), { legacy: 'reject', maxSubscriptions: mostSessions });
  const handleModern = toNodeHandler(modern);

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (!isOurHost(request, response) || !isOurOrigin(request, response)) return;
    if (!timingSafeEqual(digest(request.headers.authorization ?? ''), expected))
      return refuse(
        response,
        401,
        'Send "Authorization: Bearer <token>"; "bellwether-mcp http" says where the token is.',
      );
    if (request.url?.split('?', 1)[0] !== PATH) return refuse(response, 404, `The server is at ${PATH}.`);
    const body = request.method === 'POST' ? await readBody(request, response) : undefined;
    if (request.method === 'POST' && body === undefined) return;
    const known = asKnown(request);
    if (await isLegacyRequest(await toWebRequest(known, body)))
      return sessions.handle(request, response, body);
    await handleModern(known, response, body);
  };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => {
      if (!response.headersSent) refuse(response, 500, 'Something failed inside this server: try again.');
      else response.destroy();
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.headersTimeout = RECEIVE_MS;
  server.requestTimeout = RECEIVE_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, port);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.all([modern.close(), sessions.close()]);
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A request that a server has received always names its method. */
const asKnown = (request: IncomingMessage) => request as IncomingMessage & { method: string; url: string };

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
