/** One database per test file, on the PostgreSQL that all files share; dropped after the file. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';
import { openPool, type Sql, socketUrl } from '../packages/server/src/platform/database/connection.ts';
import { afterFile } from './setup/clean-up.ts';
import type { SharedPostgres } from './setup/postgres-server.ts';

let shared: Promise<SharedPostgres> | undefined;

/** The server that all files share; the first request starts it. */
export function sharedPostgres(): Promise<SharedPostgres> {
  shared ??= askForServer();
  return shared;
}

async function askForServer(): Promise<SharedPostgres> {
  const line = await text(connect(inject('postgresDoor')));
  if (line === '') throw new Error('the shared PostgreSQL did not start; its process has said why');
  return JSON.parse(line);
}

async function asAdmin(where: SharedPostgres, statement: string): Promise<void> {
  const sql = openPool(adminUrl(where, 'postgres'), { max: 1 });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}

const adminUrl = (where: SharedPostgres, database: string): string =>
  socketUrl({ ...where, user: where.admin }, database);

/** A superuser's pool on a database of `createTestDatabase`; closed with the file. */
export async function openAsAdmin(databaseUrl: string): Promise<Sql> {
  const sql = openPool(adminUrl(await sharedPostgres(), nameIn(databaseUrl)), { max: 1 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  return sql;
}

/**
 * An empty database of its own, as a URL in PostgreSQL's notation for sockets: usable for DATABASE_URL and
 * `openPool`, not for `postgres(url)`.
 */
export async function createTestDatabase(): Promise<string> {
  const databaseUrl = await createDatabase('');
  dropAfterFile(databaseUrl);
  return databaseUrl;
}

/** What each migration since the baseline has added to its tables. */
const ADDED: readonly (readonly [number: number, undo: string])[] = [
  [103, 'alter table recovery_codes drop column beginning_hash'],
  [104, 'alter table agent_wallets drop column taken_along'],
  [106, 'drop table unnamed_markets'],
  [106, 'alter table orders drop column outcome_name'],
  [106, 'alter table exits drop column outcome_name'],
  [106, 'alter table quotes drop column outcomes'],
  [106, 'alter table traded_markets drop column outcomes'],
  [107, 'alter table exits drop column silence_seconds'],
  [108, 'alter table orders drop column sent_at'],
  [108, 'alter table exits drop column settled_at, drop column held, drop column writer'],
  [109, 'drop table exit_troubles'],
  [109, 'drop index facts_of_exits'],
  [109, 'alter table exits drop column became, drop column seen_at, drop column owner_seen_at'],
  [110, 'alter table desk_watch drop column restores'],
  [110, 'alter table exits drop column change'],
  [110, 'drop index facts_of_absences'],
  [111, 'alter table fills drop column recorded'],
  [111, 'alter table exits drop column after_fill, drop column in_order'],
];

/** As if that migration and the later ones had never been. */
export async function undoMigrations(sql: Sql, from: number): Promise<void> {
  for (const [number, statement] of ADDED) if (number >= from) await sql.unsafe(statement);
  await sql`delete from migrations where number >= ${from}`;
}

/** A database that has the desk's tables and functions and no rows: to create them takes longer than the rest of a start. */
export async function createDeskDatabase(): Promise<string> {
  const databaseUrl = await createLastingDeskDatabase();
  dropAfterFile(databaseUrl);
  return databaseUrl;
}

/** It stays until the server of the run ends. */
export async function createLastingDeskDatabase(): Promise<string> {
  return createDatabase(`template ${(await sharedPostgres()).template}`);
}

const nameIn = (databaseUrl: string): string => /\/(\w+)\?/.exec(databaseUrl)?.[1] ?? '';

function dropAfterFile(databaseUrl: string): void {
  afterFile('databases', async () =>
    asAdmin(await sharedPostgres(), `drop database if exists ${nameIn(databaseUrl)} with (force)`),
  );
}

async function createDatabase(from: string): Promise<string> {
  const where = await sharedPostgres();
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Owned by an ordinary role: statements that need more rights must fail here, too.
  await asAdmin(where, `create database ${name} owner ${where.user} ${from} strategy file_copy`);
  return socketUrl(where, name);
}

const endSessions = (where: SharedPostgres, name: string): Promise<void> =>
  asAdmin(where, `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`);

/** A copy of a database that no service uses: as a copy of its files, it has the same system and timeline. */
export async function copyDatabase(databaseUrl: string): Promise<string> {
  await endSessions(await sharedPostgres(), nameIn(databaseUrl));
  const copy = await createDatabase(`template ${nameIn(databaseUrl)}`);
  dropAfterFile(copy);
  return copy;
}

/** Puts a copy in the place of a database, whatever is connected to that. */
export async function replaceDatabase(databaseUrl: string, copyUrl: string): Promise<void> {
  const [name, copy] = [nameIn(databaseUrl), nameIn(copyUrl)];
  const where = await sharedPostgres();
  await asAdmin(where, `alter database ${name} allow_connections false`);
  await asAdmin(
    where,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = '${name}'`,
  );
  await asAdmin(where, `drop database ${name}`);
  await asAdmin(where, `alter database ${copy} rename to ${name}`);
}

/** A pool on an empty database of its own; closed with the file. */
export async function openTestDatabase(max = 10): Promise<Sql> {
  const sql = openPool(await createTestDatabase(), { max });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  return sql;
}

/** A pool on a database of its own that has the desk's tables; closed with the file. */
export async function openDeskDatabase(max = 10): Promise<Sql> {
  const sql = openPool(await createDeskDatabase(), { max });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  return sql;
}
