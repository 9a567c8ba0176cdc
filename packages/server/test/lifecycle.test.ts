import { expect, test } from 'vitest';
import {
  isInDoubt,
  isOpen,
  isTerminal,
  ORDER_STATUSES,
  type OrderEventKind,
  type OrderStatus,
  orderStatusNumber,
  transition,
} from '../src/domain/orders/lifecycle.ts';

const EVENTS = [
  'accepted',
  'landed',
  'rejected',
  'no_answer',
  'filled_partly',
  'filled_completely',
  'rest_killed',
  'canceled',
  'expired',
  'market_resolved',
] as const satisfies readonly OrderEventKind[];

/** Written down apart from the table, one line a transition: whatever is not here cannot happen. */
const ALLOWED = `
submitting accepted → live
submitting rejected → rejected
submitting no_answer → unknown
submitting landed → delayed
submitting canceled → canceled
unknown accepted → live
unknown rejected → rejected
unknown no_answer → unknown
live filled_partly → partially_filled
live filled_completely → filled
live rest_killed → matched
live canceled → canceled
live expired → expired
live market_resolved → market_resolved
delayed filled_partly → partially_filled
delayed filled_completely → filled
delayed rest_killed → matched
delayed canceled → canceled
delayed expired → expired
delayed market_resolved → market_resolved
delayed rejected → rejected
unmatched filled_partly → partially_filled
unmatched filled_completely → filled
unmatched rest_killed → matched
unmatched canceled → canceled
unmatched expired → expired
unmatched market_resolved → market_resolved
partially_filled filled_partly → partially_filled
partially_filled filled_completely → filled
partially_filled rest_killed → matched
partially_filled canceled → canceled
partially_filled expired → expired
partially_filled market_resolved → market_resolved
`
  .trim()
  .split('\n');

test('every pair of status and event', () => {
  const happening = ORDER_STATUSES.flatMap((status) =>
    EVENTS.map((event) => [status, event, transition(status, event)] as const)
      .filter(([, , next]) => next !== null)
      .map(([from, event, next]) => `${from} ${event} → ${next}`),
  );
  expect(happening.sort()).toEqual([...ALLOWED].sort());
});

const ENDS: readonly OrderStatus[] = [
  'matched',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
];

test('an end is never left', () => {
  for (const status of ENDS) for (const event of EVENTS) expect(transition(status, event)).toBeNull();
});

test('every status is in doubt, open or an end, and one of them only', () => {
  const doubtful: readonly OrderStatus[] = ['submitting', 'unknown'];
  for (const status of ORDER_STATUSES) {
    expect(isTerminal(status)).toBe(ENDS.includes(status));
    expect(isInDoubt(status)).toBe(doubtful.includes(status));
    expect([isTerminal(status), isInDoubt(status), isOpen(status)].filter(Boolean)).toHaveLength(1);
  }
});

test('every status but the first is reached from another', () => {
  const reached = new Set(
    ORDER_STATUSES.flatMap((status) => EVENTS.map((event) => transition(status, event))),
  );
  // `delayed` and `unmatched` are words that a live venue answers a submission with.
  for (const status of ORDER_STATUSES)
    if (!['submitting', 'delayed', 'unmatched'].includes(status)) expect(reached).toContain(status);
});

test('numbers of the records', () => {
  expect(Object.fromEntries(ORDER_STATUSES.map((status) => [status, orderStatusNumber(status)]))).toEqual({
    submitting: 1,
    unknown: 1,
    live: 1,
    delayed: 1,
    unmatched: 1,
    partially_filled: 1,
    matched: 2,
    filled: 2,
    canceled: 3,
    expired: 3,
    rejected: 5,
    market_resolved: 4,
  });
});
