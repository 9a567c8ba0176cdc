/** Which requests are admitted and which are turned away, on a manual clock. */
import { expect, test } from 'vitest';
import { Gatekeeper } from '../src/platform/http/load-control.ts';

const MAX_TRADES = 4;
const MAX_REQUESTS = 20;

function desk(maxTrades = MAX_TRADES) {
  let time = 0;
  const gatekeeper = new Gatekeeper({ maxTrades, maxRequests: MAX_REQUESTS, now: () => time });
  return {
    gatekeeper,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

const ask = (gatekeeper: Gatekeeper, who = 'a', isGone = () => false) => {
  const slot = { state: 'waits' as string, leave: () => {} };
  gatekeeper.tradeSlot(who, isGone).then(
    (leave) => {
      slot.state = 'in';
      slot.leave = () => {
        slot.state = 'done';
        leave();
      };
    },
    (error) => {
      slot.state = error.denials[0].code;
    },
  );
  return slot;
};
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a burst of twice the slots stands in line and is served in order of arrival', async () => {
  const { gatekeeper } = desk();
  const first = Array.from({ length: MAX_TRADES }, () => ask(gatekeeper));
  await settle();
  const slots = [...first, ...Array.from({ length: 2 * MAX_TRADES }, () => ask(gatekeeper))];
  await settle();
  expect(slots.map(({ state }) => state)).toEqual([...Array(4).fill('in'), ...Array(8).fill('waits')]);
  for (const slot of slots) {
    slot.leave();
    await settle();
  }
  expect(slots.every(({ state }) => state === 'done')).toBe(true);
  expect(gatekeeper.state).toEqual({ requests: 0, trades: 0, waiting: 0 });
});

test('four begin in a turn of the event loop, however many slots are free', async () => {
  const { gatekeeper } = desk(100);
  const slots = Array.from({ length: 10 }, () => ask(gatekeeper));
  for (const begun of [4, 8, 10]) {
    await settle();
    expect(slots.filter(({ state }) => state === 'in').length).toBe(begun);
  }
});

test('once a trade was turned away only the slots are filled, until for a second none was', async () => {
  const { gatekeeper, pass } = desk();
  const slots: ReturnType<typeof ask>[] = [];
  const end = async () => {
    slots.find(({ state }) => state === 'in')?.leave();
    await settle();
  };
  let turnedAway = 0;
  let waiting = 0;
  // One trade ends every 5 ms while two arrive: twice the capacity.
  for (let turn = 0; turn < 400; turn += 1) {
    for (let i = 0; i < 2; i += 1) {
      if (gatekeeper.refusalOf('trade') === null) slots.push(ask(gatekeeper));
      else turnedAway += 1;
    }
    await settle();
    if (turn > 50) waiting += gatekeeper.state.waiting;
    pass(5);
    await end();
  }
  expect(waiting).toBe(0);
  expect(slots.filter(({ state }) => state === 'done').length).toBe(400);
  expect(turnedAway).toBe(800 - slots.length);

  // As many as are let in at the door may be on their way to the line.
  expect(gatekeeper.shed).toBe(turnedAway);
  slots.push(ask(gatekeeper), ask(gatekeeper), ask(gatekeeper));
  await settle();
  expect(slots.slice(-3).map(({ state }) => state)).toEqual(['in', 'overloaded', 'overloaded']);
  expect(gatekeeper.shed).toBe(turnedAway + 2);
  expect(gatekeeper.refusalOf('other')).not.toBeNull();
  while (gatekeeper.state.trades > 0) await end();
  expect(gatekeeper.refusalOf('other')).toBeNull();
  expect(gatekeeper.refusalOf('trade')).toBeNull();

  pass(1_000);
  const burst = Array.from({ length: 2 * MAX_TRADES }, () => ask(gatekeeper));
  await settle();
  expect(burst.map(({ state }) => state)).not.toContain('overloaded');
});

test('reads are turned away before trades, trades before exits', async () => {
  const { gatekeeper } = desk();
  for (let i = 0; i < 2 * MAX_TRADES; i += 1) ask(gatekeeper);
  await settle();
  const refused = () =>
    (['vital', 'exit', 'trade', 'stream', 'other'] as const).filter(
      (kind) => gatekeeper.refusalOf(kind) !== null,
    );
  expect(refused()).toEqual(['other']);
  const ends = Array.from({ length: MAX_REQUESTS }, () => gatekeeper.enter());
  expect(refused()).toEqual(['trade', 'stream', 'other']);
  for (let i = 0; i < MAX_REQUESTS; i += 1) ends.push(gatekeeper.enter());
  expect(refused()).toEqual(['exit', 'trade', 'stream', 'other']);
  for (const end of ends) end();
  expect(refused()).toEqual(['other']);
});

test('reads are turned away when many requests make the process late, and only then', () => {
  const { gatekeeper } = desk();
  for (let look = 0; look < 5; look += 1) gatekeeper.look(400);
  expect(gatekeeper.refusalOf('other')).toBeNull();
  for (let look = 0; look < 5; look += 1) {
    for (let i = 0; i < 100; i += 1) gatekeeper.refusalOf('exit');
    gatekeeper.look(400);
  }
  expect(gatekeeper.refusalOf('other')).not.toBeNull();
  expect(gatekeeper.refusalOf('trade')).toBeNull();
  gatekeeper.look(0);
  expect(gatekeeper.refusalOf('other')).toBeNull();
});

test('of those in line, an agent that has half of the slots comes last', async () => {
  const { gatekeeper } = desk();
  const greedy = Array.from({ length: MAX_TRADES }, () => ask(gatekeeper, 'greedy'));
  await settle();
  greedy.push(ask(gatekeeper, 'greedy'));
  const modest = ask(gatekeeper, 'modest');
  greedy[0]?.leave();
  await settle();
  expect(modest.state).toBe('in');
  expect(greedy.at(-1)?.state).toBe('waits');
});

test('a request whose client has gone is not served', async () => {
  const { gatekeeper } = desk();
  const first = Array.from({ length: MAX_TRADES }, () => ask(gatekeeper));
  const gone = ask(gatekeeper, 'b', () => true);
  const here = ask(gatekeeper, 'c');
  await settle();
  first[0]?.leave();
  await settle();
  expect(gone.state).toBe('overloaded');
  expect(here.state).toBe('in');
});

test('a slot is released once', async () => {
  const { gatekeeper } = desk();
  const slot = ask(gatekeeper);
  await settle();
  slot.leave();
  slot.leave();
  expect(gatekeeper.state.trades).toBe(0);
});
