/** Arrays in the binary format, on a real PostgreSQL: the server reads the same values as from its text format. */
import { arrayOf, type Element, type ElementType, openPool, type Sql } from '@bellwether/durable';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/postgres.ts';

let sql: Sql;

beforeAll(async () => {
  sql = openPool(await createTestDatabase(), { max: 1 });
});
afterAll(() => sql.end({ timeout: 1 }));

/** Text of the server's value, in its own words. */
async function reported(type: ElementType, values: readonly Element[]): Promise<(string | null)[]> {
  const rows =
    await sql`select v::text as v from unnest(${arrayOf(type, values)}) with ordinality as t(v, nth)
    order by nth`;
  return rows.map(({ v }) => v as string | null);
}

const EXAMPLES: readonly (readonly [ElementType, readonly Element[], readonly (string | null)[]])[] = [
  [
    'text',
    ['', 'a', '{"b"}', 'back\\slash', 'NULL', 'žluť 💹', null],
    ['', 'a', '{"b"}', 'back\\slash', 'NULL', 'žluť 💹', null],
  ],
  ['uuid', ['01A20605-7d12-7070-9778-9184c24fd3b8', null], ['01a20605-7d12-7070-9778-9184c24fd3b8', null]],
  ['bool', [true, false, null], ['true', 'false', null]],
  ['int2', [-32_768, 0, 32_767], ['-32768', '0', '32767']],
  ['int4', [-(2 ** 31), -1, 2 ** 31 - 1], ['-2147483648', '-1', '2147483647']],
  [
    'int8',
    [-(2n ** 63n), 2n ** 63n - 1n, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
    ['-9223372036854775808', '9223372036854775807', '-1', '9007199254740991', '-9007199254740991'],
  ],
  ['date', ['1999-12-31', '2000-01-01', '2026-11-23'], ['1999-12-31', '2000-01-01', '2026-11-23']],
  [
    'timestamptz',
    [
      new Date(0),
      new Date('1999-12-31T23:59:59.999Z'),
      new Date('2026-11-23T00:43:36.259Z'),
      new Date('9999-12-31T23:59:59.999Z'),
    ],
    [
      '1970-01-01 00:00:00+00',
      '1999-12-31 23:59:59.999+00',
      '2026-11-23 00:43:36.259+00',
      '9999-12-31 23:59:59.999+00',
    ],
  ],
  ['jsonb', ['{"b": [1, null]}', '"ü"', null], ['{"b": [1, null]}', '"ü"', null]],
];

describe('arrays in the binary format', () => {
  test.each(EXAMPLES)('%s', async (type, values, expected) => {
    expect(await reported(type, values)).toEqual(expected);
  });

  test.each(EXAMPLES.map(([type]) => type))('of %s without an element', async (type) => {
    expect(await reported(type, [])).toEqual([]);
  });

  test('longer than the space that was there', async () => {
    const long = ['é'.repeat(40_000), 'x', '💹'.repeat(20_000)];
    expect(await reported('text', long)).toEqual(long);
    expect(await reported('text', ['short'])).toEqual(['short']);
  });

  test('any text, whole number and moment are what was sent', async () => {
    // A text of PostgreSQL has no zero byte, and UTF-8 no half of a pair.
    const text = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0') && one.isWellFormed());
    const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.option(text)),
        fc.array(fc.maxSafeInteger()),
        fc.array(date),
        async (texts, numbers, dates) => {
          expect(await reported('text', texts)).toEqual(texts);
          expect(await reported('int8', numbers)).toEqual(numbers.map(String));
          expect(await reported('int8', numbers.map(BigInt))).toEqual(numbers.map(String));
          const days = dates.map((date) => sql`select ${date} as v`.then(([row]) => row?.v));
          const [row] = await sql`select ${arrayOf('timestamptz', dates)} as v`;
          expect(row?.v).toEqual(await Promise.all(days));
        },
      ),
      { numRuns: 50 },
    );
  });

  test('a value beside an array has its own type', async () => {
    const [row] =
      await sql`select ${arrayOf('int4', [1, 2])} as numbers, ${'plain'}::text as plain, ${5n} as money`;
    expect(row).toEqual({ numbers: [1, 2], plain: 'plain', money: 5n });
  });

  test.each<readonly [ElementType, unknown]>([
    ['text', 7],
    ['uuid', 'secret-that-is-no-uuid'],
    ['uuid', '01a20605-7d12-7070-9778-9184c24fd3b8\n'],
    ['bool', 'true'],
    ['int2', 32_768],
    ['int4', 2 ** 31],
    ['int4', 1.5],
    ['int8', 2 ** 53],
    ['int8', 2n ** 63n],
    ['int8', Number.NaN],
    ['date', '2026-11-23T01:00:00Z'],
    ['date', 'tomorrow'],
    ['timestamptz', new Date(Number.NaN)],
    ['timestamptz', '2026-11-23'],
    ['jsonb', { secret: 1 }],
    ['text', undefined],
  ])('as %s, %s is refused before anything is sent, and not shown', async (type, value) => {
    const refused = sql`select ${arrayOf(type, [value as Element])}`.then(
      () => null,
      (error: unknown) => error,
    );
    expect(await refused).toMatchObject({
      name: 'TypeError',
      message: `a statement cannot carry ${typeof value} as ${type}`,
    });
  });

  test('the server refuses a zero byte in a text, and the connection stays usable', async () => {
    await expect(reported('text', ['a\0b'])).rejects.toMatchObject({ code: '22021' });
    expect(await reported('text', ['a'])).toEqual(['a']);
  });
});
