/** Splits and merges under an id of their own: recorded like orders, with one effect under an id, permanently. */
import { MICRO } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import type { JournalledExchange, SetOrder } from '../src/index.ts';
import { ALICE, cutJournal, marketBuy, orderId, stage, untilOpen } from './open-exchange-stage.ts';

const START = 1_000n * MICRO;

async function funded() {
  const { open, sql } = await stage();
  const exchange = await open();
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: START });
  return { exchange, open, sql };
}

const named = (
  exchange: JournalledExchange,
  kind: 'split' | 'merge',
  number: number,
  amount = 5n * MICRO,
): SetOrder => {
  const { conditionId } = marketBuy(exchange, number);
  return { kind, account: ALICE, conditionId, amount, orderId: orderId(number) };
};

/** As the desk sends what it has recorded. */
const send = (to: JournalledExchange, command: SetOrder, isSentAgain = false) =>
  to.execute(command, { isNew: true, isSentAgain });

/** By which the collateral is divided. */
function middleOf(exchange: JournalledExchange, { conditionId }: SetOrder): number {
  const { bids, asks } = exchange.book(conditionId, 'YES')!;
  return Math.floor((bids[0]![0] + asks[0]![0]) / 2);
}

const held = (exchange: JournalledExchange, { conditionId }: SetOrder) =>
  (['YES', 'NO'] as const).map((outcome) => exchange.freeTokens(ALICE, conditionId, outcome));

test('one id has one effect: sent twice at once, to the next leader, and after a restart', async () => {
  const { exchange, open } = await funded();
  const split = named(exchange, 'split', 1);
  const done = [{ ...split, kind: 'split', yesPrice: middleOf(exchange, split) }];
  const answers = await Promise.all([exchange.execute(split), exchange.execute(split)]);
  expect(
    answers
      .flat()
      .map(({ kind }) => kind)
      .sort(),
  ).toEqual(['order_rejected', 'split']);
  expect(exchange.available(ALICE)).toBe(START - split.amount);
  expect(held(exchange, split)).toEqual([split.amount, split.amount]);
  await exchange.close();

  const next = await open();
  expect(await send(next, split, true)).toEqual(done);
  expect((await next.orderRecord(split.orderId))?.events).toEqual(done);
  expect(next.available(ALICE)).toBe(START - split.amount);
  const merge = named(next, 'merge', 2);
  expect(await send(next, merge)).toMatchObject([{ ...merge, kind: 'merged' }]);
  expect(await send(next, merge, true)).toMatchObject([{ ...merge, kind: 'merged' }]);
  expect(next.available(ALICE)).toBe(START);
  await next.close();
});

test('a refusal is recorded under the id, and stays the answer', async () => {
  const { exchange } = await funded();
  const merge = named(exchange, 'merge', 1);
  const refused = [{ kind: 'order_rejected', orderId: merge.orderId, reason: 'insufficient_balance' }];
  expect(await send(exchange, merge)).toMatchObject(refused);
  await exchange.execute({
    kind: 'split',
    account: ALICE,
    conditionId: merge.conditionId,
    amount: merge.amount,
  });
  expect(await send(exchange, merge, true)).toMatchObject(refused);
  expect((await exchange.orderRecord(merge.orderId))?.events).toMatchObject(refused);
  await exchange.close();
});

test('one that never arrived is refused for good', async () => {
  const { exchange, sql } = await funded();
  const split = named(exchange, 'split', 1);
  const refused = [{ kind: 'order_rejected', reason: 'not_received' }];
  expect((await exchange.refuseUnplaced(split)).events).toMatchObject(refused);
  expect(await send(exchange, split)).toMatchObject(refused);
  await cutJournal(sql);
  await expect.poll(() => exchange.term).toBe(2);
  await untilOpen(exchange);
  expect(await send(exchange, split, true)).toMatchObject(refused);
  expect(exchange.available(ALICE)).toBe(START);
  await exchange.close();
});

test('in a turn it is part of the commit of its holder, or of nothing', async () => {
  const { exchange } = await funded();
  const split = named(exchange, 'split', 1);
  const given = await exchange.nextTurn();
  await given.begin();
  expect(given.place(split)).toMatchObject([{ ...split, kind: 'split' }]);
  await given.giveUp(new Error('its holder has failed'));
  await untilOpen(exchange);
  expect(exchange.available(ALICE)).toBe(START);

  const turn = await exchange.nextTurn();
  await turn.begin();
  turn.place(split);
  expect(turn.entries().at(-1)).toMatchObject({ command: split, events: [{ ...split, kind: 'split' }] });
  await turn.commit();
  expect((await exchange.orderRecord(split.orderId))?.events).toMatchObject([{ ...split, kind: 'split' }]);
  expect(await send(exchange, split, true)).toMatchObject([{ ...split, kind: 'split' }]);
  await exchange.close();
});
