import { makeRecoveryCode, readRecoveryCode } from '@bellwether/contract/recovery-code';
import { describe, expect, test } from 'vitest';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const codeOf = (seed: number) =>
  makeRecoveryCode(Uint8Array.from({ length: 32 }, (_, i) => (i * 37 + seed * 101 + 11) % 256));
const CODES = Array.from({ length: 5 }, (_, seed) => codeOf(seed));
const swapped = (code: string, i: number, j: number) => {
  const chars = [...code];
  [chars[i], chars[j]] = [chars[j] as string, chars[i] as string];
  return chars.join('');
};
const isPlace = (code: string, i: number) => code[i] !== '-';

describe('a recovery code', () => {
  test('has six groups of five, of which 140 bits are random', () => {
    for (const code of CODES) {
      expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){5}[0-9A-HJKMNP-TV-Z]{5}$/);
      expect(readRecoveryCode(code)).toBe(code);
    }
    const bytes = (at: number, value: number) =>
      Uint8Array.from({ length: 28 }, (_, i) => (i === at ? value : 0));
    const all = Array.from({ length: 28 }, (_, at) => makeRecoveryCode(bytes(at, 1)));
    expect(new Set(all).size).toBe(28);
    expect(() => makeRecoveryCode(new Uint8Array(27))).toThrow(RangeError);
  });

  test('is read as people type it', () => {
    const code = makeRecoveryCode(Uint8Array.from({ length: 28 }, (_, i) => i % 2));
    expect(code.startsWith('01010')).toBe(true);
    expect(readRecoveryCode(` ${code.toLowerCase().replaceAll('-', ' ')}\n`)).toBe(code);
    expect(readRecoveryCode(code.replaceAll('-', ''))).toBe(code);
    expect(readRecoveryCode(code.replaceAll('0', 'o').replaceAll('1', 'l'))).toBe(code);
  });

  test.each(CODES)('%s: every wrong character and every swap of two is found', (code) => {
    for (let i = 0; i < code.length; i += 1) {
      if (!isPlace(code, i)) continue;
      for (const char of ALPHABET)
        if (char !== code[i])
          expect(readRecoveryCode(code.slice(0, i) + char + code.slice(i + 1))).toBeNull();
      for (let j = i + 1; j < code.length; j += 1)
        if (isPlace(code, j) && code[i] !== code[j]) expect(readRecoveryCode(swapped(code, i, j))).toBeNull();
    }
  });

  test.each(['', '-', 'U'.repeat(30), '0'.repeat(29), '0'.repeat(31), 'Ä'.repeat(30), '7K2QD-M9XTR'])(
    '%j is none',
    (typed) => expect(readRecoveryCode(typed)).toBeNull(),
  );
});
