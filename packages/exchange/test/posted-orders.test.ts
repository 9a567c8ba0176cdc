/** Orders that are posted at a door: executed once, also when another sender proves that their ids are new. */
import { MICRO } from '@bellwether/contract/decimals';
import { expect, test } from 'vitest';
import type { EngineEvent, Entry, JournalledExchange, NewOrder } from '../src/index.ts';
import { ALICE, cutJournal, inTurn, marketBuy, restingBid, stage, untilOpen } from './open-exchange-stage.ts';

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
  const { open } = await stage();
  const exchange = await open();
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
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
  const { open, clock, sql } = await stage();
  const first = await open();
  await first.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
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
  const { open } = await stage();
  const exchange = await open();
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
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
