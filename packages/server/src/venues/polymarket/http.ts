/**
 * Calls to one of the venue's HTTP services. A read is repeated within its deadline, and a circuit breaker protects a
 * service that does not answer. A call with an effect is sent once, and its outcome is one of three: answered, not sent, or
 * unknown. URLs, headers and bodies may carry credentials, so no error or log contains any of them.
 */
import { VenueUnavailable } from '../../domain/unavailable.ts';
import {
  createHttp,
  type HttpFailure,
  type HttpOptions,
  HttpUnavailable,
  MAX_REPLY_CHARS,
  retryAfterMs,
} from '../../platform/outbound/http.ts';
import type { HttpReply, HttpSend } from '../../platform/outbound/outbound.ts';
import { NoAnswer } from '../../platform/outbound/pooled-send.ts';
import { type Governor, OverQuota, type VenueService } from './governor.ts';
import { createPaging, type Paging } from './paging.ts';

/** The venue's CDN refuses clients that send none. */
export const USER_AGENT = 'bellwether';

const READ_TIMEOUT_MS = 6_000;
const EFFECT_TIMEOUT_MS = 10_000;
const OK = 200;
const REDIRECTION = 300;
const BAD_REQUEST = 400;
const TOO_MANY_REQUESTS = 429;
const SERVER_ERROR = 500;
const NOT_FOUND = 404;

type QueryValue = string | number | boolean | readonly string[] | undefined;

export interface VenueCall {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL, without a query: what credentials sign. */
  readonly path: string;
  /** A list becomes a repeated key; `undefined` is left out. */
  readonly query?: Readonly<Record<string, QueryValue>>;
  /** JSON text, byte for byte what the credentials signed. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Words of the venue's own limiter, as far as it said anything. */
export interface VenueLimits {
  readonly remaining: number | null;
  /** Epoch seconds. */
  readonly reset: number | null;
  readonly tier: string | null;
  readonly retryAfterMs: number | null;
}

export interface VenueReply {
  readonly status: number;
  /** The decoded body; `undefined` when it is not JSON. */
  readonly value: unknown;
  readonly text: string;
  readonly limits: VenueLimits;
}

/** `not_sent` is proof that nothing happened; `unknown` is no proof of anything. */
export type Outcome =
  | { readonly kind: 'answered'; readonly reply: VenueReply }
  | {
      readonly kind: 'not_sent';
      /** The venue's limits left no room for it in time. */
      readonly isOverQuota?: true;
    }
  | { readonly kind: 'unknown'; readonly reason: 'timeout' | 'connection' | 'unreadable' };

export interface VenueHttpOptions extends HttpOptions {
  /** With or without a slash at its end. */
  readonly baseUrl: string;
  /** Holds requests to the venue's limits. */
  readonly governor?: { readonly of: Governor; readonly service: VenueService } | undefined;
}

export interface VenueHttp {
  /**
   * Asks for something, also with POST where that changes nothing. Returns every answer below 500 except 429.
   * @throws VenueUnavailable
   */
  ask(call: VenueCall): Promise<VenueReply>;
  /**
   * `null`: the venue has nothing of that id (404).
   * @throws VenueUnavailable for any other refusal, and for an answer that does not pass the check
   */
  read<T>(call: VenueCall, check: (value: unknown) => T | null): Promise<T | null>;
  /** Sends a call that has an effect, once. */
  send(call: VenueCall): Promise<Outcome>;
  /** For every list that the service answers in pages. */
  readonly lists: Paging;
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
}

export function createVenueHttp({ baseUrl, governor, ...options }: VenueHttpOptions): VenueHttp {
  const { service, clock, log } = options;
  const base = baseUrl.replace(/\/+$/, '');
  const send =
    governor === undefined ? options.send : governor.of.govern(governor.service, base, options.send);
  const http = createHttp({ ...options, send: (request) => send(request).catch(asAsked(service)) });
  const requestOf = ({ method = 'GET', path, query = {}, body, headers = {}, timeoutMs }: VenueCall) => ({
    method,
    url: base + path + queryOf(query),
    headers: {
      accept: 'application/json',
      'user-agent': USER_AGENT,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
    timeoutMs: timeoutMs ?? READ_TIMEOUT_MS,
  });

  const ask = async (call: VenueCall): Promise<VenueReply> => {
    try {
      return replyOf(await http.call({ ...requestOf(call), repeatable: true }), clock.now());
    } catch (error) {
      throw new VenueUnavailable((error as Error).message);
    }
  };

  return {
    ask,
    async read(call, check) {
      const { status, value } = await ask(call);
      if (status === NOT_FOUND) return null;
      if (status >= REDIRECTION || status < OK)
        throw new VenueUnavailable(`${service} refuses the request (${status})`);
      const found = check(value);
      if (found === null)
        throw new VenueUnavailable(`The answer of ${service} has another shape than is known`);
      return found;
    },
    async send(call) {
      const request = requestOf({ ...call, timeoutMs: call.timeoutMs ?? EFFECT_TIMEOUT_MS });
      const outcome = await outcomeOf(send, request, clock.now);
      const failure = failureOf(outcome);
      if (failure !== null) log.failed?.(service, failure);
      return outcome;
    },
    lists: createPaging({ log }),
    status: http.status,
  };
}

/** An empty quota is no fault of the service: a read waits and asks again, as after an answer that asks for fewer. */
const asAsked =
  (service: string) =>
  (error: unknown): never => {
    throw error instanceof OverQuota ? new HttpUnavailable(service, 'rate_limited') : error;
  };

async function outcomeOf(
  send: HttpSend,
  request: Parameters<HttpSend>[0],
  now: () => number,
): Promise<Outcome> {
  try {
    const reply = await send(request);
    // No redirect is followed, and a body beyond the bound was not read to its end.
    const isAnswer = reply.status < REDIRECTION || reply.status >= BAD_REQUEST;
    return isAnswer && reply.body.length <= MAX_REPLY_CHARS
      ? { kind: 'answered', reply: replyOf(reply, now()) }
      : { kind: 'unknown', reason: 'unreadable' };
  } catch (error) {
    if (error instanceof OverQuota) return { kind: 'not_sent', isOverQuota: true };
    if (error instanceof NoAnswer && !error.sent) return { kind: 'not_sent' };
    return {
      kind: 'unknown',
      reason: error instanceof NoAnswer && error.timedOut ? 'timeout' : 'connection',
    };
  }
}

/** Failures that an operator counts; a refusal of the order is an answer. */
function failureOf(outcome: Outcome): HttpFailure | 'unreadable' | null {
  if (outcome.kind === 'not_sent') return outcome.isOverQuota === true ? 'rate_limited' : 'network';
  if (outcome.kind === 'unknown') return outcome.reason === 'connection' ? 'network' : outcome.reason;
  if (outcome.reply.status === TOO_MANY_REQUESTS) return 'rate_limited';
  return outcome.reply.status >= SERVER_ERROR ? 'server_error' : null;
}

function queryOf(query: NonNullable<VenueCall['query']>): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return typeof value === 'object' ? value.map((one) => [name, one]) : [[name, String(value)]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

const replyOf = ({ status, headers, body }: HttpReply, now: number): VenueReply => ({
  status,
  value: jsonOf(body),
  text: body,
  limits: {
    remaining: integerOf(headers['poly-ratelimit-remaining']),
    reset: integerOf(headers['poly-ratelimit-reset']),
    tier: headers['poly-ratelimit-tier'] ?? null,
    retryAfterMs: retryAfterMs(headers['retry-after'], now),
  },
});

/** The venue's identifiers are texts, so that plain numbers suffice. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const integerOf = (text: string | undefined): number | null =>
  text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : null;
