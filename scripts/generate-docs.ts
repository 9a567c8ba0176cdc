/**
 * Writes the generated documentation from the code: docs/errors.md from the error registry,
 * docs/schema.md from a freshly migrated database, docs/sdk-reference.md from the contract and the SDK's docstrings, the tables of the other pages from the operations and the environment.
 *
 *   node scripts/generate-docs.ts      writes the files; test/docs.test.ts fails while one of them is stale
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EXCHANGE_SCHEMA } from '@bellwether/exchange';
import { EXCHANGE_KEYS_SCHEMA } from '@bellwether/exchange/doors/polymarket';
import { startEmbeddedPostgres } from '../packages/durable/src/embedded/embedded-postgres.ts';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { migrate, readFunctionFiles } from '../packages/server/src/platform/database/migrate.ts';
import { alertsTable } from './docs/alerts.ts';
import { cliCommandsTable, cliEnvironmentTable, exitCodesTable } from './docs/cli-commands.ts';
import { configurationTable } from './docs/configuration.ts';
import { errorsPage } from './docs/errors.ts';
import { rateLimitTable } from './docs/limits.ts';
import { NOTE, table } from './docs/markdown.ts';
import { mcpToolsTable } from './docs/mcp-tools.ts';
import { quotedFees, routesTable } from './docs/routes.ts';
import { safeguardsTable } from './docs/safeguards.ts';
import { sdkReference } from './docs/sdk-reference.ts';
import { signingPage } from './docs/signing.ts';
import { sizesTable } from './docs/sizes.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MIGRATIONS = join(ROOT, 'packages/server/src/platform/database/migrations');

/** Generated parts of pages, between two comments with the part's name. */
const GENERATED_PARTS: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/routes.md': { routes: routesTable, 'fees of venue B': quotedFees },
  'docs/configuration.md': { configuration: configurationTable },
  'docs/sdk.md': { sizes: sizesTable },
  'docs/mcp.md': { tools: mcpToolsTable },
  'docs/operations.md': { alerts: alertsTable },
  'docs/cli.md': {
    commands: cliCommandsTable,
    'exit codes': exitCodesTable,
    environment: cliEnvironmentTable,
  },
  'docs/limits.md': { 'rate limits': rateLimitTable, safeguards: safeguardsTable },
};

/** The page with its generated parts replaced. @throws Error when the page lacks the comments of a part */
function pageWithParts(path: string): string {
  return Object.entries(GENERATED_PARTS[path] ?? {}).reduce(
    (page, [name, content]) => {
      const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end of generated: ${name} -->`];
      const [from, to] = [page.indexOf(begin), page.indexOf(end)];
      if (from < 0 || to < from) throw new Error(`${path} has no place for the generated ${name}`);
      return `${page.slice(0, from)}${begin}\n\n${content()}\n\n${page.slice(to)}`;
    },
    readFileSync(join(ROOT, path), 'utf8'),
  );
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
    const made = /^create (?:or replace |unlogged )?(?:table|function) (\w+)/.exec(line)?.[1];
    const column = /^ {2}(\w+) /.exec(line)?.[1];
    if (made !== undefined) tableName = made;
    const subject = made ?? (column === undefined ? null : `${tableName}.${column}`);
    if (comment !== '' && subject !== null) found.push({ subject, comment });
    comment = '';
  }
  return found;
}

/** Reads the schema from the catalog of a migrated database. */
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
      comment ?? comments.get(`${found.name}.${name}`) ?? '',
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
exchange's own; their content is described in \`packages/exchange/src/schema.ts\`.

${sections.join('\n\n')}

## Functions

${routines.join('\n')}
`;
}

/** Applies everything that the service applies at its start. */
export const migrateForDocs = (sql: Sql): Promise<number> =>
  migrate(sql, [EXCHANGE_SCHEMA, EXCHANGE_KEYS_SCHEMA]);

/** Every file with a generated part, by its path from the root. */
export async function generateDocs(sql: Sql): Promise<ReadonlyMap<string, string>> {
  return new Map<string, string>([
    ['docs/errors.md', errorsPage()],
    ['docs/schema.md', await schemaPage(sql)],
    ['docs/sdk-reference.md', sdkReference()],
    ['docs/signing.md', signingPage()],
    ...Object.keys(GENERATED_PARTS).map((path) => [path, pageWithParts(path)] as const),
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
