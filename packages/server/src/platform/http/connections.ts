/**
 * The connections below the requests: how long a client may take, how many there may be, and what is answered to bytes
 * that never became a request. One address holds at most half of the connections, so that one address alone cannot take all of them.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import {
  type AddressInfo,
  createServer as createListener,
  type Server as Listener,
  type ListenOptions,
  type Socket,
} from 'node:net';
import { ERRORS, type ErrorCode } from '@bellwether/contract';
import type { FastifyInstance } from 'fastify';
import { bucketOf, type Trusts } from './addresses.ts';

export interface ConnectionLimits {
  readonly maxConnections: number;
  /** Within which a request must have arrived whole; its headers within half of it. */
  readonly receiveMs: number;
}

/** Longer than the idle time of usual proxies, which must be the first to close. */
const KEEP_ALIVE_MS = 65_000;
/** No byte in either direction: who does not read is gone. A stream's heartbeats must come more often. */
const IDLE_MS = 120_000;
const MAX_HEADER_BYTES = 16_384;
/** Longer than a trade takes. */
const CLOSE_MS = 5_000;

export function createHttpServer(
  { maxConnections, receiveMs }: ConnectionLimits,
  trusts: Trusts,
): (handler: RequestListener) => Server {
  return (handler) => {
    const server = createServer(
      {
        requestTimeout: receiveMs,
        headersTimeout: Math.ceil(receiveMs / 2),
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: Math.min(1_000, Math.ceil(receiveMs / 4)),
        maxHeaderSize: MAX_HEADER_BYTES,
        // A missing Host is answered as a problem like everything else.
        requireHostHeader: false,
      },
      handler,
    );
    server.timeout = IDLE_MS;
    shareOut(server, { most: maxConnections, perAddress: Math.ceil(maxConnections / 2), trusts });
    return server;
  };
}

/**
 * A server that is being closed watches no time-outs any more, and would wait for ever for a request that never ends:
 * those under way have a while, then every connection is cut.
 */
export function closeInTime(app: FastifyInstance): void {
  app.addHook('preClose', async () => {
    setTimeout(() => app.server.closeAllConnections(), CLOSE_MS).unref();
  });
}

interface Shares {
  readonly most: number;
  readonly perAddress: number;
  /** Proxies of ours stand for many. */
  readonly trusts: Trusts;
}

/** The server itself counts only what came through its own listening socket (`Acceptors`). */
function shareOut(server: Server, { most, perAddress, trusts }: Shares): void {
  const open = new Map<string, number>();
  let total = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    const bucket = address === undefined || trusts(address, 0) ? null : bucketOf(address);
    const count = bucket === null ? 0 : (open.get(bucket) ?? 0) + 1;
    if (total >= most || count > perAddress) {
      socket.destroy();
      return;
    }
    total += 1;
    if (bucket !== null) open.set(bucket, count);
    socket.once('close', () => {
      total -= 1;
      if (bucket === null) return;
      const left = (open.get(bucket) ?? 1) - 1;
      if (left === 0) open.delete(bucket);
      else open.set(bucket, left);
    });
  });
}

const CAUSES: Readonly<Record<string, readonly [code: ErrorCode, detail: string, fix?: string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};
const BROKEN = [
  'invalid_request',
  'This is no well-formed HTTP/1.1 request.',
  'Send a request line, headers and a body as HTTP/1.1 writes them, best with a library for HTTP.',
] as const;

/** Bytes that the parser refuses, or that never came: there is no request to answer, so the answer is written by hand. */
export const answerBroken =
  (publicUrl: () => string) =>
  (error: NodeJS.ErrnoException, socket: Socket): void => {
    const { _httpMessage: answering } = socket as { readonly _httpMessage?: ServerResponse | null };
    // Into an answer that has begun nothing may be written.
    if (error.code === 'ECONNRESET' || !socket.writable || answering?.headersSent === true) {
      socket.destroy();
      return;
    }
    const [code, detail, own] = CAUSES[error.code ?? ''] ?? BROKEN;
    const { title, fix = own } = own === undefined ? ERRORS[code] : { ...ERRORS[code], fix: own };
    const requestId = randomUUID();
    const status = ERRORS[code].status;
    const type = `${publicUrl()}/docs/errors/${code}`;
    const body = JSON.stringify({
      type,
      title,
      status,
      detail,
      instance: '/',
      code,
      message: detail,
      requestId,
      fix,
    });
    socket.end(
      [
        `HTTP/1.1 ${status} ${title}`,
        'content-type: application/problem+json; charset=utf-8',
        `content-length: ${Buffer.byteLength(body)}`,
        `x-request-id: ${requestId}`,
        'connection: close',
        '',
        body,
      ].join('\r\n'),
      // A peer that still sends would otherwise keep the connection half open.
      () => socket.destroy(),
    );
  };

// Several listening sockets for one server. The event loop takes one new connection of each listening socket in each of its
// turns. Under load a turn lasts for milliseconds, so with one socket a few hundred clients that connect together wait
// for seconds, beside connections that are answered at once.
//
// The sockets share the port (`SO_REUSEPORT`), which only Linux divides among them; elsewhere there is one.

/** Connections that one turn of the event loop takes. */
const ACCEPTORS = 64;

interface Place {
  /** 0: any that is free. */
  readonly port: number;
  readonly host: string;
  readonly backlog: number;
}

export class Acceptors {
  readonly #app: FastifyInstance;
  readonly #others: Listener[] = [];
  #guard: Listener | undefined;

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  /** @returns the address @throws the system's error, as for one socket: EADDRINUSE where anybody listens there */
  async listen(place: Place): Promise<string> {
    const claim = process.platform === 'linux' ? await claimPort(place) : null;
    if (claim === null) return this.#app.listen(place);
    this.#guard = claim.guard;
    const shared = { ...place, port: claim.port, reusePort: true };
    const url = await this.#app.listen(shared);
    const { address: host } = boundOf(this.#app.server);
    for (let nth = 1; nth < ACCEPTORS; nth += 1) {
      const other = createListener({ allowHalfOpen: true, noDelay: true }, (socket) => {
        this.#app.server.emit('connection', socket);
      });
      this.#others.push(other);
      await listening(other, { ...shared, host });
    }
    return url;
  }

  /** Takes no more connections. Resolves when those that were taken have ended; the server ends them. */
  async close(): Promise<void> {
    this.#guard?.close();
    await Promise.all(this.#others.map((other) => new Promise((resolve) => other.close(resolve))));
  }
}

const listening = (server: Listener, options: ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(options, () => {
      server.off('error', reject);
      resolve();
    });
  });

const closed = (server: Listener): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

function boundOf(server: Listener): AddressInfo {
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('the server does not listen');
  return bound;
}

/**
 * A shared port is free for every program of the same user, so two services could listen on it and each get half of the
 * requests. Therefore somebody alone must have been able to have it first, and of two that tried at the same
 * time one gets the name that goes with it.
 * @returns `null` where sockets cannot share a port
 */
async function claimPort({
  port,
  host,
}: Place): Promise<{ readonly port: number; readonly guard: Listener } | null> {
  const alone = createListener();
  await listening(alone, { port, host });
  const { address, port: free } = boundOf(alone);
  // It takes no messages.
  const guard = createListener((socket) => socket.destroy());
  try {
    // A name of Linux, in no folder: it is gone with the process.
    await listening(guard, { path: `\0bellwether ${address} ${free}` });
  } catch {
    await closed(alone);
    throw Object.assign(new Error(`listen EADDRINUSE: ${host}:${free}`), { code: 'EADDRINUSE', port: free });
  }
  await closed(alone);
  guard.unref();
  if (await canShare(host)) return { port: free, guard };
  guard.close();
  return null;
}

async function canShare(host: string): Promise<boolean> {
  const [one, two] = [createListener(), createListener()];
  try {
    await listening(one, { port: 0, host, reusePort: true });
    await listening(two, { port: boundOf(one).port, host, reusePort: true });
    return true;
  } catch {
    return false;
  } finally {
    await Promise.all([one, two].filter((server) => server.listening).map(closed));
  }
}
