/** Snapshots while the exchange runs: a thread writes them from what is committed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import type { Sql } from '@bellwether/durable';
import { expect, test } from 'vitest';
import type { JournalledExchange } from '../src/index.ts';
import { recover } from '../src/journal/recovery.ts';
import { hashOf, SnapshotSchedule } from '../src/journal/snapshots.ts';
import { ALICE, cutJournal, someTrading, stage, untilOpen } from './open-exchange-stage.ts';

const kept = async (sql: Sql): Promise<{ seq: number; hash: string }[]> => {
  const rows = await sql`select seq, hash from exchange_snapshots order by seq`;
  return rows.map(({ seq, hash }) => ({ seq: Number(seq), hash: hash as string }));
};

const deposit = (exchange: JournalledExchange) =>
  exchange.execute({ kind: 'deposit', account: ALICE, amount: MICRO });

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  await expect.poll(isSo, { interval: 50 }).toBe(true);
}

test('a snapshot is the state after its command, although commands went on', async () => {
  const { sql, clock, open } = await stage();
  const exchange = await open({ snapshotEveryCommands: 10, prunesJournal: false });
  for (let i = 0; (await kept(sql)).length < 2; i += 1) {
    expect(i).toBeLessThan(10_000);
    clock.time += 1_000;
    await Promise.all([exchange.step(), deposit(exchange)]);
    // The thread that writes them needs some of the processor, too.
    await sleep(5);
  }
  const written = await kept(sql);
  await exchange.close();
  await sql`delete from exchange_snapshots`;
  for (const { seq, hash } of written) {
    const { world } = (await recover(sql, () => {}, { upTo: seq }))!;
    expect(hashOf(world.snapshot())).toBe(hash);
  }
});

test('a snapshot that cannot be written leaves the earlier ones, is logged, and delays nothing', async () => {
  const { sql, clock, open } = await stage();
  const logged: string[] = [];
  const exchange = await open({ snapshotEveryCommands: 10, log: (message) => logged.push(message) });
  await someTrading(exchange, clock, 5);
  await until(async () => (await kept(sql)).length > 0);
  await sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$;
    create trigger refuse before insert on exchange_snapshots for each row execute function refuse();`);
  const before = await kept(sql);
  for (let i = 0; i < 5_000 && logged.length === 0; i += 1) {
    await deposit(exchange);
    await sleep(5);
  }
  expect(logged).toContain('a snapshot of the paper exchange was not written');
  expect(await kept(sql)).toEqual(before);
  await sql.unsafe('drop trigger refuse on exchange_snapshots');
  await until(async () => {
    await deposit(exchange);
    return (await kept(sql)).at(-1)!.seq > before.at(-1)!.seq;
  });
  await exchange.close();
});

test('the close writes the state whose snapshot failed before, and none twice', async () => {
  const { sql, open } = await stage();
  await (await open()).close();
  const { seq } = (await kept(sql)).at(-1)!;
  const logged: string[] = [];
  let isCovered = false;
  const schedule = new SnapshotSchedule({
    ...{ sql, prunesJournal: false, log: (message) => void logged.push(message) },
    async cover() {
      if (!isCovered) throw new Error('the history cannot be written');
    },
  });
  let asked = 0;
  const close = () =>
    schedule.writeLast(seq + 7, () => {
      asked += 1;
      return { at: 0, state: Buffer.from('state') };
    });
  schedule.begin(seq, 0);
  schedule.take(seq + 7, 0, Promise.resolve());
  await schedule.end();
  expect(logged).toHaveLength(1);
  isCovered = true;
  await close();
  expect((await kept(sql)).at(-1)).toEqual({ seq: seq + 7, hash: hashOf(Buffer.from('state')) });
  await close();
  expect(asked).toBe(1);
});

test('the thread goes on from its own last state, which no stored one can spoil', async () => {
  const { sql, clock, open } = await stage();
  const logged: string[] = [];
  const log = (message: string) => void logged.push(message);
  const exchange = await open({ snapshotEveryCommands: 10, prunesJournal: false, log });
  await someTrading(exchange, clock, 5);
  await until(async () => (await kept(sql)).length > 0);
  await sql`update exchange_snapshots set state = 'damaged'`;
  const damaged = (await kept(sql)).at(-1)!.seq;
  await until(async () => {
    await deposit(exchange);
    return (await kept(sql)).at(-1)!.seq > damaged;
  });
  const { seq, hash } = (await kept(sql)).at(-1)!;
  expect(logged).toEqual([]);
  await exchange.close();
  await sql`delete from exchange_snapshots`;
  const { world } = (await recover(sql, () => {}, { upTo: seq }))!;
  expect(hashOf(world.snapshot())).toBe(hash);
});

test('after a new term no thread goes on from the state of the old one: the journal may be another', async () => {
  const { sql, clock, open } = await stage();
  const exchange = await open({ snapshotEveryCommands: 10, prunesJournal: false });
  await someTrading(exchange, clock, 5);
  await until(async () => (await kept(sql)).length > 0);
  const last = (await kept(sql)).at(-1)!.seq;
  // As after a restore: what the thread has applied since the first commands never happened.
  await sql`delete from exchange_snapshots`;
  await sql`delete from exchange_history`;
  await cutJournal(sql);
  await sql`delete from exchange_journal where seq > 5`;
  await sql`delete from exchange_orders where seq > 5`;
  await exchange.step().catch(() => {});
  await untilOpen(exchange);
  await until(async () => {
    await deposit(exchange);
    return ((await kept(sql)).at(-1)?.seq ?? 0) > last + 5;
  });
  const { seq, hash } = (await kept(sql)).at(-1)!;
  await exchange.close();
  await sql`delete from exchange_snapshots`;
  const { world } = (await recover(sql, () => {}, { upTo: seq }))!;
  expect(hashOf(world.snapshot())).toBe(hash);
});

test('the thread lets others have the processor after every few hundred commands, and skips none', async () => {
  const { sql, open } = await stage();
  const exchange = await open();
  await Promise.all(Array.from({ length: 1_100 }, () => deposit(exchange)));
  const hash = exchange.stateHash();
  const pausedAfter: number[] = [];
  let replayed = 0;
  const recovered = await recover(sql, () => {}, {
    onReplayed: () => {
      replayed += 1;
    },
    pause: async () => void pausedAfter.push(replayed),
  });
  expect(pausedAfter.length).toBeGreaterThanOrEqual(2);
  expect(Math.max(...pausedAfter.map((at, nth) => at - (pausedAfter[nth - 1] ?? 0)))).toBeLessThanOrEqual(
    500,
  );
  expect(hashOf(recovered!.world.snapshot())).toBe(hash);
  await exchange.close();
});

test('a lead that is lost while a thread writes does not harm its snapshot', async () => {
  const { sql, clock, open } = await stage();
  const exchange = await open({ snapshotEveryCommands: 30 });
  await someTrading(exchange, clock, 12);
  await cutJournal(sql);
  await exchange.step().catch(() => {});
  await untilOpen(exchange);
  await until(async () => (await kept(sql)).length > 0);
  const hash = exchange.stateHash();
  await exchange.close();
  const again = await open();
  expect(again.stateHash()).toBe(hash);
  await again.close();
});

test('a thread needs no command of the journal that a kept snapshot includes', async () => {
  const { sql, clock, open } = await stage();
  const exchange = await open();
  await someTrading(exchange, clock, 3);
  await exchange.close();
  const [{ seq } = { seq: 0 }] = await kept(sql);
  await sql`delete from exchange_journal where seq <= ${String(seq)}::bigint`;
  const logged: string[] = [];
  const again = await open({ snapshotEveryCommands: 5, log: (message) => logged.push(message) });
  await someTrading(again, clock, 10);
  await until(async () => (await kept(sql)).length === 2);
  expect(logged).toEqual([]);
  await again.close();
});

test('the journal keeps what follows the oldest kept snapshot, and nothing before it', async () => {
  const { sql, clock, open } = await stage();
  const exchange = await open({ snapshotEveryCommands: 10 });
  await someTrading(exchange, clock, 5);
  const journal = async () => {
    const rows = await sql`
      select min(seq)::int as first, max(seq)::int as last, count(*)::int as count from exchange_journal`;
    return rows[0]!;
  };
  await until(async () => (await kept(sql)).length === 1);
  // One snapshot may be damaged: alone it does not replace the journal.
  expect((await journal()).first).toBe(1);
  await until(async () => {
    await deposit(exchange);
    return (await journal()).first > 10;
  });
  const hash = exchange.stateHash();
  await exchange.close();
  const [oldest, newest] = await kept(sql);
  const first = oldest!.seq;
  const last = newest!.seq;
  expect(await journal()).toEqual({ first, last, count: last - first + 1 });
  // The oldest one alone still leads to the same state.
  await sql`delete from exchange_snapshots where seq = ${last}::bigint`;
  const again = await open();
  expect(again.stateHash()).toBe(hash);
  await again.close();
});
