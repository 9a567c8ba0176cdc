/**
 * Writes what the documentation says about the code from the code itself: docs/errors.md from the error registry,
 * docs/schema.md from a freshly migrated database, README.md's tables from the operations and the environment.
 *
 *   node scripts/generate-docs.ts      writes the files; test/docs.test.ts fails while one of them is stale
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as contract from '@bellwether/contract';
import {
  ERRORS,
  type ErrorCode,
  type Operation,
  VENUE_REFUSAL_FIXES,
  VENUE_REFUSALS,
  type VenueRefusal,
} from '@bellwether/contract';
import { EXCHANGE_SCHEMA } from '@bellwether/exchange';
import { EXCHANGE_KEYS_SCHEMA } from '@bellwether/exchange/doors/polymarket';
import { openPool, type Sql, socketUrl } from '../packages/server/src/adapters/postgres/connection.ts';
import { startEmbeddedPostgres } from '../packages/server/src/adapters/postgres/embedded-postgres.ts';
import { migrate } from '../packages/server/src/adapters/postgres/migrate.ts';
import { readFunctionFiles } from '../packages/server/src/adapters/postgres/sql-functions.ts';
import { ENVIRONMENT, type Environment, readConfig } from '../packages/server/src/config.ts';
import { errorCodes } from '../packages/server/src/http/routes.ts';
import { STATUS } from '../packages/server/src/http/status.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MIGRATIONS = join(ROOT, 'packages/server/src/adapters/postgres/migrations');
const NOTE = '<!-- Made by scripts/generate-docs.ts. Change the code, then run it. -->';

const TAGS = ['agents', 'wallet', 'markets', 'trading', 'positions', 'paper'];
/** A tag that is not listed comes last. */
const placeOf = ({ tag }: Operation): number => (TAGS.includes(tag) ? TAGS.indexOf(tag) : TAGS.length);
const METHODS: readonly Operation['method'][] = ['GET', 'POST', 'DELETE'];

const isOperation = (value: unknown): value is Operation =>
  typeof value === 'object' && value !== null && 'rateClass' in value && 'path' in value;

/** What this version serves, by tag and path. */
export const OPERATIONS: readonly Operation[] = (Object.values(contract) as unknown[])
  .filter(isOperation)
  .sort(
    (a, b) =>
      placeOf(a) - placeOf(b) ||
      Number(a.path > b.path) - Number(a.path < b.path) ||
      METHODS.indexOf(a.method) - METHODS.indexOf(b.method),
  );

const routeOf = ({ method, path }: Operation): string => `${method} ${path}`;

type Row = readonly string[];

/** A pipe would end the cell. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
const table = (head: Row, rows: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

// ── docs/errors.md ──────────────────────────────────────────────────────────────────────────────────────────────

const sameSet = (a: readonly Operation[], b: readonly Operation[]): boolean =>
  a.length === b.length && a.every((operation) => b.includes(operation));

/** Sets of operations that have a name, widest first. */
const KINDS: readonly (readonly [string, (operation: Operation) => boolean])[] = [
  ['every operation', () => true],
  [
    'every operation that needs a key',
    ({ permission }) => permission === 'agent' || permission === 'operator',
  ],
  ['every operation of the operator', ({ permission }) => permission === 'operator'],
  ['every operation of a signed-in owner', ({ permission }) => permission === 'owner'],
  ['every operation that the pages alone may call', ({ sameOrigin }) => sameOrigin === true],
  ['every rate-limited operation', ({ rateClass }) => rateClass !== 'none'],
  [
    'every operation with parameters or a body',
    ({ params, query, body }) => (params ?? query ?? body) !== undefined,
  ],
  ['every operation that takes an `Idempotency-Key`', ({ idempotent }) => idempotent === true],
  ['every `POST` and `DELETE`', ({ method }) => method !== 'GET'],
  [
    'every operation of an agent that takes an `Idempotency-Key`',
    ({ idempotent, permission }) => idempotent === true && permission === 'agent',
  ],
  ['every operation with a body', ({ body }) => body !== undefined],
];

/** Refused before any operation is reached. */
const BEFORE_ANY: Partial<Record<ErrorCode, string>> = {
  route_not_found: 'any path that is no route',
  method_not_allowed: 'any path that is a route of another method',
};

function answeredBy(code: ErrorCode): string {
  const operations = OPERATIONS.filter((operation) => errorCodes(operation).includes(code));
  if (operations.length === 0) return BEFORE_ANY[code] ?? 'named by no operation';
  const kind = KINDS.find(([, belongs]) => sameSet(operations, OPERATIONS.filter(belongs)));
  return kind?.[0] ?? operations.map((operation) => `\`${routeOf(operation)}\``).join(', ');
}

export function errorsPage(): string {
  const codes = Object.keys(ERRORS) as ErrorCode[];
  return `${NOTE}

# Errors

Everything that goes wrong is answered as an RFC 9457 problem (\`application/problem+json\`): \`type\`
(a URL of the service that answers, \`…/docs/errors/<code>\`), \`title\`, \`status\`, \`detail\`, \`instance\`, and beyond the RFC \`code\` (stable: never
renamed, never reused), \`message\` (the same text as \`detail\`), \`requestId\`, \`fix\` (what to do next), and where they
apply \`errors[]\` (\`path\`, \`code\`, \`message\`: every invalid field at once), \`diagnosis\` (refused signatures),
\`context\` (limit, used, asked) and \`orderId\`. Decide by \`code\`; show \`detail\` and \`fix\` to a person.

A \`fix\` below is the general one; an answer may carry one that fits its case better. Which of two faults is reported
first is told in [architecture.md](architecture.md#the-order-of-refusal).

${table(
  ['Code', 'Status', 'Title', 'Fix', 'Answered by'],
  codes.map((code) => [
    `\`${code}\``,
    String(STATUS[code]),
    ERRORS[code].title,
    ERRORS[code].fix,
    answeredBy(code),
  ]),
)}

Any operation that asks the database can answer \`service_unavailable\` while the database is gone, named above or not.

## When the venue refuses

\`POST /markets/trade\` answers 201 once the order was handed to the venue. When the venue then refuses it, the body says
\`success: false\`, \`status: "rejected"\`, why in \`errorCode\` and \`errorMessage\`, and what to do next in \`fix\`. The trade and its budget are given
back.

${table(
  ['errorCode', 'errorMessage', 'What to do'],
  Object.entries(VENUE_REFUSALS).map(([code, message]) => [
    `\`${code}\``,
    message,
    VENUE_REFUSAL_FIXES[code as VenueRefusal],
  ]),
)}
`;
}

// ── README.md ───────────────────────────────────────────────────────────────────────────────────────────────────

/** What each variable means; one that is not here says it in its schema's `description`. */
const MEANINGS: Readonly<Partial<Record<keyof Environment, string>>> = {
  PORT: 'Port to listen on; 0 takes a free one.',
  HOST: 'Address to listen on. The default answers this machine only; `0.0.0.0` answers everybody.',
  PUBLIC_URL:
    'How others reach the service: claim links, the API reference and the pages. Passkeys are bound to its host, which cannot be an IP address.',
  BASE_PATH: 'Prefix of every route, such as `/api`; `/healthz` and `/readyz` stay at the root too.',
  DATABASE_URL: 'A PostgreSQL 15 or later of your own. Without it an embedded one is started.',
  DATA_DIR: 'Folder of the embedded database and the generated master key.',
  MASTER_KEY: 'Key that seals venue credentials and hashes API keys. Required with `DATABASE_URL`.',
  OPERATOR_KEY: 'Opens the routes under `/operator`, as a bearer key. Without it they answer 403.',
  REPLICA_URL: 'Where other replicas on the same database reach this one.',
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
  VENUE_A_NAME: 'Name of venue A, and the default of every `venue` field.',
  VENUE_A_BACKEND: 'What stands behind venue A. `live` refuses to start in this version.',
  VENUE_A_ORDER_PROFILE:
    'Which struct version 2 orders sign: 12 fields (`interface`) or the venue’s own 11 (`polymarket`).',
  VENUE_B_NAME: 'Name of venue B; its routes answer under `/venueb` and under this name.',
  VENUE_B_BACKEND:
    'What stands behind venue B: the embedded sandbox (`paper`), or DFlow and Solana themselves (`live`).',
  VENUE_B_SLIPPAGE_BPS: 'How much less than quoted a fill on venue B may give, in hundredths of a percent.',
  VENUE_B_COUNTRY_HEADER:
    'Header in which a proxy of yours names the caller’s country (ISO 3166, such as `CF-IPCountry`): quotes are refused where venue B must not be offered. Needs `TRUST_PROXY`.',
  DFLOW_METADATA_URL: 'DFlow’s metadata API.',
  DFLOW_TRADE_URL: 'DFlow’s trade API.',
  DFLOW_API_KEY: 'Key of both DFlow APIs.',
  SOLANA_RPC_URL: 'Solana JSON-RPC. Required with `VENUE_B_BACKEND=live`.',
  VENUE_B_STATUS_URL:
    'Kalshi’s public exchange status (`…/trade-api/v2/exchange/status`); without it only the weekly maintenance window is known.',
  SIGNING_PROVIDER:
    'Who signs fee charges: a key of the service’s own (`local`, sandbox only) or `fireblocks`.',
  FIREBLOCKS_URL: 'Fireblocks’ REST API, without `/v1`.',
  FIREBLOCKS_API_KEY: 'The API user’s id.',
  FIREBLOCKS_KEY_FILE: 'PEM file of the API user’s RSA key.',
  FIREBLOCKS_VAULT_ID: 'Vault account that signs.',
  FIREBLOCKS_ASSET_ID: 'Asset that selects the vault’s Solana key: `SOL`, or `SOL_TEST` on devnet.',
  FIREBLOCKS_MODE: 'Sign the message as `raw`, or as a sign-only `program_call`.',
  FIREBLOCKS_ADDRESS: 'The vault’s Solana address; the start is refused when Fireblocks names another.',
  FEE_WALLET: 'Solana wallet that receives the fees.',
  MAX_FEE_CHARGE: 'Most that one call may charge as a fee, in collateral.',
  PAPER_SEED: 'Seed of the simulated world. Read once, when the database is new.',
  PAPER_SPEED: 'World time per wall time.',
  PAPER_WORLD: 'Off stops the simulated world: house quotes stand still and no market ends by itself.',
  PAPER_GTD_MIN_LEAD_S: 'Seconds that a GTD order’s expiration must lie ahead.',
  PAPER_B_FILL: 'What the sandbox of venue B does with orders.',
  PAPER_B_FILL_DELAY_MS: 'Milliseconds from an order on the sandbox chain to its fill.',
  PAPER_B_MAINTENANCE:
    'Whether the sandbox is closed for maintenance; `schedule` is Kalshi’s own window, Thursday 3 to 5 in New York.',
  PAPER_B_KYC: 'Whether buyers on the sandbox must be verified; nobody is.',
  PAPER_B_GEOBLOCK: 'Whether the sandbox is not offered where its callers are.',
  PAPER_FAUCET_PER_DAY: 'Collateral that the faucet gives an address per UTC day.',
  SIMULATION_BALANCE: 'Collateral that a wallet is credited when it is first registered.',
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

/** Said in words where a pattern would say it worse. */
const FORMS: Readonly<Record<string, string>> = {
  PUBLIC_URL: 'http or https URL',
  REPLICA_URL: 'http or https URL',
  TRUST_PROXY: '`off`, `on`, 1 to 99, or CIDRs',
  ALLOWED_HOSTS: 'host names',
  ALLOWED_ORIGINS: 'origins',
  BASE_PATH: 'path without a last slash',
  DATABASE_URL: '`postgres://` URL',
  MASTER_KEY: '64 hex digits',
  DFLOW_METADATA_URL: 'http or https URL',
  DFLOW_TRADE_URL: 'http or https URL',
  SOLANA_RPC_URL: 'http or https URL',
  VENUE_B_STATUS_URL: 'http or https URL',
  FIREBLOCKS_URL: 'http or https URL',
  FIREBLOCKS_ADDRESS: 'base58 address',
  FEE_WALLET: 'base58 address',
  FIREBLOCKS_VAULT_ID: 'number',
  VENUE_B_COUNTRY_HEADER: 'header name',
  VENUE_A_NAME: 'lower-case name',
  VENUE_B_NAME: 'lower-case name',
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
  MASTER_KEY: 'made on the first start, in `DATA_DIR`',
  REPLICA_URL: 'the address that it listens on',
  VENUE_A_ORDER_PROFILE: '`interface`',
  DFLOW_METADATA_URL: '`https://prediction-markets-api.dflow.net`',
  DFLOW_TRADE_URL: '`https://quote-api.dflow.net`',
  FIREBLOCKS_URL: '`https://api.fireblocks.io`',
  FEE_WALLET: 'the signing key’s own address',
};

function meaningOf(name: string, schema: Schema): string {
  const meaning = MEANINGS[name as keyof Environment] ?? schema.description;
  if (meaning === undefined) throw new Error(`${name} needs a description in config.ts`);
  return meaning;
}

const configurationTable = (): string =>
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

const UNITS = [
  ['second', 1],
  ['minute', 60],
  ['hour', 3600],
] as const;

/** `0.5 per second` reads as `30 per minute`. */
function rate(perSecond: number): string {
  for (const [unit, seconds] of UNITS) {
    const count = Math.round(perSecond * seconds * 1e6) / 1e6;
    if (count >= 1 && Number.isInteger(count)) return `${count} a ${unit}`;
  }
  return `${perSecond} a second`;
}

function rateLimitTable(): string {
  const { rateLimits } = readConfig({});
  if (rateLimits === null) throw new Error('the defaults have no rate limits');
  return table(
    ['Class', 'Rate', 'Burst', 'Counted per', 'Calls'],
    Object.entries(rateLimits).map(([name, { perSecond, burst }]) => {
      const operations = OPERATIONS.filter(({ rateClass }) => rateClass === name);
      const isPublic = operations.every(({ permission }) => permission === 'public');
      const calls = operations.map((operation) => `\`${routeOf(operation)}\``).join(', ');
      return [
        `\`${name}\``,
        rate(perSecond),
        String(burst),
        isPublic ? 'address' : 'API key',
        calls ||
          (name === 'door' ? 'the paper doors, under `/paper`' : 'any call with a missing or wrong API key'),
      ];
    }),
  );
}

const routesTable = (): string =>
  table(
    ['Route', 'Key', 'What it does'],
    OPERATIONS.map((operation) => [
      `\`${routeOf(operation)}\``,
      operation.permission === 'public' ? '–' : 'yes',
      operation.summary,
    ]),
  );

/** The README with every generated part made anew. @throws Error when a part has no place in it */
export function readmeWithTables(readme: string): string {
  const parts = {
    routes: routesTable(),
    configuration: configurationTable(),
    'rate limits': rateLimitTable(),
  };
  return Object.entries(parts).reduce((text, [name, content]) => {
    const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end of generated: ${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`README.md has no place for the generated ${name}`);
    return `${text.slice(0, from)}${begin}\n\n${content}\n\n${text.slice(to)}`;
  }, readme);
}

// ── docs/schema.md ──────────────────────────────────────────────────────────────────────────────────────────────

/** The `--` lines above a table, column or function of the migrations and functions/, by `table` and `table.column`. */
function schemaComments(): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  const migrations = readdirSync(MIGRATIONS).sort();
  const texts = migrations.map((file) => readFileSync(join(MIGRATIONS, file), 'utf8'));
  for (const line of [...texts, ...readFunctionFiles().map(({ text }) => text)].flatMap(commentedLines))
    comments.set(line.subject, line.comment);
  return comments;
}

function commentedLines(sql: string): { subject: string; comment: string }[] {
  const found: { subject: string; comment: string }[] = [];
  let comment = '';
  let tableName = '';
  for (const line of sql.split('\n')) {
    const text = /^\s*--\s?(.*)$/.exec(line)?.[1];
    if (text !== undefined) {
      comment = `${comment} ${text}`.trim();
      continue;
    }
    const made = /^create (?:or replace )?(?:table|function) (\w+)/.exec(line)?.[1];
    const column = /^ {2}(\w+) /.exec(line)?.[1];
    if (made !== undefined) tableName = made;
    const subject = made ?? (column === undefined ? null : `${tableName}.${column}`);
    if (comment !== '' && subject !== null) found.push({ subject, comment });
    comment = '';
  }
  return found;
}

/** What the database says of itself, once every migration has been applied to it. */
async function catalogue(sql: Sql) {
  const tables = await sql`
    select c.oid::int as oid, c.relname as name, obj_description(c.oid) as comment
    from pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by c.relname`;
  const columns = await sql`
    select a.attrelid::int as oid, a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as needed, a.attidentity <> '' as identity, pg_get_expr(d.adbin, d.adrelid) as fallback,
      col_description(a.attrelid, a.attnum) as comment
    from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped order by a.attrelid, a.attnum`;
  const rules = await sql`
    select conrelid::int as oid, pg_get_constraintdef(oid) as text from pg_constraint
    where contype in ('p', 'u', 'f', 'c') order by conrelid, contype = 'p' desc, conname`;
  const indexes = await sql`
    select i.indrelid::int as oid, pg_get_indexdef(i.indexrelid) as text from pg_index i
    where not exists (select 1 from pg_constraint where conindid = i.indexrelid)
    order by i.indrelid, i.indexrelid::regclass::text`;
  const functions = await sql`
    select proname as name, pg_get_function_identity_arguments(oid) as arguments from pg_proc
    where pronamespace = 'public'::regnamespace order by proname`;
  return { tables, columns, rules, indexes, functions };
}

/** @param sql a database that `migrateForDocs` has been run on */
export async function schemaPage(sql: Sql): Promise<string> {
  const comments = schemaComments();
  const { tables, columns, rules, indexes, functions } = await catalogue(sql);
  const sections = tables.map((found) => {
    const mine = columns.filter(({ oid }) => oid === found.oid);
    const keys = [
      ...rules.filter(({ oid }) => oid === found.oid),
      ...indexes.filter(({ oid }) => oid === found.oid),
    ].map(({ text }) => `- \`${text.replace(' USING btree', '').replace('public.', '')}\``);
    const about = comments.get(found.name) ?? found.comment;
    const rows = mine.map(({ name, type, needed, identity, fallback, comment }) => [
      `\`${name}\``,
      type,
      needed ? '' : 'yes',
      identity ? 'counts up' : fallback === null ? '' : `\`${fallback}\``,
      comments.get(`${found.name}.${name}`) ?? comment ?? '',
    ]);
    return [
      `## ${found.name}`,
      ...(about ? [about] : []),
      table(['Column', 'Type', 'Null', 'Default', 'Meaning'], rows),
      ...(keys.length === 0 ? [] : [keys.join('\n')]),
    ].join('\n\n');
  });
  const routines = functions.map(
    ({ name, arguments: parameters }) => `- \`${name}(${parameters})\`: ${comments.get(name) ?? ''}`,
  );
  return `${NOTE}

# Schema

The tables as a database has them after every migration. Money and share quantities are \`bigint\` micro-units, prices
\`integer\` pips (ten-thousandths), times \`timestamptz\`. Tables whose names begin with \`exchange_\` are the paper
exchange's own; what they hold is told in \`packages/exchange/src/journal/schema.ts\`.

${sections.join('\n\n')}

## Functions

${routines.join('\n')}
`;
}

/** Everything that the service itself applies at its start. */
export const migrateForDocs = (sql: Sql): Promise<number> =>
  migrate(sql, [EXCHANGE_SCHEMA, EXCHANGE_KEYS_SCHEMA]);

/** Every file with a generated part, by its path from the root. */
export async function generateDocs(sql: Sql): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/errors.md', errorsPage()],
    ['docs/schema.md', await schemaPage(sql)],
    ['README.md', readmeWithTables(readFileSync(join(ROOT, 'README.md'), 'utf8'))],
  ]);
}

async function writeDocs(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bw-docs-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, database: 'bellwether' });
  const sql = openPool(socketUrl(postgres, postgres.database));
  try {
    await migrateForDocs(sql);
    for (const [path, content] of await generateDocs(sql)) {
      writeFileSync(join(ROOT, path), content);
      console.log(path);
    }
  } finally {
    await sql.end({ timeout: 5 });
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await writeDocs();
