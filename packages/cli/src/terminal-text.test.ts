import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { harmlessJson, oneLine, paragraphs } from './terminal-text.ts';

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
