/** Which failures the gate gives a second run, and which never: a rule that is too kind would let a fault through. */
import { expect, test } from 'vitest';
import { byChanceLines, isOfTheMachine, secondRuns } from '../scripts/gate.ts';
import type { Fault, TestOutcome } from './setup/results.ts';

const timedOut: Fault = {
  name: 'Error',
  message: 'Test timed out in 120000ms.\nIf this is a long-running test…',
};
const refused: Fault = {
  name: 'TypeError',
  message: 'fetch failed',
  cause: { name: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' },
};
const wrongValue: Fault = { name: 'AssertionError', message: 'expected 1 to be 2', actual: '1' };

const ofTheMachine: readonly Fault[] = [
  timedOut,
  refused,
  { name: 'Error', message: 'Hook timed out in 120000ms.' },
  { name: 'TimeoutError', message: 'page.click: Timeout 30000ms exceeded.' },
  { name: 'Error', message: 'write CONNECTION_CLOSED', code: 'CONNECTION_CLOSED' },
  { name: 'TypeError', message: 'terminated', cause: { name: 'SocketError', message: 'other side closed' } },
  { name: 'BellwetherConnectionError', message: 'GET /healthz: nothing answers at the base address' },
  { name: 'BellwetherError', code: 'overloaded', message: 'More orders come in than can be placed.' },
  {
    name: 'AssertionError',
    message: "expected { status: 503, code: 'overloaded' } to match object { status: 201 }",
    actual: '{ "status": 503 }',
  },
  { ...wrongValue, cause: { name: 'Error', message: 'Matcher did not succeed in time.' } },
];

const ofTheCode: readonly Fault[] = [
  wrongValue,
  { name: 'AssertionError', message: "expected 'Test timed out in 5ms' to be ''", actual: 'ECONNREFUSED' },
  { name: 'AssertionError', message: 'expected 503 to be 200', actual: '503' },
  // It should have been turned away.
  {
    name: 'AssertionError',
    message: "expected { status: 200 } to match object { status: 503, code: 'overloaded' }",
    actual: '{ "status": 200 }',
  },
  { name: 'TypeError', message: "Cannot read properties of undefined (reading 'timeout')" },
  { name: 'BellwetherConnectionError', message: 'GET /x: the answer points to another path' },
  { name: 'BellwetherError', code: 'order_outcome_unknown', message: 'It is being looked for.' },
];

test.each(ofTheMachine)('is of a busy machine: $name $message', (fault) => {
  expect(isOfTheMachine(fault)).toBe(true);
});

test.each(ofTheCode)('is of the code: $name $message', (fault) => {
  expect(isOfTheMachine(fault)).toBe(false);
});

const failed = (file: string, fault: Fault, test = 'a test'): TestOutcome => ({
  ...{ project: 'faults', file, test, state: 'failed', ms: 1 },
  faults: [fault],
});
const passed: TestOutcome = { ...failed('test/faults/demo.test.ts', timedOut), state: 'passed', faults: [] };
const again = (...tests: TestOutcome[]) => secondRuns({ tests: [passed, ...tests], unhandled: [] }, []);

const CALM = 'test/faults/demo.test.ts';
const demo = [{ project: 'faults', file: CALM }];

test('a file whose tests were late runs once more, once for all of them', () => {
  expect(again()).toEqual([]);
  expect(again(failed(CALM, timedOut), failed(CALM, refused, 'another'))).toEqual(demo);
});

test('one wrong value, or an error that no test caught, and nothing runs again', () => {
  expect(again(failed(CALM, timedOut), failed('test/faults/scripts.test.ts', wrongValue))).toBe(null);
  expect(again({ ...failed(CALM, timedOut), faults: [timedOut, wrongValue] })).toBe(null);
  expect(again({ ...failed(CALM, timedOut), faults: [] })).toBe(null);
  expect(secondRuns({ tests: [failed(CALM, timedOut)], unhandled: [refused] }, [])).toBe(null);
});

test.each([
  'test/faults/simulation.test.ts',
  'test/faults/histories.test.ts',
  'test/faults/quoted-crash.test.ts',
  'test/faults/takeover.test.ts',
  'packages/exchange/test/engine/engine.property.test.ts',
  'packages/protocol/test/properties.test.ts',
  'packages/server/test/polymarket-matches.test.ts',
])('%s never runs again', (file) => {
  expect(again(failed(file, timedOut))).toBe(null);
});

test('a test that has passed by chance before has had its second run', () => {
  const run = { tests: [failed(CALM, timedOut)], unhandled: [] };
  expect(secondRuns(run, [`${CALM} › another test`])).toEqual(demo);
  expect(secondRuns(run, [`${CALM} › a test`])).toBe(null);
});

test('four by chance are no chance', () => {
  const late = (nth: number) => failed(CALM, timedOut, `test ${nth}`);
  expect(again(late(1), late(2), late(3))).toEqual(demo);
  expect(again(late(1), late(2), late(3), late(4))).toBe(null);
});

test('the line names file, test and the first line of the message', () => {
  expect(
    byChanceLines({ tests: [passed, failed(CALM, timedOut), failed(CALM, refused, '')], unhandled: [] }),
  ).toEqual([`by chance: ${CALM} › a test: Test timed out in 120000ms.`, `by chance: ${CALM}: fetch failed`]);
});
