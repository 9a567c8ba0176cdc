/** Where calls wait while something moves: they end with it, with their time, and beyond their number at once. */
import { expect, test, vi } from 'vitest';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { createWaitingRoom, type WaitingRoom } from '../src/venues/paper/waiting-room.ts';

const LONG_MS = 60_000;
const PLACES = 1_000;

interface Moving {
  readonly room: WaitingRoom;
  arrive(): void;
  readonly looks: () => number;
}

function moving({ mostMs = LONG_MS, look = async () => {} } = {}): Moving {
  let hasArrived = false;
  let looks = 0;
  const room = createWaitingRoom({
    what: 'the sandbox',
    mostMs,
    hasArrived: () => hasArrived,
    leftAt: () => null,
    look: () => {
      looks += 1;
      return look();
    },
  });
  room.moves();
  return { room, arrive: () => (hasArrived = true), looks: () => looks };
}

test('all who wait go on once it has arrived, and one look was made for all', async () => {
  const { room, arrive, looks } = moving({
    look: () => vi.waitFor(() => expect(room.isMoving()).toBe(false)),
  });
  const waiting = Promise.all(Array.from({ length: 50 }, () => room.passed('desk')));
  arrive();
  await waiting;
  expect(looks()).toBe(1);
  await room.passed('external');
});

test('a look that fails or hangs makes no call wait longer than the time', async () => {
  for (const look of [() => Promise.reject(new Error('no database')), () => new Promise<void>(() => {})]) {
    const { room } = moving({ mostMs: 100, look });
    await room.passed('desk');
    expect(room.isMoving()).toBe(false);
  }
});

test('strangers take no place of the desk, and one too many gets an answer at once that says what to do', async () => {
  const { room, arrive } = moving();
  const strangers = Array.from({ length: PLACES }, () => room.passed('external'));
  await expect(room.passed('external')).rejects.toThrow(VenueUnavailable);
  await expect(room.passed('external')).rejects.toThrow('try again in a second');
  const own = room.passed('desk');
  arrive();
  await Promise.all([own, ...strangers]);
  await room.passed('external');
});

test('who went without a word is waited for each time, from the first look on, however long ago it went', async () => {
  let leftAt: number | null = null;
  const what = { what: 'the lease', mostMs: 100, hasArrived: () => leftAt === null, look: async () => {} };
  const room = createWaitingRoom({ ...what, leftAt: () => leftAt });
  for (const left of [-LONG_MS, 1]) {
    leftAt = left;
    const waiting = room.passed('desk');
    expect(room.isMoving()).toBe(true);
    leftAt = null;
    await waiting;
    leftAt = left + 0.5;
    await room.passed('desk');
    expect(room.isMoving()).toBe(false);
  }
});
