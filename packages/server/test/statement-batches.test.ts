/** Statements of a transaction that are sent together, on a real PostgreSQL: one answer for all, and each its own result. */
import { createConnection, createServer } from 'node:net';
import { openPool, openTransaction, type Sql, transact } from '@bellwether/durable';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';

/** Statements that one connection prepares at most. */
const MOST_PREPARED = 1_000;

let url: string;
let sql: Sql;

beforeAll(async () => {
  url = await createTestDatabase();
  sql = openPool(url, { max: 1 });
  await sql`create table notes (id int primary key, text text)`;
});
beforeEach(async () => {
  await sql`truncate notes`;
});
afterAll(() => sql.end({ timeout: 1 }));

const caught = (promise: PromiseLike<unknown>): PromiseLike<unknown> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
const notes = async () => (await sql`select id from notes order by id`).map(({ id }) => id as number);

/** The database behind a proxy that counts how often the server says that it is ready: once for each answer. */
async function countingAnswers() {
  const [, user, database, parameters] = /^postgres:\/\/([^@]*)@\/([^?]*)\?(.*)$/.exec(url) ?? [];
  const address = new URLSearchParams(parameters);
  const path = `${address.get('host')}/.s.PGSQL.${address.get('port')}`;
  const READY = Buffer.from([0x5a, 0, 0, 0, 5]).toString('latin1');
  let answers = 0;
  const server = createServer((client) => {
    const upstream = createConnection(path);
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      answers += bytes.toString('latin1').split(READY).length - 1;
      client.write(bytes);
    });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('close', () => to.destroy());
      from.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const pool = openPool(`postgres://${user}@127.0.0.1:${port}/${database}`, { max: 1, tls: false });
  return {
    pool,
    answers: () => answers,
    end: async () => {
      await pool.end({ timeout: 1 });
      server.close();
    },
  };
}

test('statements of one turn are answered together, the commit by itself', async () => {
  const { pool, answers, end } = await countingAnswers();
  await pool`select 1`;
  const before = answers();
  const [, [count], texts] = await transact(pool, (tx) =>
    Promise.all([
      tx`insert into notes values (1, 'one'), (2, null)`,
      tx`select count(*)::int as n from notes`,
      tx`select text from notes order by id`,
    ]),
  );
  expect([count?.n, texts.map(({ text }) => text)]).toEqual([2, ['one', null]]);
  expect(answers() - before).toBe(2);
  await end();
});

test('each has its own rows, count and command, also when its columns are known already', async () => {
  for (let turn = 0; turn < 2; turn += 1) {
    const [inserted, several, none, updated] = await transact(sql, (tx) =>
      Promise.all([
        tx`insert into notes values (${turn}, ${'a'}) returning id, text`,
        tx`select n::int8 as n, null::text as nothing, array[n] as list from generate_series(1, ${3}::int) n`,
        tx`select id from notes where id = ${-1}`,
        tx`update notes set text = ${null} where id = ${turn}`,
      ]),
    );
    expect([...inserted]).toEqual([{ id: turn, text: 'a' }]);
    expect([inserted.command, inserted.count]).toEqual(['INSERT', 1]);
    expect([...several]).toEqual([1, 2, 3].map((n) => ({ n: BigInt(n), nothing: null, list: [n] })));
    expect([[...none], none.count]).toEqual([[], 0]);
    expect([updated.command, updated.count, updated.length]).toEqual(['UPDATE', 1, 0]);
  }
});

test('after one that fails the rest is not executed, and nothing is committed', async () => {
  const { tx, commit } = openTransaction(sql);
  const answers = [
    tx`insert into notes values (1, ${'one'}) returning id`,
    tx`insert into notes values (1, ${'twin'})`,
    tx`select set_config('bellwether.seen', ${'yes'}, false)`,
  ].map((statement) => caught(statement));
  const [first, second, third] = await Promise.all(answers);
  expect(first).toMatchObject({ value: [{ id: 1 }] });
  expect(second).toMatchObject({ code: '23505' });
  expect(third).toMatchObject({ code: '23505' });
  expect(await caught(commit())).toMatchObject({ code: '23505' });
  expect(await notes()).toEqual([]);
  expect((await sql`select current_setting('bellwether.seen', true) as seen`)[0]?.seen).toBeNull();
});

test('statements that failed, or were not reached, when they were used first can be used again', async () => {
  const both = (divisor: number) =>
    transact(sql, (tx) =>
      Promise.all([tx`select 12 / ${divisor}::int as result`, tx`select ${divisor}::int as behind`]),
    );
  const early = () =>
    transact(sql, (tx) => Promise.all([tx`select * from later where id = ${1}`, tx`select ${7}::int as n`]));
  expect(await caught(both(0))).toMatchObject({ code: '22012' });
  expect(await caught(early())).toMatchObject({ code: '42P01' });
  await sql`create table later (id int)`;
  await sql`insert into later values (1)`;
  for (let turn = 0; turn < 2; turn += 1) {
    expect((await both(4)).map(([row]) => row)).toEqual([{ result: 3 }, { behind: 4 }]);
    expect((await early()).map(([row]) => row)).toEqual([{ id: 1 }, { n: 7 }]);
  }
  await sql`drop table later`;
});

test('a statement whose columns have changed is refused once, and then has the new ones', async () => {
  const all = () => transact(sql, (tx) => Promise.all([tx`select * from wide where id > ${0}`]));
  await sql`create table wide (id int)`;
  await sql`insert into wide values (1)`;
  expect((await all())[0]).toEqual([{ id: 1 }]);
  await sql`alter table wide add column text text default 'new'`;
  expect(await caught(all())).toMatchObject({ code: '0A000' });
  expect((await all())[0]).toEqual([{ id: 1, text: 'new' }]);
  await sql`drop table wide`;
});

test('statements beyond the most that are prepared have their results, too', async () => {
  for (let at = 0; at <= MOST_PREPARED; at += 100) {
    const results = await transact(sql, (tx) =>
      Promise.all(
        Array.from({ length: 100 }, (_, n) =>
          tx.unsafe(`select $1::int + ${at + n} as sum, 'x${n}' as label`, [1]),
        ),
      ),
    );
    expect(results.map(([row]) => row)).toEqual(
      Array.from({ length: 100 }, (_, n) => ({ sum: at + n + 1, label: `x${n}` })),
    );
  }
});

test('a statement of several, without values, runs between the others in its place', async () => {
  const [, , [row]] = await transact(sql, (tx) =>
    Promise.all([
      tx`insert into notes values (${1}, ${'a'})`,
      tx.unsafe(`insert into notes values (2, 'b'); insert into notes values (3, 'c')`),
      tx`select count(*)::int as n from notes where id <= ${3}`,
    ]),
  );
  expect(row?.n).toBe(3);
  expect(await notes()).toEqual([1, 2, 3]);
});
