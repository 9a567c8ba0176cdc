import { expect, test } from 'vitest';
import {
  isInDoubt,
  isOpen,
  isSettling,
  isTerminal,
  mayFill,
  ORDER_EVENTS,
  ORDER_KINDS,
  ORDER_STATUSES,
  type OrderStatus,
  reachable,
  requireTransition,
  transition,
} from '../src/domain/lifecycle.ts';

/** Stated independently of the table, one line per transition: a transition that is not here is impossible. */
const ALLOWED = `
signed submitting accepted → live
signed submitting held_back → delayed
signed submitting rejected → rejected
signed submitting no_answer → unknown
signed unknown accepted → live
signed unknown held_back → delayed
signed unknown rejected → rejected
signed unknown no_answer → unknown
signed live filled_partly → partially_filled
signed live matched → matched
signed live filled_completely → filled
signed live rest_killed → partially_filled_closed
signed live canceled → canceled
signed live expired → expired
signed live market_resolved → market_resolved
signed delayed filled_partly → partially_filled
signed delayed matched → matched
signed delayed filled_completely → filled
signed delayed rest_killed → partially_filled_closed
signed delayed canceled → canceled
signed delayed expired → expired
signed delayed market_resolved → market_resolved
signed delayed rejected → rejected
signed delayed accepted → live
signed unmatched filled_partly → partially_filled
signed unmatched matched → matched
signed unmatched filled_completely → filled
signed unmatched rest_killed → partially_filled_closed
signed unmatched canceled → canceled
signed unmatched expired → expired
signed unmatched market_resolved → market_resolved
signed partially_filled filled_partly → partially_filled
signed partially_filled matched → matched
signed partially_filled filled_completely → filled
signed partially_filled rest_killed → partially_filled_closed
signed partially_filled canceled → canceled
signed partially_filled expired → expired
signed partially_filled market_resolved → market_resolved
signed partially_filled fills_reversed → partially_filled
signed partially_filled all_fills_reversed → live
signed matched filled_partly → matched
signed matched fills_reversed → matched
signed matched all_fills_reversed → matched
signed matched filled_completely → filled
signed matched rest_killed → partially_filled_closed
signed matched canceled → canceled
signed matched expired → expired
signed matched market_resolved → market_resolved
signed matched settlement_failed → settlement_failed
split submitting handed_out → live
split live filled_completely → filled
split live expired → expired
split live rejected → rejected
split submitting filled_completely → filled
split submitting rejected → rejected
split submitting no_answer → unknown
split unknown filled_completely → filled
split unknown rejected → rejected
split unknown no_answer → unknown
convert submitting filled_completely → filled
convert submitting rejected → rejected
convert submitting no_answer → unknown
convert unknown filled_completely → filled
convert unknown rejected → rejected
convert unknown no_answer → unknown
convert submitting handed_out → live
convert live filled_completely → filled
convert live expired → expired
convert live rejected → rejected
merge submitting handed_out → live
merge live filled_completely → filled
merge live expired → expired
merge live rejected → rejected
merge submitting filled_completely → filled
merge submitting rejected → rejected
merge submitting no_answer → unknown
merge unknown filled_completely → filled
merge unknown rejected → rejected
merge unknown no_answer → unknown
quoted submitting landed → delayed
quoted submitting rejected → rejected
quoted submitting canceled → canceled
quoted delayed filled_partly → partially_filled
quoted delayed filled_completely → filled
quoted delayed rest_reverted → partially_filled_closed
quoted delayed reverted → rejected
quoted partially_filled filled_partly → partially_filled
quoted partially_filled filled_completely → filled
quoted partially_filled rest_reverted → partially_filled_closed
`
  .trim()
  .split('\n');

/** Every possible (kind, status, event) → status, in the format of the lines above. */
const HAPPENING = ORDER_KINDS.flatMap((kind) =>
  ORDER_STATUSES.flatMap((status) =>
    ORDER_EVENTS.flatMap((event) => {
      const next = transition(kind, status, event);
      return next === null ? [] : [{ next, line: `${kind} ${status} ${event} → ${next}` }];
    }),
  ),
);

test('the table covers every kind, status and event', () => {
  expect(HAPPENING.map(({ line }) => line).sort()).toEqual([...ALLOWED].sort());
});

const ENDS: readonly OrderStatus[] = [
  'partially_filled_closed',
  'filled',
  'canceled',
  'expired',
  'rejected',
  'market_resolved',
  'settlement_failed',
];

test('a final status never changes', () => {
  for (const kind of ORDER_KINDS)
    for (const status of ENDS)
      for (const event of ORDER_EVENTS) expect(transition(kind, status, event)).toBeNull();
});

test('every status is exactly one of in doubt, open, settling and final', () => {
  const doubtful: readonly OrderStatus[] = ['submitting', 'unknown'];
  for (const status of ORDER_STATUSES) {
    expect(isTerminal(status)).toBe(ENDS.includes(status));
    expect(isInDoubt(status)).toBe(doubtful.includes(status));
    const is = [isTerminal(status), isInDoubt(status), isOpen(status), isSettling(status)];
    expect(is.filter(Boolean)).toHaveLength(1);
    expect(mayFill(status)).toBe(isInDoubt(status) || isOpen(status));
  }
});

test('every status except the first can be reached', () => {
  const reached = new Set(HAPPENING.map(({ next }) => next));
  // A live venue may answer a submission with `unmatched`.
  for (const status of ORDER_STATUSES)
    if (!['submitting', 'unmatched'].includes(status)) expect(reached).toContain(status);
});

test('evidence with several events leads where the events in sequence lead', () => {
  expect(reachable('signed', 'live')).toEqual([
    // All of its fills may be reversed.
    'live',
    'partially_filled',
    'matched',
    'partially_filled_closed',
    'filled',
    'canceled',
    'expired',
    'market_resolved',
    'settlement_failed',
  ]);
  expect(reachable('signed', 'matched')).not.toContain('live');
  expect(reachable('quoted', 'submitting')).toEqual([
    'delayed',
    'partially_filled',
    'partially_filled_closed',
    'filled',
    'canceled',
    'rejected',
  ]);
  expect(reachable('signed', 'filled')).toEqual([]);
});

test('an impossible event throws', () => {
  expect(() => requireTransition('quoted', 'delayed', 'canceled')).toThrow(
    'a quoted order that is delayed cannot be canceled',
  );
});
