/**
 * Exact decimals. Money and share quantities are bigint micro-units (6 decimals); prices are integer
 * ten-thousandths of one collateral ("pips"). Nothing here rounds unless the caller names the direction.
 */

/** Collateral or shares in millionths. */
export type Micro = bigint;

/** A price in ten-thousandths of one collateral: 0.57 is 5700. Strictly between 0 and 10000 when tradable. */
export type Pips = number;

export const MICRO = 1_000_000n;
export const MICRO_DECIMALS = 6;
export const PIPS = 10_000;
export const PIPS_DECIMALS = 4;

export type Rounding = 'floor' | 'ceil';

export class DecimalError extends Error {
  override readonly name = 'DecimalError';
  readonly reason: 'not_a_decimal' | 'too_many_decimals';
  constructor(reason: 'not_a_decimal' | 'too_many_decimals', text: string) {
    super(
      reason === 'not_a_decimal'
        ? `"${text.slice(0, 60)}" is not a decimal number`
        : `"${text.slice(0, 60)}" has too many decimals`,
    );
    this.reason = reason;
  }
}

/** Decimals of at most so many digits are all different doubles, so each is the shortest spelling of its own. */
const EXACT_BELOW = 1e15;

/** A double times a power of ten, where that is a whole number without any rounding; else `null`. */
function scaled(value: number, decimals: number): bigint | null {
  const unit = 10 ** decimals;
  const whole = Math.round(value * unit);
  return Math.abs(whole) < EXACT_BELOW && unit < EXACT_BELOW && whole / unit === value ? BigInt(whole) : null;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Parses a decimal text (or a JSON number, by its shortest spelling) into an integer of `decimals` places.
 * @throws DecimalError when it is not a decimal, or finer than `decimals` and the caller names no rounding.
 * @example
 * parseDecimal('1.239', 2, 'floor'); // 123n; without a rounding it throws
 */
export function parseDecimal(value: string | number, decimals: number, rounding?: Rounding): bigint {
  const exact = typeof value === 'number' ? scaled(value, decimals) : null;
  if (exact !== null) return exact;
  const text = String(value);
  const match = DECIMAL.exec(text);
  if (match === null) throw new DecimalError('not_a_decimal', text);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  const shift = decimals - fraction.length + Number(exponent);
  let magnitude: bigint;
  let inexact = false;
  if (shift >= 0) {
    magnitude = BigInt(digits) * 10n ** BigInt(shift);
  } else {
    const divisor = 10n ** BigInt(-shift);
    const all = BigInt(digits);
    magnitude = all / divisor;
    inexact = all % divisor !== 0n;
  }
  if (inexact && rounding === undefined) throw new DecimalError('too_many_decimals', text);
  const negative = sign === '-';
  if (inexact && (rounding === 'ceil') !== negative) magnitude += 1n;
  return negative ? -magnitude : magnitude;
}

/**
 * Formats an integer of `decimals` places as the shortest decimal text: 1500000n → "1.5".
 * @example
 * formatDecimal(123n, 2); // '1.23'
 */
export function formatDecimal(value: bigint, decimals: number): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, -decimals);
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * @example
 * parseMicro('1.5'); // 1_500_000n
 */
export const parseMicro = (value: string | number, rounding?: Rounding): Micro =>
  parseDecimal(value, MICRO_DECIMALS, rounding);

/**
 * @example
 * formatMicro(1_500_000n); // '1.5'
 */
export const formatMicro = (value: Micro): string => formatDecimal(value, MICRO_DECIMALS);

/**
 * A micro amount as a JSON number. Exact up to 2^33 collateral (8.5 billion); above that, doubles are too coarse.
 * @example
 * microToNumber(1_500_000n); // 1.5
 */
export const microToNumber = (value: Micro): number =>
  // One division of two exact doubles rounds as reading the text does.
  -LARGEST_EXACT <= value && value <= LARGEST_EXACT ? Number(value) / 1e6 : Number(formatMicro(value));

const LARGEST_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * @throws DecimalError when the price is finer than a ten-thousandth and the caller names no rounding.
 * @example
 * parsePips('0.55'); // 5500
 */
export const parsePips = (value: string | number, rounding?: Rounding): Pips =>
  Number(parseDecimal(value, PIPS_DECIMALS, rounding));

/**
 * @example
 * formatPips(parsePips('0.55')); // '0.55'
 */
export const formatPips = (value: Pips): string => formatDecimal(BigInt(value), PIPS_DECIMALS);

/**
 * @example
 * pipsToNumber(parsePips('0.55')); // 0.55
 */
export const pipsToNumber = (value: Pips): number => value / PIPS;

/**
 * A market's tick size, which may be any whole number of pips that divides one collateral: then YES at a price and NO at
 * one less that price are on the grid together.
 * @returns pips; `null` for any other, in which no price can be counted here
 * @example
 * parseTick('0.0025'); // 25; of '0.00005' and '0.03' null
 */
export function parseTick(size: unknown): Pips | null {
  if (typeof size !== 'string' && typeof size !== 'number') return null;
  try {
    const pips = parsePips(size);
    return pips > 0 && pips < PIPS && PIPS % pips === 0 ? pips : null;
  } catch {
    return null;
  }
}

/**
 * Integer division of non-negative numbers, rounded as the caller says.
 * @example
 * divide(7n, 2n, 'ceil'); // 4n
 */
export function divide(numerator: bigint, denominator: bigint, rounding: Rounding): bigint {
  if (numerator < 0n || denominator <= 0n)
    throw new RangeError('divide takes a non-negative numerator and a positive denominator');
  const quotient = numerator / denominator;
  return rounding === 'ceil' && numerator % denominator !== 0n ? quotient + 1n : quotient;
}

/**
 * The cost of `shares` at `price`, in micro collateral.
 * @example
 * notional(parseMicro('10'), parsePips('0.55'), 'ceil'); // 5_500_000n
 */
export const notional = (shares: Micro, price: Pips, rounding: Rounding): Micro =>
  divide(shares * BigInt(price), BigInt(PIPS), rounding);
