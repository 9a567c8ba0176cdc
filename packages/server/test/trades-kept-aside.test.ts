/** No trade spends or gives more than its order signed: one that says so is kept aside until it is explained. */
import { beforeAll, describe, expect, test } from 'vitest';
import { createKeptAside } from '../src/venues/polymarket/live-orders.ts';
import type { Observation } from '../src/venues/polymarket/order-wire.ts';
import { createRecorder } from '../src/venues/polymarket/recorder.ts';
import {
  accepted,
  journalOf,
  log,
  M,
  NOW,
  newWorld,
  openWorlds,
  orderOf,
  place,
  positionOf,
  returnedOf,
  standing,
  tell,
  trade,
} from './live-order-world.ts';

beforeAll(openWorlds);

const heldOf = async (orderId: string) =>
  (await keeper().held({ limit: 200, offset: 0 })).orders.flatMap(({ order, trades }) =>
    order.orderId === orderId ? trades : [],
  );
const warned: string[] = [];
function keeper() {
  const logger = { info: () => {}, warn: (_: object, message: string) => void warned.push(message) };
  const recorder = createRecorder({ log, logger, onTraded: () => {} });
  const findMarket = async () => null;
  return createKeptAside({ log, recorder, findMarket, now: () => NOW + 9_000 });
}

const decided = (orderId: string, tradeId: string, decision: 'release' | 'discard'): Observation => ({
  ...{ orderId, at: NOW + 9_000, kind: 'decision', tradeId, decision },
});

/** Ten shares in millionths of a share. */
const TEN_MILLION = 10_000_000n * M;

describe('a trade in another unit', () => {
  test('of a BUY is kept aside: it books nothing, ends nothing, returns nothing, and the order says so', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([accepted(id)]);
    await tell([trade(id, 't1', 'confirmed', TEN_MILLION), standing(id, 'filled', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 0n, cost: 0n });
    expect(await positionOf(world)).toBeNull();
    expect(await returnedOf(id)).toEqual([]);
    expect((await journalOf(id)).at(-1)).toEqual({
      event: 'trade_kept_aside',
      status: 'matched',
      detail:
        'The venue says a trade (t1) that cannot be: the order signed 5 collateral, and would have given 5000000. ' +
        'It is kept aside and counts nothing until it is explained.',
    });
    const [held, ...more] = await heldOf(id);
    expect(more).toEqual([]);
    expect(held?.trade.aside.said).toMatchObject({ size: TEN_MILLION, cost: 5_000_000n * M });
    // Said again and again it is kept once.
    await tell([trade(id, 't1', 'confirmed', TEN_MILLION)]);
    expect((await journalOf(id)).filter(({ event }) => event === 'trade_kept_aside')).toHaveLength(1);
  });

  test('keeps its order open to explanation, also when the venue says that the order is over with nothing matched', async () => {
    const id = await place(await newWorld(), 'a');
    await tell([trade(id, 't1', 'confirmed', TEN_MILLION), standing(id, 'canceled', 0n)]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 0n });
    expect(await returnedOf(id)).toEqual([]);
  });

  test('of a SELL is kept aside by its shares', async () => {
    const world = await newWorld();
    const bought = await place(world, 'b');
    await tell([trade(bought, 'tb', 'confirmed'), standing(bought, 'filled', 10n * M)]);
    const id = await place(world, 'a', { side: 'SELL' });
    await tell([trade(id, 't1', 'confirmed', TEN_MILLION, 1)]);
    expect(await orderOf(id)).toMatchObject({ filled: 0n });
    expect(await positionOf(world)).toMatchObject({ size: 10n * M });
  });

  test('beyond what the database can hold is kept aside like any other', async () => {
    const id = await place(await newWorld(), 'a');
    await tell([trade(id, 't1', 'matched', 10n ** 30n)]);
    expect((await heldOf(id))[0]?.trade.aside.said.size).toBe(10n ** 30n);
  });

  test('counts by itself once the venue says amounts that fit', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([trade(id, 't1', 'matched', TEN_MILLION), standing(id, 'filled', 10n * M)]);
    await tell([trade(id, 't1', 'confirmed', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'filled', filled: 10n * M, cost: 5n * M });
    expect(await positionOf(world)).toMatchObject({ size: 10n * M, cost: 5n * M });
    expect(await heldOf(id)).toEqual([]);
    expect((await journalOf(id)).map(({ event }) => event)).toContain('trade_explained');
  });
});

describe('the bound', () => {
  test.each([
    ['BUY', 10n * M + 20_000n, 5_000, true],
    ['BUY', 10n * M + 40_000n, 5_000, false],
    // Cheaper, a BUY may get more shares for its money.
    ['BUY', 25n * M, 2_000, true],
    ['SELL', 10n * M + 10_000n, 6_000, true],
    ['SELL', 10n * M + 10_001n, 6_000, false],
    // No token costs more than one.
    ['SELL', 10n * M, 12_000, false],
  ] as const)('of a %s of 10 for 5: %i shares at %i, counted: %s', async (side, size, price, isCounted) => {
    const id = await place(await newWorld(), 'a', { side });
    await tell([trade(id, 't1', 'matched', size, price)]);
    expect(await orderOf(id)).toMatchObject({ filled: isCounted ? size : 0n });
    expect(await heldOf(id)).toHaveLength(isCounted ? 0 : 1);
  });

  test('is of all trades together', async () => {
    const id = await place(await newWorld(), 'a');
    await tell([trade(id, 't1', 'matched', 6n * M), trade(id, 't2', 'matched', 4n * M)]);
    await tell([trade(id, 't3', 'matched', 1n * M)]);
    expect(await orderOf(id)).toMatchObject({ filled: 10n * M });
    expect(await heldOf(id)).toMatchObject([{ trade: { tradeId: 't3' } }]);
  });

  test('leaves room again when a trade fails: the one that replaced it counts then, whichever was heard of first', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([trade(id, 't1', 'matched'), standing(id, 'filled', 10n * M)]);
    await tell([trade(id, 't2', 'confirmed')]);
    expect(await heldOf(id)).toHaveLength(1);
    await tell([trade(id, 't1', 'failed')]);
    expect(await heldOf(id)).toEqual([]);
    expect(await orderOf(id)).toMatchObject({ filled: 10n * M, cost: 5n * M });
    expect(await positionOf(world)).toMatchObject({ size: 10n * M });
  });

  test('is not reached by a trade that failed before it was heard of', async () => {
    const id = await place(await newWorld(), 'a');
    await tell([trade(id, 't1', 'confirmed'), trade(id, 't0', 'failed'), standing(id, 'filled', 10n * M)]);
    expect(await heldOf(id)).toEqual([]);
    expect(await orderOf(id)).toMatchObject({ status: 'settlement_failed', filled: 10n * M });
  });

  test('holds for what the venue says is matched', async () => {
    const id = await place(await newWorld(), 'a');
    await tell([accepted(id)]);
    expect(await tell([standing(id, null, TEN_MILLION)])).toEqual(['more shares matched than it signed']);
    await tell([trade(id, 't1', 'confirmed'), standing(id, 'filled', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'filled' });
  });
});

describe('an immediate order whose only trade is kept aside', () => {
  test('is matched, with nothing filled', async () => {
    const id = await place(await newWorld(), 'a', { timeInForce: 'FAK' });
    await tell([trade(id, 't1', 'matched', TEN_MILLION), standing(id, 'killed', 10n * M)]);
    const live = (await log.find([id])).get(id);
    expect(live?.order).toMatchObject({ status: 'matched', filled: 0n });
    expect(live?.order.first).toMatchObject({ success: true, status: 'matched', filled: 0n, fees: 0n });
  });
});

describe('the operator', () => {
  test('releases a trade: it counts as the venue said it', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([
      trade(id, 't1', 'confirmed', 20n * M, 4_000, 5n),
      standing(id, 'filled', 10n * M),
      accepted(id),
    ]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 0n });
    const after = await keeper().decide({ orderId: id, tradeId: 't1', decision: 'release' });
    expect(after).toMatchObject({ status: 'filled', filled: 20n * M });
    expect(await orderOf(id)).toMatchObject({ status: 'filled', filled: 20n * M, cost: 8n * M, fees: 5n });
    expect(await positionOf(world)).toMatchObject({ size: 20n * M });
    expect(await returnedOf(id)).toEqual([]);
    expect(await heldOf(id)).toEqual([]);
    // A second word changes nothing.
    expect(await keeper().decide({ orderId: id, tradeId: 't1', decision: 'discard' })).toBeNull();
    expect(await positionOf(world)).toMatchObject({ size: 20n * M });
  });

  test('discards a trade: the order ends with what is left of it, and its budget returns', async () => {
    const world = await newWorld();
    const id = await place(world, 'a');
    await tell([trade(id, 't1', 'confirmed', 4n * M), trade(id, 't2', 'matched', TEN_MILLION)]);
    await tell([standing(id, 'canceled', 10n * M)]);
    expect(await orderOf(id)).toMatchObject({ status: 'matched', filled: 4n * M });
    await keeper().decide({ orderId: id, tradeId: 't2', decision: 'discard' });
    expect(await orderOf(id)).toMatchObject({ status: 'canceled', filled: 4n * M });
    expect(await returnedOf(id)).toEqual([{ trades: 0, amount: 3n * M }]);
    expect((await journalOf(id)).map(({ event }) => event)).toContain('trade_discarded');
  });

  test('finds no trade that was never kept aside', async () => {
    const id = await place(await newWorld(), 'a');
    await tell([trade(id, 't1', 'matched')]);
    for (const [orderId, tradeId] of [
      [id, 't1'],
      [id, 't9'],
      ['0x1', 't1'],
    ] as const)
      expect(await keeper().decide({ orderId, tradeId, decision: 'release' })).toBeNull();
    await tell([decided(id, 't1', 'discard')]);
    expect(await orderOf(id)).toMatchObject({ filled: 10n * M });
  });
});
