/** Connections die inside transactions, on a real PostgreSQL: nothing hangs, nothing is partially written, no error is unhandled. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CommitInDoubt, ConnectionLost, openTransaction, transact } from '@bellwether/durable';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';
import { openPool, type Sql } from '../src/platform/database/connection.ts';

const VICTIM = 'victim';
/** A statement that would run for this long must be rejected long before. */
const LONG_S = 300;
const PROMPT_MS = 30_000;

const escaped: unknown[] = [];
const onEscaped = (error: unknown) => escaped.push(error);
let url: string;
let admin: Sql;
let sql: Sql;

beforeAll(async () => {
  process.on('uncaughtException', onEscaped);
  process.on('unhandledRejection', onEscaped);
  url = await createTestDatabase();
  admin = openPool(url, { max: 2 });
  sql = openPool(url, { max: 1, applicationName: VICTIM });
  await sql`create table notes (id int primary key)`;
  // A deferred constraint: its check runs during the commit, slowly.
  await sql`create table slow_notes (id int primary key)`;
  await sql.unsafe(`
    create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(${LONG_S}); return null; end';
    create constraint trigger linger after insert on slow_notes deferrable initially deferred
      for each row execute function linger()`);
});
beforeEach(async () => {
  await sql`truncate notes`;
});
afterAll(async () => {
  await Promise.all([sql.end({ timeout: 1 }), admin.end({ timeout: 1 })]);
  process.off('uncaughtException', onEscaped);
  process.off('unhandledRejection', onEscaped);
  expect(escaped).toEqual([]);
});

/** Ends the pool's connections once one of them is in the wanted state. */
async function terminate(state: string, query = '%'): Promise<void> {
  const seen = admin`select pid from pg_stat_activity
    where application_name = ${VICTIM} and state = ${state} and query like ${query}`;
  while ((await admin`${seen}`).length === 0) await sleep(10);
  await admin`select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = ${VICTIM}`;
}

const caught = (promise: PromiseLike<unknown>): PromiseLike<unknown> =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => error,
  );
const promptly = (answer: PromiseLike<unknown>) => Promise.race([answer, sleep(PROMPT_MS, 'still waiting')]);
const failureOf = (promise: PromiseLike<unknown>) => promptly(caught(promise));
const notes = async () => (await sql`select id from notes order by id`).map(({ id }) => id as number);
/** On the pool's only connection. */
const expectThePoolToWork = async () => {
  const id = await transact(sql, async (tx) => {
    const [row] = await tx`insert into notes values (${99}) returning id`;
    return row?.id;
  });
  expect(id).toBe(99);
  expect(await notes()).toContain(99);
};

describe('a transaction', () => {
  test('is all or nothing', async () => {
    await transact(sql, (tx) =>
      Promise.all([tx`insert into notes values (1)`, tx`insert into notes values (2)`]),
    );
    const fault = new Error('no');
    const failed = transact(sql, async (tx) => {
      await tx`insert into notes values (3)`;
      throw fault;
    });
    expect(await failureOf(failed)).toBe(fault);
    expect(await notes()).toEqual([1, 2]);
  });

  test('a failed statement rolls it back, even if its error was ignored', async () => {
    const deaf = transact(sql, async (tx) => {
      await tx`insert into notes values (1)`;
      await tx`insert into notes values (1)`.catch(() => {});
    });
    expect(await failureOf(deaf)).toMatchObject({ code: '23505' });
    expect(await notes()).toEqual([]);
    await expectThePoolToWork();
  });

  test('nested calls, helpers and unprepared statements run inside it', async () => {
    await transact(sql, async (tx) => {
      const where = tx`id = any(${[1, 2]}::int[])`;
      await tx`insert into notes ${tx([{ id: 1 }, { id: 2 }, { id: 3 }])}`;
      await tx.unsafe('delete from notes where id = $1', [1]);
      expect(await tx`select id from notes where ${where}`).toEqual([{ id: 2 }]);
      await tx`insert into notes select id from jsonb_to_recordset(${tx.json([{ id: 4 }])}) as t(id int)`;
    });
    expect(await notes()).toEqual([2, 3, 4]);
  });

  test('refuses statements after its end', async () => {
    const { tx, commit } = openTransaction(sql);
    const late = tx`insert into notes values (2)`;
    await tx`insert into notes values (1)`;
    await commit();
    expect(() => tx`select 1`).toThrow('over');
    expect(await failureOf(late)).toMatchObject({ message: 'the transaction is over' });
    expect(await notes()).toEqual([1]);
  });

  test('ten at the same time take turns on one connection', async () => {
    const ids = Array.from({ length: 10 }, (_, id) => id);
    await Promise.all(
      ids.map((id) =>
        transact(sql, async (tx) => expect((await tx`insert into notes values (${id})`).count).toBe(1)),
      ),
    );
    expect(await notes()).toEqual(ids);
  });
});

describe('the connection is terminated', () => {
  test('during a statement: it, the queued ones and later ones are rejected', async () => {
    const { tx, rollback } = openTransaction(sql);
    await tx`insert into notes values (1)`;
    const all = [
      caught(tx`select pg_sleep(${LONG_S})`),
      // Not sent yet: the driver waits for the description of the previous statement.
      caught(tx`select ${7}::int`),
      caught(tx`select ${8}::int`),
    ];
    await terminate('active', '%pg_sleep%');
    for (const failure of (await promptly(Promise.all(all))) as unknown[])
      expect(failure).toBeInstanceOf(ConnectionLost);
    expect(await failureOf(tx`select 1`)).toBeInstanceOf(ConnectionLost);
    expect(await failureOf(rollback())).toEqual({ value: undefined });
    expect(await notes()).toEqual([]);
    await expectThePoolToWork();
  });

  test('between statements: the next is rejected, and a commit is not in doubt', async () => {
    for (const go of [
      async (tx: Parameters<Parameters<typeof transact>[1]>[0]) =>
        void (await tx`insert into notes values (2)`),
      async () => {},
    ]) {
      const failed = transact(sql, async (tx) => {
        await tx`insert into notes values (1)`;
        await terminate('idle in transaction');
        await sleep(50);
        await go(tx);
      });
      const failure = await failureOf(failed);
      expect(failure).toBeInstanceOf(ConnectionLost);
      expect(failure).not.toBeInstanceOf(CommitInDoubt);
      expect(failure).toMatchObject({ code: 'CONNECTION_CLOSED' });
      expect(await notes()).toEqual([]);
    }
    await expectThePoolToWork();
  });

  test('between statements, while the next one is being sent', async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const { tx, rollback } = openTransaction(sql);
      const [row] = await tx`select pg_backend_pid() as pid`;
      const killed = admin`select pg_terminate_backend(${row?.pid})`.execute();
      await sleep(turn / 4);
      const failure = await failureOf(
        Promise.all([tx`select 1`, tx`select ${turn}::int`]).then(() => tx`select 1`),
      );
      if (!('value' in (failure as object))) expect(failure).toBeInstanceOf(ConnectionLost);
      await killed;
      expect(await failureOf(rollback())).toEqual({ value: undefined });
    }
    await expectThePoolToWork();
  });

  test('during the commit: in doubt', async () => {
    const failed = caught(transact(sql, async (tx) => void (await tx`insert into slow_notes values (1)`)));
    await terminate('active', 'commit');
    expect(await promptly(failed)).toBeInstanceOf(CommitInDoubt);
    expect(await sql`select * from slow_notes`).toEqual([]);
    await expectThePoolToWork();
  });

  test('during a commit that is pipelined after its statements, as in a trade', async () => {
    const { tx, commit } = openTransaction(sql);
    await tx`select 1`;
    const written = tx`insert into slow_notes values (1)`.execute();
    written.catch(() => {});
    const failed = caught(commit());
    await terminate('active', 'commit');
    expect(await promptly(failed)).toBeInstanceOf(CommitInDoubt);
    await expectThePoolToWork();
  });

  test('while it is idle in the pool: the next transaction gets another one', async () => {
    await sql`select 1`;
    await terminate('idle');
    await sleep(50);
    await expectThePoolToWork();
  });
});

test('bytes and texts arrive in arrays as they were sent', async () => {
  const bytes = [Uint8Array.of(), Uint8Array.of(0, 92, 34, 255), new Uint8Array(300).fill(92)];
  const texts = ['', 'NULL', '"', '\\', '\\x00', 'a,b', '{c}', ' d\n', 'Wörter 🎈', null];
  const [row] = await admin`
    select ${bytes}::bytea[] as bytes, ${texts}::text[] as texts, ${texts.map(() => true)}::bool[] as flags`;
  expect(row?.bytes).toEqual(bytes.map((each) => Buffer.from(each)));
  expect(row?.texts).toEqual(texts);
  expect(row?.flags).toEqual(texts.map(() => true));
  const rows = await admin`
    select * from unnest(${bytes}::bytea[], ${bytes.map(({ length }) => length)}::int[]) as t (bytes, length)`;
  expect(rows.map((each) => [Buffer.from(each.bytes as Uint8Array), each.length])).toEqual(
    bytes.map((each) => [Buffer.from(each), each.length]),
  );
});

test('without a database: rejected at once, with all statements', async () => {
  const nowhere = openPool('postgres://desk@127.0.0.1:1/none', { max: 1 });
  const failure = await failureOf(transact(nowhere, (tx) => Promise.all([tx`select 1`, tx`select 2`])));
  expect(failure).toBeInstanceOf(ConnectionLost);
  expect(failure).toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  await nowhere.end({ timeout: 0 });
});

test('many at random: committed rows exist, refused ones do not, and every answer belongs to its query', async () => {
  const pool = openPool(url, { max: 5, applicationName: 'storm', connectTimeoutSeconds: 20 });
  // As a service does: one connection, before there is work, learns the types for all.
  await pool`select 1`;
  const verdicts = new Map<number, 'committed' | 'refused' | 'doubt'>();
  let next = 1_000;
  let isOver = false;
  const verdictOn = (error: unknown) => (error instanceof CommitInDoubt ? 'doubt' : 'refused');
  const write = async () => {
    while (!isOver) {
      const id = next++;
      await transact(pool, async (tx) => {
        const [row] = await tx`insert into notes values (${id}) returning id`;
        expect(row).toEqual({ id });
        await Promise.all([tx`select ${id}::int`, tx`select pg_sleep(0.002)`]);
      }).then(
        () => verdicts.set(id, 'committed'),
        (error) => verdicts.set(id, verdictOn(error)),
      );
    }
  };
  const wrong: unknown[] = [];
  const read = async () => {
    while (!isOver) {
      const id = next++;
      await pool`select ${id}::int as id`.then(
        ([row]) => row?.id !== id && wrong.push({ id, row }),
        () => {},
      );
    }
  };
  const committed = () => [...verdicts.values()].filter((verdict) => verdict === 'committed').length;
  const workers = [write(), write(), write(), write(), write(), write(), read(), read(), read()];
  for (let turn = 0; turn < 25; turn += 1) {
    const before = committed();
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'storm'`;
    await expect.poll(committed, { timeout: PROMPT_MS, interval: 20 }).toBeGreaterThan(before);
  }
  isOver = true;
  const left = await Promise.race([Promise.all(workers), sleep(PROMPT_MS, 'a query hangs')]);
  expect(left).not.toBe('a query hangs');
  const there = new Set(await notes());
  for (const [id, verdict] of verdicts)
    if (verdict !== 'doubt') expect([id, there.has(id)]).toEqual([id, verdict === 'committed']);
  const seen = [...verdicts.values()];
  expect(seen.filter((verdict) => verdict === 'refused').length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
  await Promise.all(Array.from({ length: 20 }, () => transact(pool, (tx) => tx`select 1`)));
  await pool.end({ timeout: 1 });
});
