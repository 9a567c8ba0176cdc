/** Which requests are admitted and which are turned away, on a manual clock. */
import { expect, test } from 'vitest';
import { Admission } from '../src/platform/http/load-control.ts';

const MAX_TRADES = 4;
const MAX_REQUESTS = 20;

function desk() {
  let time = 0;
  const admission = new Admission({ maxTrades: MAX_TRADES, maxRequests: MAX_REQUESTS, now: () => time });
  return {
    admission,
    pass: (ms: number) => {
      time += ms;
    },
  };
}

const ask = (admission: Admission, who = 'a', isGone = () => false) => {
  const slot = { state: 'waits' as string, leave: () => {} };
  admission.tradeSlot(who, isGone).then(
    (leave) => {
      slot.state = 'in';
      slot.leave = leave;
    },
    (error) => {
      slot.state = error.denials[0].code;
    },
  );
  return slot;
};
const ignored = [() => {}, () => {}] as const;
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('a burst waits in the queue and is served in order of arrival', async () => {
  const { admission, pass } = desk();
  const slots = Array.from({ length: 12 }, () => ask(admission));
  await settle();
  expect(slots.map(({ state }) => state)).toEqual([...Array(4).fill('in'), ...Array(8).fill('waits')]);
  expect(admission.refusalOf('trade')).toBeNull();
  for (const slot of slots) {
    pass(10);
    slot.leave();
    await settle();
  }
  expect(slots.every(({ state }) => state === 'in')).toBe(true);
  expect(admission.state).toEqual({ requests: 0, trades: 0, waiting: 0 });
});

test('a queue that does not move holds 150 ms of work; further trades are turned away', async () => {
  const { admission, pass } = desk();
  let running: ReturnType<typeof ask>[] = [];
  const waiting: ReturnType<typeof ask>[] = [];
  // One trade ends every 5 ms while two arrive: twice the capacity.
  let turnedAway = 0;
  for (let turn = 0; turn < 400; turn += 1) {
    for (let i = 0; i < 2; i += 1) {
      if (admission.refusalOf('trade') !== null) turnedAway += 1;
      else waiting.push(ask(admission));
    }
    await settle();
    running = waiting.filter(({ state }) => state === 'in');
    pass(5);
    const [first] = running;
    if (first !== undefined) {
      first.state = 'done';
      first.leave();
    }
    await settle();
  }
  expect(turnedAway).toBeGreaterThan(200);
  // 150 ms at 5 ms each.
  expect(admission.state.waiting).toBeLessThanOrEqual(31);
  expect(admission.state.trades).toBe(MAX_TRADES);
  expect(waiting.filter(({ state }) => state === 'done').length).toBe(400);
});

test('when the queue is empty, all requests are admitted again', async () => {
  const { admission, pass } = desk();
  const slots = Array.from({ length: 80 }, () => ask(admission));
  await settle();
  pass(2_000);
  expect(admission.refusalOf('trade')).not.toBeNull();
  expect(admission.refusalOf('other')).not.toBeNull();
  for (const slot of slots) {
    slot.leave();
    await settle();
  }
  expect(admission.state.waiting).toBe(0);
  expect(admission.refusalOf('trade')).toBeNull();
  expect(admission.refusalOf('other')).toBeNull();
});

test('reads are turned away before trades, trades before exits', async () => {
  const { admission, pass } = desk();
  for (let i = 0; i < 6; i += 1) ask(admission);
  await settle();
  pass(150);
  const refused = () =>
    (['vital', 'exit', 'trade', 'stream', 'other'] as const).filter(
      (kind) => admission.refusalOf(kind) !== null,
    );
  expect(refused()).toEqual(['other']);
  const ends = Array.from({ length: MAX_REQUESTS }, () => admission.enter());
  expect(refused()).toEqual(['trade', 'stream', 'other']);
  for (let i = 0; i < MAX_REQUESTS; i += 1) ends.push(admission.enter());
  expect(refused()).toEqual(['exit', 'trade', 'stream', 'other']);
  for (const end of ends) end();
  expect(refused()).toEqual(['other']);
});

test('reads are turned away when many requests make the process late, and only then', () => {
  const { admission } = desk();
  for (let look = 0; look < 5; look += 1) admission.look(400);
  expect(admission.refusalOf('other')).toBeNull();
  for (let look = 0; look < 5; look += 1) {
    for (let i = 0; i < 100; i += 1) admission.refusalOf('exit');
    admission.look(400);
  }
  expect(admission.refusalOf('other')).not.toBeNull();
  expect(admission.refusalOf('trade')).toBeNull();
  admission.look(0);
  expect(admission.refusalOf('other')).toBeNull();
});

test('one agent cannot fill the queue at the cost of other agents', async () => {
  const { admission } = desk();
  const greedy = Array.from({ length: 20 }, () => ask(admission, 'greedy'));
  const modest = ask(admission, 'modest');
  await settle();
  expect(modest.state).toBe('waits');
  greedy[0]?.leave();
  await settle();
  expect(modest.state).toBe('in');
  expect(greedy.filter(({ state }) => state === 'in').length).toBe(MAX_TRADES);
});

test('a request whose client has gone is not served', async () => {
  const { admission } = desk();
  const first = Array.from({ length: MAX_TRADES }, () => ask(admission));
  const gone = ask(admission, 'b', () => true);
  const here = ask(admission, 'c');
  await settle();
  first[0]?.leave();
  await settle();
  expect(gone.state).toBe('overloaded');
  expect(here.state).toBe('in');
});

test('a slot is released once', async () => {
  const { admission } = desk();
  const slot = ask(admission);
  await settle();
  slot.leave();
  slot.leave();
  expect(admission.state.trades).toBe(0);
});

test('trades that wait too long before they begin: reads are turned away first, then trades, exits never', async () => {
  const { admission, pass } = desk();
  const begun: number[] = [];
  const turnedAway: string[] = [];
  for (let request = 0; request < 10; request += 1)
    admission.inTurn(
      () => begun.push(request),
      (reason) => turnedAway.push(reason),
    );
  const admitted = () =>
    ['exit', 'trade', 'other'].map((kind) => admission.refusalOf(kind as 'trade') === null);
  pass(90);
  expect(admitted()).toEqual([true, true, true]);
  pass(20);
  expect(admitted()).toEqual([true, true, false]);
  pass(400);
  expect(admitted()).toEqual([true, false, false]);
  expect(admission.refusalOf('trade')).toContain('More orders come in');

  const shedAtTheDoor = admission.shed;
  // The oldest are turned away until no more wait than may be under way; those begin, and then there is room.
  for (let turn = 0; turn < 3; turn += 1) await settle();
  expect(turnedAway).toEqual(Array(5).fill(expect.stringContaining('More orders come in')));
  expect(begun).toEqual([5, 6, 7, 8, 9]);
  expect(admission.shed).toBe(shedAtTheDoor + 5);
  expect(admitted()).toEqual([true, true, true]);
});

test('as many as may be under way wait for their turn for as long as it takes', () => {
  const { admission, pass } = desk();
  for (let request = 0; request < MAX_TRADES; request += 1) admission.inTurn(...ignored);
  pass(10_000);
  expect([admission.refusalOf('trade'), admission.refusalOf('other')]).toEqual([null, null]);
  // One more, and it is a crowd that has stood for long.
  admission.inTurn(...ignored);
  expect(admission.refusalOf('trade')).not.toBeNull();
});

test('trades that always wait a little before they begin are no overload', async () => {
  const { admission, pass } = desk();
  // Four begin in a turn and four arrive, so that some have waited for as long as this goes on.
  const arrive = (count: number) => {
    for (let request = 0; request < count; request += 1) admission.inTurn(...ignored);
  };
  arrive(8);
  for (let turn = 0; turn < 40; turn += 1) {
    pass(50);
    await settle();
    expect([admission.refusalOf('trade'), admission.refusalOf('other')]).toEqual([null, null]);
    arrive(4);
  }
});
