/** How the paper venue moves to another replica: it prepares to lead, and calls wait while something moves. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { createSandboxHolder, type LocalParts, startPaperBackend } from '../src/venues/paper/index.ts';
import { createStandby, createWaitingRoom, type WaitingRoom } from '../src/venues/paper/lead.ts';

const LONG_MS = 60_000;

describe('what a replica loads to lead', () => {
  function standbyOf(ready: () => Promise<void> = async () => {}) {
    const ended: number[] = [];
    let begun = 0;
    const standby = createStandby(() => {
      begun += 1;
      const id = begun;
      return { id, ready: ready(), end: () => void ended.push(id) };
    });
    return { standby, ended, begun: () => begun };
  }

  test('is loaded once for all announcements, and taken once', async () => {
    const { standby, ended, begun } = standbyOf();
    expect(standby.take()).toBeNull();
    await Promise.all([standby.prepare(), standby.prepare()]);
    expect(standby.take()).toMatchObject({ id: 1 });
    expect(standby.take()).toBeNull();
    standby.end();
    expect([begun(), ended]).toEqual([1, []]);
  });

  test('is loaded anew after it failed', async () => {
    const failures = [Promise.reject(new Error('no memory')), Promise.resolve()];
    const { standby, ended, begun } = standbyOf(() => failures.shift() as Promise<void>);
    await expect(standby.prepare()).rejects.toThrow('no memory');
    await standby.prepare();
    expect([begun(), ended]).toEqual([2, [1]]);
  });

  test('gives its memory back when it is not taken, and when the replica ends', async () => {
    vi.useFakeTimers();
    try {
      const { standby, ended } = standbyOf();
      await standby.prepare();
      vi.advanceTimersByTime(LONG_MS);
      expect(ended).toEqual([1]);
      expect(standby.take()).toBeNull();
      await standby.prepare();
      standby.end();
      expect(ended).toEqual([1, 2]);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('the room where calls wait', () => {
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
});

test.each([
  ['at first', null],
  ['again', { url: 'http://127.0.0.1:9', replica: 'the one before', mine: false }],
])(
  'a start that takes longer than the lease of the exchange ends with the sandbox open: %s',
  async (_, former) => {
    const exchange = { status: 'reopening', lapsedAt: 1, term: 1, close: async () => {} };
    const held = exchange as unknown as LocalParts['exchange'];
    const open = async () => ({ close: async () => {} }) as never;
    const sandbox = createSandboxHolder({ exchange: held, open, simulationBalance: 0n, now: Date.now });
    const local = { exchange: held, sandbox, venue: { status: () => 'ready' } } as unknown as LocalParts;
    const backend = await startPaperBackend({
      open: async () => local,
      leaders: { find: async () => former, onNews: async () => () => {} } as never,
      standby: { prepare: async () => {}, end: () => {} },
      sign: () => '',
      verifyCredentials: async () => null,
      log: console,
    });
    onTestFinished(() => backend.stop());
    setTimeout(() => Object.assign(exchange, { status: 'open', lapsedAt: null }), 50);
    await backend.opened();
    expect(backend.sandboxStatus('proxy')).toBe('ready');
  },
);
