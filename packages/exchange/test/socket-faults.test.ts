/** The venue's sockets with faults: frozen, cut, messages lost, repeated and out of order, stale books. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type FaultPlan, Faults } from '../src/doors/polymarket/index.ts';
import { openLine } from '../src/doors/polymarket/socket-faults.ts';
import { restingBid } from './open-exchange-stage.ts';
import { socketStage } from './socket-stage.ts';

/** Sends a hundred messages through a socket with faults, and returns what came out. */
function sent(plan: Partial<FaultPlan>) {
  const frames: string[] = [];
  const faults = new Faults(() => 0);
  faults.set(plan);
  const line = openLine(
    { send: (text) => frames.push(text), close: () => {}, cut: () => frames.push('cut') },
    faults,
  );
  for (let i = 0; i < 100; i += 1) line.send(String(i));
  line.pong();
  return frames;
}
const numbers = Array.from({ length: 100 }, (_, i) => String(i));

test('without faults every message is sent once, in order', () => {
  expect(sent({})).toEqual([...numbers, 'PONG']);
});

test('gaps lose some, duplicates repeat some, reordering sends some after their successor', () => {
  const gaps = sent({ gapsShare: 0.3 });
  expect(gaps.length).toBeGreaterThan(50);
  expect(gaps.length).toBeLessThan(95);
  const twice = sent({ duplicatesShare: 0.3 });
  expect(new Set(twice).size).toBe(101);
  expect(twice.length).toBeGreaterThan(110);
  const reordered = sent({ reorderedShare: 0.3 });
  expect(reordered).not.toEqual([...numbers, 'PONG']);
  // The last one may wait for a successor.
  expect(new Set(reordered).size).toBeGreaterThanOrEqual(100);
});

test('a frozen socket stays open and says nothing more, not even PONG; a dropped one is cut', () => {
  expect(sent({ frozenSocketsShare: 1 })).toEqual(numbers.slice(0, 5));
  const cut = sent({ droppedSocketsShare: 1 });
  expect(cut.slice(0, 6)).toEqual([...numbers.slice(0, 5), 'cut']);
});

test('a stale book is shown late, and then as it is', async () => {
  const faults = new Faults(() => Date.now());
  faults.set({ staleBooksMs: 400 });
  const { exchange, watch } = await socketStage({ faults, now: () => Date.now() });
  const order = restingBid(exchange, 1);
  const client = await watch([exchange.market(order.conditionId)!.tokenIds[0]]);
  const shownAt = Date.now();
  await exchange.execute({ kind: 'place', order });
  await client.until((one) => one.of('price_change').length === 1);
  expect(Date.now() - shownAt).toBeGreaterThan(250);
});

test('a frozen socket over TCP: open, silent to PING', async () => {
  const faults = new Faults(() => Date.now());
  faults.set({ frozenSocketsShare: 1 });
  const { exchange, connect } = await socketStage({ faults });
  const tokens = exchange.market(restingBid(exchange, 1).conditionId)!.tokenIds;
  const client = await connect('market');
  for (let i = 0; i < 6; i += 1) client.send({ type: 'market', assets_ids: [...tokens] });
  await client.until(({ frames }) => frames.length === 5);
  client.send('PING');
  await sleep(100);
  expect(client.frames).toHaveLength(5);
  expect(client.socket.readyState).toBe(client.socket.OPEN);
});
