/**
 * Values that an answer may show outside the marks for strangers' texts: figures, times, ids and words. Anything that does not look
 * like one is left out, so that a text cannot come along in a field where it is not expected.
 */
import { formatMicro, type Micro } from '@bellwether/contract/decimals';

const ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
const WORD = /^[A-Za-z][A-Za-z0-9_.]{0,63}$/;
const DECIMAL = /^-?\d{1,24}(\.\d{1,18})?$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;
const CURSOR = /^[A-Za-z0-9._:,~=+/-]{1,4000}$/;
const UNREADABLE = 'unreadable';

/** An id of a market, an order or a token: no spaces, no sentence. */
export const idOf = (value: unknown): string =>
  typeof value === 'string' && ID.test(value) ? value : UNREADABLE;

/** A status or a code. */
export const wordOf = (value: unknown): string =>
  typeof value === 'string' && WORD.test(value) ? value : 'other';

export const cursorOf = (value: unknown): string | null =>
  typeof value === 'string' && CURSOR.test(value) ? value : null;

export const timeOf = (value: unknown): string | null =>
  typeof value === 'string' && TIME.test(value) ? value : null;

/** A number, also where the wire spells it as text. */
export const numberOf = (value: unknown): number | null => {
  const number = typeof value === 'string' && DECIMAL.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};

/** Millionths on the wire, as a number of collateral or shares. */
export const atomsOf = (value: unknown): number | null =>
  typeof value === 'string' && /^\d{1,24}$/.test(value) ? Number(formatMicro(BigInt(value))) : null;

export const flagOf = (value: unknown): boolean => value === true;

export const money = (value: Micro): number => Number(formatMicro(value));

export const listOf = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];

export const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
