/**
 * The connections below the requests: how long a client may take, how many there may be, and what is answered to bytes
 * that never became a request. One address holds at most half of the connections, so that one address alone cannot take all of them.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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

/** The server itself counts only what came through its own listening socket (`acceptors.ts`). */
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
