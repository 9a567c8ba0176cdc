/** The search agrees with a slow one that tries every order of every choice. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linearize, type Model, type Step } from './linearize.ts';

type Op = { readonly kind: 'write' | 'read'; readonly value: number };

/** A register that holds a number. */
const register: Model<number, Op> = {
  first: 0,
  next: (state, { kind, value }) => (kind === 'write' ? value : state === value ? state : null),
  nameOf: String,
};

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item, at) =>
    permutations(items.filter((_, other) => other !== at)).map((rest) => [item, ...rest]),
  );
}

function subsets<T>([first, ...others]: readonly T[]): T[][] {
  if (first === undefined) return [[]];
  const rest = subsets(others);
  return [...rest, ...rest.map((some) => [first, ...some])];
}

function isExplained(order: readonly Step<Op>[]): boolean {
  let state: number | null = register.first;
  for (const [at, step] of order.entries()) {
    if (order.slice(at + 1).some((later) => later.returnedAt < step.invokedAt)) return false;
    state = register.next(state, step.op);
    if (state === null) return false;
  }
  return true;
}

const slow = (steps: readonly Step<Op>[]): boolean =>
  subsets(steps.filter(({ mayBeLeftOut }) => mayBeLeftOut)).some((left) =>
    permutations(steps.filter((step) => !left.includes(step))).some(isExplained),
  );

const anOp = fc.record({
  kind: fc.constantFrom('write' as const, 'read' as const),
  value: fc.integer({ min: 0, max: 2 }),
});
const aStep = fc
  .record({
    op: anOp,
    invokedAt: fc.integer({ min: 0, max: 12 }),
    lasts: fc.integer({ min: 1, max: 6 }),
    end: fc.constantFrom('answered', 'answered', 'answered', 'known', 'unknown'),
  })
  .map(
    ({ op, invokedAt, lasts, end }): Step<Op> => ({
      ...{ op, invokedAt, mayBeLeftOut: end === 'unknown' },
      returnedAt: end === 'answered' ? invokedAt + lasts : Number.POSITIVE_INFINITY,
    }),
  );

test('it finds an order exactly where there is one', () => {
  const answers = { yes: 0, no: 0 };
  fc.assert(
    fc.property(fc.array(aStep, { minLength: 1, maxLength: 5 }), (steps) => {
      const { kind } = linearize(register, steps);
      expect(kind).toBe(slow(steps) ? 'yes' : 'no');
      answers[kind as 'yes' | 'no'] += 1;
    }),
    { seed: 7, numRuns: 2_000 },
  );
  // Both are tried often.
  expect(Math.min(answers.yes, answers.no)).toBeGreaterThan(300);
});

test('it names what could not come next', () => {
  const at = (invokedAt: number, op: Op): Step<Op> => ({
    ...{ op, invokedAt, returnedAt: invokedAt + 1, mayBeLeftOut: false },
  });
  const stale = { kind: 'read', value: 0 } as const;
  expect(linearize(register, [at(0, { kind: 'write', value: 1 }), at(2, stale)])).toEqual({
    kind: 'no',
    stuck: [stale],
  });
});
