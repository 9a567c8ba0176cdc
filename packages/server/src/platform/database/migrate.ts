/**
 * Brings a database to the schema and the functions of this version. Each migration inserts its number first, which
 * acts as the lock: of two processes that start together one waits, then finds the work done.
 */

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transact } from '@bellwether/durable';
import release from '../../../../../package.json' with { type: 'json' };
import type { Sql, Tx } from './connection.ts';

const FOLDER = join(import.meta.dirname, 'migrations');
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/;

/** The migrations whose work the first file does at once. A database that has had them all is adopted as it is. */
const REPLACED = { count: 58, last: 100, commit: '4c9c1f9d' };
/** For as long as a transaction compares a database with the first file. */
const SCRATCH = 'bellwether_baseline';
const MAY_NOT = '42501';
const MOST_NAMED = 5;

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * @param idempotent schemas of embedded parts that manage their own versions; applied every time
 * @returns how many migrations were applied
 */
export async function migrate(database: Sql, idempotent: readonly string[] = []): Promise<number> {
  // Rewriting a large table may take longer than the timeouts of requests allow.
  const sql = database.beside({ max: 2, statementTimeoutMs: 0 });
  try {
    return await applyAll(sql, idempotent);
  } finally {
    await sql.end();
  }
}

const migrationFiles = () =>
  readdirSync(FOLDER)
    .map((file) => FILE.exec(file))
    .filter((match) => match !== null)
    .map(([file, number, name]) => ({ file, number: Number(number), name: name ?? '' }))
    .sort((a, b) => a.number - b.number);

/** The newest migration that this version knows: it cannot use a database that is ahead of it. */
export const newestMigration = (): number => migrationFiles().at(-1)?.number ?? 0;

async function applyAll(sql: Sql, idempotent: readonly string[]): Promise<number> {
  const files = migrationFiles();
  const duplicate = files.find(({ number }, at) => number === files[at - 1]?.number);
  if (duplicate !== undefined)
    throw new MigrationError(`Two migrations have the number of ${duplicate.file}.`);
  await sql`create table if not exists migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())`;
  const newest = files.at(-1)?.number ?? 0;
  const applied = await appliedMigrations(sql, newest);
  let count = 0;
  for (const [at, { file, number, name }] of files.entries()) {
    if (applied.has(number)) continue;
    await transact(sql, async (tx) => {
      const [mine] =
        await tx`insert into migrations (number, name) values (${number}, ${name}) on conflict do nothing returning number`;
      if (mine === undefined) return;
      const text = readFileSync(join(FOLDER, file), 'utf8');
      if (at > 0 || !(await isAdopted(tx, text, number))) await tx.unsafe(text);
      count += 1;
    });
  }
  // If a newer version has migrated the database meanwhile, this version's functions do not fit its tables.
  await applyFunctions(sql, readFunctionSet(), async (tx) => {
    await appliedMigrations(tx, newest);
  });
  for (const schema of idempotent) await sql.unsafe(schema);
  return count;
}

/** @throws MigrationError when the database is ahead of this version */
async function appliedMigrations(on: Sql | Tx, newest: number): Promise<ReadonlySet<number>> {
  const applied = new Set((await on`select number from migrations`).map((row) => Number(row.number)));
  const ahead = [...applied].filter((number) => number > newest);
  if (ahead.length > 0) {
    throw new MigrationError(
      `The database is at migration ${Math.max(...ahead)}, this version knows ${newest}: start a newer version of the service.`,
    );
  }
  return applied;
}

// ── A database that the replaced migrations made ────────────────────────────────────────────────────────────────

/**
 * @returns whether the database has the tables of the first file already
 * @throws MigrationError when it lacks replaced migrations, or has other tables than they left
 */
async function isAdopted(tx: Tx, baseline: string, number: number): Promise<boolean> {
  const [before] = await tx`
    select count(*)::int as count, max(number) as last, current_schema() as schema,
      format('grant create on database %I to %I', current_database(), current_user) as grant
    from migrations where number < ${number}`;
  if (before?.count === 0) return false;
  const { count, last, commit } = REPLACED;
  if (before?.count !== count || before.last !== last)
    throw new MigrationError(
      `The database is at migration ${before?.last} and has had ${before?.count} of them; this version takes over one that has had all ${count} up to ${last}. Start the service of commit ${commit} on it once, then this version. Nothing was changed.`,
    );
  const wanted = await schemaOfFile(tx, baseline, before.grant);
  const names = wanted.flatMap((line) => /^(?:table|sequence) (\S+)/.exec(line)?.[1] ?? []);
  const found = await schemaLines(tx, before.schema, names);
  const lacking = wanted.filter((line) => !found.includes(line));
  // An operator may have added an index that only makes reads faster.
  const besides = found.filter((line) => !wanted.includes(line) && !line.startsWith('CREATE INDEX'));
  if (lacking.length + besides.length > 0)
    throw new MigrationError(
      `The database's tables are not those that migration ${last} left. ${named('It lacks', lacking)}${named('It has besides', besides)}Nothing was changed. Put its tables right, or restore a backup, and start again.`,
    );
  return true;
}

const named = (what: string, lines: readonly string[]): string => {
  if (lines.length === 0) return '';
  const more = lines.length > MOST_NAMED ? ` and ${lines.length - MOST_NAMED} more` : '';
  return `${what}: ${lines.slice(0, MOST_NAMED).join('; ')}${more}. `;
};

/** Makes the file's tables in a schema of their own, which is gone afterwards. @param grant the statement that allows it */
async function schemaOfFile(tx: Tx, file: string, grant: string): Promise<string[]> {
  try {
    await tx.unsafe(`savepoint compared; create schema ${SCRATCH}`);
  } catch (error) {
    if ((error as { code?: string }).code !== MAY_NOT) throw error;
    throw new MigrationError(
      `To compare the database with this version once, the role of DATABASE_URL needs the right to create a schema: ${grant}; then start again. Nothing was changed.`,
      { cause: error },
    );
  }
  await tx.unsafe(`set local search_path to ${SCRATCH}`);
  await tx.unsafe(file);
  const lines = await schemaLines(tx, SCRATCH, null);
  await tx.unsafe('rollback to savepoint compared');
  return lines;
}

/**
 * Tables, sequences, columns, constraints and indexes, one line each, in PostgreSQL's own words.
 * @param schema is in the search path, so no line names it
 * @param only these tables; `null`: all
 */
async function schemaLines(tx: Tx, schema: string, only: readonly string[] | null): Promise<string[]> {
  const rows = await tx`
    with mine as (
      select c.oid, c.relname, c.relkind, c.relpersistence from pg_class c
      where c.relnamespace = ${schema}::regnamespace and (${only}::text[] is null or c.relname = any(${only}::text[]))
        and (c.relkind = 'r' or c.relkind = 'S' and not exists (
          select 1 from pg_depend d
          where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i'))))
    select case relkind when 'r' then 'table ' else 'sequence ' end || relname
      || case relpersistence when 'p' then '' when 'u' then ' unlogged' else ' temporary' end as line from mine
    union all
    select concat_ws(' ', 'column', m.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then 'not null' end, nullif(a.attidentity::text, ''), nullif(a.attgenerated::text, ''),
      'default ' || pg_get_expr(d.adbin, d.adrelid))
    from mine m join pg_attribute a on m.relkind = 'r' and a.attrelid = m.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = m.oid and d.adnum = a.attnum
    union all
    select concat_ws(' ', 'constraint', m.relname || '.' || k.conname, pg_get_constraintdef(k.oid))
    from mine m join pg_constraint k on k.conrelid = m.oid and k.contype not in ('n', 't')
    union all
    select replace(pg_get_indexdef(i.indexrelid), ' ON ' || quote_ident(${schema}) || '.', ' ON ')
      || case when i.indisvalid then '' else ' INVALID' end
    from mine m join pg_index i on i.indrelid = m.oid
    order by line`;
  return rows.map(({ line }) => String(line));
}

// Keeps the database's functions and triggers identical to `functions/*.sql`: each file is applied again when its content
// has changed, so no migration repeats one. A migration runs with the functions that earlier migrations created, never
// with these.
//
// A release leaves the functions of a newer one alone, so a rollback or a late start of an old replica cannot undo what
// newer replicas rely on.

export const FUNCTIONS_FOLDER = join(import.meta.dirname, 'functions');

/** Longest wait of a trade for the lock of a trigger's table: ends well before PostgreSQL detects a deadlock. */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 250;
/** All attempts together last longer than a frozen process may keep a transaction open. */
const ATTEMPTS = 40;
const LOCK_NOT_AVAILABLE = '55P03';

interface FunctionFile {
  readonly name: string;
  readonly text: string;
}

export interface FunctionSet {
  readonly release: number;
  readonly files: readonly FunctionFile[];
}

/** `newer`: the database has the functions of a newer release, and they stay. */
type FunctionsResult = 'applied' | 'current' | 'newer';

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function readFunctionFiles(): FunctionFile[] {
  return readdirSync(FUNCTIONS_FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(FUNCTIONS_FOLDER, name), 'utf8') }));
}

/** 1.2.3 is 1002003. */
const numberOf = (version: string): number =>
  version
    .split('.')
    .slice(0, 3)
    .reduce((number, part) => number * 1000 + Number.parseInt(part, 10), 0);

export const readFunctionSet = (version = release.version): FunctionSet => ({
  release: numberOf(version),
  files: readFunctionFiles(),
});

/**
 * Applies the files that differ from the database, all of them or none, one process at a time.
 * @param beforeApplying runs under the lock that migrations take, too; if it throws, nothing changes
 */
export async function applyFunctions(
  sql: Sql,
  { release, files }: FunctionSet,
  beforeApplying: (tx: Tx) => Promise<void> = async () => {},
): Promise<FunctionsResult> {
  const compare = async (on: Sql | Tx) => {
    const rows = await on`select file, hash, release from sql_functions`;
    if (rows.some((row) => row.release > release)) return { result: 'newer' as const, changed: [] };
    const known = new Map(rows.map((row) => [row.file as string, row.hash as string]));
    const changed = files.filter(({ name, text }) => known.get(name) !== hashOf(text));
    const isCurrent = changed.length === 0 && rows.every((row) => row.release === release);
    return { result: isCurrent ? ('current' as const) : ('applied' as const), changed };
  };
  const apply = () =>
    transact(sql, async (tx) => {
      // Migrations insert into this table first, so migrations and functions wait for each other.
      await tx`lock table migrations in share row exclusive mode`;
      await beforeApplying(tx);
      const { result, changed } = await compare(tx);
      if (result !== 'applied') return result;
      await tx.unsafe(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      // Functions may call one another in any order; a test applies them again with their bodies checked.
      await tx.unsafe('set local check_function_bodies = off');
      for (const { text } of changed) await tx.unsafe(text);
      await tx`delete from sql_functions where file <> all(${files.map(({ name }) => name)}::text[])`;
      await tx`
        insert into sql_functions (file, hash, release, applied_at)
        select *, ${release}::int, now()
        from unnest(${files.map(({ name }) => name)}::text[], ${files.map(({ text }) => hashOf(text))}::text[])
        on conflict (file) do update
          set hash = excluded.hash, release = excluded.release, applied_at = excluded.applied_at`;
      return result;
    });
  const { result } = await compare(sql);
  return result === 'applied' ? retryWhileLocked(apply) : result;
}

/** Changing a trigger locks its table for a moment; trades have priority. */
async function retryWhileLocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || attempt === ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
}
