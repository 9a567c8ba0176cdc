import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Column, facts, table } from './table.ts';

interface Row {
  readonly id: string;
  readonly text: string;
  readonly amount: number | null;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TEXT', value: ({ text }) => text, shrinks: true },
  { title: 'AMOUNT', value: ({ amount }) => amount, align: 'right' },
];
const paint = { title: (text: string) => text };
const rows: readonly Row[] = [
  { id: '510001', text: 'Will it rain in Dunmark tomorrow, or on the day after it?', amount: 12.3456789 },
  { id: '7', text: '', amount: null },
];

describe('a table', () => {
  test('is as wide as its text where there is no terminal', () => {
    expect(table(COLUMNS, rows, { width: Number.POSITIVE_INFINITY, paint })).toBe(
      [
        'ID      TEXT                                                          AMOUNT',
        '510001  Will it rain in Dunmark tomorrow, or on the day after it?  12.345679',
        '7       –                                                                  –',
      ].join('\n'),
    );
  });

  test('cuts only what may shrink, and says that it did', () => {
    expect(table(COLUMNS, rows, { width: 40, paint })).toBe(
      [
        'ID      TEXT                      AMOUNT',
        '510001  Will it rain in Dunm…  12.345679',
        '7       –                              –',
      ].join('\n'),
    );
  });

  test('is never wider than the terminal, down to what cannot be cut', () => {
    const row = fc.record({
      id: fc.constant('12'),
      text: fc.string({ maxLength: 80 }),
      amount: fc.integer({ min: 0, max: 999 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1 }), fc.integer({ min: 24, max: 120 }), (some, width) => {
        for (const line of table(COLUMNS, some, { width, paint }).split('\n'))
          expect(line.length).toBeLessThanOrEqual(width);
      }),
    );
  });
});

test('facts stand below each other, and a long value goes on below itself', () => {
  const text = facts(
    [
      ['id', 1],
      ['rules', 'one two three four five'],
    ],
    { width: 20, paint },
  );
  expect(text).toBe(['id     1', 'rules  one two three', '       four five'].join('\n'));
});
