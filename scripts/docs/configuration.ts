/** The table of docs/configuration.md: every environment variable, its default and its values. */
import { ENVIRONMENT, type Environment } from '../../packages/server/src/config.ts';
import { table } from './markdown.ts';

/** The meaning of each variable; others have it in their schema's `description`. */
const MEANINGS: Readonly<Partial<Record<keyof Environment, string>>> = {
  PORT: 'Port to listen on; 0 takes a free one.',
  HOST: 'Address to listen on. The default answers only this machine; `0.0.0.0` answers every machine.',
  PUBLIC_URL:
    'How others reach the service: claim links, the API reference and the pages. Passkeys are bound to its host, which cannot be an IP address.',
  BASE_PATH: 'Prefix of every route, such as `/api`; `/healthz` and `/readyz` stay at the root too.',
  DATABASE_URL:
    'A PostgreSQL 15 or later of your own, at one host, without a pooler before it. Of the parameters `sslmode`, `sslnegotiation`, `sslrootcert=system`, `host`, `port`, `options` and names of session settings are carried out; others are refused. Without it an embedded one is started.',
  DATA_DIR: 'Folder of the embedded database and the generated master key.',
  MASTER_KEY: 'Key that seals venue credentials and hashes API keys. Required with `DATABASE_URL`.',
  MASTER_KEY_OLD:
    'The master key of before, while it is rotated ([operations.md](operations.md)). Opens what it has sealed.',
  OPERATOR_KEY: 'Opens the routes under `/operator`, as a bearer key. Without it they answer 403.',
  REPLICA_URL: 'Where other replicas on the same database reach this one.',
  DRAIN_S:
    'Seconds for which a replica that is asked to end (SIGTERM) still takes requests while `/readyz` answers 503: more than your proxy needs to notice.',
  LOG_LEVEL: 'Least serious level that is logged, as JSON lines on standard error.',
  RATE_LIMITS: 'Off for load tests.',
  RATE_LIMIT_REGISTER_PER_HOUR: 'Registrations and faucet draws per address and hour; also the burst.',
  RATE_LIMIT_CLAIM_PER_MINUTE: 'Claim look-ups per address and minute; also the burst.',
  RATE_LIMIT_FAILED_AUTH_PER_MINUTE: 'Wrong API keys per address and minute; also the burst.',
  RATE_LIMIT_FAILED_OPERATOR_PER_MINUTE: 'Wrong operator keys per address and minute; also the burst.',
  RATE_LIMIT_TRADE_PER_SECOND: 'Trades per agent and second.',
  RATE_LIMIT_TRADE_BURST: 'Trades at once; at least as many as a batch may hold.',
  RATE_LIMIT_EXIT_PER_SECOND: 'Cancels and changes of settings per agent and second.',
  RATE_LIMIT_EXIT_BURST: 'Cancels and changes of settings at once.',
  RATE_LIMIT_SEARCH_PER_SECOND: 'Searches, contexts and order histories per agent and second.',
  RATE_LIMIT_SEARCH_BURST: 'Searches, contexts and order histories at once.',
  RATE_LIMIT_READ_PER_SECOND: 'Everything else, per agent and second.',
  RATE_LIMIT_READ_BURST: 'Everything else, at once.',
  RATE_LIMIT_DOOR_PER_SECOND: 'Requests to the paper doors per address and second.',
  RATE_LIMIT_DOOR_BURST: 'Requests to the paper doors at once.',
  DATABASE_POOL: 'Connections to the database, apart from the journal’s own.',
  CHAIN_ID: 'Chain id of the EIP-712 domain that orders are signed for.',
  DEFAULT_VENUE: 'Name of the venue that a request means when it names none.',
  VENUE_A_NAME: 'Name of venue A.',
  VENUE_A_BACKEND:
    'Backend of venue A: the paper exchange, or the real venue (`live`), which needs `VENUE_A_ORDER_PROFILE=polymarket`. A database belongs to one of them for good.',
  POLYMARKET_CLOB_URL: 'The order book of live venue A.',
  POLYMARKET_GAMMA_URL: 'The catalogue of live venue A.',
  POLYMARKET_DATA_URL: 'The data service of live venue A.',
  POLYMARKET_SITE_URL: 'Where live venue A says which regions it serves.',
  VENUE_A_ORDER_PROFILE:
    'Which struct version 2 orders sign: 12 fields (`interface`) or the venue’s own 11 (`polymarket`).',
  VENUE_B_NAME: 'Name of venue B; its routes answer under `/venueb` and under this name.',
  VENUE_B_BACKEND:
    'Backend of venue B: the embedded sandbox (`paper`), or DFlow and Solana themselves (`live`).',
  VENUE_B_SLIPPAGE_BPS: 'How much less than quoted a fill on venue B may give, in hundredths of a percent.',
  VENUE_B_COUNTRY_HEADER:
    'Header in which your proxy names the caller’s country (ISO 3166, such as `CF-IPCountry`): quotes are refused where venue B must not be offered. Needs `TRUST_PROXY`.',
  DFLOW_METADATA_URL: 'DFlow’s metadata API.',
  DFLOW_TRADE_URL: 'DFlow’s trade API.',
  DFLOW_API_KEY: 'Key of both DFlow APIs.',
  SOLANA_RPC_URL: 'Solana JSON-RPC. Required with `VENUE_B_BACKEND=live`.',
  VENUE_B_STATUS_URL:
    'Kalshi’s public exchange status (`…/trade-api/v2/exchange/status`); without it only the weekly maintenance window is known.',
  SIGNING_PROVIDER: 'Who signs fee charges: the service’s own key (`local`, sandbox only) or `fireblocks`.',
  FIREBLOCKS_URL: 'Fireblocks’ REST API, without `/v1`.',
  FIREBLOCKS_API_KEY: 'The API user’s id.',
  FIREBLOCKS_KEY_FILE: 'PEM file of the API user’s RSA key.',
  FIREBLOCKS_VAULT_ID: 'Vault account that signs.',
  FIREBLOCKS_ASSET_ID: 'Asset that selects the vault’s Solana key: `SOL`, or `SOL_TEST` on devnet.',
  FIREBLOCKS_MODE: 'Sign the message as `raw`, or as a sign-only `program_call`.',
  FIREBLOCKS_ADDRESS: 'The vault’s Solana address; the start is refused when Fireblocks names another.',
  FEE_WALLET: 'Solana wallet that receives the fees.',
  MAX_FEE_CHARGE: 'Most that one call may charge as a fee, in collateral.',
  PAPER_MARKETS:
    'Which markets are traded on paper: those of the simulated world, or those of the live venue at POLYMARKET_…_URL, with its books, trades and outcomes ([going-live.md](going-live.md)). A database belongs to one of them for good; venue B on paper has no markets beside live ones.',
  PAPER_SEED: 'Seed of the simulated world. Read once, when the database is new.',
  PAPER_V2_MARKETS:
    'How many markets of the simulated world are of the venue’s Protocol V2: six, or a third. Read once, when the database is new.',
  PAPER_SPEED: 'World time per wall time.',
  PAPER_WORLD: 'Off stops the simulated world: house quotes do not change and no market ends.',
  PAPER_GTD_MIN_LEAD_S: 'Seconds that a GTD order’s expiration must lie ahead.',
  PAPER_B_FILL: 'How the sandbox of venue B fills orders.',
  PAPER_B_FILL_DELAY_MS: 'Milliseconds from an order on the sandbox chain to its fill.',
  PAPER_B_MAINTENANCE:
    'Whether the sandbox is closed for maintenance; `schedule` is Kalshi’s own window, Thursday 3 to 5 in New York.',
  PAPER_B_KYC: 'Whether buyers on the sandbox must be verified; no buyer is.',
  PAPER_B_GEOBLOCK: 'Whether the sandbox refuses its callers because of their country.',
  PAPER_FAUCET_PER_DAY: 'Collateral that the faucet gives an address per UTC day.',
  SIMULATION_BALANCE: 'Collateral that a wallet is credited when it is first registered.',
  OTEL_EXPORTER_OTLP_ENDPOINT:
    'Receiver of OpenTelemetry traces over OTLP/HTTP, such as `http://localhost:4318`; `/v1/traces` is added. Without a receiver there are no traces ([operations.md](operations.md#traces)).',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'The same, as the whole URL. Comes before the general one.',
  OTEL_EXPORTER_OTLP_PROTOCOL:
    'JSON is sent in either case: receivers of OTLP/HTTP take both. With `grpc` the service does not start.',
  OTEL_SDK_DISABLED: '`true` turns traces off.',
  OTEL_SERVICE_NAME: 'Name of the service in traces.',
  OTEL_TRACES_SAMPLER:
    'Which requests have a trace. With `parentbased_…` the caller’s `traceparent` decides where there is one.',
  OTEL_TRACES_SAMPLER_ARG: 'Share of requests of the samplers `traceidratio` and `parentbased_traceidratio`.',
};

interface Schema {
  readonly type?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly anyOf?: readonly { readonly const?: unknown }[];
}

/** Allowed values in words, where a pattern would be hard to read. */
const FORMS: Readonly<Record<string, string>> = {
  PUBLIC_URL: 'http or https URL',
  REPLICA_URL: 'http or https URL',
  TRUST_PROXY: '`off`, `on`, 1 to 99, or CIDRs',
  ALLOWED_HOSTS: 'host names',
  ALLOWED_ORIGINS: 'origins',
  BASE_PATH: 'path without a last slash',
  DATABASE_URL: '`postgres://` URL',
  MASTER_KEY: '64 hex digits',
  MASTER_KEY_OLD: '64 hex digits',
  POLYMARKET_CLOB_URL: 'http or https URL',
  POLYMARKET_GAMMA_URL: 'http or https URL',
  POLYMARKET_DATA_URL: 'http or https URL',
  POLYMARKET_SITE_URL: 'http or https URL',
  POLYMARKET_WS_URL: 'ws or wss URL',
  DFLOW_METADATA_URL: 'http or https URL',
  DFLOW_TRADE_URL: 'http or https URL',
  SOLANA_RPC_URL: 'http or https URL',
  VENUE_B_STATUS_URL: 'http or https URL',
  FIREBLOCKS_URL: 'http or https URL',
  FIREBLOCKS_ADDRESS: 'base58 address',
  FEE_WALLET: 'base58 address',
  FIREBLOCKS_VAULT_ID: 'number',
  VENUE_B_COUNTRY_HEADER: 'header name',
  DEFAULT_VENUE: 'name of a venue',
  VENUE_A_NAME: 'lower-case name',
  VENUE_B_NAME: 'lower-case name',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http or https URL',
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http or https URL',
  OTEL_EXPORTER_OTLP_HEADERS: 'pairs',
  OTEL_RESOURCE_ATTRIBUTES: 'pairs',
};

const grouped = (value: number): string =>
  Number.isSafeInteger(value) ? value.toLocaleString('en-US') : String(value);

function valuesOf(name: string, schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => `\`${option.const}\``).join(', ');
  if (schema.type === 'integer' && schema.maximum === Number.MAX_SAFE_INTEGER)
    return `integer from ${schema.minimum}`;
  if (schema.type === 'integer')
    return `integer, ${grouped(schema.minimum ?? 0)} to ${grouped(schema.maximum ?? 0)}`;
  if (schema.type === 'number')
    return schema.minimum === undefined
      ? `above ${schema.exclusiveMinimum}, to ${grouped(schema.maximum ?? 0)}`
      : `${schema.minimum} to ${grouped(schema.maximum ?? 0)}`;
  return FORMS[name] ?? ((schema.minLength ?? 0) > 1 ? `at least ${schema.minLength} characters` : 'text');
}

/** Defaults that depend on other variables. */
const COMPUTED_DEFAULTS: Readonly<Record<string, string>> = {
  PUBLIC_URL: '`http://localhost:<PORT><BASE_PATH>`',
  DEFAULT_VENUE: '`<VENUE_A_NAME>`',
  MASTER_KEY: 'made on the first start, in `DATA_DIR`',
  REPLICA_URL: 'the address that it listens on',
  VENUE_A_ORDER_PROFILE: '`interface`',
  POLYMARKET_CLOB_URL: '`https://clob.polymarket.com`',
  POLYMARKET_GAMMA_URL: '`https://gamma-api.polymarket.com`',
  POLYMARKET_DATA_URL: '`https://data-api.polymarket.com`',
  POLYMARKET_SITE_URL: '`https://polymarket.com`',
  POLYMARKET_WS_URL: '`wss://ws-subscriptions-clob.polymarket.com/ws`',
  DFLOW_METADATA_URL: '`https://prediction-markets-api.dflow.net`',
  DFLOW_TRADE_URL: '`https://quote-api.dflow.net`',
  FIREBLOCKS_URL: '`https://api.fireblocks.io`',
  FEE_WALLET: 'the signing key’s own address',
  OTEL_SERVICE_NAME: '`bellwether`',
};

function meaningOf(name: string, schema: Schema): string {
  const meaning = MEANINGS[name as keyof Environment] ?? schema.description;
  if (meaning === undefined) throw new Error(`${name} needs a description in config.ts`);
  return meaning;
}

export const configurationTable = (): string =>
  table(
    ['Variable', 'Default', 'Values', 'Meaning'],
    Object.entries(ENVIRONMENT.properties as Record<string, Schema>).map(([name, schema]) => [
      `\`${name}\``,
      COMPUTED_DEFAULTS[name] ??
        (schema.default === undefined || schema.default === '' ? 'none' : `\`${schema.default}\``),
      valuesOf(name, schema),
      meaningOf(name, schema),
    ]),
  );
