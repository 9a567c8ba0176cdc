/**
 * Keeps what the desk asks of the venue within the venue's own limits, over all replicas: each limit is a quota, a bucket
 * in the database while replicas share it. A request waits for its quota as long as it may wait at all; then it is not
 * sent, which is certain. Cancels and heartbeats take from the quotas and never wait. Of the limits that all requests share, each kind
 * leaves a part to the more important ones. Wire reference 2.14.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { BucketPolicy, RateLimits } from '../../platform/http/rate-limits.ts';
import type { HttpRequest, HttpSend } from '../../platform/outbound/outbound.ts';
import { NoAnswer } from '../../platform/outbound/pooled-send.ts';

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

export type Buckets = Pick<RateLimits, 'draw' | 'sweep'>;

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
