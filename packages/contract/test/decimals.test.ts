import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DecimalError,
  divide,
  formatDecimal,
  formatMicro,
  microToNumber,
  notional,
  parseDecimal,
  parseMicro,
  parsePips,
  pipsToNumber,
} from '../src/decimals.ts';

const anyInteger = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const decimals = fc.integer({ min: 1, max: 18 });
const positive = fc.bigInt({ min: 1n, max: 10n ** 30n });

describe('parse and format', () => {
  test('parsing a formatted amount gives the same amount', () => {
    fc.assert(
      fc.property(anyInteger, decimals, (value, places) => {
        const text = formatDecimal(value, places);
        expect(parseDecimal(text, places)).toBe(value);
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
      }),
    );
  });

  test('a JSON number is read by its shortest spelling, and comes back as the same number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 33 * 1_000_000 }), (micro) => {
        const value = microToNumber(BigInt(micro));
        expect(parseMicro(value)).toBe(BigInt(micro));
      }),
    );
    expect(parseMicro(0.1)).toBe(100_000n);
    expect(parseMicro(1e-6)).toBe(1n);
    expect(parseMicro(1e21)).toBe(10n ** 27n);
  });

  test('a JSON number is read as its text is, for any number', () => {
    const outcome = (value: string | number, places: number, rounding: 'floor' | 'ceil' | undefined) => {
      try {
        return parseDecimal(value, places, rounding);
      } catch (error) {
        return (error as DecimalError).reason;
      }
    };
    const rough = fc.tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 0, max: 12 }));
    const numbers = fc.oneof(
      fc.double(),
      fc.double({ min: -1e10, max: 1e10 }),
      fc.maxSafeInteger(),
      rough.map(([digits, places]) => digits / 10 ** places),
    );
    const roundings = fc.constantFrom(undefined, 'floor' as const, 'ceil' as const);
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: 18 }), roundings, (value, places, rounding) => {
        expect(outcome(value, places, rounding)).toBe(outcome(String(value), places, rounding));
      }),
      { numRuns: 20_000 },
    );
  });

  test('an amount becomes the number that its text says', () => {
    const amounts = fc.oneof(anyInteger, fc.bigInt({ min: -(2n ** 54n), max: 2n ** 54n }));
    fc.assert(
      fc.property(amounts, (value) => {
        expect(microToNumber(value)).toBe(Number(formatMicro(value)));
      }),
      { numRuns: 20_000 },
    );
  });

  test('an exponent moves the point and changes nothing else', () => {
    fc.assert(
      fc.property(anyInteger, fc.integer({ min: -20, max: 20 }), (value, exponent) => {
        const moved = parseDecimal(`${value}e${exponent}`, 30);
        expect(moved).toBe(value * 10n ** BigInt(30 + exponent));
      }),
    );
  });

  test('more decimals than asked are refused unless a rounding direction is given', () => {
    expect(() => parseMicro('0.0000001')).toThrow(DecimalError);
    fc.assert(
      fc.property(anyInteger, (value) => {
        const text = formatDecimal(value, 9);
        const floor = parseMicro(text, 'floor');
        const ceil = parseMicro(text, 'ceil');
        expect(floor * 1000n).toBeLessThanOrEqual(value);
        expect((floor + 1n) * 1000n).toBeGreaterThan(value);
        expect(ceil - floor).toBe(value % 1000n === 0n ? 0n : 1n);
        if (value % 1000n === 0n) expect(parseMicro(text)).toBe(floor);
        else expect(() => parseMicro(text)).toThrow(/too many decimals/);
      }),
    );
  });

  test.for([
    '',
    ' 1',
    '1 ',
    '1.',
    '.5',
    '+1',
    '0x10',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    '--1',
    '1e',
    '1e1000',
    '١',
  ])('"%s" is not a decimal', (text) => {
    expect(() => parseMicro(text)).toThrow(DecimalError);
  });

  test('text that is not a number is refused, and a long text is cut in the message', () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => parseMicro(value)).toThrow(DecimalError);
    expect(() => parseMicro('x'.repeat(10_000))).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,100}$/) }),
    );
  });

  test('zero has no sign', () => {
    expect(formatMicro(parseMicro('-0.000000'))).toBe('0');
    expect(parseMicro(-0)).toBe(0n);
  });
});

describe('prices', () => {
  test('every pip survives the conversion to a JSON number and back', () => {
    for (let pips = 0; pips <= 10_000; pips++) expect(parsePips(pipsToNumber(pips))).toBe(pips);
  });

  test('the cost of shares is rounded in the given direction', () => {
    fc.assert(
      fc.property(positive, fc.integer({ min: 0, max: 10_000 }), (shares, price) => {
        const floor = notional(shares, price, 'floor');
        expect(floor).toBe((shares * BigInt(price)) / 10_000n);
        // Both outcomes of a share cost 1 together, except for a micro-unit of rounding.
        expect(floor + notional(shares, 10_000 - price, 'ceil')).toBe(shares);
      }),
    );
  });
});

describe('divide', () => {
  test('floor and ceil are the bounds of the exact quotient', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), positive, (numerator, denominator) => {
        const floor = divide(numerator, denominator, 'floor');
        const ceil = divide(numerator, denominator, 'ceil');
        expect(floor * denominator).toBeLessThanOrEqual(numerator);
        expect(ceil * denominator).toBeGreaterThanOrEqual(numerator);
        expect(ceil - floor).toBe(numerator % denominator === 0n ? 0n : 1n);
      }),
    );
  });

  test('signs and zero denominators are refused', () => {
    expect(() => divide(-1n, 2n, 'floor')).toThrow(RangeError);
    expect(() => divide(1n, 0n, 'floor')).toThrow(RangeError);
    expect(() => divide(1n, -2n, 'ceil')).toThrow(RangeError);
  });
});
