/** The exchange on a real database: founding, recovery from every kind of end, one writer, order ids for ever. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MICRO } from '@bellwether/contract/decimals';
import { openPool, type Sql } from '@bellwether/durable';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';
import {
  type Entry,
  ExchangeLedElsewhere,
  type ExchangeOptions,
  ExchangeUnavailable,
  type JournalledExchange,
  migrateExchange,
  type NewOrder,
  openExchange,
  type Recorder,
} from '../src/index.ts';

const START = Date.UTC(2026, 10, 21, 12);

class ManualClock {
  time = START;
  now = (): number => this.time;
  every(): { stop(): void } {
    throw new Error('tests step by themselves');
  }
}

interface Stage {
  readonly sql: Sql;
  readonly url: string;
  readonly clock: ManualClock;
  open(options?: Partial<ExchangeOptions>): Promise<JournalledExchange>;
}

async function stage(): Promise<Stage> {
  const url = await createTestDatabase();
  const sql = openPool(url);
  onTestFinished(() => sql.end({ timeout: 1 }));
  await migrateExchange(sql);
  const clock = new ManualClock();
  const open = (options: Partial<ExchangeOptions> = {}) =>
    openExchange({ sql, seed: 'test', clock, autoStep: false, ...options });
  return { sql, url, clock, open };
}

const ALICE = '0x00000000000000000000000000000000000a11ce';
const BOB = '0x0000000000000000000000000000000000000b0b';
const orderId = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;

function marketBuy(exchange: JournalledExchange, number: number, spend = 5n * MICRO): NewOrder {
  const market = [...exchange.markets()].find((one) => one.status === 'open' && one.tickSize === 100)!;
  return {
    orderId: orderId(number),
    account: ALICE,
    conditionId: market.conditionId,
    outcome: 'YES',
    side: 'BUY',
    limit: 9900,
    size: 5n * MICRO,
    spend,
    timeInForce: 'FAK',
    postOnly: false,
  };
}

const restingBid = (exchange: JournalledExchange, number: number): NewOrder => {
  const { spend: _, ...order } = marketBuy(exchange, number);
  return { ...order, limit: 100, timeInForce: 'GTC' };
};

async function someTrading(exchange: JournalledExchange, clock: ManualClock, rounds = 20): Promise<void> {
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 10_000n * MICRO });
  for (let i = 0; i < rounds; i += 1) {
    clock.time += 1_000;
    await Promise.all([
      exchange.step(),
      exchange.execute({ kind: 'place', order: marketBuy(exchange, 1_000 + i) }),
      exchange.execute({ kind: 'place', order: restingBid(exchange, 2_000 + i) }),
    ]);
  }
}

/** Ends the backend that holds the journal's lock, as a crash or a failover would. */
const cutJournal = (sql: Sql) =>
  sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted
    and database = (select oid from pg_database where datname = current_database())`;

async function untilOpen(exchange: JournalledExchange): Promise<void> {
  for (let i = 0; i < 200 && exchange.status !== 'open'; i += 1) await sleep(25);
  expect(exchange.status).toBe('open');
}

describe('opening', () => {
  test('the first opening founds the world, lists it in the journal and stores it', async () => {
    const { sql, open } = await stage();
    const begun = performance.now();
    const exchange = await open();
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect([...exchange.markets()]).toHaveLength(121);
    await exchange.close();
    const [row] = await sql`select count(*)::int as count from exchange_snapshots`;
    expect(row?.count).toBe(1);
  });

  test('a clean close and a new opening give the same state', async () => {
    const { clock, open } = await stage();
    const first = await open();
    await someTrading(first, clock);
    const hash = first.stateHash();
    await first.close();
    const second = await open();
    expect(second.stateHash()).toBe(hash);
    await second.close();
  });

  test('replayed from its beginning, the journal gives the same state as from a snapshot', async () => {
    const { sql, clock, open } = await stage();
    const first = await open({ snapshotEveryCommands: 25 });
    await someTrading(first, clock);
    const hash = first.stateHash();
    await first.close();
    await sql`delete from exchange_snapshots`;
    const second = await open();
    expect(second.stateHash()).toBe(hash);
    await second.close();
  });

  test('only the last two snapshots are kept; a damaged one is passed over', async () => {
    const { sql, clock, open } = await stage();
    const first = await open({ snapshotEveryCommands: 10 });
    await someTrading(first, clock);
    const hash = first.stateHash();
    await first.close();
    const kept = await sql`select seq from exchange_snapshots order by seq`;
    expect(kept).toHaveLength(2);
    await sql`
      update exchange_snapshots set state = set_byte(state, 100, 255 - get_byte(state, 100))
      where seq = ${kept[1]!.seq}`;
    const second = await open();
    expect(second.stateHash()).toBe(hash);
    await second.close();
  });

  test('a second opener is refused while the first one leads, and welcome afterwards', async () => {
    const { open } = await stage();
    const first = await open();
    await expect(open({ leadWaitMs: 100 })).rejects.toBeInstanceOf(ExchangeLedElsewhere);
    await first.close();
    await (await open()).close();
  });

  test('a world keeps its seed; a new speed takes effect and survives', async () => {
    const { open, clock } = await stage();
    const first = await open();
    const [market] = [...first.markets()];
    const left = market!.endDate - clock.time;
    await first.close();
    const second = await open({ seed: 'other', speed: 4 });
    expect(second.market(market!.conditionId)!.endDate - clock.time).toBe(Math.floor(left / 4));
    const hash = second.stateHash();
    await second.close();
    const third = await open({ speed: 4 });
    expect(third.stateHash()).toBe(hash);
    await third.close();
  });

  test('a gap in the journal stops the opening', async () => {
    const { sql, clock, open } = await stage();
    const first = await open();
    await someTrading(first, clock, 3);
    await first.close();
    await sql`delete from exchange_snapshots`;
    await sql`delete from exchange_journal where seq = 4`;
    await expect(open()).rejects.toThrow(/gap after 3/);
  });
});

describe('a lost database', () => {
  test('acknowledged commands are there, unacknowledged ones wholly or not at all', async () => {
    const { sql, clock, open } = await stage();
    const exchange = await open();
    await exchange.execute({ kind: 'deposit', account: ALICE, amount: 100_000n * MICRO });
    const fates = new Map<string, 'acknowledged' | 'unknown' | 'no'>();
    for (let round = 0; round < 5; round += 1) {
      let acknowledged = 0;
      const place = async (i: number) => {
        const order = restingBid(exchange, 10_000 + round * 1_000 + i);
        await exchange.execute({ kind: 'place', order }).then(
          () => {
            acknowledged += 1;
            fates.set(order.orderId, 'acknowledged');
          },
          (error: unknown) => {
            expect(error).toBeInstanceOf(ExchangeUnavailable);
            fates.set(order.orderId, (error as ExchangeUnavailable).executed);
          },
        );
      };
      const flood = Array.from({ length: 400 }, (_, i) => sleep(i / 10).then(() => place(i)));
      // In the middle of it, however fast this machine is: some are through, and others are on their way.
      while (acknowledged < 12 + round) await sleep(1);
      await cutJournal(sql);
      while (exchange.status === 'open') await sleep(0);
      await Promise.all([...flood, ...Array.from({ length: 20 }, (_, i) => place(400 + i))]);
      await untilOpen(exchange);
      clock.time += 1_000;
    }
    const told = [...fates.values()];
    expect(told.filter((fate) => fate === 'acknowledged').length).toBeGreaterThan(50);
    expect(told.filter((fate) => fate === 'no').length).toBeGreaterThan(50);
    for (const [orderId, fate] of fates) {
      const record = await exchange.orderRecord(orderId);
      if (fate === 'acknowledged') expect(record?.events[0]?.kind).toBe('order_accepted');
      if (fate === 'no') expect(record).toBeUndefined();
      expect(exchange.openOrder(orderId) !== undefined).toBe(record !== undefined);
    }
    const hash = exchange.stateHash();
    await exchange.close();
    await sql`delete from exchange_snapshots`;
    const again = await open();
    expect(again.stateHash()).toBe(hash);
    await again.close();
  });

  test('a process that is killed loses nothing that it acknowledged', async () => {
    const { sql, url, open } = await stage();
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('./open-exchange.crash.ts', import.meta.url)), url],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const acknowledged: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged.push(line);
      if (acknowledged.length === 3_000) child.kill('SIGKILL');
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(3_000);
    const exchange = await open({ clock: { now: Date.now, every: () => ({ stop: () => {} }) } });
    const hash = exchange.stateHash();
    const [row] = await sql`
      select count(*)::int as count from exchange_orders where order_id = any(${acknowledged})`;
    expect(row?.count).toBe(acknowledged.length);
    for (const id of acknowledged) expect(exchange.openOrder(id)).toBeDefined();
    await exchange.close();
    await sql`delete from exchange_snapshots`;
    const again = await open();
    expect(again.stateHash()).toBe(hash);
    await again.close();
  });

  test('a connection lost in silence is noticed before anybody comes', async () => {
    const { sql, open } = await stage();
    const exchange = await open();
    await cutJournal(sql);
    for (let i = 0; i < 100 && exchange.status === 'open'; i += 1) await sleep(2);
    expect(exchange.status).toBe('reopening');
    await untilOpen(exchange);
    await exchange.execute({ kind: 'deposit', account: ALICE, amount: MICRO });
    expect(exchange.account(ALICE).available).toBe(MICRO);
    await exchange.close();
  });

  test('while it reopens, commands are refused and order records give no false proof', async () => {
    const { sql, open } = await stage();
    const exchange = await open();
    await cutJournal(sql);
    const cut = await exchange
      .execute({ kind: 'deposit', account: ALICE, amount: MICRO })
      .catch((e: unknown) => e);
    expect(cut).toBeInstanceOf(ExchangeUnavailable);
    expect(exchange.status).toBe('reopening');
    const next = await exchange
      .execute({ kind: 'deposit', account: ALICE, amount: MICRO })
      .catch((e: unknown) => e);
    expect(next).toMatchObject({ executed: 'no' });
    await expect(exchange.orderRecord(orderId(1))).rejects.toBeInstanceOf(ExchangeUnavailable);
    await untilOpen(exchange);
    expect(exchange.account(ALICE).available).toBe(0n);
    expect(await exchange.orderRecord(orderId(1))).toBeUndefined();
    await exchange.close();
  });
});

describe('order ids', () => {
  test('an id is used once for ever: open, closed, refused, in flight, and after a restart', async () => {
    const { open } = await stage();
    const first = await open();
    await first.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
    const place = (exchange: JournalledExchange, order: NewOrder) =>
      exchange.execute({ kind: 'place', order });
    const taken = marketBuy(first, 1);
    const resting = restingBid(first, 2);
    const refused = { ...restingBid(first, 3), limit: 101 };
    const twins = await Promise.all([place(first, taken), place(first, taken)]);
    expect(twins.map((events) => events[0]!.kind)).toEqual(['order_accepted', 'order_rejected']);
    await place(first, resting);
    expect(await place(first, refused)).toMatchObject([{ reason: 'price_off_tick_grid' }]);
    const duplicates = async (exchange: JournalledExchange) => {
      for (const order of [taken, resting, refused])
        expect(await place(exchange, order)).toMatchObject([
          { kind: 'order_rejected', reason: 'duplicate_order', orderId: order.orderId },
        ]);
    };
    await duplicates(first);
    const hash = first.stateHash();
    // A caller that is wrong about a new id meets the record's primary key: the commit fails, and nothing happens.
    await expect(first.execute({ kind: 'place', order: taken }, { isNew: true })).rejects.toMatchObject({
      executed: 'unknown',
    });
    await vi.waitFor(() => expect(first.status).toBe('open'), { timeout: 20_000 });
    expect(first.stateHash()).toBe(hash);
    await first.close();
    const second = await open();
    await duplicates(second);
    await sleep(50);
    await duplicates(second);
    expect(second.stateHash()).toBe(hash);
    await second.close();
  });

  test('the record of an order grows with its fills and its end', async () => {
    const { open } = await stage();
    const exchange = await open();
    await exchange.execute({ kind: 'deposit', account: ALICE, amount: 10_000n * MICRO });
    const order = restingBid(exchange, 7);
    const { bids } = exchange.book(order.conditionId, 'YES', 1)!;
    // Just above the house's best bid, so that a seller meets it first.
    const limit = bids[0]![0] + 100;
    const ask = exchange.book(order.conditionId, 'YES', 1)!.asks[0]![0];
    expect(limit).toBeLessThan(ask);
    await exchange.execute({ kind: 'place', order: { ...order, limit } });
    const { conditionId } = order;
    await exchange.execute({ kind: 'deposit', account: BOB, amount: 100n * MICRO });
    await exchange.execute({ kind: 'split', account: BOB, conditionId, amount: 50n * MICRO });
    const { spend: _, ...sell } = {
      ...marketBuy(exchange, 8),
      account: BOB,
      side: 'SELL' as const,
      limit: 100,
    };
    await exchange.execute({ kind: 'place', order: sell });
    const record = await exchange.orderRecord(order.orderId);
    expect(record?.account).toBe(ALICE);
    expect(record?.events.map((event) => event.kind)).toEqual(['order_accepted', 'fill', 'order_done']);
    expect(record?.events[1]).toMatchObject({ liquidity: 'maker', size: 5n * MICRO, price: limit });
    expect(await exchange.orderRecord(orderId(99))).toBeUndefined();
    await exchange.close();
  });

  test('the house’s accounts are nobody else’s', async () => {
    const { open } = await stage();
    const exchange = await open();
    await expect(
      exchange.execute({ kind: 'deposit', account: 'house:sports', amount: MICRO }),
    ).rejects.toBeInstanceOf(RangeError);
    await exchange.close();
  });
});

describe('the recorder', () => {
  const table = (sql: Sql) => sql`create table seen (seq bigint primary key, events int not null)`;
  const record: Recorder = (tx, entries) =>
    entries.map(({ seq, events }) => tx`insert into seen values (${seq}, ${events.length})`);

  test('its rows exist exactly when the entries do, also across a lost connection', async () => {
    const { sql, clock, open } = await stage();
    await table(sql);
    const exchange = await open({ recorder: record });
    await someTrading(exchange, clock, 5);
    const flood = Array.from({ length: 200 }, (_, i) =>
      exchange.execute({ kind: 'place', order: restingBid(exchange, 50_000 + i) }).catch(() => {}),
    );
    await sleep(3);
    await cutJournal(sql);
    await Promise.all(flood);
    await untilOpen(exchange);
    await someTrading(exchange, clock, 0);
    await exchange.close();
    const [row] = await sql`
      select count(*)::int as rows, count(seen.seq)::int as seen
      from exchange_journal full join seen using (seq)`;
    expect(row!.rows).toBeGreaterThan(10);
    expect(row!.seen).toBe(row!.rows);
  });

  test.each<[string, Recorder]>([
    ['fails in the database', (tx) => [tx`insert into nowhere values (1)`]],
    ['cannot be encoded', (tx) => [tx`insert into seen values (1, ${undefined as unknown as number})`]],
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
    ],
  ])('when its statement %s, nothing of the batch is committed', async (_, broken) => {
    const { sql, open } = await stage();
    await table(sql);
    let breaks = false;
    const exchange = await open({ recorder: (tx, entries) => (breaks ? broken : record)(tx, entries) });
    // Twice: statements are pipelined only once they are prepared.
    await exchange.execute({ kind: 'deposit', account: ALICE, amount: MICRO });
    await exchange.execute({ kind: 'deposit', account: ALICE, amount: MICRO });
    breaks = true;
    const failed = await exchange
      .execute({ kind: 'deposit', account: ALICE, amount: MICRO })
      .catch((e: unknown) => e);
    expect(failed).toBeInstanceOf(ExchangeUnavailable);
    breaks = false;
    await untilOpen(exchange);
    expect(exchange.account(ALICE).available).toBe(2n * MICRO);
    await exchange.close();
  });
});

describe('what it tells', () => {
  test('subscribers see every entry once, after it is durable, without the house’s own affairs', async () => {
    const { sql, clock, open } = await stage();
    const exchange = await open();
    const seen: Entry[] = [];
    exchange.subscribe((entries) => seen.push(...entries));
    await someTrading(exchange, clock, 10);
    await exchange.close();
    const [row] = await sql`select max(seq)::int as seq from exchange_journal`;
    expect(seen.map((entry) => entry.seq)).toEqual(Array.from({ length: row!.seq - 1 }, (_, i) => i + 2));
    for (const event of seen.flatMap((entry) => entry.events))
      if (event.kind !== 'fill' && 'account' in event) expect(event.account).toBe(ALICE);
  });

  test('mid prices are kept for history, at most one a minute and market', async () => {
    const { sql, clock, open } = await stage();
    const exchange = await open();
    for (let i = 0; i < 150; i += 1) {
      clock.time += 5_000;
      await exchange.step();
    }
    const tokens = new Set([...exchange.markets()].map((market) => market.tokenIds[0]));
    await exchange.close();
    const rows = await sql`select token_id, at_ms, pips from exchange_prices order by token_id, at_ms`;
    expect(rows.length).toBeGreaterThan(130);
    for (const [index, row] of rows.entries()) {
      expect(tokens.has(row.token_id)).toBe(true);
      const before = rows[index - 1];
      if (before?.token_id === row.token_id)
        expect(Number(row.at_ms) - Number(before!.at_ms)).toBeGreaterThanOrEqual(60_000);
    }
    // And which NO token mirrors them, for when the market is archived.
    const twins = await sql`select yes_token_id from exchange_tokens`;
    expect(new Set(twins.map((row) => row.yes_token_id))).toEqual(new Set(rows.map((row) => row.token_id)));
  });
});
