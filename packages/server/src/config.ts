/**
 * The environment, parsed once. A wrong or unknown value stops the service with a sentence that names it; nothing
 * else reads `process.env`.
 */
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';

const flag = (fallback: boolean) =>
  Type.Union([Type.Literal('on'), Type.Literal('off')], { default: fallback ? 'on' : 'off' });
const int = (minimum: number, maximum: number, fallback: number) =>
  Type.Integer({ minimum, maximum, default: fallback });
const HTTP_URL = '^https?://[^\\s]+$';
const SOCKET_URL = '^wss?://[^\\s]+$';
const url = () => Type.String({ pattern: HTTP_URL });
const choice = <const T extends string>(options: readonly T[], fallback: NoInfer<T>) =>
  Type.Unsafe<T>(
    Type.Union(
      options.map((option) => Type.Literal(option)),
      { default: fallback },
    ),
  );
const solanaAddress = () => Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' });
const DAY_MS = 24 * 3_600_000;
/** A batch must fit into a burst, or it could never be sent. */
const ORDERS_PER_BATCH = 20;
const HOST = '(\\[[0-9a-fA-F:.]+\\]|[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)';
const listOf = (item: string, description: string) =>
  Type.Optional(Type.String({ pattern: `^${item}(,${item})*$`, description }));
/** `name=value` pairs; a comma or a space in a value is percent-encoded. */
const pairs = (description: string) =>
  Type.Optional(Type.String({ pattern: '^[^=,\\s]+=[^,]*(,\\s*[^=,\\s]+=[^,]*)*$', description }));
const venueName = (fallback: string) =>
  Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,49}$', default: fallback });

/** Name, meaning and default of every variable: the documentation's table is made from this. */
export const ENVIRONMENT = Type.Object({
  PORT: int(0, 65_535, 8080),
  HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  PUBLIC_URL: Type.Optional(url()),
  BASE_PATH: Type.String({ pattern: '^(/[A-Za-z0-9._~-]+)*$', default: '' }),
  DATABASE_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  DATA_DIR: Type.String({ minLength: 1, default: './data' }),
  MASTER_KEY: Type.Optional(
    Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: '32 bytes as 64 hex digits' }),
  ),
  MASTER_KEY_OLD: Type.Optional(
    Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: '32 bytes as 64 hex digits' }),
  ),
  OPERATOR_KEY: Type.Optional(Type.String({ minLength: 24 })),
  REPLICA_URL: Type.Optional(url()),
  TRUST_PROXY: Type.String({
    minLength: 1,
    default: 'off',
    description:
      'Which proxies may name the caller’s address in `X-Forwarded-For`: `off` means none; a number is the number of your proxies in front of the service (`on` is 1); otherwise the proxies’ addresses and CIDRs, comma-separated. The service reads the header from the right, up to the first address that is not one of your proxies.',
  }),
  ALLOWED_HOSTS: listOf(
    HOST,
    'Host names that requests may use in addition to those of PUBLIC_URL and REPLICA_URL, `HOST` and loopback; comma-separated, without ports.',
  ),
  ALLOWED_ORIGINS: listOf(
    `https?://${HOST}(:[0-9]{1,5})?`,
    'Origins (scheme, host, port) whose pages may call the operations of agents from a browser; comma-separated. Their key travels in `Authorization`, never in a cookie. The pages of owners, the operator’s routes and the paper venues’ doors stay closed to them.',
  ),
  MAX_CONNECTIONS: Type.Integer({
    minimum: 10,
    maximum: 1_000_000,
    default: 12_000,
    description:
      'Maximum number of open connections, including idle ones; further ones are closed at once. One address can have at most half of them, except the proxies of `TRUST_PROXY`.',
  }),
  RECEIVE_TIMEOUT_S: Type.Integer({
    minimum: 1,
    maximum: 600,
    default: 20,
    description: 'Seconds within which a complete request must arrive; its headers within half of that.',
  }),
  DRAIN_S: int(0, 300, 0),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  RATE_LIMITS: flag(true),
  RATE_LIMIT_REGISTER_PER_HOUR: int(1, 1_000_000, 10),
  RATE_LIMIT_CLAIM_PER_MINUTE: int(1, 1_000_000, 30),
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: int(1, 1_000_000, 60),
  RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE: int(1, 1_000_000, 10),
  RATE_LIMIT_TRADE_PER_SECOND: int(1, 1_000_000, 20),
  RATE_LIMIT_TRADE_BURST: int(ORDERS_PER_BATCH, 1_000_000, 40),
  RATE_LIMIT_EXIT_PER_SECOND: int(1, 1_000_000, 40),
  RATE_LIMIT_EXIT_BURST: int(1, 1_000_000, 80),
  RATE_LIMIT_SEARCH_PER_SECOND: int(1, 1_000_000, 10),
  RATE_LIMIT_SEARCH_BURST: int(1, 1_000_000, 20),
  RATE_LIMIT_READ_PER_SECOND: int(1, 1_000_000, 20),
  RATE_LIMIT_READ_BURST: int(1, 1_000_000, 60),
  RATE_LIMIT_DOOR_PER_SECOND: int(1, 1_000_000, 50),
  RATE_LIMIT_DOOR_BURST: int(1, 1_000_000, 100),
  DATABASE_POOL: int(4, 90, 20),
  RECOVERY_THREADS: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 16,
      description:
        'Threads that recover the signers of orders. The default follows the machine: none with one or two cores, else two fewer than it has cores, at most 4.',
    }),
  ),
  REQUEST_DEADLINE_MS: Type.Integer({
    minimum: 100,
    maximum: 600_000,
    default: 5_000,
    description:
      'How long a request may take. After that the answer is 503, or `order_outcome_unknown` if an order was already handed to the venue.',
  }),
  MAX_TRADES_IN_FLIGHT: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 128,
    description:
      'Orders that are placed at the same time. Further orders wait in line, or are refused with `overloaded`.',
  }),
  MAX_REQUESTS_IN_FLIGHT: Type.Integer({
    minimum: 10,
    maximum: 100_000,
    default: 1_000,
    description:
      'Requests in progress at the same time; half of that for requests that neither trade nor cancel, twice that for cancels and the pause.',
  }),
  CHAIN_ID: int(1, Number.MAX_SAFE_INTEGER, 137),
  DEFAULT_VENUE: Type.Optional(Type.String({ minLength: 1 })),
  VENUE_A_NAME: venueName('polymarket'),
  VENUE_A_BACKEND: Type.Union([Type.Literal('paper'), Type.Literal('live')], { default: 'paper' }),
  VENUE_A_ORDER_PROFILE: Type.Optional(Type.Union([Type.Literal('interface'), Type.Literal('polymarket')])),
  VENUE_A_DOUBT_S: Type.Integer({
    minimum: 5,
    maximum: 3_600,
    default: 180,
    description:
      'Live venue A: after so many seconds without an answer, an order that the venue does not know counts as never received.',
  }),
  LIVE_ORDERS: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description:
      'Live venue A: `off` does everything but send orders; each is answered with `success: false` and `dry_run`. Cancels are sent.',
  }),
  POLYMARKET_CLOB_URL: Type.Optional(url()),
  POLYMARKET_GAMMA_URL: Type.Optional(url()),
  POLYMARKET_DATA_URL: Type.Optional(url()),
  POLYMARKET_SITE_URL: Type.Optional(url()),
  POLYMARKET_WS_URL: Type.Optional(
    Type.String({
      pattern: SOCKET_URL,
      description: 'Of the sockets of live venue A, without the channel (`/market`, `/user`).',
    }),
  ),
  VENUE_B_NAME: venueName('kalshi'),
  VENUE_B_BACKEND: choice(['paper', 'live'], 'paper'),
  VENUE_B_SLIPPAGE_BPS: int(1, 10_000, 200),
  VENUE_B_COUNTRY_HEADER: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' })),
  DFLOW_METADATA_URL: Type.Optional(url()),
  DFLOW_TRADE_URL: Type.Optional(url()),
  DFLOW_API_KEY: Type.Optional(Type.String({ minLength: 1 })),
  SOLANA_RPC_URL: Type.Optional(url()),
  VENUE_B_STATUS_URL: Type.Optional(url()),
  SIGNING_PROVIDER: choice(['local', 'fireblocks'], 'local'),
  FIREBLOCKS_URL: Type.Optional(url()),
  FIREBLOCKS_API_KEY: Type.Optional(Type.String({ minLength: 1 })),
  FIREBLOCKS_KEY_FILE: Type.Optional(Type.String({ minLength: 1 })),
  FIREBLOCKS_VAULT_ID: Type.Optional(Type.String({ pattern: '^[0-9]+$' })),
  FIREBLOCKS_ASSET_ID: Type.String({ minLength: 1, default: 'SOL' }),
  FIREBLOCKS_MODE: choice(['raw', 'program_call'], 'raw'),
  FIREBLOCKS_ADDRESS: Type.Optional(solanaAddress()),
  FEE_WALLET: Type.Optional(solanaAddress()),
  MAX_FEE_CHARGE: Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, default: 100 }),
  PAPER_DOORS: Type.String({
    default: 'auto',
    description:
      'The doors that speak the venues’ own protocols and ask for no agent key: `auto`, `on` (all), `off` (none), or a comma-separated list of `clob`, `dflow`, `solana`. `clob` is all of venue A’s. `auto`: `clob` wherever venue A is paper; `dflow` and `solana` where venue B is paper, too, and HOST is a loopback address.',
  }),
  PAPER_MARKETS: choice(['simulated', 'live'], 'simulated'),
  PAPER_SEED: int(0, 4_294_967_295, 1),
  PAPER_V2_MARKETS: choice(['few', 'third'], 'few'),
  PAPER_SPEED: Type.Number({ minimum: 0.001, maximum: 100_000, default: 1 }),
  PAPER_WORLD: flag(true),
  PAPER_GTD_MIN_LEAD_S: int(0, 86_400, 180),
  PAPER_FAULTS: Type.Optional(
    Type.String({
      description:
        'JSON. The faults that venue A’s doors show, to test clients against them: [doors.md](doors.md). Only on paper, and only while PUBLIC_URL is this machine.',
    }),
  ),
  PAPER_B_FILL: choice(['auto', 'partial', 'revert', 'never'], 'auto'),
  PAPER_B_FILL_DELAY_MS: int(0, 600_000, 600),
  PAPER_B_MAINTENANCE: choice(['off', 'on', 'schedule'], 'off'),
  PAPER_B_KYC: choice(['off', 'required'], 'off'),
  PAPER_B_GEOBLOCK: choice(['off', 'on'], 'off'),
  PAPER_FAUCET_PER_DAY: int(0, 1_000_000_000, 10_000),
  WEBHOOKS_ALLOW_LOOPBACK: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'off',
    description:
      'For development: agents may register webhooks to this machine, over http and on any port. Allows no other address.',
  }),
  WEBHOOK_INBOUND_SECRETS: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,49}=[!-+\\--~]{16,256}(,[a-z0-9][a-z0-9-]{0,49}=[!-+\\--~]{16,256})*$',
      description:
        'The sources that may call `/webhooks/inbound/{source}`, and the secrets that sign their calls: `source=secret` pairs, comma-separated; secrets of 16 to 256 printable characters.',
    }),
  ),
  FACTS_RETENTION_DAYS: Type.Integer({
    minimum: 7,
    maximum: 3_650,
    default: 7,
    description:
      'How long the log of facts is kept. An older cursor of a briefing is used as a time only; one of a stream of events is refused with 410. Streams promise seven days.',
    'x-because': 'a stream of events can be resumed for seven days, and reads this log',
  }),
  PRICE_DETAIL_DAYS: Type.Integer({
    minimum: 1,
    maximum: 3_650,
    default: 31,
    description:
      'How long every recorded price is kept; of older ones the last price of each hour stays, for price histories.',
  }),
  SIMULATION_BALANCE: Type.Number({ minimum: 0, maximum: 1e9, default: 10_000 }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(url()),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Type.Optional(url()),
  OTEL_EXPORTER_OTLP_PROTOCOL: choice(['http/json', 'http/protobuf'], 'http/json'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs(
    'Headers for the receiver of traces, such as its key: `name=value` pairs, comma-separated, values percent-encoded.',
  ),
  OTEL_SDK_DISABLED: Type.Optional(Type.String()),
  OTEL_SERVICE_NAME: Type.Optional(Type.String({ minLength: 1 })),
  OTEL_RESOURCE_ATTRIBUTES: pairs(
    'What every span says of this service, such as `deployment.environment.name=production`: `name=value` pairs, comma-separated, values percent-encoded.',
  ),
  OTEL_TRACES_SAMPLER: choice(
    [
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ],
    'parentbased_always_on',
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.Number({ minimum: 0, maximum: 1, default: 1 }),
});

export type Environment = Static<typeof ENVIRONMENT>;

export interface Config {
  readonly port: number;
  readonly host: string;
  readonly publicUrl: string;
  readonly basePath: string;
  readonly databaseUrl: string | null;
  readonly databasePool: number;
  /** `null`: as many as the machine has cores for. */
  readonly recoveryThreads: number | null;
  readonly load: {
    readonly deadlineMs: number;
    readonly maxTrades: number;
    readonly maxRequests: number;
  };
  readonly dataDir: string;
  readonly masterKey: string | null;
  /** The one of before, while a rotation lasts. */
  readonly formerMasterKey: string | null;
  readonly operatorKey: string | null;
  /** `null`: no proxy. A number of hops, or addresses and CIDRs. */
  readonly trustProxy: number | readonly string[] | null;
  readonly connections: { readonly maxConnections: number; readonly receiveMs: number };
  /** From the signal to end until no connection is taken any more. */
  readonly drainMs: number;
  /** Further allowed host names, lower case; loopback and the public URL's host are always allowed. */
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  /** Where other replicas reach this one; its own listening address when not given. */
  readonly replicaUrl: string | null;
  readonly logLevel: string;
  readonly chainId: number;
  readonly rateLimits: RateLimits | null;
  readonly factsRetentionMs: number;
  readonly priceDetailMs: number;
  /** The venue of requests that name none. */
  readonly defaultVenue: string;
  readonly exchange: {
    readonly name: string;
    readonly backend: 'paper' | 'live';
    /** `null`: the paper exchange. */
    readonly live: LivePolymarket | null;
    readonly profile: 'interface' | 'polymarket';
  };
  readonly dflow: {
    readonly name: string;
    /** `null`: the embedded sandbox. */
    readonly live: LiveDflow | null;
    readonly slippageBps: number;
    /** The header in which a trusted proxy names the caller's country, lower case. */
    readonly countryHeader: string | null;
  };
  readonly fees: {
    /** `null`: the service's own key, for the sandbox chain. */
    readonly fireblocks: FireblocksSettings | null;
    /** The signing key's own address when not given. */
    readonly wallet: string | null;
    readonly maxCharge: number;
  };
  readonly webhooks: {
    readonly allowLoopback: boolean;
    /** By source. */
    readonly inboundSecrets: ReadonlyMap<string, string>;
  };
  readonly paper: {
    readonly doors: ReadonlySet<PaperDoor>;
    /** The live venue whose markets are traded on paper; `null`: those of the simulated world. */
    readonly markets: PolymarketUrls | null;
    readonly seed: number;
    readonly v2Share: 'few' | 'third';
    readonly speed: number;
    readonly world: boolean;
    readonly gtdMinLeadS: number;
    readonly faucetPerDay: number;
    /** JSON. */
    readonly faults: string | null;
    readonly dflow: {
      readonly fill: Environment['PAPER_B_FILL'];
      readonly fillDelayMs: number;
      readonly maintenance: Environment['PAPER_B_MAINTENANCE'];
      readonly kyc: Environment['PAPER_B_KYC'];
      readonly geoblock: Environment['PAPER_B_GEOBLOCK'];
    };
    readonly simulationBalance: number;
  };
  /** `null`: no traces. */
  readonly tracing: Tracing | null;
}

export interface Tracing {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Environment['OTEL_TRACES_SAMPLER'];
  readonly ratio: number;
}

const DOORS = ['clob', 'dflow', 'solana'] as const;
/** Named in PAPER_DOORS, and by the paths under /paper that they serve. */
export type PaperDoor = (typeof DOORS)[number];

const isDoor = (name: string): name is PaperDoor => DOORS.some((door) => door === name);

export interface PolymarketUrls {
  readonly clob: string;
  readonly gamma: string;
  readonly data: string;
  readonly site: string;
  /** Of the sockets, without the channel. */
  readonly sockets: string;
}

export interface LivePolymarket {
  readonly urls: PolymarketUrls;
  /** False: everything but sending orders. */
  readonly sends: boolean;
  readonly doubtMs: number;
}

export interface LiveDflow {
  readonly metadataUrl: string;
  readonly tradeUrl: string;
  readonly apiKey: string | null;
  readonly rpcUrl: string;
  /** Kalshi's public status; `null`: only the weekly window is known. */
  readonly statusUrl: string | null;
}

export interface FireblocksSettings {
  readonly url: string;
  readonly apiKey: string;
  /** Path of the PEM file. */
  readonly keyFile: string;
  readonly vaultId: string;
  readonly assetId: string;
  readonly mode: 'raw' | 'program_call';
  readonly address: string;
}

/** Tokens a second and the largest burst, by class of route. */
export type RateLimits = Readonly<Record<string, { readonly perSecond: number; readonly burst: number }>>;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Prefixes of this service's settings; a misspelt name must stop the start. */
const OURS =
  /^(DEFAULT_VENUE|VENUE_[AB]_|LIVE_|POLYMARKET_|DFLOW_|SOLANA_|SIGNING_|FIREBLOCKS_|FEE_|MAX_FEE|PAPER_|REPLICA_|ALLOWED_|MAX_CONNECTIONS|RECEIVE_|DRAIN_|WEBHOOKS?_|RATE_LIMIT|FACTS_|REQUEST_DEADLINE|MAX_TRADES|MAX_REQUESTS|SIMULATION_|MASTER_KEY|OPERATOR_KEY|DATABASE_|DATA_DIR|PUBLIC_URL|BASE_PATH|TRUST_PROXY|LOG_LEVEL)/;

/** Not allowed as venue names: first path segments, and words with another meaning where a venue is named. */
const RESERVED = new Set([
  'all',
  'venues',
  'events',
  'internal',
  'agents',
  'agent',
  'owner',
  'operator',
  'markets',
  'wallet',
  'webhooks',
  'paper',
  'docs',
  'venueb',
  'healthz',
  'readyz',
  'metrics',
  'aiagent',
  'openapi.json',
  'llms.txt',
]);

type Setting = keyof typeof ENVIRONMENT.properties;

const isSetting = (name: string): name is Setting => name in ENVIRONMENT.properties;
const typeOf = (name: Setting): string | undefined =>
  (ENVIRONMENT.properties[name] as { readonly type?: string }).type;

/** Values are not rounded: 80.5 is not a port. */
const NUMERIC = new Set<string | undefined>(['integer', 'number']);
const NUMBER = /^-?\d+(\.\d+)?$/;

interface Explained {
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly 'x-because'?: string;
}

/** What a value must be. For a choice, the validator's message does not list the options. */
function expectation(name: string, message: string): string {
  const { anyOf: options, 'x-because': reason }: Explained = isSetting(name)
    ? (ENVIRONMENT.properties[name] as Explained)
    : {};
  const wanted =
    options === undefined
      ? message
      : `must be one of ${options.map((each) => String(each.const)).join(', ')}`;
  return `${name} ${wanted}${reason === undefined ? '' : `: ${reason}`}`;
}

export function readConfig(source: Readonly<Record<string, string | undefined>>): Config {
  const given: Record<string, string | number> = {};
  const unknown: string[] = [];
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || value === '') continue;
    if (isSetting(name))
      given[name] = NUMERIC.has(typeOf(name)) && NUMBER.test(value) ? Number(value) : value;
    else if (OURS.test(name) || misspelt(name) !== undefined)
      unknown.push(`${name} is not a setting of this service.${nearest(name)}`);
  }
  if (unknown.length > 0) throw new ConfigError(unknown.join(' '));
  const candidate = Value.Default(ENVIRONMENT, given);
  const problems = [...Value.Errors(ENVIRONMENT, candidate)];
  if (problems.length > 0) {
    const texts = problems.map(({ instancePath, message }) => expectation(instancePath.slice(1), message));
    throw new ConfigError(`${[...new Set(texts)].join('; ')}.`);
  }
  const env = candidate as Environment;
  const broken = brokenAddresses(env).map(
    (name) => `${name} has an address that is no URL: look at its host and port.`,
  );
  if (broken.length > 0) throw new ConfigError(broken.join(' '));
  return assemble(env);
}

/** The settings with addresses that their patterns let pass, and that nothing can call. */
function brokenAddresses(env: Environment): Setting[] {
  const isAddress = (name: Setting) => {
    const { pattern } = ENVIRONMENT.properties[name] as { readonly pattern?: string };
    return name === 'ALLOWED_ORIGINS' || pattern === HTTP_URL || pattern === SOCKET_URL;
  };
  const names = (Object.keys(ENVIRONMENT.properties) as Setting[]).filter(isAddress);
  return names.filter((name) => {
    const value = env[name] as string | undefined;
    const addresses = name === 'ALLOWED_ORIGINS' ? listed(value) : value === undefined ? [] : [value];
    return !addresses.every((address) => URL.canParse(address));
  });
}

function assemble(env: Environment): Config {
  if (env.DATABASE_URL !== undefined && env.MASTER_KEY === undefined) {
    throw new ConfigError(
      'MASTER_KEY is required with DATABASE_URL: 32 random bytes as 64 hex digits, e.g. from "openssl rand -hex 32".',
    );
  }
  const proxies = trustProxy(env.TRUST_PROXY);
  if (env.VENUE_B_COUNTRY_HEADER !== undefined && proxies === null) {
    throw new ConfigError(
      'VENUE_B_COUNTRY_HEADER needs TRUST_PROXY: without a proxy of yours the header is whatever the caller says.',
    );
  }
  if (env.VENUE_A_NAME === env.VENUE_B_NAME)
    throw new ConfigError('VENUE_A_NAME and VENUE_B_NAME must differ.');
  for (const name of ['VENUE_A_NAME', 'VENUE_B_NAME'] as const) {
    if (RESERVED.has(env[name]))
      throw new ConfigError(
        `${name}=${env[name]} is the first segment of a route or a reserved word; choose another name.`,
      );
  }
  return {
    port: env.PORT,
    host: env.HOST,
    publicUrl: (env.PUBLIC_URL ?? `http://localhost:${env.PORT}${env.BASE_PATH}`).replace(/\/+$/, ''),
    basePath: env.BASE_PATH,
    databaseUrl: env.DATABASE_URL ?? null,
    databasePool: env.DATABASE_POOL,
    recoveryThreads: env.RECOVERY_THREADS ?? null,
    load: {
      deadlineMs: env.REQUEST_DEADLINE_MS,
      maxTrades: env.MAX_TRADES_IN_FLIGHT,
      maxRequests: env.MAX_REQUESTS_IN_FLIGHT,
    },
    dataDir: env.DATA_DIR,
    masterKey: env.MASTER_KEY ?? null,
    formerMasterKey: env.MASTER_KEY_OLD ?? null,
    operatorKey: env.OPERATOR_KEY ?? null,
    trustProxy: proxies,
    drainMs: env.DRAIN_S * 1000,
    connections: { maxConnections: env.MAX_CONNECTIONS, receiveMs: env.RECEIVE_TIMEOUT_S * 1000 },
    hosts: knownHosts(env),
    origins: listed(env.ALLOWED_ORIGINS).map((text) => new URL(text).origin),
    replicaUrl: env.REPLICA_URL?.replace(/\/+$/, '') ?? null,
    logLevel: env.LOG_LEVEL,
    chainId: env.CHAIN_ID,
    rateLimits: env.RATE_LIMITS === 'off' ? null : rateLimits(env),
    factsRetentionMs: env.FACTS_RETENTION_DAYS * DAY_MS,
    priceDetailMs: env.PRICE_DETAIL_DAYS * DAY_MS,
    defaultVenue: env.DEFAULT_VENUE ?? env.VENUE_A_NAME,
    exchange: {
      name: env.VENUE_A_NAME,
      backend: env.VENUE_A_BACKEND,
      live: env.VENUE_A_BACKEND === 'live' ? livePolymarket(env) : null,
      profile: env.VENUE_A_ORDER_PROFILE ?? 'interface',
    },
    dflow: {
      name: env.VENUE_B_NAME,
      live: env.VENUE_B_BACKEND === 'live' ? liveDflow(env) : null,
      slippageBps: env.VENUE_B_SLIPPAGE_BPS,
      countryHeader: env.VENUE_B_COUNTRY_HEADER?.toLowerCase() ?? null,
    },
    fees: {
      fireblocks: env.SIGNING_PROVIDER === 'fireblocks' ? fireblocks(env) : null,
      wallet: env.FEE_WALLET ?? null,
      maxCharge: env.MAX_FEE_CHARGE,
    },
    webhooks: {
      allowLoopback: env.WEBHOOKS_ALLOW_LOOPBACK === 'on',
      inboundSecrets: inboundSecrets(env.WEBHOOK_INBOUND_SECRETS),
    },
    paper: {
      doors: paperDoors(env),
      markets: paperMarkets(env),
      seed: env.PAPER_SEED,
      speed: env.PAPER_SPEED,
      v2Share: env.PAPER_V2_MARKETS,
      world: env.PAPER_WORLD === 'on',
      gtdMinLeadS: env.PAPER_GTD_MIN_LEAD_S,
      faucetPerDay: env.PAPER_FAUCET_PER_DAY,
      faults: paperFaults(env),
      dflow: {
        fill: env.PAPER_B_FILL,
        fillDelayMs: env.PAPER_B_FILL_DELAY_MS,
        maintenance: env.PAPER_B_MAINTENANCE,
        kyc: env.PAPER_B_KYC,
        geoblock: env.PAPER_B_GEOBLOCK,
      },
      simulationBalance: env.SIMULATION_BALANCE,
    },
    tracing: tracing(env),
  };
}

const listed = (text: string | undefined): readonly string[] => (text === undefined ? [] : text.split(','));

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

function trustProxy(text: string): Config['trustProxy'] {
  if (text === 'off') return null;
  if (text === 'on') return 1;
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  const networks = text.split(',').map((part) => part.trim());
  if (networks.every(isNetwork)) return networks;
  throw new ConfigError(
    'TRUST_PROXY must be off, on (one proxy), the number of proxies from 1 to 99, or their addresses and CIDRs such as 10.0.0.0/8,fd00::/8.',
  );
}

const DFLOW_METADATA = 'https://prediction-markets-api.dflow.net';
const DFLOW_TRADE = 'https://quote-api.dflow.net';
const FIREBLOCKS = 'https://api.fireblocks.io';

const trimmed = (address: string): string => address.replace(/\/+$/, '');

/** Missing settings stop the start; the error names all of them. */
function required<const Name extends Setting>(
  env: Environment,
  because: string,
  names: readonly Name[],
): { readonly [N in Name]: NonNullable<Environment[N]> } {
  const missing = names.filter((name) => env[name] === undefined);
  if (missing.length > 0) throw new ConfigError(`${because} needs ${missing.join(', ')}.`);
  return env as never;
}

const POLYMARKET = {
  clob: 'https://clob.polymarket.com',
  gamma: 'https://gamma-api.polymarket.com',
  data: 'https://data-api.polymarket.com',
  site: 'https://polymarket.com',
  sockets: 'wss://ws-subscriptions-clob.polymarket.com/ws',
} as const;

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/i;

/** Whoever else reaches the service must not meet a venue that lies on purpose. */
function paperFaults({ PAPER_FAULTS, VENUE_A_BACKEND, PUBLIC_URL }: Environment): string | null {
  if (PAPER_FAULTS === undefined) return null;
  if (VENUE_A_BACKEND === 'live')
    throw new ConfigError('PAPER_FAULTS is for the paper venue, but VENUE_A_BACKEND=live.');
  if (PUBLIC_URL !== undefined && !LOOPBACK.test(new URL(PUBLIC_URL).hostname))
    throw new ConfigError('PAPER_FAULTS is for tests on this machine, but PUBLIC_URL names another host.');
  return PAPER_FAULTS;
}

const polymarketUrls = (env: Environment): PolymarketUrls => ({
  clob: trimmed(env.POLYMARKET_CLOB_URL ?? POLYMARKET.clob),
  gamma: trimmed(env.POLYMARKET_GAMMA_URL ?? POLYMARKET.gamma),
  data: trimmed(env.POLYMARKET_DATA_URL ?? POLYMARKET.data),
  site: trimmed(env.POLYMARKET_SITE_URL ?? POLYMARKET.site),
  sockets: trimmed(env.POLYMARKET_WS_URL ?? POLYMARKET.sockets),
});

/** @throws ConfigError where no order is on paper */
function paperMarkets(env: Environment): PolymarketUrls | null {
  if (env.PAPER_MARKETS === 'simulated') return null;
  if (env.VENUE_A_BACKEND === 'live')
    throw new ConfigError('PAPER_MARKETS=live is for venue A on paper, but VENUE_A_BACKEND is live.');
  return polymarketUrls(env);
}

function livePolymarket(env: Environment): LivePolymarket {
  // Real money goes by what the operator has read, not by a default.
  if (env.VENUE_A_ORDER_PROFILE !== 'polymarket')
    throw new ConfigError(
      env.VENUE_A_ORDER_PROFILE === undefined
        ? 'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket, set explicitly.'
        : 'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket: the venue takes no orders of the profile "interface".',
    );
  return {
    urls: polymarketUrls(env),
    sends: env.LIVE_ORDERS === 'on',
    doubtMs: env.VENUE_A_DOUBT_S * 1000,
  };
}

function liveDflow(env: Environment): LiveDflow {
  if (env.SIGNING_PROVIDER === 'local')
    throw new ConfigError(
      'VENUE_B_BACKEND=live needs SIGNING_PROVIDER=fireblocks: the local key signs for the sandbox chain only.',
    );
  const { SOLANA_RPC_URL } = required(env, 'VENUE_B_BACKEND=live', ['SOLANA_RPC_URL']);
  return {
    metadataUrl: trimmed(env.DFLOW_METADATA_URL ?? DFLOW_METADATA),
    tradeUrl: trimmed(env.DFLOW_TRADE_URL ?? DFLOW_TRADE),
    apiKey: env.DFLOW_API_KEY ?? null,
    rpcUrl: SOLANA_RPC_URL,
    statusUrl: env.VENUE_B_STATUS_URL ?? null,
  };
}

function fireblocks(env: Environment): FireblocksSettings {
  const given = required(env, 'SIGNING_PROVIDER=fireblocks', [
    'FIREBLOCKS_API_KEY',
    'FIREBLOCKS_KEY_FILE',
    'FIREBLOCKS_VAULT_ID',
    'FIREBLOCKS_ADDRESS',
  ]);
  return {
    url: trimmed(env.FIREBLOCKS_URL ?? FIREBLOCKS),
    apiKey: given.FIREBLOCKS_API_KEY,
    keyFile: given.FIREBLOCKS_KEY_FILE,
    vaultId: given.FIREBLOCKS_VAULT_ID,
    assetId: env.FIREBLOCKS_ASSET_ID,
    mode: env.FIREBLOCKS_MODE,
    address: given.FIREBLOCKS_ADDRESS,
  };
}

/** Errors never quote the secrets. */
function inboundSecrets(text = ''): ReadonlyMap<string, string> {
  const secrets = new Map<string, string>();
  for (const pair of text === '' ? [] : text.split(',')) {
    const [source = '', ...secret] = pair.split('=');
    if (secrets.has(source)) throw new ConfigError(`WEBHOOK_INBOUND_SECRETS names ${source} twice.`);
    secrets.set(source, secret.join('='));
  }
  return secrets;
}

/** The receiver's address for traces is taken as it is; the general one is where all signals go, each to its path. */
function tracing(env: Environment): Tracing | null {
  const general = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url =
    env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ??
    (general === undefined ? null : `${trimmed(general)}/v1/traces`);
  if (url === null || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return null;
  const resource = pairsIn('OTEL_RESOURCE_ATTRIBUTES', env);
  return {
    url,
    headers: pairsIn('OTEL_EXPORTER_OTLP_HEADERS', env),
    resource: {
      ...resource,
      'service.name': env.OTEL_SERVICE_NAME ?? resource['service.name'] ?? 'bellwether',
    },
    sampler: env.OTEL_TRACES_SAMPLER,
    ratio: env.OTEL_TRACES_SAMPLER_ARG,
  };
}

/** @throws ConfigError without the value, which may be a secret */
function pairsIn(
  name: 'OTEL_EXPORTER_OTLP_HEADERS' | 'OTEL_RESOURCE_ATTRIBUTES',
  env: Environment,
): Readonly<Record<string, string>> {
  const given = listed(env[name]).map((pair) => pair.trim().split('='));
  try {
    return Object.fromEntries(
      given.map(([key = '', ...value]) => [key, decodeURIComponent(value.join('=').trim())]),
    );
  } catch {
    throw new ConfigError(`${name} has a value with a broken percent-encoding; write a literal % as %25.`);
  }
}

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** The sandbox chain and its venue give money and computing time to any caller: by default only this machine has access. */
function paperDoors({
  PAPER_DOORS,
  HOST,
  VENUE_A_BACKEND,
  VENUE_B_BACKEND,
}: Environment): ReadonlySet<PaperDoor> {
  // The doors of a venue that is live here would be mistaken for it.
  const doors = DOORS.filter((door) => door !== 'clob' || VENUE_A_BACKEND === 'paper');
  switch (PAPER_DOORS) {
    case 'off':
      return new Set();
    case 'on':
      return new Set(doors);
    case 'auto': {
      const isSandboxOpen = VENUE_B_BACKEND === 'paper' && LOOPBACK_HOST.test(HOST);
      return new Set(doors.filter((door) => door === 'clob' || isSandboxOpen));
    }
  }
  const named = PAPER_DOORS.split(',');
  if (!named.every(isDoor))
    throw new ConfigError(
      `PAPER_DOORS must be auto, on, off, or some of ${DOORS.join(', ')}, separated by commas; not "${PAPER_DOORS}".`,
    );
  if (named.includes('clob') && VENUE_A_BACKEND === 'live')
    throw new ConfigError('PAPER_DOORS names clob, but venue A is live.');
  return new Set(named);
}

const rateLimits = (env: Environment): RateLimits => ({
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
  trade: { perSecond: env.RATE_LIMIT_TRADE_PER_SECOND, burst: env.RATE_LIMIT_TRADE_BURST },
  exit: { perSecond: env.RATE_LIMIT_EXIT_PER_SECOND, burst: env.RATE_LIMIT_EXIT_BURST },
  search: { perSecond: env.RATE_LIMIT_SEARCH_PER_SECOND, burst: env.RATE_LIMIT_SEARCH_BURST },
  read: { perSecond: env.RATE_LIMIT_READ_PER_SECOND, burst: env.RATE_LIMIT_READ_BURST },
  door: { perSecond: env.RATE_LIMIT_DOOR_PER_SECOND, burst: env.RATE_LIMIT_DOOR_BURST },
});

/** Shorter names are within an edit of too much that is not meant for this service. */
const LEAST_NAME_CHARS = 7;
/** Many other programs read it. */
const OF_OTHERS = 'LOGLEVEL';
const plain = (name: string): string => name.replaceAll('_', '').toUpperCase();

/** The setting that a name spells in another way, or with one letter too many, missing, replaced or swapped. */
function misspelt(name: string): string | undefined {
  const given = plain(name);
  if (given.length < LEAST_NAME_CHARS || name === OF_OTHERS) return undefined;
  return Object.keys(ENVIRONMENT.properties).find((setting) => isOneEdit(given, plain(setting)));
}

function isOneEdit(a: string, b: string): boolean {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isSwap = left.length === 2 && left === [...right].toReversed().join('');
  return isSwap || (left.length <= 1 && right.length <= 1);
}

function nearest(name: string): string {
  const meant = misspelt(name);
  if (meant !== undefined) return ` Did you mean ${meant}?`;
  const shared = (a: string, b: string) => [...a].filter((c, i) => b[i] === c).length;
  const [best] = Object.keys(ENVIRONMENT.properties).sort((a, b) => shared(name, b) - shared(name, a));
  return best === undefined ? '' : ` Did you mean ${best}?`;
}
