/** Under one id there is one effect, for good: of orders of the desk and of the doors, and of splits and merges. */
import { MICRO } from '@bellwether/contract/decimals';
import { describe, expect, test } from 'vitest';
import {
  type EngineEvent,
  type Entry,
  ExchangeLedElsewhere,
  ExchangeUnavailable,
  type JournalledExchange,
  type NewOrder,
  type SetOrder,
} from '../src/index.ts';
import {
  ALICE,
  cutJournal,
  inTurn,
  marketBuy,
  orderId,
  restingBid,
  stage,
  untilOpen,
} from './open-exchange-stage.ts';

const START = 1_000n * MICRO;
const NOT_RECEIVED = [{ kind: 'order_rejected', reason: 'not_received' }];

/** An exchange whose Alice has money; what it records is kept. */
async function funded() {
  const { open: openOne, sql, clock } = await stage();
  const recorded: Entry[] = [];
  const open = () =>
    openOne({
      recorder: (entries) => () => {
        recorded.push(...entries);
        return [];
      },
    });
  const exchange = await open();
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: START });
  return { exchange, open, sql, clock, recorded };
}

/** As the desk sends what it has recorded. */
const send = (to: JournalledExchange, sent: NewOrder | SetOrder, isSentAgain = false) =>
  to.execute('kind' in sent ? sent : { kind: 'place', order: sent }, { isNew: true, isSentAgain });

const posted = (order: NewOrder) => ({
  ...order,
  posted: { key: { address: ALICE, nonce: '3' }, expiration: 0 },
});

/** Places an order as the desk does, whose own unique key is its proof that the id is new. */
async function joinOrder(exchange: JournalledExchange, order: NewOrder) {
  let events: readonly EngineEvent[] = [];
  const entries: Entry[] = [];
  await inTurn(exchange, {
    read: (tx) => tx`select 1`,
    decide: (place) => {
      events = place(order);
    },
    record: (_tx, batch) => {
      entries.push(...batch);
      return [];
    },
  });
  return { events, entries };
}

const duplicate = (orderId: string) =>
  expect.objectContaining({ kind: 'order_rejected', reason: 'duplicate_order', orderId });

test('an order that was posted, filled and sent again with proof is refused, with evidence, and not executed twice', async () => {
  const { exchange } = await funded();
  const order = posted(marketBuy(exchange, 1));
  const first = await exchange.execute({ kind: 'place', order });
  expect(first).toContainEqual(expect.objectContaining({ kind: 'fill', orderId: order.orderId }));
  const after = exchange.account(ALICE);

  const { posted: _, ...plain } = order;
  const again = await joinOrder(exchange, plain);
  expect(again.events).toContainEqual(duplicate(order.orderId));
  expect(again.entries.flatMap((entry) => entry.events)).toContainEqual(duplicate(order.orderId));
  expect(again.entries.at(-1)?.command).toMatchObject({ kind: 'place', order: { orderId: order.orderId } });
  expect(await exchange.execute({ kind: 'place', order: plain }, { isNew: true })).toContainEqual(
    duplicate(order.orderId),
  );
  expect(await exchange.execute({ kind: 'place', order })).toEqual([duplicate(order.orderId)]);
  expect(exchange.account(ALICE)).toEqual(after);
  expect([exchange.term, exchange.status]).toEqual([1, 'open']);
  await exchange.close();
});

test('what the doors show of a posted order, and its id, survive a restart and a lost journal', async () => {
  const { exchange: first, open, clock, sql } = await funded();
  const bid = posted(restingBid(first, 1));
  const filled = posted(marketBuy(first, 2));
  await first.execute({ kind: 'place', order: bid });
  await first.execute({ kind: 'place', order: filled });
  await first.execute({ kind: 'place', order: restingBid(first, 3) });
  const hash = first.stateHash();
  await first.close();

  const second = await open();
  expect(second.stateHash()).toBe(hash);
  expect(await second.postedOrders([bid.orderId, filled.orderId, restingBid(second, 3).orderId])).toEqual(
    new Map([
      [bid.orderId, { order: bid, at: clock.time }],
      [filled.orderId, { order: filled, at: clock.time }],
    ]),
  );
  expect((await joinOrder(second, filled)).events).toContainEqual(duplicate(filled.orderId));
  const refused = second.stateHash();
  await cutJournal(sql);
  await second.execute({ kind: 'deposit', account: ALICE, amount: 1n }).catch(() => {});
  await untilOpen(second);
  expect((await joinOrder(second, filled)).events).toContainEqual(duplicate(filled.orderId));
  expect(second.stateHash()).toBe(refused);
  await second.close();
});

test('of an order with proof and a posted one with the same id at the same time, one is executed', async () => {
  const { exchange } = await funded();
  for (let number = 1; number <= 20; number += 1) {
    const order = marketBuy(exchange, number, MICRO);
    const before = exchange.available(ALICE);
    const answers = await Promise.all([
      exchange.execute({ kind: 'place', order: posted(order) }),
      joinOrder(exchange, order).then(({ events }) => events),
      exchange.execute({ kind: 'place', order: posted(order) }),
    ]);
    const executed = answers.filter((events) => events.some(({ kind }) => kind === 'order_accepted'));
    expect(executed).toHaveLength(1);
    expect(before - exchange.available(ALICE)).toBeLessThan(2n * MICRO);
  }
  expect([exchange.term, exchange.status]).toEqual([1, 'open']);
  await exchange.close();
});

test('a posted order that is refused leaves no record, and may be posted again', async () => {
  const { open, sql } = await stage();
  const exchange = await open();
  const order = posted(marketBuy(exchange, 1));
  const place = () => exchange.execute({ kind: 'place', order });
  expect(await place()).toContainEqual(expect.objectContaining({ reason: 'insufficient_balance' }));
  expect(await exchange.orderRecord(order.orderId)).toBeUndefined();
  expect((await exchange.postedOrders([order.orderId])).size).toBe(0);
  expect(await sql`select 1 from exchange_orders where order_id = ${order.orderId}`).toHaveLength(0);
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
  expect(await place()).toContainEqual(expect.objectContaining({ kind: 'fill', orderId: order.orderId }));
  expect(await place()).toEqual([duplicate(order.orderId)]);
  const hash = exchange.stateHash();
  await exchange.close();
  const again = await open();
  expect(again.stateHash()).toBe(hash);
  await again.close();
});

const unplaced = ({ orderId, account, conditionId }: NewOrder) => ({ orderId, account, conditionId });

describe('an order that never reached the exchange', () => {
  test('is refused for good: in this term, after a lost journal, and after a restart', async () => {
    const { exchange, open, sql, recorded } = await funded();
    const order = marketBuy(exchange, 1);
    const hash = exchange.stateHash();
    expect((await exchange.refuseUnplaced(unplaced(order))).events).toMatchObject(NOT_RECEIVED);
    expect(recorded.flatMap(({ events }) => events)).toContainEqual({
      ...unplaced(order),
      kind: 'order_rejected',
      reason: 'not_received',
    });
    expect(await send(exchange, order)).toMatchObject(NOT_RECEIVED);
    expect(await send(exchange, order, true)).toMatchObject(NOT_RECEIVED);

    await cutJournal(sql);
    await expect.poll(() => exchange.term).toBe(2);
    await untilOpen(exchange);
    expect(await send(exchange, order)).toMatchObject(NOT_RECEIVED);
    await exchange.close();
    const next = await open();
    expect(await send(next, order, true)).toMatchObject(NOT_RECEIVED);
    expect((await next.refuseUnplaced(unplaced(order))).events).toMatchObject(NOT_RECEIVED);
    expect((await next.orderRecord(order.orderId))?.events).toHaveLength(1);
    expect(next.stateHash()).toBe(hash);
    await next.close();
  });

  test('cannot be executed even by a leader that takes it for surely new', async () => {
    const { exchange, open } = await funded();
    const order = marketBuy(exchange, 1);
    await exchange.refuseUnplaced(unplaced(order));
    await exchange.close();
    const next = await open();
    const hash = next.stateHash();
    await expect(send(next, order)).rejects.toMatchObject({ executed: 'no' });
    await untilOpen(next);
    expect(next.stateHash()).toBe(hash);
    expect((await next.orderRecord(order.orderId))?.events).toMatchObject(NOT_RECEIVED);
    await next.close();
  });

  test('is either executed or refused when it arrives at that moment', async () => {
    const { exchange } = await funded();
    const ends = { executed: 0, refused: 0 };
    for (let number = 1; number <= 40; number += 1) {
      const order = marketBuy(exchange, number);
      const before = exchange.available(ALICE);
      const calls = [() => send(exchange, order), () => exchange.refuseUnplaced(unplaced(order))];
      if (number % 2 === 0) calls.reverse();
      const [one, two] = await Promise.all(calls.map((ask) => ask()));
      const eventsOf = (answer: typeof one) =>
        answer !== undefined && 'events' in answer ? answer.events : answer;
      expect(eventsOf(one)?.[0]).toEqual(eventsOf(two)?.[0]);
      const record = await exchange.orderRecord(order.orderId);
      const isRefused = record?.events[0]?.kind === 'order_rejected';
      expect(exchange.available(ALICE) < before).toBe(!isRefused);
      ends[isRefused ? 'refused' : 'executed'] += 1;
    }
    expect(ends).toEqual({ executed: 20, refused: 20 });
    await exchange.close();
  });

  test('a former leader can neither refuse nor execute once another one leads', async () => {
    const { exchange: former, open, sql } = await funded();
    const order = marketBuy(former, 1);
    const other = marketBuy(former, 2);
    let next: JournalledExchange | undefined;
    while (next === undefined) {
      const opening = open().catch((error) => {
        // The former one was quicker, and leads again.
        if (!(error instanceof ExchangeLedElsewhere)) throw error;
      });
      await cutJournal(sql);
      next = (await opening) ?? undefined;
      if (next === undefined) await untilOpen(former);
    }
    await next.refuseUnplaced(unplaced(order));
    await expect(send(former, order)).rejects.toBeInstanceOf(ExchangeUnavailable);
    await expect(former.refuseUnplaced(unplaced(other))).rejects.toBeInstanceOf(ExchangeUnavailable);
    expect(await send(next, other)).toContainEqual(
      expect.objectContaining({ kind: 'order_done', reason: 'filled' }),
    );
    await Promise.all([former.close(), next.close()]);
  });
});

describe('an order that an earlier leader received', () => {
  test('is not executed again, and its record is the answer', async () => {
    const { exchange, open } = await funded();
    const bought = marketBuy(exchange, 1);
    const resting = restingBid(exchange, 2);
    const first = [await send(exchange, bought), await send(exchange, resting)];
    const available = exchange.available(ALICE);
    await exchange.close();
    const next = await open();
    const again = [await send(next, bought, true), await send(next, resting, true)];
    const own = first.map((events) =>
      events.filter((event) => 'account' in event && event.account === ALICE),
    );
    expect(again).toEqual(own);
    expect((await next.refuseUnplaced(unplaced(bought))).events).toEqual(own[0]);
    expect(next.available(ALICE)).toBe(available);
    expect(await next.orderRecord(orderId(3))).toBeUndefined();
    await next.close();
  });
});

const named = (
  exchange: JournalledExchange,
  kind: 'split' | 'merge',
  number: number,
  amount = 5n * MICRO,
): SetOrder => {
  const { conditionId } = marketBuy(exchange, number);
  return { kind, account: ALICE, conditionId, amount, orderId: orderId(number) };
};

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

test('a deposit under a name is made once: sent twice at once, and after a restart', async () => {
  const { exchange, open } = await funded();
  const deposit = { kind: 'deposit', account: ALICE, amount: 5n * MICRO, orderId: 'a draw' } as const;
  const done = [{ ...deposit, kind: 'deposited' }];
  expect(await Promise.all([exchange.execute(deposit), exchange.execute(deposit)])).toEqual([done, done]);
  await exchange.close();
  const next = await open();
  expect(await next.execute(deposit)).toEqual(done);
  expect(next.available(ALICE)).toBe(START + deposit.amount);
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
  expect((await exchange.refuseUnplaced(split)).events).toMatchObject(NOT_RECEIVED);
  expect(await send(exchange, split)).toMatchObject(NOT_RECEIVED);
  await cutJournal(sql);
  await expect.poll(() => exchange.term).toBe(2);
  await untilOpen(exchange);
  expect(await send(exchange, split, true)).toMatchObject(NOT_RECEIVED);
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
