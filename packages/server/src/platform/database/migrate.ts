/**
 * Brings a database to the schema and the functions of this version. Each migration inserts its number first, which
 * acts as the lock: of two processes that start together one waits, then finds the work done.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { transact } from '@bellwether/durable';
import type { Sql, Tx } from './connection.ts';
import { applyFunctions, readFunctionSet } from './sql-functions.ts';

const FOLDER = join(import.meta.dirname, 'migrations');
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/;

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
  for (const { file, number, name } of files) {
    if (applied.has(number)) continue;
    await transact(sql, async (tx) => {
      const [mine] =
        await tx`insert into migrations (number, name) values (${number}, ${name}) on conflict do nothing returning number`;
      if (mine === undefined) return;
      await tx.unsafe(readFileSync(join(FOLDER, file), 'utf8'));
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
