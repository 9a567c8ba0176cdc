/** Orders that a leader left: what never reached the exchange is refused for good, what did is answered by its record. */
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
  marketBuy,
  orderId,
  restingBid,
  stage,
  untilOpen,
} from './open-exchange-stage.ts';

const REFUSED = [{ kind: 'order_rejected', reason: 'not_received' }];

const unplaced = ({ orderId, account, conditionId }: NewOrder) => ({ orderId, account, conditionId });

async function funded() {
  const { open, sql } = await stage();
  const recorded: Entry[] = [];
  const openOne = () =>
    open({
      recorder: (entries) => () => {
        recorded.push(...entries);
        return [];
      },
    });
  const exchange = await openOne();
  await exchange.execute({ kind: 'deposit', account: ALICE, amount: 1_000n * MICRO });
  /** As the desk sends an order that it has recorded. */
  const send = (to: JournalledExchange, order: NewOrder) =>
    to.execute({ kind: 'place', order }, { isNew: true });
  const sendAgain = (to: JournalledExchange, order: NewOrder) =>
    to.execute({ kind: 'place', order }, { isNew: true, isSentAgain: true });
  return { exchange, open: openOne, send, sendAgain, sql, recorded };
}

describe('an order that never reached the exchange', () => {
  test('is refused for good: in this term, after a lost journal, and after a restart', async () => {
    const { exchange, open, send, sendAgain, sql, recorded } = await funded();
    const order = marketBuy(exchange, 1);
    const hash = exchange.stateHash();
    expect((await exchange.refuseUnplaced(unplaced(order))).events).toMatchObject(REFUSED);
    expect(recorded.flatMap(({ events }) => events)).toContainEqual({
      ...unplaced(order),
      kind: 'order_rejected',
      reason: 'not_received',
    });
    expect(await send(exchange, order)).toMatchObject(REFUSED);
    expect(await sendAgain(exchange, order)).toMatchObject(REFUSED);

    await cutJournal(sql);
    await expect.poll(() => exchange.term).toBe(2);
    await untilOpen(exchange);
    expect(await send(exchange, order)).toMatchObject(REFUSED);
    await exchange.close();
    const next = await open();
    expect(await sendAgain(next, order)).toMatchObject(REFUSED);
    expect((await next.refuseUnplaced(unplaced(order))).events).toMatchObject(REFUSED);
    expect((await next.orderRecord(order.orderId))?.events).toHaveLength(1);
    expect(next.stateHash()).toBe(hash);
    await next.close();
  });

  test('cannot be executed even by a leader that takes it for surely new', async () => {
    const { exchange, open, send } = await funded();
    const order = marketBuy(exchange, 1);
    await exchange.refuseUnplaced(unplaced(order));
    await exchange.close();
    const next = await open();
    const hash = next.stateHash();
    await expect(send(next, order)).rejects.toMatchObject({ executed: 'no' });
    await untilOpen(next);
    expect(next.stateHash()).toBe(hash);
    expect((await next.orderRecord(order.orderId))?.events).toMatchObject(REFUSED);
    await next.close();
  });

  test('is either executed or refused when it arrives at that moment', async () => {
    const { exchange, send } = await funded();
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
    const { exchange: former, open, send, sql } = await funded();
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
    const { exchange, open, send, sendAgain } = await funded();
    const bought = marketBuy(exchange, 1);
    const resting = restingBid(exchange, 2);
    const first = [await send(exchange, bought), await send(exchange, resting)];
    const available = exchange.available(ALICE);
    await exchange.close();
    const next = await open();
    const again = [await sendAgain(next, bought), await sendAgain(next, resting)];
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
