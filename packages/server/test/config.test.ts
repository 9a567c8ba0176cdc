import type { Operation } from '@bellwether/contract';
import * as contract from '@bellwether/contract';
import { LIMITS } from '@bellwether/contract';
import { describe, expect, test } from 'vitest';
import { type Config, ENVIRONMENT, readConfig } from '../src/config.ts';
import { ConfigError } from '../src/platform/settings.ts';

const KEY = 'ab'.repeat(32);

function refusalOf(environment: Record<string, string>): string {
  try {
    readConfig(environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error(`${JSON.stringify(environment)} was accepted`);
}

/** Settings as the venue's folder gets them. */
const settingsOf = (config: Config, id: string) =>
  config.venues.find((venue) => venue.id === id)?.settings as Record<string, unknown>;

test('an empty environment configures a paper service on this machine', () => {
  expect(readConfig({ PATH: '/bin', HOME: '/root' })).toMatchObject({
    port: 8080,
    host: '127.0.0.1',
    publicUrl: 'http://localhost:8080',
    basePath: '',
    databaseUrl: null,
    dataDir: './data',
    venues: [
      { id: 'polymarket', backend: 'paper', settings: { profile: 'interface' } },
      { id: 'kalshi', backend: 'paper' },
    ],
    paper: { gtdMinLeadS: 180, simulationBalance: 10_000 },
  });
});

test('says why the log of facts is kept for a week at least', () => {
  expect(refusalOf({ FACTS_RETENTION_DAYS: '6' })).toBe(
    'FACTS_RETENTION_DAYS must be >= 7: a stream of events can be resumed for seven days, and reads this log.',
  );
  expect(readConfig({ FACTS_RETENTION_DAYS: '7' }).factsRetentionMs).toBe(7 * 24 * 3_600_000);
});

/** An invalid value for every setting that has any. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  PORT: ['x', '70000', '-1', '80.5', '8080 ', '1e3'],
  PUBLIC_URL: ['ftp://x', 'example.com'],
  BASE_PATH: ['x', '/x/'],
  DATABASE_URL: ['mysql://x'],
  MASTER_KEY: ['secret', KEY.slice(1)],
  OPERATOR_KEY: ['short'],
  TRUST_PROXY: [
    'yes',
    'ON',
    '0',
    '100',
    '1.5',
    '10.0.0.0/33',
    '10.0.0',
    '256.1.1.1',
    'fd00::/129',
    'g::1',
    '10.0.0.1,',
    '10.0.0.0/8/8',
    'loopback',
  ],
  ALLOWED_HOSTS: ['https://a.example', 'a b', 'a,,b', '-a', 'a:80'],
  ALLOWED_ORIGINS: ['a.example', 'https://a.example/', 'ftp://a', 'https://a.example,'],
  MAX_CONNECTIONS: ['9', '1e9'],
  RECEIVE_TIMEOUT_S: ['0', '601'],
  LOG_LEVEL: ['loud'],
  RATE_LIMITS: ['maybe'],
  RATE_LIMIT_REGISTER_PER_HOUR: ['0'],
  RATE_LIMIT_TRADE_BURST: ['0', '1.5', '19'],
  DATABASE_POOL: ['3', '91'],
  CHAIN_ID: ['0'],
  VENUE_A_NAME: ['A B', ''.padEnd(51, 'a')],
  VENUE_A_BACKEND: ['real'],
  VENUE_A_ORDER_PROFILE: ['both'],
  VENUE_B_NAME: ['-x'],
  VENUE_B_BACKEND: ['sandbox'],
  VENUE_B_SLIPPAGE_BPS: ['0', '10001'],
  VENUE_B_PRICE_IMPACT_PERCENT: ['-1', '101', '1.5'],
  VENUE_B_COUNTRY_HEADER: ['cf ipcountry'],
  VENUE_B_COUNTRY_CHECKED_ELSEWHERE: ['by-proxy'],
  DFLOW_METADATA_URL: ['dflow.net'],
  DFLOW_TRADE_URL: ['ftp://dflow.net'],
  DFLOW_PROOF_URL: ['proof.dflow.net'],
  SOLANA_RPC_URL: ['wss://rpc'],
  VENUE_B_STATUS_URL: ['kalshi'],
  SIGNING_PROVIDER: ['remote'],
  FIREBLOCKS_URL: ['fireblocks.io'],
  FIREBLOCKS_VAULT_ID: ['main'],
  FIREBLOCKS_MODE: ['blind'],
  FIREBLOCKS_ADDRESS: ['0x00'],
  FEE_WALLET: ['0OIl', 'abc'],
  MAX_FEE_CHARGE: ['0', '-1', '1000001'],
  PAPER_B_FILL: ['always'],
  PAPER_B_FILL_DELAY_MS: ['-1'],
  PAPER_B_MAINTENANCE: ['thursday'],
  PAPER_B_KYC: ['on'],
  PAPER_B_GEOBLOCK: ['US'],
  PAPER_DOORS: ['open'],
  PAPER_SEED: ['-1', '4294967296'],
  PAPER_SPEED: ['0', '100001', 'fast'],
  PAPER_MARKETS: ['real'],
  PAPER_WORLD: ['flat'],
  PAPER_GTD_MIN_LEAD_S: ['86401'],
  PAPER_FAUCET_PER_DAY: ['-1'],
  SIMULATION_BALANCE: ['-1', 'NaN', 'Infinity'],
};

test.for(Object.entries(WRONG).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  '%s=%s is refused by name',
  ([name, value]) => {
    const said = refusalOf({ [name]: value, ...(name === 'MASTER_KEY' ? {} : { MASTER_KEY: KEY }) });
    expect(said).toContain(`${name} `);
    expect(said).toMatch(/\.$/);
  },
);

test('the error for an invalid secret does not contain it', () => {
  expect(refusalOf({ MASTER_KEY: 'hunter2' })).not.toContain('hunter2');
  expect(refusalOf({ OPERATOR_KEY: 'hunter2' })).not.toContain('hunter2');
});

test('all invalid values are reported together', () => {
  const said = refusalOf({ PORT: 'x', LOG_LEVEL: 'loud' });
  expect(said).toContain('PORT');
  expect(said).toContain('LOG_LEVEL must be one of fatal');
});

const CUSTODY = {
  SIGNING_PROVIDER: 'fireblocks',
  FIREBLOCKS_API_KEY: 'user',
  FIREBLOCKS_KEY_FILE: './key.pem',
  FIREBLOCKS_VAULT_ID: '7',
  FIREBLOCKS_ADDRESS: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
};

const LIVE_B = {
  ...{ VENUE_B_BACKEND: 'live', SOLANA_RPC_URL: 'https://rpc.example', ...CUSTODY },
  VENUE_B_COUNTRY_CHECKED_ELSEWHERE: 'on',
};

test('the live quote venue defaults to the real services', () => {
  const config = readConfig(LIVE_B);
  expect(settingsOf(config, 'kalshi').live).toEqual({
    metadataUrl: 'https://prediction-markets-api.dflow.net',
    tradeUrl: 'https://quote-api.dflow.net',
    proofUrl: 'https://proof.dflow.net',
    apiKey: null,
    rpcUrl: 'https://rpc.example',
    statusUrl: null,
  });
  expect(config.fees.fireblocks).toMatchObject({
    url: 'https://api.fireblocks.io',
    vaultId: '7',
    mode: 'raw',
  });
});

describe('names that are not allowed for a venue', () => {
  const operations = (Object.values(contract) as readonly unknown[]).filter(
    (value): value is Operation => typeof value === 'object' && value !== null && 'rateClass' in value,
  );
  const taken = new Set([
    'all',
    'venues',
    'events',
    'internal',
    ...operations.map(({ path }) => path.split('/')[1] as string),
  ]);

  test.each([...taken])('%s', (name) => {
    expect(refusalOf({ VENUE_A_NAME: name })).toContain(`VENUE_A_NAME=${name}`);
    expect(refusalOf({ VENUE_B_NAME: name })).toContain(`VENUE_B_NAME=${name}`);
  });
});

test('a trade burst has room for the largest batch', () => {
  expect(readConfig({ RATE_LIMIT_TRADE_BURST: String(LIMITS.ordersPerBatch) }).rateLimits?.trade?.burst).toBe(
    20,
  );
  expect(refusalOf({ RATE_LIMIT_TRADE_BURST: String(LIMITS.ordersPerBatch - 1) })).toContain(
    'RATE_LIMIT_TRADE_BURST',
  );
});

test('TRUST_PROXY is a count or a list of addresses', () => {
  const proxies = (text: string) => readConfig({ TRUST_PROXY: text }).trustProxy;
  expect(readConfig({}).trustProxy).toBeNull();
  expect(proxies('off')).toBeNull();
  expect(proxies('on')).toBe(1);
  expect(proxies('3')).toBe(3);
  expect(proxies('10.0.0.0/8, 192.168.1.1,fd00::/8')).toEqual(['10.0.0.0/8', '192.168.1.1', 'fd00::/8']);
});

test('accepted hosts are the configured ones, the listening address and the replica’s own', () => {
  const hosts = (environment: Record<string, string>) => readConfig(environment).hosts;
  expect(hosts({})).toEqual(['127.0.0.1']);
  expect(hosts({ HOST: '0.0.0.0', ALLOWED_HOSTS: 'Desk.example,[fd00::1]' })).toEqual([
    'desk.example',
    '[fd00::1]',
  ]);
  expect(hosts({ HOST: '::' })).toEqual([]);
  expect(hosts({ HOST: 'fd00::7', REPLICA_URL: 'http://one.internal:8080/desk' })).toEqual([
    '[fd00::7]',
    'one.internal',
  ]);
});

describe('settings that depend on each other', () => {
  test.for([
    ['DATABASE_URL needs MASTER_KEY', { DATABASE_URL: 'postgres://x/y' }, 'MASTER_KEY'],
    ['live needs a profile', { VENUE_A_BACKEND: 'live' }, 'VENUE_A_ORDER_PROFILE'],
    [
      'live refuses the profile of the interface',
      { VENUE_A_BACKEND: 'live', VENUE_A_ORDER_PROFILE: 'interface' },
      'VENUE_A_ORDER_PROFILE=polymarket',
    ],
    [
      'a live venue A has no paper doors',
      { VENUE_A_BACKEND: 'live', VENUE_A_ORDER_PROFILE: 'polymarket', PAPER_DOORS: 'clob' },
      'PAPER_DOORS',
    ],
    ['a misspelt address of the live venue', { POLYMARKET_CLOB_URI: 'https://x' }, 'POLYMARKET_CLOB_URI'],
    [
      'the live quote venue needs a custodian',
      { VENUE_B_BACKEND: 'live', SOLANA_RPC_URL: 'https://rpc.example' },
      'SIGNING_PROVIDER=fireblocks',
    ],
    [
      'fireblocks reports all missing settings',
      { SIGNING_PROVIDER: 'fireblocks' },
      'FIREBLOCKS_VAULT_ID, FIREBLOCKS_ADDRESS',
    ],
    ['the live quote venue needs a chain', { VENUE_B_BACKEND: 'live', ...CUSTODY }, 'SOLANA_RPC_URL'],
    [
      'the live quote venue needs a word about countries',
      { ...LIVE_B, VENUE_B_COUNTRY_CHECKED_ELSEWHERE: 'off' },
      'VENUE_B_BACKEND=live needs VENUE_B_COUNTRY_HEADER, in which your proxy names the caller’s country; or VENUE_B_COUNTRY_CHECKED_ELSEWHERE=on',
    ],
    [
      'countries are checked here or elsewhere',
      { ...LIVE_B, VENUE_B_COUNTRY_HEADER: 'CF-IPCountry', TRUST_PROXY: 'on' },
      'exclude each other',
    ],
    ['a country needs a proxy', { VENUE_B_COUNTRY_HEADER: 'CF-IPCountry' }, 'needs TRUST_PROXY'],
    ['two venues of one name', { VENUE_A_NAME: 'kalshi' }, 'VENUE_B_NAME'],
    ['a venue named like a route', { VENUE_B_NAME: 'agents' }, 'VENUE_B_NAME=agents'],
    ['an unknown setting', { PAPER_SEEDS: '1' }, 'PAPER_SEEDS'],
    ['an unknown setting, with a suggestion', { PAPER_SEEDS: '1' }, 'Did you mean PAPER_SEED?'],
    ['a missing letter', { DATABSE_URL: 'postgres://x/y' }, 'Did you mean DATABASE_URL?'],
    ['a missing underscore', { MASTERKEY: KEY }, 'Did you mean MASTER_KEY?'],
    ['another missing underscore', { TRUSTPROXY: '1' }, 'Did you mean TRUST_PROXY?'],
    ['small letters', { data_dir: '/data' }, 'Did you mean DATA_DIR?'],
    ['two letters swapped', { OPERATRO_KEY: 'x' }, 'Did you mean OPERATOR_KEY?'],
    ['a misspelt name of the tracer', { OTEL_EXPORTER_OTLP_ENDPONT: 'x' }, 'OTEL_EXPORTER_OTLP_ENDPOINT?'],
    [
      'a public address that is no URL',
      { PUBLIC_URL: 'http://[' },
      'PUBLIC_URL has an address that is no URL',
    ],
    ['a port that there is not', { REPLICA_URL: 'http://one.internal:99999' }, 'REPLICA_URL has'],
    [
      'an origin that is no URL',
      { ALLOWED_ORIGINS: 'https://a.example,http://a:99999' },
      'ALLOWED_ORIGINS has',
    ],
    ['an address of sockets that is no URL', { POLYMARKET_WS_URL: 'ws://[' }, 'POLYMARKET_WS_URL has'],
    ['a receiver of traces that is no URL', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://[' }, 'OTLP_ENDPOINT has'],
    ['an unknown limit', { RATE_LIMIT_TRADES: '1' }, 'RATE_LIMIT_TRADES'],
  ] as const)('%s', ([, environment, named]) => {
    expect(refusalOf(environment)).toContain(named);
  });
});

test('a refusal names every misspelt setting, and every address that is no URL', () => {
  expect(refusalOf({ DATABSE_URL: 'postgres://x/y', MASTERKEY: KEY })).toBe(
    'DATABSE_URL is not a setting of this service. Did you mean DATABASE_URL? ' +
      'MASTERKEY is not a setting of this service. Did you mean MASTER_KEY?',
  );
  expect(refusalOf({ PUBLIC_URL: 'http://[', REPLICA_URL: 'http://one.internal:99999' })).toMatch(
    /PUBLIC_URL has .* REPLICA_URL has /,
  );
});

describe('a refusal', () => {
  test('names wrong values, misspelt names, broken addresses and what does not fit together at once', () => {
    expect(
      refusalOf({
        ...{ PORT: 'x', DATABSE_URL: 'postgres://x/y', PUBLIC_URL: 'http://[', MASTER_KEY: KEY },
        ...{ VENUE_A_NAME: 'agents', VENUE_B_BACKEND: 'live', PAPER_FAULTS: '{}', VENUE_A_BACKEND: 'live' },
      }),
    ).toBe(
      'DATABSE_URL is not a setting of this service. Did you mean DATABASE_URL? PORT must be integer. ' +
        'PUBLIC_URL has an address that is no URL: look at its host and port. ' +
        'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket, set explicitly. ' +
        'PAPER_FAULTS is for the paper venue, but VENUE_A_BACKEND=live. ' +
        'VENUE_B_BACKEND=live needs SIGNING_PROVIDER=fireblocks: the local key signs for the sandbox chain only. ' +
        'VENUE_B_BACKEND=live needs SOLANA_RPC_URL. ' +
        'VENUE_B_BACKEND=live needs VENUE_B_COUNTRY_HEADER, in which your proxy names the caller’s country; or VENUE_B_COUNTRY_CHECKED_ELSEWHERE=on, if you keep callers out by other means where venue B must not be offered. ' +
        'VENUE_A_NAME=agents is the first segment of a route or a reserved word; choose another name.',
    );
  });

  test('does not complain again about a setting that is misspelt or wrong', () => {
    expect(refusalOf({ DATABASE_URL: 'postgres://x/y', MASTERKEY: KEY })).toBe(
      'MASTERKEY is not a setting of this service. Did you mean MASTER_KEY?',
    );
    // The doors of a venue that is refused are not known.
    expect(refusalOf({ VENUE_A_BACKEND: 'live', PAPER_DOORS: 'clob' })).toBe(
      'VENUE_A_BACKEND=live needs VENUE_A_ORDER_PROFILE=polymarket, set explicitly.',
    );
    expect(refusalOf({ DATABASE_URL: 'postgres://x/y', MASTER_KEY: 'short' })).toMatch(
      /^MASTER_KEY must match [^ ]+ [^ ]+\.$/,
    );
  });

  const settings = Object.entries(ENVIRONMENT.properties as Record<string, Record<string, unknown>>);
  const secrets = settings.filter(([, schema]) => schema['x-secret'] === true).map(([name]) => name);

  test.each(secrets)('never holds the value of the secret %s', (name) => {
    const value = 'hunter2,hunter2=hunter2 %';
    for (const spelt of [name, `${name}S`])
      expect(refusalOf({ [spelt]: value, PORT: 'x', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a' })).not.toContain(
        'hunter2',
      );
    expect(secrets.length).toBeGreaterThan(5);
  });

  test('never takes what every object has for a setting', () => {
    expect(readConfig({ constructor: 'x', toString: 'y' } as never).port).toBe(8080);
  });
});

test('the live venue A defaults to the real services, and sends orders', () => {
  const live = { VENUE_A_BACKEND: 'live', VENUE_A_ORDER_PROFILE: 'polymarket' };
  const config = readConfig(live);
  expect(config.venues[0]).toMatchObject({ id: 'polymarket', backend: 'live' });
  expect(settingsOf(config, 'polymarket')).toEqual({
    name: 'polymarket',
    followed: null,
    faults: null,
    profile: 'polymarket',
    live: {
      sends: true,
      doubtMs: 180_000,
      relayer: null,
      urls: {
        clob: 'https://clob.polymarket.com',
        gamma: 'https://gamma-api.polymarket.com',
        data: 'https://data-api.polymarket.com',
        site: 'https://polymarket.com',
        relayer: 'https://relayer-v2.polymarket.com',
        sockets: 'wss://ws-subscriptions-clob.polymarket.com/ws',
      },
    },
  });
  const elsewhere = readConfig({
    ...live,
    LIVE_ORDERS: 'off',
    POLYMARKET_CLOB_URL: 'http://127.0.0.1:1/clob/',
    POLYMARKET_WS_URL: 'ws://127.0.0.1:1/ws/',
  });
  expect(settingsOf(elsewhere, 'polymarket').live).toMatchObject({
    sends: false,
    urls: { clob: 'http://127.0.0.1:1/clob', sockets: 'ws://127.0.0.1:1/ws' },
  });
  expect([...elsewhere.paper.doors]).toEqual(['dflow', 'solana']);
});

test.for([
  [{ POLYMARKET_RELAYER_API_KEY: 'k' }, 'belong together: set both'],
  [{ POLYMARKET_BUILDER_API_KEY: 'k', POLYMARKET_BUILDER_SECRET: 's' }, 'belong together: set all three'],
  [
    {
      ...{ POLYMARKET_RELAYER_API_KEY: 'k', POLYMARKET_RELAYER_API_KEY_ADDRESS: '0x1' },
      ...{ POLYMARKET_BUILDER_API_KEY: 'k', POLYMARKET_BUILDER_SECRET: 's' },
      POLYMARKET_BUILDER_PASSPHRASE: 'p',
    },
    'not both',
  ],
] as const)('credentials of the relayer are whole, and of one kind: %j', ([environment, words]) => {
  const live = {
    VENUE_A_BACKEND: 'live',
    VENUE_A_ORDER_PROFILE: 'polymarket',
    DATABASE_URL: 'postgres://x/y',
  };
  expect(() => readConfig({ ...live, MASTER_KEY: 'x'.repeat(44), ...environment })).toThrow(words);
});

test.for([
  [{}, ['clob', 'dflow', 'solana']],
  [{ HOST: 'localhost' }, ['clob', 'dflow', 'solana']],
  [{ HOST: '::1' }, ['clob', 'dflow', 'solana']],
  [{ HOST: '0.0.0.0' }, ['clob']],
  [{ HOST: '::' }, ['clob']],
  [{ HOST: '127.example.com' }, ['clob']],
  [LIVE_B, ['clob']],
  [{ HOST: '0.0.0.0', PAPER_DOORS: 'on' }, ['clob', 'dflow', 'solana']],
  [{ PAPER_DOORS: 'off' }, []],
  [{ PAPER_DOORS: 'solana,clob' }, ['solana', 'clob']],
] as const)('the paper doors of %j are %j', ([environment, doors]) => {
  expect([...readConfig(environment).paper.doors]).toEqual(doors);
});

test('an empty value counts as unset, and unknown variables are ignored', () => {
  const others = {
    LOGLEVEL: 'DEBUG',
    PGHOST: 'x',
    NODE_ENV: 'test',
    HOSTNAME: 'x',
    OTEL_EXPORTER_OTLP_TIMEOUT: '5',
    SPORT: 'x',
  };
  expect(readConfig({ PORT: '', ...others }).port).toBe(8080);
});

test('every setting has a default or is optional, and the defaults are valid', () => {
  const defaults = Object.fromEntries(
    Object.entries(ENVIRONMENT.properties)
      .map(([name, schema]) => [name, (schema as { default?: unknown }).default])
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([name, value]) => [name, String(value)]),
  );
  expect(JSON.stringify(readConfig(defaults))).toBe(JSON.stringify(readConfig({})));
  expect(readConfig(defaults).paper).toEqual(readConfig({}).paper);
});
