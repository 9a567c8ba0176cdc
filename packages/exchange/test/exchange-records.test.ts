/** The exchange's records and notifications: order ids and records, the recorder's rows, subscribers, prices. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import type { Sql } from '@bellwether/durable';
import { describe, expect, test, vi } from 'vitest';
import {
  type Entry,
  ExchangeUnavailable,
  type JournalledExchange,
  type NewOrder,
  type Recorder,
} from '../src/index.ts';
import {
  ALICE,
  cutJournal,
  marketBuy,
  orderId,
  restingBid,
  someTrading,
  stage,
  untilOpen,
} from './open-exchange-stage.ts';

const BOB = '0x0000000000000000000000000000000000000b0b';

describe('order ids', () => {
  test('an id is never reused: open, closed, refused, in flight, and after a restart', async () => {
    const { open } = await stage();
    const first = await open();
    await first.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
    const place = (exchange: JournalledExchange, order: NewOrder) =>
      exchange.execute({ kind: 'place', order });
    const taken = marketBuy(first, 1);
    const resting = restingBid(first, 2);
    const refused = { ...restingBid(first, 3), limit: 101 };
    const concurrent = await Promise.all([place(first, taken), place(first, taken)]);
    expect(concurrent.map((events) => events[0]!.kind)).toEqual(['order_accepted', 'order_rejected']);
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
    // When a caller claims wrongly that an id is new, the primary key fails the commit, and nothing is written.
    await expect(first.execute({ kind: 'place', order: taken }, { isNew: true })).rejects.toMatchObject({
      executed: 'no',
    });
    await vi.waitFor(() => expect(first.status).toBe('open'), { timeout: 30_000 });
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

  test('only the house uses the house’s accounts', async () => {
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
  const record: Recorder = (entries) => (tx) =>
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
    // The flood may have ended before the loss is noticed.
    await expect.poll(() => exchange.term).toBe(2);
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
    ['fails in the database', () => (tx) => [tx`insert into nowhere values (1)`]],
    ['cannot be encoded', () => (tx) => [tx`insert into seen values (1, ${undefined as unknown as number})`]],
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
    const exchange = await open({
      recorder: (entries, reading) => (breaks ? broken : record)(entries, reading),
    });
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

describe('notifications and prices', () => {
  test('subscribers receive every entry once, after it is durable, without the house’s internal events', async () => {
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

  test('mid prices are recorded for history, at most one a minute and market', async () => {
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
    const mirrored = await sql`select yes_token_id from exchange_tokens`;
    expect(new Set(mirrored.map((row) => row.yes_token_id))).toEqual(
      new Set(rows.map((row) => row.token_id)),
    );
  });
});
