/** Where the service listens, who reaches it, and how much it takes on at once. */
import {
  ConfigError,
  type EnvironmentOf,
  flag,
  integer,
  listed,
  optionalText,
  text,
  url,
  withoutSlash,
} from '../settings.ts';

const HOST = '(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)';
const listOf = (item: string): string => `^${item}(,${item})*$`;

const variables = {
  PORT: integer(8_080, [0, 65_535], 'Port to listen on; 0 takes a free one.'),
  HOST: text(
    '127.0.0.1',
    'Address to listen on. The default answers only this machine; `0.0.0.0` answers every machine.',
    { minLength: 1 },
  ),
  PUBLIC_URL: url(
    'How others reach the service: claim links, the API reference and the pages. Passkeys are bound to its host, which cannot be an IP address.',
    { unset: '`http://localhost:<PORT><BASE_PATH>`' },
  ),
  BASE_PATH: text(
    '',
    'Prefix of every route, such as `/api`; `/healthz` and `/readyz` stay at the root too.',
    { pattern: '^(/[A-Za-z0-9._~-]+)*$', values: 'path without a last slash' },
  ),
  REPLICA_URL: url('Where other replicas on the same database reach this one.', {
    unset: 'the address that it listens on',
  }),
  TRUST_PROXY: text(
    'off',
    'Which proxies may name the caller’s address in `X-Forwarded-For`: `off` means none; a number is the number of your proxies in front of the service (`on` is 1); otherwise the proxies’ addresses and CIDRs, comma-separated. The service reads the header from the right, up to the first address that is not one of your proxies.',
    { minLength: 1, values: '`off`, `on`, 1 to 99, or CIDRs' },
  ),
  ALLOWED_HOSTS: optionalText(
    'Host names that requests may use in addition to those of PUBLIC_URL and REPLICA_URL, `HOST` and loopback; comma-separated, without ports.',
    { pattern: listOf(HOST), values: 'host names' },
  ),
  ALLOWED_ORIGINS: optionalText(
    'Origins (scheme, host, port) whose pages may call the operations of agents from a browser; comma-separated. Their key travels in `Authorization`, never in a cookie. The pages of owners, the operator’s routes and the paper venues’ doors stay closed to them.',
    { pattern: listOf(`https?://${HOST}(:[0-9]{1,5})?`), addresses: true, values: 'origins' },
  ),
  MAX_CONNECTIONS: integer(
    12_000,
    [10, 1_000_000],
    'Maximum number of open connections, including idle ones; further ones are closed at once. One address can have at most half of them, except the proxies of `TRUST_PROXY`.',
  ),
  RECEIVE_TIMEOUT_S: integer(
    20,
    [1, 600],
    'Seconds within which a complete request must arrive; its headers within half of that.',
  ),
  DRAIN_S: integer(
    0,
    [0, 300],
    'Seconds for which a replica that is asked to end (SIGTERM) still takes requests while `/readyz` answers 503: more than your proxy needs to notice.',
  ),
  REQUEST_DEADLINE_MS: integer(
    5_000,
    [100, 600_000],
    'How long a request may take. After that the answer is 503, or `order_outcome_unknown` if an order was already handed to the venue.',
  ),
  MAX_TRADES_IN_FLIGHT: integer(
    128,
    [1, 10_000],
    'Orders that are placed at the same time. A burst of twice as many may wait in line; further ones are refused with `overloaded`.',
  ),
  MAX_REQUESTS_IN_FLIGHT: integer(
    1_000,
    [10, 100_000],
    'Requests in progress at the same time; half of that for requests that neither trade nor cancel, twice that for cancels and the pause.',
  ),
};

type Environment = EnvironmentOf<typeof variables>;

export const httpSettings = {
  variables,
  prefixes: [
    'PUBLIC_URL',
    'BASE_PATH',
    'REPLICA_',
    'TRUST_PROXY',
    'ALLOWED_',
    'MAX_CONNECTIONS',
    'RECEIVE_',
    'DRAIN_',
    'REQUEST_DEADLINE',
    'MAX_TRADES',
    'MAX_REQUESTS',
  ],
  make: (env: Environment) => ({
    port: env.PORT,
    host: env.HOST,
    publicUrl: withoutSlash(env.PUBLIC_URL ?? `http://localhost:${env.PORT}${env.BASE_PATH}`),
    basePath: env.BASE_PATH,
    /** Where other replicas reach this one; its own listening address when not given. */
    replicaUrl: env.REPLICA_URL === undefined ? null : withoutSlash(env.REPLICA_URL),
    /** `null`: no proxy. A number of hops, or addresses and CIDRs. */
    trustProxy: trustProxy(env.TRUST_PROXY),
    /** Further allowed host names, lower case; loopback and the public URL's host are always allowed. */
    hosts: knownHosts(env),
    origins: listed(env.ALLOWED_ORIGINS).map((address) => new URL(address).origin),
    connections: { maxConnections: env.MAX_CONNECTIONS, receiveMs: env.RECEIVE_TIMEOUT_S * 1000 },
    /** From the signal to end until no connection is taken any more. */
    drainMs: env.DRAIN_S * 1000,
    load: {
      deadlineMs: env.REQUEST_DEADLINE_MS,
      maxTrades: env.MAX_TRADES_IN_FLIGHT,
      maxRequests: env.MAX_REQUESTS_IN_FLIGHT,
    },
  }),
};

/** They mean every address of this machine, so no request can name them as its host. */
const WILDCARDS = new Set(['0.0.0.0', '::', '[::]']);

function knownHosts(env: Environment): readonly string[] {
  const own = WILDCARDS.has(env.HOST) ? [] : [env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST];
  const replica = env.REPLICA_URL === undefined ? [] : [new URL(env.REPLICA_URL).hostname];
  return [...listed(env.ALLOWED_HOSTS), ...own, ...replica].map((host) => host.toLowerCase());
}

const OCTET = '(25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const IPV4 = new RegExp(`^(${OCTET}\\.){3}${OCTET}$`);

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const isV4 = IPV4.test(address);
  const isV6 =
    !isV4 && /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/.test(address) && URL.canParse(`http://[${address}]/`);
  const most = isV4 ? 32 : 128;
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
  return (isV4 || isV6) && fits && more.length === 0;
}

function trustProxy(given: string): number | readonly string[] | null {
  if (given === 'off') return null;
  if (given === 'on') return 1;
  if (/^[1-9]\d?$/.test(given)) return Number(given);
  const networks = given.split(',').map((part) => part.trim());
  if (networks.every(isNetwork)) return networks;
  throw new ConfigError(
    'TRUST_PROXY must be off, on (one proxy), the number of proxies from 1 to 99, or their addresses and CIDRs such as 10.0.0.0/8,fd00::/8.',
  );
}

// How often each caller may call, by class of route.

/** A batch must fit into a burst, or it could never be sent. */
const ORDERS_PER_BATCH = 20;

const rates = {
  RATE_LIMITS: flag('on', 'Off for load tests.'),
  RATE_LIMIT_REGISTER_PER_HOUR: integer(
    10,
    [1, 1_000_000],
    'Registrations and faucet draws per address and hour; also the burst.',
  ),
  RATE_LIMIT_CLAIM_PER_MINUTE: integer(
    30,
    [1, 1_000_000],
    'Claim look-ups per address and minute; also the burst.',
  ),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: integer(
    60,
    [1, 1_000_000],
    'Wrong API keys per address and minute; also the burst.',
  ),
  RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE: integer(
    10,
    [1, 1_000_000],
    'Wrong operator keys per address and minute; also the burst.',
  ),
  RATE_LIMIT_RECOVERY_PER_HOUR: integer(
    10,
    [1, 1_000_000],
    'Recovery codes tried per address and hour, and per owner whose code begins alike; also the bursts.',
  ),
  RATE_LIMIT_TRADE_PER_SECOND: integer(20, [1, 1_000_000], 'Trades per agent and second.'),
  RATE_LIMIT_TRADE_BURST: integer(
    40,
    [ORDERS_PER_BATCH, 1_000_000],
    'Trades at once; at least as many as a batch may hold.',
  ),
  RATE_LIMIT_RELAY_PER_MINUTE: integer(
    6,
    [1, 1_000_000],
    'Requests to the venue’s relayer per agent and minute, also the burst: the venue grants all agents of a service 25.',
  ),
  RATE_LIMIT_EXIT_PER_SECOND: integer(
    40,
    [1, 1_000_000],
    'Cancels and changes of settings per agent and second.',
  ),
  RATE_LIMIT_EXIT_BURST: integer(80, [1, 1_000_000], 'Cancels and changes of settings at once.'),
  RATE_LIMIT_SEARCH_PER_SECOND: integer(
    10,
    [1, 1_000_000],
    'Searches, contexts and order histories per agent and second.',
  ),
  RATE_LIMIT_SEARCH_BURST: integer(20, [1, 1_000_000], 'Searches, contexts and order histories at once.'),
  RATE_LIMIT_READ_PER_SECOND: integer(20, [1, 1_000_000], 'Everything else, per agent and second.'),
  RATE_LIMIT_READ_BURST: integer(60, [1, 1_000_000], 'Everything else, at once.'),
  RATE_LIMIT_DOOR_PER_SECOND: integer(
    50,
    [1, 1_000_000],
    'Requests to the paper doors per address and second.',
  ),
  RATE_LIMIT_DOOR_BURST: integer(100, [1, 1_000_000], 'Requests to the paper doors at once.'),
};

type RatesEnvironment = EnvironmentOf<typeof rates>;

/** Tokens a second and the largest burst, by class of route. */
type RateLimits = Readonly<Record<string, { readonly perSecond: number; readonly burst: number }>>;

export const rateLimitSettings = {
  variables: rates,
  prefixes: ['RATE_LIMIT'],
  make: (env: RatesEnvironment): { readonly rateLimits: RateLimits | null } => ({
    rateLimits: env.RATE_LIMITS === 'off' ? null : rateLimits(env),
  }),
};

const rateLimits = (env: RatesEnvironment): RateLimits => ({
  register: { perSecond: env.RATE_LIMIT_REGISTER_PER_HOUR / 3600, burst: env.RATE_LIMIT_REGISTER_PER_HOUR },
  claim: { perSecond: env.RATE_LIMIT_CLAIM_PER_MINUTE / 60, burst: env.RATE_LIMIT_CLAIM_PER_MINUTE },
  failed_operator: {
    perSecond: env.RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE / 60,
    burst: env.RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE,
  },
  failed_auth: {
    perSecond: env.RATE_LIMIT_FAILED_AUTH_PER_MINUTE / 60,
    burst: env.RATE_LIMIT_FAILED_AUTH_PER_MINUTE,
  },
  recovery: { perSecond: env.RATE_LIMIT_RECOVERY_PER_HOUR / 3600, burst: env.RATE_LIMIT_RECOVERY_PER_HOUR },
  recovery_of_owner: {
    perSecond: env.RATE_LIMIT_RECOVERY_PER_HOUR / 3600,
    burst: env.RATE_LIMIT_RECOVERY_PER_HOUR,
  },
  trade: { perSecond: env.RATE_LIMIT_TRADE_PER_SECOND, burst: env.RATE_LIMIT_TRADE_BURST },
  relay: { perSecond: env.RATE_LIMIT_RELAY_PER_MINUTE / 60, burst: env.RATE_LIMIT_RELAY_PER_MINUTE },
  exit: { perSecond: env.RATE_LIMIT_EXIT_PER_SECOND, burst: env.RATE_LIMIT_EXIT_BURST },
  search: { perSecond: env.RATE_LIMIT_SEARCH_PER_SECOND, burst: env.RATE_LIMIT_SEARCH_BURST },
  read: { perSecond: env.RATE_LIMIT_READ_PER_SECOND, burst: env.RATE_LIMIT_READ_BURST },
  door: { perSecond: env.RATE_LIMIT_DOOR_PER_SECOND, burst: env.RATE_LIMIT_DOOR_BURST },
});
