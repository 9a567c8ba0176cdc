/**
 * Sends over kept connections, and knows whether a request without an answer can have arrived: nothing was sent before the
 * connection stood. Follows no redirect, which could pass a key to another host, and reads a bounded answer.
 */
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MAX_REPLY_CHARS } from './http.ts';
import type { HttpReply, HttpRequest, HttpSend } from './outbound.ts';

/** A venue that answers late has the orders of many owners at once. */
const MAX_CONNECTIONS = 256;
/** Below the 60 s and more after which servers close an idle connection. */
const KEEP_ALIVE_MS = 30_000;

const unzip = promisify(gunzip);

/** There was no answer. `sent` is false only where no byte of the request can have left. */
export class NoAnswer extends Error {
  override readonly name: string = 'NoAnswer';
  readonly sent: boolean;
  readonly timedOut: boolean;

  constructor(sent: boolean, timedOut: boolean) {
    super(timedOut ? 'no answer in time' : 'the connection failed');
    this.sent = sent;
    this.timedOut = timedOut;
  }
}

export interface PooledSend {
  readonly send: HttpSend;
  /** Ends the kept connections. */
  close(): void;
}

export function createPooledSend(): PooledSend {
  const kept = { keepAlive: true, maxSockets: MAX_CONNECTIONS, timeout: KEEP_ALIVE_MS, noDelay: true };
  const agents = { 'http:': new http.Agent(kept), 'https:': new https.Agent(kept) };
  const send: HttpSend = (request) => {
    const url = new URL(request.url);
    const isTls = url.protocol === 'https:';
    return exchange(request, url, isTls ? https : http, agents[isTls ? 'https:' : 'http:']);
  };
  return {
    send,
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

function exchange(
  { method, headers, body, timeoutMs }: HttpRequest,
  url: URL,
  client: typeof http | typeof https,
  agent: http.Agent,
): Promise<HttpReply> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpReply>();
  let sent = false;
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const request = client.request(
    url,
    { method, agent, headers: { 'accept-encoding': 'gzip', ...headers, ...length } },
    (response) => {
      readBounded(response).then(resolve, () => fail(false));
    },
  );
  const fail = (timedOut: boolean) => {
    reject(new NoAnswer(sent, timedOut));
    request.destroy();
  };
  const timer = setTimeout(fail, timeoutMs, true);
  request.on('error', () => fail(false));
  request.on('socket', (socket: Socket) => {
    const stands = () => {
      sent = true;
    };
    if (request.reusedSocket || !socket.connecting) stands();
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', stands);
  });
  request.end(body);
  return promise.finally(() => clearTimeout(timer));
}

/** Keeps one character beyond the limit, so that the caller can detect a longer answer. */
async function readBounded(response: IncomingMessage): Promise<HttpReply> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_REPLY_CHARS) return replyOf(response, ''.padEnd(MAX_REPLY_CHARS + 1));
  }
  const whole = Buffer.concat(chunks);
  const isZipped = response.headers['content-encoding'] === 'gzip' && whole.length > 0;
  // A bomb stops at the bound; its error is a lost answer, as a cut connection's is.
  const plain = isZipped ? await unzip(whole, { maxOutputLength: MAX_REPLY_CHARS }) : whole;
  return replyOf(response, plain.toString('utf8'));
}

const replyOf = ({ statusCode = 0, headers }: IncomingMessage, body: string): HttpReply => ({
  status: statusCode,
  headers: singleHeaders(headers),
  body,
});

const singleHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
