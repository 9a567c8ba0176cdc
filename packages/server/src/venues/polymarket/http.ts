/**
 * Calls to one of the venue's HTTP services. A read is repeated within its deadline, and a circuit breaker protects a
 * service that does not answer. A call with an effect is sent once, and its outcome is one of three: answered, not sent, or
 * unknown. URLs, headers and bodies may carry credentials, so no error or log contains any of them.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { BoundedCache } from '../../domain/bounded-cache.ts';
import { ListingUnfinished, VenueUnavailable } from '../../domain/unavailable.ts';
import type { BucketPolicy, RateLimits } from '../../platform/http/rate-limits.ts';
import {
  createHttp,
  type HttpFailure,
  type HttpOptions,
  type HttpReply,
  type HttpRequest,
  type HttpSend,
  HttpUnavailable,
  MAX_REPLY_CHARS,
  NoAnswer,
  type OutboundLog,
  retryAfterMs,
} from '../../platform/outbound/http.ts';

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
interface VenueLimits {
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
export type CallOutcome =
  | { readonly kind: 'answered'; readonly reply: VenueReply }
  | {
      readonly kind: 'not_sent';
      /** The venue's limits left no room for it in time. */
      readonly isOverQuota?: true;
    }
  | { readonly kind: 'unknown'; readonly reason: 'timeout' | 'connection' | 'unreadable' };

interface VenueHttpOptions extends HttpOptions {
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
  send(call: VenueCall): Promise<CallOutcome>;
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
): Promise<CallOutcome> {
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
function failureOf(outcome: CallOutcome): HttpFailure | 'unreadable' | null {
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

// Keeps what the desk asks of the venue within the venue's own limits, over all replicas: each limit is a quota, a bucket
// in the database while replicas share it. A request waits for its quota as long as it may wait at all; then it is not
// sent, which is certain. Cancels and heartbeats take from the quotas and never wait. Of the limits that all requests share, each kind
// leaves a part to the more important ones. Wire reference 2.14.

/** Not sent: a quota was empty for as long as the request could wait. */
export class OverQuota extends NoAnswer {
  override readonly name = 'OverQuota';
  readonly quota: string;

  constructor(quota: string) {
    super(false, false);
    this.message = `the quota ${quota} is used up`;
    this.quota = quota;
  }
}

export interface Governor {
  /** @param service whose limits hold @param baseUrl what its requests begin with */
  govern(service: VenueService, baseUrl: string, send: HttpSend): HttpSend;
  /** The rest of the quotas that were used, and the calls that had to wait for them or were not sent, since the start. */
  counts(): Readonly<Record<string, number>>;
  stop(): void;
}

export type VenueService = 'clob' | 'data' | 'gamma' | 'relayer';

/** The first is the most important. */
const PRIORITIES = ['cancel', 'order', 'own', 'balance', 'market'] as const;
type Priority = (typeof PRIORITIES)[number];

/** How much of a limit that all requests share each kind leaves to those that are more important. */
const LEAVES: Readonly<Record<Priority, number>> = {
  cancel: 0,
  order: 0.05,
  own: 0.15,
  balance: 0.25,
  market: 0.35,
};

const WINDOW_S = 10;
/** The venue counts in windows: half of a window's limit at once, and half of it again during the window, never pass it. */
const per10s = (limit: number): BucketPolicy => ({
  burst: Math.floor(limit / 2),
  perSecond: limit / 2 / WINDOW_S,
});

/** The same over a minute. */
const perMinute = (limit: number): BucketPolicy => ({
  burst: Math.floor(limit / 2),
  perSecond: limit / 2 / 60,
});

const QUOTAS: Readonly<Record<string, BucketPolicy>> = {
  clob: per10s(9_000),
  data: per10s(800),
  gamma: per10s(4_000),
  // Of its reads no limit is known.
  relayer: per10s(200),
  relayer_submits: perMinute(25),
  // In ten minutes 120,000, 21,000 and 15,000.
  orders: { burst: 2_500, perSecond: 195 },
  order_batches: { burst: 1_000, perSecond: 33 },
  cancels: { burst: 1_000, perSecond: 23 },
  ledger: per10s(900),
  own_orders: per10s(500),
  own_trades: per10s(500),
  balances: per10s(200),
  balance_updates: per10s(50),
  api_keys: per10s(100),
  book: per10s(1_500),
  books: per10s(500),
  prices_history: per10s(1_000),
  positions: per10s(200),
  activity: per10s(200),
  gamma_markets: per10s(300),
  gamma_search: per10s(350),
};

interface Rule {
  readonly paths: RegExp;
  readonly quota: string | null;
  readonly priority: Priority;
}

/** The first that fits. */
const RULES: Readonly<Record<VenueService, readonly Rule[]>> = {
  clob: [
    { paths: /^DELETE /, quota: 'cancels', priority: 'cancel' },
    // One that comes late cancels. No limit of its own is known.
    { paths: /^POST \/v1\/heartbeats$/, quota: null, priority: 'cancel' },
    { paths: /^POST \/order$/, quota: 'orders', priority: 'order' },
    { paths: /^POST \/orders$/, quota: 'order_batches', priority: 'order' },
    { paths: /^GET \/data\/order\//, quota: 'ledger', priority: 'own' },
    { paths: /^GET \/data\/orders$/, quota: 'own_orders', priority: 'own' },
    { paths: /^GET \/data\/trades$/, quota: 'own_trades', priority: 'own' },
    { paths: /^GET \/balance-allowance\/update$/, quota: 'balance_updates', priority: 'balance' },
    { paths: /^GET \/balance-allowance$/, quota: 'balances', priority: 'balance' },
    { paths: /^\w+ \/auth\//, quota: 'api_keys', priority: 'balance' },
    { paths: /^GET \/book$/, quota: 'book', priority: 'market' },
    { paths: /^POST \/books$/, quota: 'books', priority: 'market' },
    { paths: /^GET \/prices-history$/, quota: 'prices_history', priority: 'market' },
    { paths: /^GET \/time$/, quota: null, priority: 'order' },
    { paths: /./, quota: null, priority: 'market' },
  ],
  data: [
    { paths: /^GET \/v2\/positions$/, quota: 'positions', priority: 'balance' },
    { paths: /^GET \/v2\/activity$/, quota: 'activity', priority: 'balance' },
    { paths: /./, quota: null, priority: 'market' },
  ],
  relayer: [
    { paths: /^POST \/submit$/, quota: 'relayer_submits', priority: 'order' },
    { paths: /./, quota: null, priority: 'own' },
  ],
  gamma: [
    { paths: /^GET \/markets/, quota: 'gamma_markets', priority: 'market' },
    { paths: /^GET \/public-search/, quota: 'gamma_search', priority: 'market' },
    { paths: /./, quota: null, priority: 'market' },
  ],
};

const STEP_MS = 50;
const SWEEP_EVERY_MS = 1_000;
/** More at once are not sent. */
const MOST_WAITING = 1_000;

type Buckets = Pick<RateLimits, 'draw' | 'sweep'>;

export interface GovernorOptions {
  /** Names the venue among the buckets that replicas share. */
  readonly venue: string;
  /** Buckets of these policies, alone or shared. */
  readonly bucketsOf: (policies: Readonly<Record<string, BucketPolicy>>) => Buckets;
  /** Others for tests. */
  readonly quotas?: Readonly<Record<string, BucketPolicy>>;
}

export function createGovernor({ venue, bucketsOf, quotas = {} }: GovernorOptions): Governor {
  const policies = { ...QUOTAS, ...quotas };
  const limits = bucketsOf(prefixed(policies));
  const left = new Map<string, number>();
  const waited = new Map<string, number>();
  const refused = new Map<string, number>();
  /** By quota, who waits last: requests of one quota go out in their order. */
  const lines = new Map<string, { last: Promise<void>; length: number }>();

  const add = (to: Map<string, number>, quota: string): void => void to.set(quota, (to.get(quota) ?? 0) + 1);
  /** Takes one, and leaves a part to others. */
  const take = (quota: string, leaves: number): boolean | Promise<boolean> => {
    const judge = (draw: { readonly allowed: boolean; readonly remaining: number } | null): boolean => {
      if (draw === null) return true;
      left.set(quota, draw.remaining);
      return draw.allowed && draw.remaining >= (policies[quota]?.burst ?? 0) * leaves - 1;
    };
    const draw = limits.draw(PREFIX + quota, venue);
    if (!(draw instanceof Promise)) return judge(draw);
    return draw.then(judge, () => {
      // Without the database no replica knows what the others have asked.
      add(refused, quota);
      throw new OverQuota(quota);
    });
  };

  const waitFor = async (quota: string, leaves: number, until: number): Promise<void> => {
    while (!(await take(quota, leaves))) {
      if (performance.now() + STEP_MS > until) {
        add(refused, quota);
        throw new OverQuota(quota);
      }
      await pause(STEP_MS);
    }
  };
  /** Behind those that wait for it already. */
  const queue = (quota: string, leaves: number, until: number): Promise<void> => {
    const line = lines.get(quota) ?? { last: Promise.resolve(), length: 0 };
    if (line.length >= MOST_WAITING) {
      add(refused, quota);
      throw new OverQuota(quota);
    }
    add(waited, quota);
    line.length += 1;
    const own = line.last
      .then(() => waitFor(quota, leaves, until))
      .finally(() => {
        line.length -= 1;
        if (line.length === 0) lines.delete(quota);
      });
    line.last = own.catch(() => {});
    lines.set(quota, line);
    return own;
  };
  const pass = async (quota: string, leaves: number, until: number): Promise<void> => {
    const isFree = !lines.has(quota);
    const taken = isFree ? take(quota, leaves) : false;
    if (taken === true || (taken !== false && (await taken))) return;
    await queue(quota, leaves, until);
  };

  const timer = setInterval(() => void limits.sweep().catch(() => {}), SWEEP_EVERY_MS);
  timer.unref();

  return {
    govern: (service, baseUrl, send) => {
      const base = baseUrl.replace(/\/+$/, '').length;
      return async (request: HttpRequest) => {
        const path = request.url.slice(base).split('?')[0] ?? '';
        const { quota, priority } = ruleOf(service, `${request.method} ${path}`);
        const wanted = [
          ...(quota === null ? [] : [[quota, 0] as const]),
          [service, LEAVES[priority]] as const,
        ];
        if (priority === 'cancel') {
          // Not even a database that does not answer holds a cancel back.
          for (const [name] of wanted) void Promise.resolve(take(name, 0)).catch(() => {});
          return send(request);
        }
        const from = performance.now();
        for (const [name, leaves] of wanted) await pass(name, leaves, from + request.timeoutMs);
        const timeoutMs = Math.max(1, Math.ceil(request.timeoutMs - (performance.now() - from)));
        return send({ ...request, timeoutMs });
      };
    },
    counts: () => ({
      ...named('quota_left', left),
      ...named('quota_waited', waited),
      ...named('quota_refused', refused),
    }),
    stop: () => clearInterval(timer),
  };
}

const ruleOf = (service: VenueService, call: string): Rule =>
  RULES[service].find(({ paths }) => paths.test(call)) as Rule;

/** Beside the classes of the desk's own routes. */
const PREFIX = 'venue ';
const prefixed = (policies: Readonly<Record<string, BucketPolicy>>) =>
  Object.fromEntries(Object.entries(policies).map(([name, policy]) => [PREFIX + name, policy]));

const named = (what: string, counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].map(([quota, count]) => [`${what}_${quota}`, count]));

// Reads the venue's lists, page by page, within bounds: a cursor must be one that this listing has not had, an id counts
// once, and the pages of a listing and of a minute are limited. A listing that did not come to its end is an error: what
// it did not show may exist all the same.

export interface Page<T> {
  readonly rows: readonly T[];
  /** As the venue says it; see {@link nextOf}. `null`: this is the last page. */
  readonly next: string | null;
}

interface Listing<T> {
  /** In errors and logs, such as the path. */
  readonly name: string;
  /** Whose list it is: the pages of a minute are counted for each. Never a secret. */
  readonly whose: string;
  readonly mostPages: number;
  readonly ask: (cursor: string | undefined) => Promise<Page<T>>;
  /** `null`: a row without an id, which counts each time. Of two rows with one id the first is kept. */
  readonly idOf: (row: T) => string | null;
}

interface Paging {
  /** Every row. @throws ListingUnfinished, and what `ask` throws */
  all<T>(listing: Listing<T>): Promise<readonly T[]>;
  /** The first rows, as many as are wanted or could be read: for what is shown, never for what money depends on. */
  first<T>(listing: Listing<T>, most: number): Promise<readonly T[]>;
  /** Listings that did not come to their end, since the start. */
  unfinished(): number;
}

const LAST_CURSOR = 'LTE=';
/** The venue's other name for the first page. */
const FIRST_CURSOR = 'MA==';
/** After the first ones. The venue answers five hundred pages of a list in ten seconds. */
const MAX_PAGES_PER_MINUTE = 600;
const MINUTE_MS = 60_000;
const LISTS_COUNTED = 20_000;
const ALL = Number.POSITIVE_INFINITY;

/** The cursor of the next page; `null` for each way in which the venue says that there is none. */
export const nextOf = (cursor: string | null | undefined): string | null =>
  cursor == null || cursor === '' || cursor === LAST_CURSOR ? null : cursor;

function createPaging({ log }: { readonly log: OutboundLog }): Paging {
  const minutes = new BoundedCache<{ readonly from: number; pages: number }>({
    entries: LISTS_COUNTED,
    weight: LISTS_COUNTED,
    weightOf: () => 1,
  });
  let unfinished = 0;

  const mayAskOnce = (name: string): boolean => {
    const now = performance.now();
    const known = minutes.get(name);
    const minute = known === undefined || now - known.from >= MINUTE_MS ? { from: now, pages: 0 } : known;
    minutes.set(name, minute);
    minute.pages += 1;
    return minute.pages <= MAX_PAGES_PER_MINUTE;
  };

  /** @returns what was wrong; `null`: the listing ended, or enough was read */
  const walk = async <T>(
    { name, whose, mostPages, ask }: Listing<T>,
    take: (rows: readonly T[]) => boolean,
    wantsAll: boolean,
  ): Promise<string | null> => {
    const seen = new Set<string>([FIRST_CURSOR]);
    let cursor: string | undefined;
    for (let pages = 1; ; pages += 1) {
      const { rows, next } = await ask(cursor);
      const hasEnough = take(rows);
      if (next === null || hasEnough) return null;
      if (seen.has(next)) return `its page ${pages} leads back to one that was read`;
      if (pages >= mostPages) return wantsAll ? `it has more than ${mostPages} pages` : null;
      if (!mayAskOnce(`${name} ${whose}`)) return `more than ${MAX_PAGES_PER_MINUTE} pages in a minute`;
      seen.add(next);
      cursor = next;
    }
  };

  const read = async <T>(listing: Listing<T>, most: number) => {
    const rows: T[] = [];
    const ids = new Set<string>();
    const take = (page: readonly T[]): boolean => {
      for (const row of page) {
        const id = listing.idOf(row);
        if (id !== null && ids.has(id)) continue;
        if (id !== null) ids.add(id);
        rows.push(row);
      }
      return rows.length >= most;
    };
    const fault = await walk(listing, take, most === ALL);
    if (fault !== null) {
      unfinished += 1;
      log.warn({ list: listing.name, rows: rows.length, fault }, 'a list of the venue does not end');
    }
    return { rows, fault };
  };

  return {
    async all(listing) {
      const { rows, fault } = await read(listing, ALL);
      if (fault !== null) throw new ListingUnfinished(listing.name, fault);
      return rows;
    },
    first: async (listing, most) => (await read(listing, most)).rows,
    unfinished: () => unfinished,
  };
}
