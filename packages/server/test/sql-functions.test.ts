/** The files of functions/ are applied once, completely, and an older release never overwrites a newer one. */

import { openTransaction } from '@bellwether/durable';
import { expect, test } from 'vitest';
import { openTestDatabase } from '../../../test/postgres.ts';
import type { Sql } from '../src/platform/database/connection.ts';
import {
  applyFunctions,
  type FunctionSet,
  MigrationError,
  migrate,
  readFunctionFiles,
  readFunctionSet,
} from '../src/platform/database/migrate.ts';

/** Far ahead of the service's own. */
const MAJOR = 1_000_000;

/** A release whose function returns the release number, in addition to the service's own functions. */
const releaseOf = (release: number, ...more: string[]): FunctionSet => ({
  release: release * MAJOR,
  files: [
    ...readFunctionFiles(),
    ...[answering(release), ...more].map((text, at) => ({ name: `test-${at}.sql`, text })),
  ],
});

const answering = (release: number) =>
  `create or replace function which_release() returns integer language sql as 'select ${release}';
   create or replace function calls_another() returns integer language sql as 'select which_release()';`;

const whichRelease = async (sql: Sql) => (await sql`select calls_another() as release`)[0]?.release;

async function migrated(): Promise<Sql> {
  const sql = await openTestDatabase();
  await migrate(sql);
  return sql;
}

test('releases are in the order of their versions, after those that were counted', () => {
  const numbers = ['0.2.0', '0.2.1', '0.10.0', '1.0.0-rc.1', '1.0.1'].map(
    (one) => readFunctionSet(one).release,
  );
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers[0]).toBeGreaterThan(67);
});

test('after a migration every function and trigger equals its file, and its body fits the tables', async () => {
  const sql = await migrated();
  expect(await applyFunctions(sql, readFunctionSet())).toBe('current');
  const named = readFunctionFiles().flatMap(({ text }) => [
    ...text.matchAll(/^create (?:or replace (?:function|trigger)|constraint trigger) (\w+)/gm),
  ]);
  const inDatabase = await sql`
    select proname as name from pg_proc where pronamespace = 'public'::regnamespace
    union all select tgname from pg_trigger where not tgisinternal`;
  expect(new Set(named.map(([, name]) => name))).toEqual(new Set(inDatabase.map(({ name }) => name)));
  // With all functions present, PostgreSQL itself checks the bodies.
  for (const { text } of readFunctionFiles()) await sql.unsafe(text);
});

test('a changed file is applied; an older release that starts later changes nothing', async () => {
  const sql = await migrated();
  expect(await applyFunctions(sql, releaseOf(101))).toBe('applied');
  expect(await applyFunctions(sql, releaseOf(101))).toBe('current');
  expect(await applyFunctions(sql, releaseOf(102))).toBe('applied');
  expect(await applyFunctions(sql, releaseOf(101))).toBe('newer');
  expect(await whichRelease(sql)).toBe(102);
  // A file that is gone is no reason to apply the others again.
  expect(await applyFunctions(sql, releaseOf(103, 'select 1'))).toBe('applied');
  expect(await applyFunctions(sql, releaseOf(104))).toBe('applied');
  expect(await applyFunctions(sql, releaseOf(104))).toBe('current');
  // The service's own release is older than all of them.
  await migrate(sql);
  expect(await whichRelease(sql)).toBe(104);
});

test('a file that was reverted still belongs to the newer release', async () => {
  const sql = await migrated();
  const of = (release: number, answer: number) => ({ ...releaseOf(answer), release: release * MAJOR });
  await applyFunctions(sql, of(101, 1));
  // From 101 directly to 103; 102 was never applied and had another text.
  expect(await applyFunctions(sql, of(103, 1))).toBe('applied');
  expect(await applyFunctions(sql, of(102, 2))).toBe('newer');
  expect(await whichRelease(sql)).toBe(1);
});

test('of releases that start at the same time the newest remains, in any order', async () => {
  const sql = await migrated();
  for (const releases of [
    [201, 202, 203, 202, 201],
    [306, 305, 304, 305, 306],
  ]) {
    const results = await Promise.all(releases.map((release) => applyFunctions(sql, releaseOf(release))));
    expect(await whichRelease(sql)).toBe(Math.max(...releases));
    expect(results).toContain('applied');
  }
});

test('a release that fails half-way changes nothing', async () => {
  const sql = await migrated();
  await applyFunctions(sql, releaseOf(101));
  await expect(applyFunctions(sql, releaseOf(102, 'create function broken('))).rejects.toThrow(
    'syntax error',
  );
  const killed = `do $$ begin perform pg_terminate_backend(pg_backend_pid()); end $$`;
  await expect(applyFunctions(sql, releaseOf(103, killed))).rejects.toThrow();
  expect(await whichRelease(sql)).toBe(101);
  expect(await applyFunctions(sql, releaseOf(101))).toBe('current');
  expect(await applyFunctions(sql, releaseOf(104))).toBe('applied');
});

test('an older version on a newer schema writes no functions', async () => {
  const sql = await migrated();
  await sql`delete from sql_functions`;
  await sql`insert into migrations (number, name) values (9999, 'of-a-newer-version')`;
  await expect(migrate(sql)).rejects.toThrow(MigrationError);
  // The newer one migrates after this version has checked the migrations and before it writes its functions.
  const tooLate = new MigrationError('ahead');
  await expect(
    applyFunctions(sql, readFunctionSet(), async () => {
      throw tooLate;
    }),
  ).rejects.toBe(tooLate);
  expect(await sql`select * from sql_functions`).toEqual([]);
});

async function triggerWaits(sql: Sql): Promise<void> {
  const deadline = Date.now() + 60_000;
  const waiting = () => sql`select from pg_locks where not granted and relation = 'orders'::regclass
    and database = (select oid from pg_database where datname = current_database())`;
  while ((await waiting()).length === 0) expect(Date.now()).toBeLessThan(deadline);
}

test('replacing a trigger waits for trades on its table without blocking them', async () => {
  const sql = await migrated();
  const trigger = readFunctionFiles().find(({ text }) => text.includes('after insert on orders'));
  const changed = releaseOf(101, `${trigger?.text}-- changed`);
  const trade = openTransaction(sql);
  await trade.tx`update orders set updated_at = now()`;
  const applied = applyFunctions(sql, changed);
  // More trades arrive while the trigger waits for the first one.
  for (let seen = 0; seen < 3; seen += 1) {
    await triggerWaits(sql);
    // Blocked, it would wait for the commit below, which comes after it.
    await sql`update orders set updated_at = now()`;
  }
  await trade.commit();
  expect(await applied).toBe('applied');
});
