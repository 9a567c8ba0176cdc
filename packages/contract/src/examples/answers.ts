/**
 * What a service answered to each example, as the test recorded it; lists are cut to their first items. To record them again:
 * `EXAMPLES=record npm test -- test/e2e/openapi-examples.test.ts`.
 */
import answers from './answers.json' with { type: 'json' };

export interface RecordedAnswer {
  readonly status: number;
  readonly body: unknown;
}

export const ANSWERS: Readonly<Partial<Record<string, RecordedAnswer>>> = answers;
