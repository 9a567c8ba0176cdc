/** Refusals by their code, in types and at run time. */
import * as contract from '@bellwether/contract';
import {
  BellwetherApiError,
  type BellwetherClient,
  type ErrorCode,
  isProblem,
  type ProblemCode,
} from '@bellwether/sdk';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { errorCodes } from '../../server/src/platform/http/routes.ts';

const refused = (code?: string) => new BellwetherApiError(400, code === undefined ? {} : { code });

describe('isProblem', () => {
  test('is true for a refusal with one of the codes', () => {
    expect(isProblem(refused('insufficient_balance'), 'insufficient_balance')).toBe(true);
    expect(isProblem(refused('market_not_found'), 'insufficient_balance', 'market_not_found')).toBe(true);
    expect(isProblem(refused('market_not_found'), 'insufficient_balance')).toBe(false);
    expect(isProblem(refused(), 'insufficient_balance')).toBe(false);
  });

  test('without a code it is true for every refusal, and for nothing else', () => {
    expect(isProblem(refused('a_code_of_a_later_version'))).toBe(true);
    for (const other of [
      new Error('insufficient_balance'),
      { code: 'insufficient_balance' },
      null,
      undefined,
      'x',
    ])
      expect([isProblem(other), isProblem(other, 'insufficient_balance')]).toEqual([false, false]);
  });

  test('narrows the code and takes no misspelt one', () => {
    const error: unknown = refused('insufficient_balance');
    if (isProblem(error, 'insufficient_balance', 'rate_limited'))
      expectTypeOf(error.code).toEqualTypeOf<'insufficient_balance' | 'rate_limited'>();
    if (isProblem(error)) expectTypeOf(error).toEqualTypeOf<BellwetherApiError>();
    // @ts-expect-error no such code
    expect(isProblem(error, 'insuficient_balance')).toBe(false);
  });
});

test('the codes of a method are a type', () => {
  expectTypeOf<ProblemCode<'placeTrade'>>().toExtend<ErrorCode>();
  expectTypeOf<'insufficient_balance'>().toExtend<ProblemCode<'placeTrade'>>();
  expectTypeOf<'rate_limited'>().toExtend<ProblemCode<'placeTrade'>>();
  expectTypeOf<'skill_not_found'>().not.toExtend<ProblemCode<'placeTrade'>>();
  // @ts-expect-error no method of the client
  expectTypeOf<ProblemCode<'placeTrades'>>().not.toBeNever();
});

test('an operation answers only its own codes and those of requests in general', () => {
  const common = new Set<string>(Object.keys(contract.REQUEST_ERRORS));
  const methods = Object.values(contract as Readonly<Record<string, unknown>>).filter(
    (value): value is contract.Operation =>
      typeof value === 'object' && value !== null && 'permission' in value && 'rateClass' in value,
  );
  const agents = methods.filter(({ permission, tag }) => /agent|public/.test(permission) && tag !== 'owners');
  expect(agents.length).toBeGreaterThan(50);
  for (const operation of agents) {
    const others = errorCodes(operation).filter(
      (code) => !common.has(code) && !operation.errors.includes(code),
    );
    expect(others, operation.id).toEqual([]);
  }
});

test('every offered operation is typed by the contract', () => {
  expectTypeOf<Parameters<BellwetherClient['getMarket']>[0]>().toEqualTypeOf<string>();
});
