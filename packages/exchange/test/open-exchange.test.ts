/** The exchange on its database: opening, recovery, a lost connection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MICRO } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import {
  type Entry,
  ExchangeLedElsewhere,
  ExchangeUnavailable,
  type JournalledExchange,
  type NewOrder,
} from '../src/index.ts';
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
    expect([...exchange.markets()]).toHaveLength(145);
    await exchange.close();
    const [row] = await sql`select count(*)::int as count from exchange_snapshots`;
    expect(row?.count).toBe(1);
  });

  test('a world without markets of Protocol V2 has as many markets, and stays so', async () => {
    const { sql, clock, open } = await stage();
    const first = await open({ v2Share: 'none', prunesJournal: false });
    await someTrading(first, clock);
    expect([...first.markets()].filter(({ status }) => status === 'open')).toHaveLength(145);
    expect([...first.markets()].filter(({ version }) => version === 'v2')).toEqual([]);
    const hash = first.stateHash();
    await first.close();
    await sql`delete from exchange_snapshots`;
    // The share is read once, when the world is founded.
    const second = await open({ v2Share: 'third' });
    expect(second.stateHash()).toBe(hash);
    expect([...second.markets()].filter(({ version }) => version === 'v2')).toEqual([]);
    await second.close();
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

const ACCOUNTS = 40;
const ORDERS = 2_400;
const account = (index: number): string => `0x${(index + 1).toString(16).padStart(40, '0')}`;
const PAID = 5n * MICRO;

const bid = (exchange: JournalledExchange, conditionId: string, number: number): NewOrder => ({
  orderId: orderId(number),
  account: account(number % ACCOUNTS),
  conditionId,
  outcome: 'YES',
  side: 'BUY',
  limit: exchange.market(conditionId)!.tickSize,
  size: PAID,
  timeInForce: 'GTC',
  postOnly: true,
});

async function largeMarket(options: Parameters<Awaited<ReturnType<typeof stage>>['open']>[0] = {}) {
  const staged = await stage();
  const exchange = await staged.open(options);
  const entries: Entry[] = [];
  exchange.subscribe((batch) => entries.push(...batch));
  const [market] = [...exchange.markets()]
    .filter((one) => one.status === 'open')
    .sort((a, b) => a.endDate - b.endDate);
  for (let index = 0; index < ACCOUNTS; index += 1)
    await exchange.execute({ kind: 'deposit', account: account(index), amount: 1_000n * MICRO });
  await Promise.all(
    Array.from({ length: ORDERS }, (_, number) =>
      exchange.execute({ kind: 'place', order: bid(exchange, market!.conditionId, number) }, { isNew: true }),
    ),
  );
  const end = async (): Promise<void> => {
    staged.clock.time = market!.endDate;
    await exchange.step();
  };
  return { ...staged, exchange, entries, market: market!, end };
}

const endsIn = ({ events }: Entry): number =>
  events.filter((event) => event.kind === 'order_done' && event.reason === 'market_closed').length;

async function untilAllEnded(entries: readonly Entry[]): Promise<void> {
  const ended = () => entries.reduce((sum, entry) => sum + endsIn(entry), 0);
  await expect.poll(ended, { interval: 10 }).toBe(ORDERS);
}

test('its orders end in slices, and its accounts have their money at once', async () => {
  const { exchange, entries, market, end, open, sql } = await largeMarket();
  const held = exchange.account(account(0)).held;
  expect(held).toBeGreaterThan(0n);
  await end();
  expect(exchange.market(market.conditionId)).toMatchObject({ status: 'closed', liquidity: 0n });
  for (let index = 0; index < ACCOUNTS; index += 1) {
    expect(exchange.account(account(index))).toMatchObject({ available: 1_000n * MICRO, held: 0n });
    expect(exchange.openOrders(account(index))).toEqual([]);
  }
  expect(exchange.openOrder(orderId(7))).toBeUndefined();
  const next = [...exchange.markets()].find((one) => one.status === 'open' && one.tickSize === 100)!;
  const all = { ...bid(exchange, next.conditionId, ORDERS + 7), limit: 100, size: 99_000n * MICRO };
  expect(await exchange.execute({ kind: 'place', order: all })).toContainEqual(
    expect.objectContaining({ kind: 'order_accepted' }),
  );
  await untilAllEnded(entries);
  const slices = entries.map(endsIn).filter((count) => count > 0);
  expect(slices.length).toBeGreaterThan(3);
  // One account's own orders end with its command, in addition to a slice.
  expect(Math.max(...slices)).toBeLessThanOrEqual(500 + ORDERS / ACCOUNTS);
  const hash = exchange.stateHash();
  await exchange.close();
  await sql`delete from exchange_snapshots`;
  const again = await open();
  expect(again.stateHash()).toBe(hash);
  await again.close();
});

test('is resolved only when no order of it is left', async () => {
  const { exchange, entries, market, end, clock } = await largeMarket();
  await end();
  clock.time += 3_600_000;
  await exchange.step();
  expect(exchange.market(market.conditionId)?.status).toBe('closed');
  await untilAllEnded(entries);
  await exchange.step();
  expect(exchange.market(market.conditionId)?.status).toBe('resolved');
  await exchange.close();
});

test('an exchange that is closed between two slices goes on with the next one', async () => {
  const { exchange, entries, market, end, open, clock } = await largeMarket();
  await end();
  await exchange.close();
  const before = entries.reduce((sum, entry) => sum + endsIn(entry), 0);
  expect(before).toBeLessThan(ORDERS);
  const again = await open();
  expect(again.openOrders(account(3))).toEqual([]);
  expect(again.account(account(3))).toMatchObject({ available: 1_000n * MICRO, held: 0n });
  again.subscribe((batch) => entries.push(...batch));
  clock.time += 1_000;
  await again.step();
  await untilAllEnded(entries);
  clock.time += 3_600_000;
  await again.step();
  expect(again.market(market.conditionId)?.status).toBe('resolved');
  await again.close();
});
