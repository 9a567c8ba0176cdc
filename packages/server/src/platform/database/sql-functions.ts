/**
 * Keeps the database's functions and triggers identical to `functions/*.sql`: each file is applied again when its content
 * has changed, so no migration repeats one. A migration runs with the functions that earlier migrations created, never
 * with these.
 *
 * A release leaves the functions of a newer one alone, so a rollback or a late start of an old replica cannot undo what
 * newer replicas rely on.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { transact } from '@bellwether/durable';
import release from '../../../../../package.json' with { type: 'json' };
import type { Sql, Tx } from './connection.ts';

export const FUNCTIONS_FOLDER = join(import.meta.dirname, 'functions');

/** Longest wait of a trade for the lock of a trigger's table: ends well before PostgreSQL detects a deadlock. */
const LOCK_TIMEOUT_MS = 500;
const PAUSE_MS = 250;
/** All attempts together last longer than a frozen process may keep a transaction open. */
const ATTEMPTS = 40;
const LOCK_NOT_AVAILABLE = '55P03';

export interface FunctionFile {
  readonly name: string;
  readonly text: string;
}

export interface FunctionSet {
  readonly release: number;
  readonly files: readonly FunctionFile[];
}

/** `newer`: the database has the functions of a newer release, and they stay. */
export type FunctionsResult = 'applied' | 'current' | 'newer';

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
