/**
 * A runnable example of every operation: a new operation without one does not compile. The OpenAPI document shows them,
 * and test/e2e/openapi-examples.test.ts runs each against a service. Not part of the package's index: no client needs them.
 */
import type * as contract from '../index.ts';
import type { Operation } from '../operation.ts';
import { AGENT_EXAMPLES } from './agents.ts';
import answers from './answers.json' with { type: 'json' };
import type { Example, RecordedAnswer } from './example.ts';
import { PEOPLE_EXAMPLES } from './people.ts';
import { TRADING_EXAMPLES } from './trading.ts';

export type { Example } from './example.ts';
export { fillIn, PLACEHOLDERS, type Placeholder, placeholdersOf, SAMPLES } from './placeholders.ts';

type Exports = typeof contract;
export type OperationId = {
  [Name in keyof Exports]: Exports[Name] extends Operation ? Exports[Name]['id'] : never;
}[keyof Exports];

/** What a service answered to each example: test/e2e/openapi-examples.test.ts records it with EXAMPLES=record. */
export const ANSWERS: Readonly<Record<string, RecordedAnswer>> = answers;

/** Operations of the service itself, outside the contract. */
type ProbeId = 'getLiveness' | 'getReadiness';

export const EXAMPLES: Readonly<Record<OperationId | ProbeId, Example>> = {
  ...AGENT_EXAMPLES,
  ...TRADING_EXAMPLES,
  ...PEOPLE_EXAMPLES,
  getLiveness: {},
  getReadiness: {},
};
