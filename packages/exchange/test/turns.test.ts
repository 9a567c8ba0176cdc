/** Turns at the journal: the holder of the next one reads while the commit before it is running. */
import { MICRO } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import { ExchangeUnavailable, type JournalledExchange } from '../src/index.ts';
import {
  ALICE,
  type Holder,
  inTurn,
  marketBuy,
  restingBid,
  stage,
  untilOpen,
} from './open-exchange-stage.ts';

async function openWithMarks() {
  const { sql, open } = await stage();
  await sql`create table marks (name text)`;
  const exchange = await open();
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
  return { sql, exchange };
}

/** Takes a turn whose commit takes a moment, and calls back when it is sent. */
const joinSlow = (exchange: JournalledExchange, then: () => void, record: Holder['record']) =>
  inTurn(exchange, {
    record: (tx, entries) => [tx`select pg_sleep(0.1)`, ...record(tx, entries)],
    sent: then,
  });

test('the holder of the next turn reads behind a commit that is sent, sees what it wrote, and decides after it', async () => {
  const { exchange } = await openWithMarks();
  const steps: string[] = [];
  let second: Promise<void> | undefined;
  const first = joinSlow(
    exchange,
    () => {
      second = inTurn(exchange, {
        async read(tx) {
          steps.push('second reads');
          const [row] = await tx`select count(*)::int as marks from marks`;
          steps.push(`second has read ${row?.marks}`);
        },
        decide: () => void steps.push('second decides'),
      });
    },
    (tx) => [tx`insert into marks values ('first')`],
  ).then(() => steps.push('first is durable'));
  await first;
  await second;
  expect(steps[0]).toBe('second reads');
  expect(steps.slice(1)).toContain('second has read 1');
  expect(steps.indexOf('second decides')).toBeGreaterThan(steps.indexOf('first is durable'));
  await exchange.close();
});

test('a command that arrives while the next holder reads is in that holder’s commit', async () => {
  const { exchange } = await openWithMarks();
  const order = restingBid(exchange, 1);
  let ahead: Promise<unknown> = Promise.resolve();
  const batches: number[] = [];
  await joinSlow(
    exchange,
    () => {
      const joined = inTurn(exchange, {
        record: (_tx, entries) => {
          batches.push(entries.length);
          return [];
        },
      });
      ahead = Promise.all([joined, exchange.execute({ kind: 'place', order })]);
    },
    () => [],
  );
  await ahead;
  expect(batches).toEqual([1]);
  expect(exchange.openOrder(order.orderId)).toBeDefined();
  await exchange.close();
});

test('when reads behind a commit fail, the commit and the turn after them succeed', async () => {
  const { sql, exchange } = await openWithMarks();
  let failing: Promise<unknown> = Promise.resolve();
  await joinSlow(
    exchange,
    () => {
      failing = inTurn(exchange, { read: (tx) => tx`select 1 / 0` }).catch((error) => error);
    },
    (tx) => [tx`insert into marks values ('first')`],
  );
  expect(String(await failing)).toContain('division by zero');
  await inTurn(exchange, { record: (tx) => [tx`insert into marks values ('third')`] });
  expect((await sql`select name from marks order by name`).map(({ name }) => name)).toEqual([
    'first',
    'third',
  ]);
  expect([exchange.term, exchange.status]).toEqual([1, 'open']);
  await exchange.close();
});

test('when a commit fails, who has read behind it is refused, decides nothing and records nothing', async () => {
  const { sql, exchange } = await openWithMarks();
  let hasDecided = false;
  let ahead: Promise<unknown> = Promise.resolve();
  const first = inTurn(exchange, {
    decide: (place) => void place(marketBuy(exchange, 1)),
    record: (tx) => [tx`select pg_sleep(0.1)`, tx`select 1 / 0`],
    sent: () => {
      ahead = inTurn(exchange, {
        decide: () => {
          hasDecided = true;
        },
        record: (tx) => [tx`insert into marks values ('ahead')`],
      }).catch((error) => error);
    },
  }).catch((error) => error);
  expect(await first).toBeInstanceOf(ExchangeUnavailable);
  expect(await ahead).toBeInstanceOf(ExchangeUnavailable);
  expect(await ahead).toMatchObject({ executed: 'no' });
  expect(hasDecided).toBe(false);
  await untilOpen(exchange);
  expect(exchange.account(ALICE).available).toBe(1_000n * MICRO);
  await inTurn(exchange, { record: (tx) => [tx`insert into marks values ('later')`] });
  expect((await sql`select name from marks`).map(({ name }) => name)).toEqual(['later']);
  await exchange.close();
});

test('turns that are asked for each get a commit, in their order', async () => {
  const { exchange } = await openWithMarks();
  const order: number[] = [];
  await Promise.all(
    [1, 2, 3, 4, 5].map((number) =>
      inTurn(exchange, { decide: () => void order.push(number) }).then(() => order.push(-number)),
    ),
  );
  expect(order.filter((number) => number > 0)).toEqual([1, 2, 3, 4, 5]);
  for (const number of [1, 2, 3, 4]) expect(order.indexOf(-number)).toBeLessThan(order.indexOf(number + 1));
  await exchange.close();
});

test('a turn that is given up before an order was placed leaves the exchange open, and the commands get their commit', async () => {
  const { exchange } = await openWithMarks();
  const turn = await exchange.nextTurn();
  const order = restingBid(exchange, 1);
  const placed = exchange.execute({ kind: 'place', order });
  await turn.begin();
  await turn.giveUp(new Error('its holder has changed its mind'));
  await placed;
  expect(exchange.openOrder(order.orderId)).toBeDefined();
  expect([exchange.term, exchange.status]).toEqual([1, 'open']);
  await exchange.close();
});

test('a turn that is given up after an order was placed: the exchange recovers without it', async () => {
  const { exchange } = await openWithMarks();
  const turn = await exchange.nextTurn();
  await turn.begin();
  expect(turn.place({ kind: 'place', order: marketBuy(exchange, 1) }).map(({ kind }) => kind)).toContain(
    'fill',
  );
  await turn.giveUp(new Error('its holder has failed'));
  await untilOpen(exchange);
  expect(exchange.account(ALICE).available).toBe(1_000n * MICRO);
  expect(exchange.term).toBe(2);
  await exchange.close();
});
