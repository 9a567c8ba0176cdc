/** A database becomes one of this version, by migrations or, where the replaced ones have made it, as it stands. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROWS_FILE, rowsFile } from '../../../scripts/generate-rows.ts';
import {
  createDeskDatabase,
  createTestDatabase,
  openAsAdmin,
  openTestDatabase,
  undoMigrations,
} from '../../../test/postgres.ts';
import { afterFile } from '../../../test/setup/clean-up.ts';
import { openPool, type Sql } from '../src/platform/database/connection.ts';
import { MigrationError, migrate } from '../src/platform/database/migrate.ts';

const COUNT = readdirSync(join(import.meta.dirname, '../src/platform/database/migrations')).length;

/** A database that has had the migrations before the first of this version, with an owner in it. */
async function earlier(): Promise<{ sql: Sql; admin: Sql }> {
  const databaseUrl = await createDeskDatabase();
  const sql = openPool(databaseUrl, { max: 3 });
  afterFile('pools', () => sql.end({ timeout: 1 }));
  await sql`insert into owners (created_at, name) values (now(), 'Ann')`;
  await undoMigrations(sql, 102);
  await sql`delete from migrations`;
  await sql`insert into migrations (number, name) select number, 'replaced' from generate_series(43, 100) number`;
  return { sql, admin: await openAsAdmin(databaseUrl) };
}

/** Everything that a refused start could have changed. */
const stateOf = (sql: Sql) => sql`
  select (select array_agg(number order by number) from migrations) as migrations,
    (select array_agg(nspname::text order by nspname) from pg_namespace) as schemas,
    (select array_agg(relname::text order by oid) from pg_class where relname not like 'pg_toast_%') as relations,
    (select array_agg(name) from owners) as owners, (select max(applied_at) from sql_functions) as functions`;

const functionsOf = (sql: Sql) => sql`
  select array_agg(oid::regprocedure::text order by oid::regprocedure::text) as functions from pg_proc
  where pronamespace = 'public'::regnamespace`;

async function refusal(sql: Sql): Promise<string> {
  const before = await stateOf(sql);
  const error = await migrate(sql).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(MigrationError);
  expect(await stateOf(sql)).toEqual(before);
  return (error as MigrationError).message;
}

test('a migration may take longer than a statement of a request', async () => {
  const sql = openPool(await createTestDatabase(), { max: 2, statementTimeoutMs: 100 });
  try {
    await expect(sql`select pg_sleep(1)`).rejects.toMatchObject({ code: '57014' });
    expect(await migrate(sql, ['select pg_sleep(1)'])).toBeGreaterThan(0);
  } finally {
    await sql.end();
  }
});

test('a database of the replaced migrations is adopted once, with what is in it', async () => {
  const { sql } = await earlier();
  const [functions] = await functionsOf(sql);
  // What it had besides.
  await sql.unsafe(readFileSync(join(import.meta.dirname, '../../../test/ledger-model/oracle.sql'), 'utf8'));
  expect(await functionsOf(sql)).not.toEqual([functions]);
  // An operator's own, which changes no answer.
  await sql.unsafe('create table reports (day date); create index owners_by_name on owners (name)');
  const [before] = await stateOf(sql);
  const [one, other] = await Promise.all([migrate(sql), migrate(sql)]);
  expect(one + other).toBe(COUNT);
  expect(await migrate(sql)).toBe(0);
  expect(await stateOf(sql)).toEqual([
    {
      ...before,
      migrations: expect.arrayContaining([43, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111]),
      relations: [
        ...(before?.relations ?? []),
        ...[
          'recovery_codes_by_beginning',
          'unnamed_markets',
          'unnamed_markets_pkey',
          'exits_unsettled',
          'exits_written',
          'facts_of_exits',
          'exits_unsold',
          'exit_troubles',
          'exit_troubles_pkey',
          'exit_changes',
          'exits_changed',
          'facts_of_absences',
          'fills_recorded',
        ],
      ],
    },
  ]);
});

test.each([
  ['drop index exits_of_owner', 'It lacks: CREATE INDEX exits_of_owner ON exits'],
  ['drop table refusals', 'It lacks: CREATE UNIQUE INDEX refusals_pkey'],
  ['drop sequence agent_wallet_turns cascade', 'sequence agent_wallet_turns'],
  ['alter table rate_buckets set logged', 'It lacks: table rate_buckets unlogged'],
  ['alter table orders drop column restricted_by', 'column orders.restricted_by uuid[]'],
  ['alter table fills alter price type bigint', 'It has besides: column fills.price bigint not null'],
  ['alter table fills alter price drop not null', 'It lacks: column fills.price integer not null'],
  ['alter table facts alter writer drop default', 'default place_in_log()'],
  ['alter table exits drop constraint exits_check3', 'constraint exits.exits_check3 CHECK'],
  ['alter table agents drop constraint agents_user_id_fkey', 'FOREIGN KEY (user_id) REFERENCES owners'],
  ['alter table orders add column note text not null default 1', 'It has besides: column orders.note'],
  ['alter table orders add check (price > 1)', 'It has besides: constraint orders.orders_price_check'],
  ['create unique index on exits (user_id)', 'It has besides: CREATE UNIQUE INDEX exits_user_id_idx'],
])('after "%s" it is refused, and nothing is changed', async (statement, named) => {
  const { sql } = await earlier();
  await sql.unsafe(statement);
  const sentence = await refusal(sql);
  expect(sentence).toContain(named);
  expect(sentence).toMatch(
    /Nothing was changed\. Put its tables right, or restore a backup, and start again\.$/,
  );
});

test('of many differences the first are named', async () => {
  const { sql } = await earlier();
  await sql`drop table approvals, silences, skills cascade`;
  expect(await refusal(sql)).toMatch(/It lacks: (?:[^;]+; ){4}[^;]+ and \d+ more\. /);
});

test('the refusal of one that lacks a replaced migration names the commit to start in between', async () => {
  const { sql } = await earlier();
  await sql`delete from migrations where number = 60`;
  expect(await refusal(sql)).toMatch(
    /at migration 100 and has had 57 .*Start the service of commit [0-9a-f]{8} on it once/,
  );
  await sql`update migrations set number = 60 where number = 100`;
  expect(await refusal(sql)).toContain('at migration 99');
});

test('the refusal of a role that may create no schema names the grant', async () => {
  const { sql, admin } = await earlier();
  await admin.unsafe(
    `do $$ begin execute format('revoke create on database %I from public, %I', current_database(),
       (select rolname from pg_roles where oid = (select datdba from pg_database where datname = current_database()))); end $$`,
  );
  const sentence = await refusal(sql);
  const [, grant] = /: (grant create on database \S+ to \S+); then start again\./.exec(sentence) ?? [];
  await admin.unsafe(grant as string);
  expect(await migrate(sql)).toBe(COUNT);
});

test('rows.generated.ts matches the migrated schema: node scripts/generate-rows.ts', async () => {
  const sql = await openTestDatabase();
  await migrate(sql);
  expect(await rowsFile(sql)).toBe(readFileSync(ROWS_FILE, 'utf8'));
  // A renamed column changes the interface, and with it the type check of every mapper that reads it.
  await sql`alter table orders rename column market_id to market`;
  expect(await rowsFile(sql)).toContain('readonly market: string;\n  readonly condition_id');
  // A column with a type override must be renamed in the overrides, too.
  await sql`alter table orders rename column side to direction`;
  await expect(rowsFile(sql)).rejects.toThrow('names orders.side: no such column');
});

/** A statement without a row type: any column name would compile. */
const UNTYPED_READ = /(?:const (?:\w+|[[{].*[\]}]) = |\()await (?:sql|tx)`.*/g;
const FOLDER = join(import.meta.dirname, '../src');

test('every query of a store names its row type', () => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ file: name, source: readFileSync(join(FOLDER, name), 'utf8') }))
    .filter(({ source }) => source.includes("/rows.generated.ts'"));
  expect(files.length).toBeGreaterThan(20);
  const untyped = files.flatMap(({ file, source }) =>
    [...source.matchAll(UNTYPED_READ)].map(([read]) => `${file}: ${read}`),
  );
  expect(untyped).toEqual([]);
});
