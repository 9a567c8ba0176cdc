import fc from 'fast-check';
import { encodeAbiParameters, keccak256, toHex } from 'viem';
import { describe, expect, test } from 'vitest';
import {
  conditionIdOf,
  conditionIdOfBothWidths,
  conditionOfPosition,
  eventIdOf,
  isPositionId,
  outcomeTokens,
  type PositionCondition,
  parsePositionId,
  positionBaseHash,
  positionIds,
  shortConditionId,
} from './token-ids.ts';

/** The first outcome of a market that stood on the venue. */
const OBSERVED = 663574927012476832975694178961957910328055987427402067619466963999000625152n;

const binary = fc.record({
  module: fc.constant(1 as const),
  baseHash: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
  arity: fc.constant(0),
  index: fc.constant(0),
});
const exclusive = fc
  .record({
    module: fc.constant(2 as const),
    baseHash: fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }),
    arity: fc.integer({ min: 2, max: 65_535 }),
  })
  .chain((event) => fc.integer({ min: 0, max: event.arity }).map((index) => ({ ...event, index })));
const condition: fc.Arbitrary<PositionCondition> = fc.oneof(binary, exclusive);

test('a condition and its two positions carry their parts', () => {
  fc.assert(
    fc.property(condition, (parts) => {
      const id = conditionIdOf(parts);
      expect(id).toMatch(/^0x0[12][0-9a-f]{60}00$/);
      const [yes, no] = positionIds(id)!;
      expect(parsePositionId(BigInt(yes))).toEqual({ ...parts, outcome: 'YES' });
      expect(parsePositionId(BigInt(no))).toEqual({ ...parts, outcome: 'NO' });
      expect(BigInt(no) - BigInt(yes)).toBe(1n);
      for (const token of [yes, no]) expect(conditionOfPosition(BigInt(token))).toBe(id);
    }),
  );
});

test('the observed id is the first outcome of a binary market', () => {
  expect(OBSERVED.toString()).toHaveLength(75);
  expect(parsePositionId(OBSERVED)).toMatchObject({ module: 1, arity: 0, index: 0, outcome: 'YES' });
  const id = conditionOfPosition(OBSERVED)!;
  // 0x01, 32 hex digits, zeros.
  expect(id).toMatch(/^0x01[0-9a-f]{32}0{30}$/);
  expect(positionIds(id)).toEqual([String(OBSERVED), String(OBSERVED + 1n)]);
});

test('both widths of a condition id name one market', () => {
  fc.assert(
    fc.property(condition, (parts) => {
      const id = conditionIdOf(parts);
      const short = shortConditionId(id);
      expect(short).toHaveLength(64);
      for (const width of [id, short, `0x${short.slice(2).toUpperCase()}`])
        expect(conditionIdOfBothWidths(width).toLowerCase()).toBe(id);
      expect(positionIds(short)).toEqual(positionIds(id));
      expect(outcomeTokens(id, false)).toEqual(positionIds(id));
      expect(outcomeTokens(id, true)).toEqual(positionIds(id));
    }),
  );
  const hashed = `0x${'5f'.repeat(32)}`;
  expect([conditionIdOfBothWidths(hashed), shortConditionId(hashed)]).toEqual([hashed, hashed]);
});

test('markets of one event share 29 bytes', () => {
  fc.assert(
    fc.property(exclusive, (parts) => {
      const event = eventIdOf(conditionIdOf(parts))!;
      expect(event).toMatch(/^0x02[0-9a-f]{56}000000$/);
      expect(event).toBe(eventIdOf(shortConditionId(conditionIdOf({ ...parts, index: parts.arity }))));
    }),
  );
  expect(eventIdOf(`0x${'5f'.repeat(32)}`)).toBeNull();
});

describe('is no position', () => {
  const rows: readonly [string, bigint][] = [
    ['a small number', 1234n],
    ['a hash', BigInt(keccak256('0x01'))],
    ['another module', (3n << 248n) | (7n << 120n)],
    ['a reserved bit', OBSERVED | (1n << 40n)],
    ['another chain', OBSERVED | (1n << 24n)],
    ['a third outcome', OBSERVED | 2n],
    ['a binary market with an index', OBSERVED | (1n << 8n)],
    ['a binary market with an arity', OBSERVED | (2n << 104n)],
    ['an index behind "Other"', (2n << 248n) | (7n << 120n) | (3n << 104n) | (4n << 8n)],
    ['an exclusive event of one', (2n << 248n) | (7n << 120n) | (1n << 104n)],
  ];
  test.each(rows)('%s', (_name, id) => {
    expect(isPositionId(id)).toBe(false);
    expect(conditionOfPosition(id)).toBeNull();
  });
});

test('a hash almost never has the layout', () => {
  fc.assert(fc.property(fc.bigInt({ min: 2n ** 250n, max: 2n ** 256n - 1n }), (id) => !isPositionId(id)));
});

test('the base hash is what the contracts hash', () => {
  fc.assert(
    fc.property(fc.constantFrom(1 as const, 2 as const), fc.uint8Array({ maxLength: 70 }), (module, data) => {
      const encoded = encodeAbiParameters(
        [{ type: 'uint256' }, { type: 'bytes' }],
        [BigInt(module), toHex(data)],
      );
      expect(positionBaseHash(module, toHex(data))).toBe(BigInt(keccak256(encoded)) & (2n ** 128n - 1n));
    }),
  );
});

test('parts that are no condition are refused', () => {
  const parts = { module: 2, baseHash: 5n, arity: 3, index: 0 } as const;
  for (const wrong of [{ arity: 1 }, { index: 4 }, { baseHash: -1n }, { baseHash: 2n ** 128n }])
    expect(() => conditionIdOf({ ...parts, ...wrong })).toThrow(RangeError);
});
