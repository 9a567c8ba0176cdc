/** The registry follows the naming convention in its header; codes older than the convention are listed here. */
import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode } from '../src/errors.ts';

/** The suffix of a code tells what is wrong, and its HTTP status. */
const ENDINGS = {
  not_found: 404,
  exceeded: 403,
  limit_reached: 409,
  in_flight: 409,
  already_used: 409,
  required: 400,
  invalid: 400,
  mismatch: 400,
  too_large: 400,
  out_of_range: 400,
  not_allowed: 400,
  not_supported: 400,
  gone: 410,
  outcome_unknown: 500,
} as const satisfies Record<string, number>;

/** Older than the convention: another status. Nothing is added here. */
const EXCEPTIONS: readonly ErrorCode[] = [
  'body_too_large',
  'headers_too_large',
  'host_not_allowed',
  'method_not_allowed',
  'origin_not_allowed',
  'idempotency_limit_reached',
  'daily_loss_limit_reached',
  'owner_session_required',
  'token_account_not_found',
  'claim_required',
  // Given with its status: what it lacks is a person's word, like the claim's.
  'approval_required',
  'webhook_signature_invalid',
  'faucet_allowance_exceeded',
];

/** Older than the convention: another suffix. Nothing is added here. */
const OTHER_ENDINGS = 55;

const CODES = Object.keys(ERRORS) as ErrorCode[];
const endingOf = (code: string) =>
  (Object.keys(ENDINGS) as (keyof typeof ENDINGS)[]).find((ending) => code.endsWith(`_${ending}`));

describe('the error registry', () => {
  test('codes are snake_case words', () => {
    expect(CODES.filter((code) => !/^[a-z]+(_[a-z]+)*$/.test(code))).toEqual([]);
  });

  test('every suffix of a code means one status, apart from the listed exceptions', () => {
    const others = CODES.filter((code) => {
      const ending = endingOf(code);
      return ending !== undefined && ERRORS[code].status !== ENDINGS[ending];
    });
    expect(others.toSorted()).toEqual(EXCEPTIONS.toSorted());
  });

  test('new codes have one of the suffixes', () => {
    expect(CODES.filter((code) => endingOf(code) === undefined)).toHaveLength(OTHER_ENDINGS);
  });
});
