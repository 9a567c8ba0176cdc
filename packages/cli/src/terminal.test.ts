import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Column, facts, harmlessJson, oneLine, paragraphs, table } from './terminal.ts';

/** Texts that a stranger may write, with what is dangerous more often than chance has it. */
const strangers = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\u001b[2J',
        '\u001b]0;x\u0007',
        '\u009b31m',
        '\u202e',
        '\u2066',
        '\r',
        '\n',
        '\u2028',
        '\ud800',
        '\u{e0041}',
        '\u200b',
        '\u007f',
        '\u0000',
      ),
    ),
  )
  .map((parts) => parts.join(''));
const DANGEROUS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

describe('text of strangers', () => {
  test('is one line without a character that a terminal acts on', () => {
    fc.assert(
      fc.property(strangers, (text) => {
        expect(oneLine(text)).not.toMatch(DANGEROUS);
      }),
    );
  });

  test('has line breaks and nothing else in paragraphs, and no way to leave a gap', () => {
    fc.assert(
      fc.property(strangers, (text) => {
        const shown = paragraphs(text);
        expect(shown.replaceAll('\n', '')).not.toMatch(DANGEROUS);
        expect(shown).not.toContain('\n\n\n');
      }),
    );
  });

  test('is the same value in JSON, whose text is harmless', () => {
    fc.assert(
      fc.property(strangers, fc.constantFrom(undefined, 2), (text, indent) => {
        const json = harmlessJson({ [text]: [text] }, indent);
        expect(json.replaceAll('\n', '')).not.toMatch(DANGEROUS);
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
      }),
    );
  });

  test('that is plain stays as it is', () => {
    for (const text of ['Will it rain?', 'Überraschung 22 °C', '東京 🎲 – “ok”'])
      expect(oneLine(text)).toBe(text);
    expect(paragraphs('a\r\n\r\n\r\n\r\nb  c')).toBe('a\n\nb c');
  });
});

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
