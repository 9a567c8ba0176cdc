import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { StartScheduler } from './start-scheduler.ts';

const begin = (begun: number[], request: number) => (): boolean => {
  begun.push(request);
  return true;
};
const begins = (): boolean => true;

const arriving = (count: number): { readonly turns: StartScheduler; readonly begun: number[] } => {
  const turns = new StartScheduler(() => 0);
  const begun: number[] = [];
  for (let request = 0; request < count; request++) turns.next(begin(begun, request));
  return { turns, begun };
};

test('requests that arrive together begin four at a time, in their order', async () => {
  const { begun } = arriving(10);
  const order = [...Array(10).keys()];
  expect(begun).toEqual([]);
  for (const count of [4, 8, 10]) {
    await nextTurn();
    expect(begun).toEqual(order.slice(0, count));
  }
});

test('a request that arrives later begins after those that wait', async () => {
  const { turns, begun } = arriving(5);
  await nextTurn();
  turns.next(begin(begun, 99));
  await nextTurn();
  expect(begun).toEqual([0, 1, 2, 3, 4, 99]);
});

test('of a long queue more requests begin in one turn', async () => {
  const { begun } = arriving(640);
  await nextTurn();
  expect(begun).toHaveLength(20);
});

test('a request that arrives when none waits begins in the next turn', async () => {
  const { turns, begun } = arriving(1);
  await nextTurn();
  await nextTurn();
  turns.next(begin(begun, 1));
  await nextTurn();
  expect(begun).toEqual([0, 1]);
});

test('says how long the first has waited, and for how long there has always been one', async () => {
  let time = 1_000;
  const turns = new StartScheduler(() => time);
  expect(turns.delay).toEqual({ count: 0, firstMs: 0, standsMs: 0 });
  for (let request = 0; request < 6; request++) turns.next(begins);
  time += 30;
  expect(turns.delay).toEqual({ count: 6, firstMs: 30, standsMs: 30 });
  turns.next(begins);
  await nextTurn();
  // Three are left; the last of them came later.
  time += 10;
  expect(turns.delay).toEqual({ count: 3, firstMs: 40, standsMs: 40 });
  await nextTurn();
  expect(turns.delay).toEqual({ count: 0, firstMs: 0, standsMs: 0 });
  time += 500;
  turns.next(begins);
  time += 5;
  expect(turns.delay).toEqual({ count: 1, firstMs: 5, standsMs: 5 });
});
