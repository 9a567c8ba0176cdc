/** After a commit that a trade broke, others share commits again only when that cannot cost much. */
import { ConnectionLost, DatabaseError } from '@bellwether/durable';
import { DatabaseError as ServerFault } from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { VenueUnavailable } from '../src/domain/unavailable.ts';
import { BrokenCommits } from '../src/trading/broken-commits.ts';

const refusedWith = (code: string): DatabaseError => {
  const fault = new ServerFault('no', 2, 'error');
  fault.code = code;
  return new DatabaseError(fault);
};
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
    for (const fault of [
      refusedWith('55P03'),
      refusedWith('57014'),
      new ConnectionLost('lost'),
      new Error('no'),
    ])
      broken.alone('a', fault);
    expect(broken.mayShare('a')).toBe(true);
  });

  test('a thousand agents are remembered, the latest ones', () => {
    for (let i = 0; i <= 1_000; i += 1) broken.alone(`agent ${i}`, POISONED);
    expect([0, 1, 1_000].map((i) => broken.mayShare(`agent ${i}`))).toEqual([true, false, false]);
  });
});
