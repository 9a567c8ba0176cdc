/**
 * Writes the tables' rows as TypeScript interfaces, from the catalog of a freshly migrated database: a column that is
 * renamed, dropped or becomes nullable breaks the type check of what reads it. Run it after every migration:
 * `node scripts/generate-rows.ts`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openPool, type Sql, socketUrl } from '../packages/server/src/adapters/postgres/connection.ts';
import { startEmbeddedPostgres } from '../packages/server/src/adapters/postgres/embedded-postgres.ts';
import { migrate } from '../packages/server/src/adapters/postgres/migrate.ts';

export const ROWS_FILE = resolve(
  import.meta.dirname,
  '../packages/server/src/adapters/postgres/rows.generated.ts',
);

/** As the driver delivers them. JSON has no type that the catalog knows: one mapper per column gives it one. */
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
  const tables = Map.groupBy(columns, ({ relation }) => relation as string);
  const interfaces = [...tables].map(([table, rows]) => {
    const fields = rows.map(({ name, type, needed }) => {
      const read = typeOf(type);
      return `  readonly ${name}: ${read}${needed || read === 'unknown' ? '' : ' | null'};`;
    });
    return `export interface ${pascalCase(table)}Row {\n${fields.join('\n')}\n}\n`;
  });
  return `/** Made by scripts/generate-rows.ts from the migrated schema. Do not edit. */\n\n${interfaces.join('\n')}`;
}

async function writeRows(): Promise<void> {
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
