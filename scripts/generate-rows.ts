/**
 * Writes what the database and the code share. The tables' rows become TypeScript interfaces, from the catalog of a freshly
 * migrated database: a column that is renamed, dropped or becomes nullable breaks the type check of the code that reads it. The
 * lifecycle of orders becomes SQL functions. Run it after every migration, and after a change of domain/lifecycle.ts:
 * `node scripts/generate-rows.ts`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { FUNCTIONS_FOLDER, migrate } from '../packages/server/src/platform/database/migrate.ts';
import { LIFECYCLE_FILE, lifecycleSql } from '../packages/server/src/trading/lifecycle-sql.ts';

export const ROWS_FILE = resolve(
  import.meta.dirname,
  '../packages/server/src/platform/database/rows.generated.ts',
);

/** Types as the driver delivers them. The catalog has no types for JSON: one mapper per column adds them. */
const TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  date: 'Date',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'bigint',
  jsonb: 'unknown',
  numeric: 'string',
  pg_snapshot: 'string',
  text: 'string',
  timestamptz: 'Date',
  uuid: 'string',
  xid8: 'string',
};

/** Types that the catalog lacks: the words of text columns and the structure of JSON. */
const OWN_TYPES: Readonly<Record<string, string>> = {
  'agent_wallets.address': 'WalletAddress',
  'agent_wallets.signer': 'WalletAddress',
  'agents.sol_address': 'SolanaAddress',
  'agents.wallet_address': 'Address',
  'api_keys.create_type': '1 | 2',
  'api_keys.status': '1 | 2',
  'chain_orders.reverts':
    'readonly { readonly signature: string; readonly mint: string; readonly amount: string }[]',
  'chain_orders.stage': "'sending' | 'landed' | 'done'",
  'credentials.eoa': 'Address',
  'credentials.funder': 'Address',
  'credentials.signature_type': 'SignatureType',
  'credentials.wallet_address': 'Address',
  'fee_charges.from_address': 'SolanaAddress',
  'fee_charges.status': 'FeeStatus',
  'fee_charges.to_address': 'SolanaAddress',
  'fills.liquidity': "FillRow['liquidity']",
  'fills.outcome': 'Outcome',
  'fills.side': 'Side',
  'fills.wallet': 'WalletAddress',
  'orders.first_answer': 'MoneyAsText<FirstAnswer>',
  'orders.funder': 'WalletAddress',
  'orders.journal': "OrderRow['journal']",
  'orders.kind': 'OrderKind',
  'orders.outcome': 'OrderOutcome',
  'orders.side': 'Side',
  'orders.signature_type': 'SignatureType',
  'orders.status': 'OrderStatus',
  'orders.time_in_force': 'OrderForce',
  'orders.version': 'OrderVersion',
  'orders.wallet_address': 'WalletAddress',
  'passkeys.transports': 'readonly string[]',
  'positions.outcome': 'Outcome',
  'positions.wallet': 'WalletAddress',
  'quotes.destination': 'SolanaAddress',
  'quotes.input_mint': 'SolanaAddress',
  'quotes.mints': 'readonly [string, string]',
  'quotes.outcome': 'Outcome',
  'quotes.output_mint': 'SolanaAddress',
  'quotes.side': 'Side',
  'quotes.wallet': 'SolanaAddress',
  'skills.category': '1 | 2',
  'skills.create_source': '1 | 2',
  'skills.review_status': '1 | 2 | 3',
  'traded_markets.payout': 'Payout',
  'webhook_deliveries.data': 'Readonly<Record<string, unknown>>',
  'webhook_deliveries.status': "'pending' | 'delivered' | 'failed'",
};

const IMPORTS = `import type { Payout } from '@bellwether/contract/positions';
import type { Address, OrderVersion, SignatureType, SolanaAddress } from '@bellwether/protocol';
import type { FirstAnswer } from '../../domain/evidence.ts';
import type { OrderKind, OrderStatus } from '../../domain/lifecycle.ts';
import type { FillRow, OrderForce, OrderOutcome, OrderRow, WalletAddress } from '../../domain/records.ts';

type Outcome = 'YES' | 'NO';
type Side = 'BUY' | 'SELL';
type FeeStatus =
  | 'signing'
  | 'unsigned'
  | 'signed'
  | 'unknown'
  | 'broadcast'
  | 'landed'
  | 'refused'
  | 'failed'
  | 'dropped';
/** JSON has no 64-bit integers. */
export type MoneyAsText<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] };
`;

function typeOf(name: string): string {
  const element = name.startsWith('_') ? name.slice(1) : null;
  const type = TYPES[element ?? name];
  if (type === undefined) throw new Error(`scripts/generate-rows.ts does not know the type ${name}`);
  return element === null ? type : `${type}[]`;
}

const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** @param sql a database that `migrate` has been run on, and nothing else */
export async function rowsFile(sql: Sql): Promise<string> {
  const columns = await sql`
    select c.relname as relation, a.attname as name, t.typname as type, a.attnotnull as needed
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    order by c.relname, a.attnum`;
  const known = new Set(columns.map(({ relation, name }) => `${relation}.${name}`));
  const gone = Object.keys(OWN_TYPES).filter((column) => !known.has(column));
  if (gone.length > 0) throw new Error(`scripts/generate-rows.ts names ${gone.join(', ')}: no such column`);
  const tables = Map.groupBy(columns, ({ relation }) => relation as string);
  const interfaces = [...tables].map(([table, rows]) => {
    const fields = rows.map(({ name, type, needed }) => {
      const read = OWN_TYPES[`${table}.${name}`] ?? typeOf(type);
      return `  readonly ${name}: ${read}${needed || read === 'unknown' ? '' : ' | null'};`;
    });
    return `export interface ${pascalCase(table)}Row {\n${fields.join('\n')}\n}\n`;
  });
  return `/** Made by scripts/generate-rows.ts from the migrated schema. Do not edit. */\n${IMPORTS}\n${interfaces.join('\n')}`;
}

async function writeRows(): Promise<void> {
  writeFileSync(join(FUNCTIONS_FOLDER, LIFECYCLE_FILE), lifecycleSql());
  const folder = mkdtempSync(join(tmpdir(), 'bw-rows-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, database: 'bellwether' });
  const sql = openPool(socketUrl(postgres, postgres.database));
  try {
    await migrate(sql);
    writeFileSync(ROWS_FILE, await rowsFile(sql));
  } finally {
    await sql.end({ timeout: 5 });
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) await writeRows();
