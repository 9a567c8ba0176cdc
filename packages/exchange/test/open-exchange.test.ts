/** The exchange on its database: opening, recovery, a lost connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import { ExchangeLedElsewhere, ExchangeUnavailable } from '../src/index.ts';
import {
  ALICE,
  cutJournal,
  orderId,
  restingBid,
  someTrading,
  stage,
  untilOpen,
} from './open-exchange-stage.ts';

describe('opening', () => {
  test('the first opening founds the world, lists it in the journal and stores it', async () => {
    const { sql, open } = await stage();
    const exchange = await open();
    expect([...exchange.markets()]).toHaveLength(127);
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
    const first = await open({ snapshotEveryCommands: 25, prunesJournal: false });
    await someTrading(first, clock);
    const hash = first.stateHash();
    await first.close();
    await sql`delete from exchange_snapshots`;
    const second = await open();
    expect(second.stateHash()).toBe(hash);
    await second.close();
  });

  test('only the last two snapshots are kept; a damaged one is skipped', async () => {
    const { sql, clock, open } = await stage();
    const first = await open({ snapshotEveryCommands: 10 });
    const count = async () => (await sql`select from exchange_snapshots where seq > 1`).length;
    await someTrading(first, clock);
    // A thread writes them, and may be slower than the trading.
    await expect.poll(count).toBeGreaterThan(0);
    await first.execute({ kind: 'deposit', account: ALICE, amount: MICRO });
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

  test('a second process is refused while the first one leads, and can open afterwards', async () => {
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
  test('acknowledged commands are durable, unacknowledged ones complete or absent', async () => {
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
    const reported = [...fates.values()];
    expect(reported.filter((fate) => fate === 'acknowledged').length).toBeGreaterThan(50);
    expect(reported.filter((fate) => fate === 'no').length).toBeGreaterThan(50);
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

  test('a silently lost connection is noticed before the next command', async () => {
    const { sql, open } = await stage();
    const exchange = await open();
    await cutJournal(sql);
    await expect.poll(() => exchange.status, { interval: 2 }).toBe('reopening');
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
