/**
 * Brings a database to the schema that this version knows. The migration's number is inserted first and so is the
 * lock: of two processes that start together one waits, then finds the work done.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sql } from './connection.ts';
import { transact } from './transaction.ts';

const FOLDER = join(import.meta.dirname, 'migrations');
const FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/;

export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * @param idempotent schemas of embedded parts that look after their own versions; applied every time
 * @returns how many migrations were applied
 */
export async function migrate(sql: Sql, idempotent: readonly string[] = []): Promise<number> {
  const files = readdirSync(FOLDER)
    .map((file) => FILE.exec(file))
    .filter((match) => match !== null)
    .map(([file, number, name]) => ({ file, number: Number(number), name: name ?? '' }))
    .sort((a, b) => a.number - b.number);
  await sql`create table if not exists migrations (number integer primary key, name text not null, applied_at timestamptz not null default now())`;
  const applied = new Set((await sql`select number from migrations`).map((row) => Number(row.number)));
  const newest = files.at(-1)?.number ?? 0;
  const ahead = [...applied].filter((number) => number > newest);
  if (ahead.length > 0) {
    throw new MigrationError(
      `The database is at migration ${Math.max(...ahead)}, this version knows ${newest}: start a newer version of the service.`,
    );
  }
  let count = 0;
  for (const { file, number, name } of files) {
    if (applied.has(number)) continue;
    await transact(sql, async (tx) => {
      const [mine] =
        await tx`insert into migrations (number, name) values (${number}, ${name}) on conflict do nothing returning number`;
      if (mine === undefined) return;
      await tx.unsafe(readFileSync(join(FOLDER, file), 'utf8')).simple();
      count += 1;
    });
  }
  for (const schema of idempotent) await sql.unsafe(schema).simple();
  return count;
}
