/**
 * One HTTP call of the service, with the retries that are safe. A call is *repeatable* when repeating it can have no
 * second effect: every GET, a signed order (which is its own idempotency key), and anything with an Idempotency-Key.
 * Repeatable calls are tried again when the connection broke, the service was not available or the answer says
 * "unknown". Every call is tried again after 429, 503 `overloaded` and 408 `request_timeout`, which are given before anything
 * happened; any other 503 may come from a deadline that passed while the work went on. A 408 also meets a request that
 * was sent just as the service gave up a connection on which nothing had come yet.
 */

import {
  type ApprovalEventData,
  type BalanceEventData,
  type BookEventData,
  type DeltaEventData,
  type EXIT_EVENTS,
  type ExitEventData,
  events,
  type FeeEventData,
  type FillEventData,
  type FillReversedEventData,
  type FreshEventData,
  type GapEventData,
  type MarketResolvedEventData,
  type OrderEventData,
  type PositionEventData,
  type ReadyEventData,
  type ReceiptsHeadEventData,
  type RedemptionEventData,
  type RiskEventData,
  type SafeguardsEventData,
  STREAM_LIMITS,
  type VenueEventData,
  type WalletLeftEventData,
  type WEBHOOK_ORDER_STATUSES,
  watchMarket,
} from '@bellwether/contract';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { Static, TSchema } from 'typebox';
import { BellwetherApiError, BellwetherConnectionError, isProblem, type ProblemBody } from './errors.ts';

/**
 * The part of `fetch` that is used. Redirections are not followed: a body may hold a secret, and the header always does.
 */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly fetch?: Fetch;
  /** Milliseconds for each attempt. Default 15,000. */
  readonly timeoutMs?: number;
  /** Attempts beyond the first. Default 3; 0 switches retries off. */
  readonly maxRetries?: number;
  /** The longest wait between two attempts in milliseconds; a longer Retry-After is thrown instead. Default 10,000. */
  readonly maxWaitMs?: number;
  /** Replaces the timer in tests. */
  readonly wait?: (ms: number) => Promise<void>;
}

interface HttpCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the base address, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body?: string;
  readonly repeatable: boolean;
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_RETRIES = 3;
const DEFAULT_MAX_WAIT_MS = 10_000;
const FIRST_BACKOFF_MS = 200;

export class Transport {
  readonly options: TransportOptions;
  readonly #base: string;

  constructor(options: TransportOptions) {
    this.options = options;
    this.#base = options.baseUrl.replace(/\/+$/, '');
  }

  /** The parsed JSON answer, or the text of a file in CSV. @throws BellwetherApiError, BellwetherConnectionError */
  async send(call: HttpCall): Promise<unknown> {
    const { maxRetries = DEFAULT_RETRIES, maxWaitMs = DEFAULT_MAX_WAIT_MS } = this.options;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(call);
      } catch (error) {
        if (call.signal?.aborted || attempt >= maxRetries || !worthAnother(error, call)) throw error;
        const pause = pauseMs(error, attempt);
        if (pause > maxWaitMs) throw error;
        await this.wait(pause, call.signal);
        call.signal?.throwIfAborted();
      }
    }
  }

  /**
   * One attempt to open an answer that stays open; the time-out covers its headers only.
   * @throws BellwetherApiError, BellwetherConnectionError
   */
  async open(call: {
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  }): Promise<Response> {
    const send = this.options.fetch ?? fetch;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    let response: Response;
    try {
      response = await send(this.#base + call.path, {
        method: 'GET',
        headers: call.headers,
        redirect: 'manual',
        signal: AbortSignal.any([late.signal, call.signal]),
      });
      refuseRedirection(response, this.#base, 'GET', call.path);
      if (response.ok) return response;
      const problem = problemOf(parseJson(await response.text()));
      throw new BellwetherApiError(response.status, problem, retryAfterOf(response));
    } catch (error) {
      if (
        error instanceof BellwetherApiError ||
        error instanceof BellwetherConnectionError ||
        call.signal.aborted
      )
        throw error;
      throw new BellwetherConnectionError(reasonOf(error, late.signal), 'GET', pathOnly(call.path));
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends early when the signal is aborted. */
  async wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const { wait } = this.options;
    if (wait !== undefined) return wait(ms);
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', settle);
        resolve();
      };
      const timer = setTimeout(settle, ms);
      signal?.addEventListener('abort', settle);
    });
  }

  async #attempt(call: HttpCall): Promise<unknown> {
    const send = this.options.fetch ?? fetch;
    const timeout = AbortSignal.timeout(this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    let response: Response;
    let text: string;
    try {
      response = await send(this.#base + call.path, {
        method: call.method,
        headers: call.headers,
        ...(call.body === undefined ? {} : { body: call.body }),
        redirect: 'manual',
        signal: call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]),
      });
      refuseRedirection(response, this.#base, call.method, call.path);
      text = await response.text();
    } catch (error) {
      if (call.signal?.aborted || error instanceof BellwetherConnectionError) throw error;
      // The original error is dropped: a custom fetch may put the request into it.
      throw new BellwetherConnectionError(reasonOf(error, timeout), call.method, pathOnly(call.path));
    }
    const isCsv = response.ok && (response.headers.get('content-type') ?? '').startsWith('text/csv');
    const answer = isCsv ? text : parseJson(text);
    if (!response.ok)
      throw new BellwetherApiError(response.status, problemOf(answer), retryAfterOf(response));
    if (answer === undefined) throw new BellwetherConnectionError('broken', call.method, pathOnly(call.path));
    return answer;
  }
}

/**
 * A status of a redirection, or what browsers show of one. Where it points is not said: it may hold anything.
 * @throws BellwetherConnectionError
 */
function refuseRedirection(response: Response, base: string, method: string, path: string): void {
  const isRedirection =
    response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
  if (!isRedirection) return;
  const to = response.headers.get('location');
  const isSame = to !== null && URL.canParse(to, base) && new URL(to, base).origin === new URL(base).origin;
  throw new BellwetherConnectionError(isSame ? 'moved' : 'redirected', method, pathOnly(path));
}

const pathOnly = (path: string): string => path.split('?', 1)[0] ?? path;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const problemOf = (answer: unknown): ProblemBody =>
  typeof answer === 'object' && answer !== null ? (answer as ProblemBody) : {};

/** Seconds, from a number of them or from a date, which proxies send. */
function retryAfterOf(response: Response): number | undefined {
  const text = response.headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  const at = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

function reasonOf(error: unknown, timeout: AbortSignal): BellwetherConnectionError['reason'] {
  if (timeout.aborted) return 'timeout';
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code;
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'].includes(String(code))
    ? 'unreachable'
    : 'broken';
}

function worthAnother(error: unknown, call: HttpCall): boolean {
  if (error instanceof BellwetherConnectionError) return call.repeatable && !error.isRedirection;
  if (!(error instanceof BellwetherApiError)) return false;
  if (error.status === 429 || error.code === 'overloaded' || error.code === 'request_timeout') return true;
  if (!call.repeatable) return false;
  if (error.status === 503) return true;
  if (error.code === 'idempotency_in_flight' || error.code === 'order_outcome_unknown') return true;
  return call.method === 'GET' && (error.status === 502 || error.status === 504);
}

/** The wait that the service asked for, else doubling waits; both with jitter, so that agents do not retry at the same moment. */
function pauseMs(error: unknown, attempt: number): number {
  const asked = error instanceof BellwetherApiError ? error.retryAfterS : undefined;
  const base = asked === undefined ? FIRST_BACKOFF_MS * 2 ** attempt : asked * 1000;
  return base + Math.random() * FIRST_BACKOFF_MS;
}

// Streams that stay open for as long as they are read: a connection that breaks, stays silent or is closed by the service is
// opened again with growing pauses. The API key travels in the header alone.

type OrderEvents = {
  readonly [S in (typeof WEBHOOK_ORDER_STATUSES)[number] as `order.${S}`]: typeof OrderEventData;
};

type ExitEvents = { readonly [W in keyof typeof EXIT_EVENTS as `exit.${W}`]: typeof ExitEventData };

interface OtherEvents {
  readonly fill: typeof FillEventData;
  readonly 'fill.reversed': typeof FillReversedEventData;
  readonly fee: typeof FeeEventData;
  readonly 'market.resolved': typeof MarketResolvedEventData;
  readonly risk: typeof RiskEventData;
  readonly 'wallet.left': typeof WalletLeftEventData;
  readonly 'approval.asked': typeof ApprovalEventData;
  readonly 'approval.decided': typeof ApprovalEventData;
  readonly 'receipts.head': typeof ReceiptsHeadEventData;
  readonly position: typeof PositionEventData;
  readonly balance: typeof BalanceEventData;
  readonly redemption: typeof RedemptionEventData;
  readonly safeguards: typeof SafeguardsEventData;
}

type RecordedEvents = OrderEvents & ExitEvents & OtherEvents;
type DataOf<S> = S extends TSchema ? Static<S> : never;

/** Something that happened to the agent. Never repeated and never left out, as long as the cursor is kept. */
export type RecordedAgentEvent = {
  [K in keyof RecordedEvents]: {
    readonly type: K;
    /** Resumes right after this event: `client.events({ after: cursor })`. */
    readonly cursor: string;
    /** The same in webhooks. */
    readonly id: string;
    readonly createdAt: string;
    readonly agentId: string;
    readonly data: DataOf<RecordedEvents[K]>;
  };
}[keyof RecordedEvents];

/** About the stream and the moment. `ready` comes with every connection, followed by the status of every venue. */
export type CurrentAgentEvent =
  | { readonly type: 'ready'; readonly cursor: string; readonly data: Static<typeof ReadyEventData> }
  | { readonly type: 'venue'; readonly cursor: string; readonly data: Static<typeof VenueEventData> };

export type AgentEvent = RecordedAgentEvent | CurrentAgentEvent;

/** `gap` with the reason `reconnecting` comes from this client: the whole books follow. */
export type MarketEvent =
  | { readonly type: 'book'; readonly data: BookEventData }
  | { readonly type: 'delta'; readonly data: DeltaEventData }
  | {
      readonly type: 'gap';
      readonly data: Omit<GapEventData, 'reason'> & {
        readonly reason: GapEventData['reason'] | 'reconnecting';
      };
    }
  | { readonly type: 'fresh'; readonly data: FreshEventData };

export interface StreamOptions {
  /** Ends the iteration. */
  readonly signal?: AbortSignal;
}

export interface EventsOptions extends StreamOptions {
  /** The cursor of the last event that was handled; without it the stream begins now. */
  readonly after?: string;
}

interface Connection {
  readonly transport: Transport;
  readonly headers: Readonly<Record<string, string>>;
}

/** Three heartbeats: then nothing is there any more, although the connection stands. */
const SILENT_MS = 3 * STREAM_LIMITS.heartbeatSeconds * 1_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;

/**
 * @throws BellwetherApiError when the service refuses in a way that waiting does not mend: 401 also when the key is revoked
 *   meanwhile, 410 `event_cursor_gone`
 */
export async function* agentEvents(
  connection: Connection,
  { after, signal }: EventsOptions,
): AsyncGenerator<AgentEvent, void, undefined> {
  let cursor = after;
  const messages = reconnecting({
    ...connection,
    signal,
    path: () => events.path,
    headersNow: () => (cursor === undefined ? {} : { 'last-event-id': cursor }),
  });
  for await (const message of messages) {
    if (message === 'reconnecting') continue;
    if (message.id !== undefined && message.id !== '') cursor = message.id;
    const event = agentEventOf(message, cursor ?? '');
    if (event !== null) yield event;
  }
}

export async function* marketEvents(
  connection: Connection,
  tokens: readonly string[],
  { signal }: StreamOptions,
): AsyncGenerator<MarketEvent, void, undefined> {
  const query = new URLSearchParams({ tokens: tokens.join(',') });
  const messages = reconnecting({
    ...connection,
    signal,
    path: () => `${watchMarket.path}?${query}`,
    headersNow: () => ({}),
  });
  for await (const message of messages) {
    if (message === 'reconnecting') {
      for (const tokenId of tokens)
        yield {
          type: 'gap',
          data: { tokenId, reason: 'reconnecting', message: 'The connection was lost; whole books follow.' },
        };
    } else if (MARKET_TYPES.has(message.event ?? '')) {
      yield { type: message.event, data: JSON.parse(message.data) } as MarketEvent;
    }
  }
}

const MARKET_TYPES: ReadonlySet<string> = new Set(['book', 'delta', 'gap', 'fresh']);

function agentEventOf({ event: type, data }: EventSourceMessage, cursor: string): AgentEvent | null {
  if (type === 'cursor' || type === 'closing' || type === 'dropped' || type === undefined) return null;
  const value: unknown = JSON.parse(data);
  if (type === 'ready' || type === 'venue') return { type, cursor, data: value } as AgentEvent;
  return { ...(value as RecordedAgentEvent), cursor };
}

interface Reconnecting extends Connection {
  readonly signal: AbortSignal | undefined;
  readonly path: () => string;
  readonly headersNow: () => Readonly<Record<string, string>>;
}

async function* reconnecting(options: Reconnecting): AsyncGenerator<EventSourceMessage | 'reconnecting'> {
  const { transport, signal } = options;
  let attempt = 0;
  let isFirst = true;
  const isAborted = () => signal?.aborted === true;
  while (!isAborted()) {
    let wait: number | null = null;
    const ending = new AbortController();
    const signals = signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]);
    try {
      const response = await transport.open({
        path: options.path(),
        headers: { ...options.headers, ...options.headersNow(), accept: 'text/event-stream' },
        signal: signals,
      });
      if (!isFirst) yield 'reconnecting';
      isFirst = false;
      for await (const message of messagesOf(response, ending)) {
        if (typeof message === 'number') {
          wait = message;
          continue;
        }
        attempt = 0;
        if (isRevoked(message))
          throw new BellwetherApiError(401, { code: 'unauthorized', detail: 'The API key was revoked.' });
        yield message;
      }
    } catch (error) {
      if (isAborted()) return;
      if (!isWorthAnother(error, !isFirst)) throw error;
      wait =
        error instanceof BellwetherApiError && error.retryAfterS !== undefined
          ? error.retryAfterS * 1_000
          : null;
    } finally {
      ending.abort();
    }
    if (isAborted()) return;
    const pause = wait ?? Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
    attempt += 1;
    await transport.wait(pause + Math.random() * FIRST_PAUSE_MS, signal);
  }
}

const isRevoked = ({ event, data }: EventSourceMessage): boolean =>
  event === 'closing' && (JSON.parse(data) as { reason?: unknown }).reason === 'key_revoked';

/**
 * Anything but a refusal by the service itself may pass: no connection, a proxy's answer, overload. So does the bound of open
 * streams where this one was open: the service counts a connection that broke until it notices.
 */
const isWorthAnother = (error: unknown, wasOpen: boolean): boolean =>
  (wasOpen && isProblem(error, 'stream_limit_reached')) ||
  (error instanceof BellwetherConnectionError && !error.isRedirection) ||
  (error instanceof BellwetherApiError && (error.status === 429 || error.status >= 500));

/** A number: how many milliseconds the service asks to wait before the next connection. */
async function* messagesOf(
  response: Response,
  ending: AbortController,
): AsyncGenerator<EventSourceMessage | number> {
  const { body } = response;
  if (body === null) return;
  let ready: (EventSourceMessage | number)[] = [];
  const parser = createParser({
    onEvent: (message) => ready.push(message),
    onRetry: (ms) => ready.push(ms),
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const silence = setTimeout(() => ending.abort(), SILENT_MS);
    let chunk: Awaited<ReturnType<typeof reader.read>>;
    try {
      chunk = await reader.read();
    } catch {
      return;
    } finally {
      clearTimeout(silence);
    }
    if (chunk.done) return;
    parser.feed(decoder.decode(chunk.value, { stream: true }));
    const messages = ready;
    ready = [];
    yield* messages;
  }
}
