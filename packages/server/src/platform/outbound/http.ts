/** Calls to services outside: one request and its answer, with a deadline, retries and a circuit breaker; kept connections; JSON that is checked. URLs may contain keys, so logs and errors never contain a URL. */

import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

export interface HttpReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Rejects when there was no answer. Every HTTP status counts as an answer. */
export type HttpSend = (request: HttpRequest) => Promise<HttpReply>;

// Calls to one external service: a deadline for each, retries for repeatable calls, and a circuit breaker for a service
// that does not answer. A call that may have an effect is sent once. URLs may contain keys, so logs and errors never
// contain a URL.

export const MAX_REPLY_CHARS = 8 * 1024 * 1024;
const MAX_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 100;
const FAILURES_THAT_OPEN = 5;
const OPEN_MS = 5_000;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;

export type HttpFailure =
  | 'timeout'
  | 'network'
  | 'circuit_open'
  | 'moving'
  | 'rate_limited'
  | 'server_error'
  | 'too_large';

export class HttpUnavailable extends Error {
  override readonly name = 'HttpUnavailable';
  readonly reason: HttpFailure;
  /** The last answer, if there was one. */
  readonly reply: HttpReply | null;

  constructor(service: string, reason: HttpFailure, reply: HttpReply | null = null) {
    super(`${service}: ${SENTENCES[reason]}${reply === null ? '' : ` (${reply.status})`}`);
    this.reason = reason;
    this.reply = reply;
  }
}

const SENTENCES: Readonly<Record<HttpFailure, string>> = {
  timeout: 'no answer in time',
  network: 'no connection',
  circuit_open: 'it has not answered for a while, so it is not asked for some seconds',
  moving: 'it moves to another process',
  rate_limited: 'it asks for fewer requests',
  server_error: 'it failed',
  too_large: 'its answer is too large',
};

export interface OutboundLog {
  warn(context: object, message: string): void;
  info(context: object, message: string): void;
  /** An attempt had no usable answer, or was not made because the last ones had none. */
  failed?(service: string, reason: HttpFailure | 'unreadable'): void;
}

export interface HttpOptions {
  /** The service's name in errors, logs and `status`. */
  readonly service: string;
  readonly send: HttpSend;
  readonly clock: { now(): number };
  readonly log: OutboundLog;
  /** Between 0 and 1; spreads retries. */
  readonly random?: () => number;
  /** Awaited before each attempt, for a service that moves: what is awaited here does not count as its time. */
  readonly arrived?: (() => Promise<void>) | undefined;
}

/** The protection of calls to one service, over any transport. */
interface Calls {
  /**
   * @param attempt makes one attempt within the given time; it throws HttpUnavailable, or anything else for a lost call
   * @throws HttpUnavailable
   */
  run<T>(
    call: { readonly timeoutMs: number; readonly repeatable: boolean },
    attempt: (timeoutMs: number) => Promise<T>,
  ): Promise<T>;
  /** `ready`, or a sentence that says what is wrong. */
  status(): string;
}

export interface Http {
  /**
   * Returns every answer below 500 except 429.
   * @param request `timeoutMs` is for all attempts together; `repeatable` when a second arrival changes nothing
   * @throws HttpUnavailable
   */
  call(request: HttpRequest & { readonly repeatable: boolean }): Promise<HttpReply>;
  /** `ready`, or a sentence that says what is wrong. */
  status(): string;
}

export function createHttp({ send, ...options }: HttpOptions): Http {
  const { service } = options;
  const calls = protectCalls(options);
  return {
    call: ({ repeatable, ...request }) =>
      calls.run({ timeoutMs: request.timeoutMs, repeatable }, async (timeoutMs) => {
        const reply = await send({ ...request, timeoutMs });
        if (reply.body.length > MAX_REPLY_CHARS) throw new HttpUnavailable(service, 'too_large');
        if (reply.status >= SERVER_ERROR) throw new HttpUnavailable(service, 'server_error', reply);
        if (reply.status === TOO_MANY_REQUESTS) throw new HttpUnavailable(service, 'rate_limited', reply);
        return reply;
      }),
    status: calls.status,
  };
}

export function protectCalls(options: Omit<HttpOptions, 'send'>): Calls {
  const { service, clock, log, arrived } = options;
  const random = options.random ?? Math.random;
  const circuit = createCircuit(options);

  const attemptOnce = async <T>(
    timeoutMs: number,
    attempt: (timeoutMs: number) => Promise<T>,
  ): Promise<T> => {
    if (!circuit.enter()) {
      log.failed?.(service, 'circuit_open');
      throw new HttpUnavailable(service, 'circuit_open');
    }
    try {
      const answer = await within(timeoutMs, service, attempt(timeoutMs));
      circuit.succeeded();
      return answer;
    } catch (error) {
      const failure = error instanceof HttpUnavailable ? error : new HttpUnavailable(service, 'network');
      // It was not asked.
      if (failure.reason !== 'moving') log.failed?.(service, failure.reason);
      // A service that asks for fewer requests, or has moved, does answer.
      if (ANSWERS.has(failure.reason)) circuit.succeeded();
      else circuit.failed(failure.reason);
      throw failure;
    }
  };

  return {
    async run({ timeoutMs, repeatable }, attempt) {
      let deadline = clock.now() + timeoutMs;
      for (let tries = 1; ; tries++) {
        if (arrived !== undefined) {
          const from = clock.now();
          await arrived();
          deadline += clock.now() - from;
        }
        try {
          // A hanging first attempt leaves time for a second.
          const most = repeatable && tries === 1 ? timeoutMs / 2 : timeoutMs;
          return await attemptOnce(Math.max(1, Math.ceil(Math.min(most, deadline - clock.now()))), attempt);
        } catch (error) {
          const failure = error as HttpUnavailable;
          const isSafe = repeatable || failure.reason === 'moving';
          const again = isSafe && tries < MAX_ATTEMPTS && RETRIED.has(failure.reason);
          const wait = again ? pauseMs(failure, tries, random(), clock.now()) : 0;
          if (!again || clock.now() + wait >= deadline) throw failure;
          await pause(wait);
        }
      }
    },
    status: circuit.status,
  };
}

const ANSWERS: ReadonlySet<HttpFailure> = new Set(['rate_limited', 'moving']);
const RETRIED: ReadonlySet<HttpFailure> = new Set([
  'timeout',
  'network',
  'moving',
  'rate_limited',
  'server_error',
]);

/** The service's `Retry-After`, else a growing pause with a random part. */
function pauseMs(failure: HttpUnavailable, tries: number, random: number, now: number): number {
  const asked = retryAfterMs(failure.reply?.headers['retry-after'], now);
  return asked ?? FIRST_PAUSE_MS * 2 ** (tries - 1) * (0.5 + random / 2);
}

/** RFC 9110: seconds, or a date. */
export function retryAfterMs(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,6}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** Rejects at the deadline, even if the sender ignores its timeout. */
async function within<T>(timeoutMs: number, service: string, reply: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HttpUnavailable(service, 'timeout')), timeoutMs);
  });
  try {
    return await Promise.race([reply, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Closed: all calls pass. Open: no call passes for a while. Then one call passes and decides. */
function createCircuit({ service, clock, log }: Pick<HttpOptions, 'service' | 'clock' | 'log'>) {
  let failures = 0;
  let openedAt: number | null = null;
  let probing = false;

  return {
    enter(): boolean {
      if (openedAt === null) return true;
      if (probing || clock.now() - openedAt < OPEN_MS) return false;
      probing = true;
      return true;
    },
    succeeded(): void {
      if (openedAt !== null) log.info({ service }, 'it answers again');
      failures = 0;
      openedAt = null;
      probing = false;
    },
    failed(reason: HttpFailure): void {
      probing = false;
      failures += 1;
      if (failures < FAILURES_THAT_OPEN) return;
      if (openedAt === null)
        log.warn({ service, reason }, 'it does not answer; asked again in a few seconds');
      openedAt = clock.now();
    },
    /** `ready` again once a call may pass: without other calls an old failure would stay permanently. */
    status(): string {
      const isDown = openedAt !== null && (probing || clock.now() - openedAt < OPEN_MS);
      return isDown ? `${service} does not answer` : 'ready';
    },
  };
}

/**
 * Sends over the network. Follows no redirect, which could pass a key to another host, and stops reading at
 * {@link MAX_REPLY_CHARS} bytes.
 */
export const fetchSend: HttpSend = async ({ method, url, headers, body, timeoutMs }) => {
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await readBounded(response),
  };
};

/** Keeps one byte beyond the limit, so that the caller can detect a longer answer. */
async function readBounded(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    text += decoder.decode(chunk, { stream: true });
    if (bytes > MAX_REPLY_CHARS) return text.padEnd(MAX_REPLY_CHARS + 1);
  }
  return text + decoder.decode();
}

// Sends over kept connections, and knows whether a request without an answer can have arrived: nothing was sent before the
// connection stood. Follows no redirect, which could pass a key to another host, and reads a bounded answer.

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

interface PooledSend {
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
      readReply(response).then(resolve, () => fail(false));
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
async function readReply(response: IncomingMessage): Promise<HttpReply> {
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

// JSON from external services: integers of any size stay exact, and every value is checked against a schema.

/** ES2026: the reviver's third argument has the source text of the value. */
type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

const INTEGER = /^-?\d+$/;

/** Integers beyond 2^53 become bigints. @throws SyntaxError */
export function parseJson(text: string): unknown {
  const revive: SourceReviver = (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
      ? BigInt(source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** The text's value; `undefined`, which no schema accepts, when the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Checks against a schema, compiled at its first use: returns the value, or `null` when it does not match. */
export function checkedBy<T extends TSchema>(schema: T): (value: unknown) => Static<T> | null {
  let compiled: Validator | undefined;
  return (value) => {
    compiled ??= Compile(schema) as unknown as Validator;
    return compiled.Check(value) ? (value as Static<T>) : null;
  };
}
