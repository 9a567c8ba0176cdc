/** The line of trades: what one that stands still, fails or breaks a commit does to the others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConnectionLost, DatabaseError, type Sql } from '@bellwether/durable';
import { DatabaseError as ServerFault } from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { openDeskDatabase } from '../../../test/postgres.ts';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { createKeyedMutex } from '../src/platform/scheduler.ts';
import { PositionsInPlay } from '../src/positions/index.ts';
import type { Admission } from '../src/trading/admission.ts';
import { BrokenCommits, createTradeLedger } from '../src/trading/ledger.ts';

test('tasks under one key run one after another; other keys do not wait', async () => {
  const mutex = createKeyedMutex();
  const seen: string[] = [];
  const enter = async (key: string, label: string) => {
    const release = await mutex.acquire(key);
    seen.push(`${label} in`);
    return () => {
      seen.push(`${label} out`);
      release();
    };
  };
  const first = await enter('a', '1');
  const second = enter('a', '2');
  const third = enter('a', '3');
  const other = await enter('b', '4');
  expect(seen).toEqual(['1 in', '4 in']);
  first();
  (await second)();
  (await third)();
  other();
  expect(seen).toEqual(['1 in', '4 in', '1 out', '2 in', '2 out', '3 in', '3 out', '4 out']);
});

/** Longer than a group may take before it is overtaken. */
const SLOW_MS = 400;

/** A trade of an agent that does not exist: nothing is locked, and nothing is recorded. */
const admission = (turn: number): Admission => ({
  caller: { agentId: '00000000-0000-4000-8000-000000000000', userId: 1n, keyId: 1n },
  venue: 'polymarket',
  orderId: `order ${turn}`,
  clientOrderId: null,
  wallets: [],
  funder: '0x00000000000000000000000000000000000a11ce' as Admission['funder'],
  signer: '0x00000000000000000000000000000000000a11ce' as Admission['signer'],
  conditionId: 'condition',
  tokenIds: ['1', '2'],
  at: Date.now(),
  judge: () => ({ kind: 'same', answer: async () => null }),
});

/** A pool whose first connections, as many as said, are lent and never answer. */
function withSilent(sql: Sql, silent: number): Sql {
  const { connections } = sql;
  let lent = 0;
  return Object.assign(((...args: Parameters<Sql>) => sql(...args)) as Sql, sql, {
    connections: {
      acquire(use: Parameters<typeof connections.acquire>[0], fail: (fault: unknown) => void): void {
        lent += 1;
        if (lent > silent) connections.acquire(use, fail);
      },
      release: (connection: Parameters<typeof connections.release>[0]) => connections.release(connection),
    },
  });
}

test('a group whose connection does not answer does not stop the trades after it', async () => {
  const sql = withSilent(await openDeskDatabase(6), 2);
  const ledger = createTradeLedger(sql, { journal: null, positions: new PositionsInPlay() });
  const answered: number[] = [];
  const send = (turn: number) =>
    // The agent is unknown, which is an answer.
    void ledger.admit(admission(turn)).then(
      () => answered.push(turn),
      () => answered.push(turn),
    );
  for (const turn of [1, 2]) {
    send(turn);
    await sleep(SLOW_MS);
  }
  send(3);
  await expect.poll(() => answered).toEqual([3]);
});

const refusedWith = (code: string) =>
  new DatabaseError(Object.assign(new ServerFault('no', 2, 'error'), { code }));
const POISONED = refusedWith('P0001');
const inVenue = (cause: Error) => new VenueUnavailable('the journal could not be written', { cause });

let now: number;
let broken: BrokenCommits;

beforeEach(() => {
  now = 5;
  broken = new BrokenCommits(() => now);
});

/** How long trades stay out of the journal's commits. */
function pauseMs(): number {
  const since = now;
  while (!broken.mayJoinJournal()) now += 1_000;
  return now - since;
}

describe('the commit of the journal', () => {
  test('is closed for a while after the database refused it, longer each time, ten minutes at most', () => {
    expect(broken.mayJoinJournal()).toBe(true);
    const pauses: number[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      broken.inJournal(inVenue(POISONED));
      pauses.push(pauseMs() / 1_000);
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 320, 600, 600, 600]);
    now += 11 * 60_000;
    broken.inJournal(inVenue(POISONED));
    expect(pauseMs()).toBe(10_000);
  });

  test('stays open when the connection was lost', () => {
    broken.inJournal(inVenue(new ConnectionLost('lost')));
    expect(broken.mayJoinJournal()).toBe(true);
  });
});

describe('an agent whose trade the database refused alone', () => {
  test('shares no commit for a minute; other agents do', () => {
    broken.alone('a', POISONED);
    expect([broken.mayShare('a'), broken.mayShare('b')]).toEqual([false, true]);
    now += 60_000;
    expect(broken.mayShare('a')).toBe(true);
  });

  test('a fault that has nothing to do with the trade does not count', () => {
    const ofServer = ['55P03', '57014'].map(refusedWith);
    for (const fault of [...ofServer, new ConnectionLost('lost'), new Error('no')]) broken.alone('a', fault);
    expect(broken.mayShare('a')).toBe(true);
  });

  test('a thousand agents are remembered, the latest ones', () => {
    for (let i = 0; i <= 1_000; i += 1) broken.alone(`agent ${i}`, POISONED);
    expect([0, 1, 1_000].map((i) => broken.mayShare(`agent ${i}`))).toEqual([true, false, false]);
  });
});
