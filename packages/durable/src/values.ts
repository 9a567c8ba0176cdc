/**
 * Converts values between JavaScript and PostgreSQL's text format; bytes and declared arrays are binary. Money is bigint in
 * both directions: a 64-bit integer never passes through a double unchecked. What has no form is refused before anything is
 * sent.
 */
import { BinaryArray } from './binary-array.ts';

/** Sent as jsonb. */
export class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export const json = (value: unknown): Json => new Json(value);

export type Value =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | Json
  | BinaryArray
  | null
  | readonly (Value | undefined)[];

export type Encoded = string | Buffer | null;

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @throws TypeError for what a statement cannot carry; the message does not show the value */
export function encode(value: unknown): Encoded {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return asBuffer(value);
  if (value instanceof Json) return jsonOf(value.value);
  if (value instanceof BinaryArray) return value.encode();
  if (Array.isArray(value)) return arrayLiteral(value);
  throw new TypeError(`a statement cannot carry ${value === undefined ? 'undefined' : typeof value}`);
}

function jsonOf(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError('a statement cannot carry what has no JSON form');
  return text;
}

const EACH_SPECIAL = /["\\]/g;

/** Two searches for a character are several times as fast as one for a pattern, and a trade has fifty such texts. */
const quoted = (text: string): string =>
  text.includes('"') || text.includes('\\') ? `"${text.replace(EACH_SPECIAL, '\\$&')}"` : `"${text}"`;

function arrayLiteral(values: readonly unknown[]): string {
  let literal = '{';
  for (let at = 0; at < values.length; at += 1) literal += (at === 0 ? '' : ',') + element(values[at]);
  return `${literal}}`;
}

function element(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return arrayLiteral(value);
  // The array's own escape of the backslash, without looking for others among the digits.
  if (value instanceof Uint8Array) return `"\\\\x${asBuffer(value).toString('hex')}"`;
  return quoted(encode(value) as string);
}

/**
 * The cast after a parameter that follows from the value's JavaScript type. The server infers the other types (text,
 * numbers, arrays, null) from the statement.
 */
export function castOf(value: unknown): string {
  if (typeof value === 'bigint') return '::int8';
  if (typeof value === 'boolean') return '::bool';
  if (value instanceof Date) return '::timestamptz';
  if (value instanceof Uint8Array) return '::bytea';
  if (value instanceof BinaryArray) return `::${value.type}[]`;
  return value instanceof Json ? '::jsonb' : '';
}

type Parser = (text: string) => unknown;

const asText: Parser = (text) => text;
const asDate: Parser = (text) => new Date(text);
const asJson: Parser = (text) => JSON.parse(text);

/** By the type's OID in `pg_type`. Other types (numeric, uuid, dates of other calendars) stay text. */
const SCALARS: readonly (readonly [scalar: number, array: number, parser: Parser])[] = [
  [16, 1000, (text) => text === 't'],
  [17, 1001, (text) => Buffer.from(text.slice(2), 'hex')],
  [20, 1016, BigInt],
  [21, 1005, Number],
  [23, 1007, Number],
  [26, 1028, Number],
  [700, 1021, Number],
  [701, 1022, Number],
  [114, 199, asJson],
  [3802, 3807, asJson],
  [1082, 1182, asDate],
  [1114, 1115, asDate],
  [1184, 1185, asDate],
  [19, 1003, asText],
  [25, 1009, asText],
  [1042, 1014, asText],
  [1043, 1015, asText],
  [1700, 1231, asText],
  [2950, 2951, asText],
];

const PARSERS: ReadonlyMap<number, Parser> = new Map(
  SCALARS.flatMap(([scalar, array, parser]) => [
    [scalar, parser] as const,
    [array, (text: string) => parseArray(text, parser)] as const,
  ]),
);

export const parserOf = (typeId: number): Parser => PARSERS.get(typeId) ?? asText;

/** `{1,NULL,"a \"b\"",{…}}`, preceded by its bounds where they do not start at 1. */
function parseArray(text: string, parse: Parser): unknown[] {
  let at = text.startsWith('[') ? text.indexOf('=') + 1 : 0;
  const quoted = (): string => {
    let value = '';
    for (at += 1; text[at] !== '"'; at += 1) {
      if (text[at] === '\\') at += 1;
      value += text[at];
    }
    at += 1;
    return value;
  };
  const list = (): unknown[] => {
    const values: unknown[] = [];
    at += 1;
    while (text[at] !== '}') {
      if (text[at] === '{') values.push(list());
      else if (text[at] === '"') values.push(parse(quoted()));
      else {
        const from = at;
        while (text[at] !== ',' && text[at] !== '}') at += 1;
        const bare = text.slice(from, at);
        values.push(bare === 'NULL' ? null : parse(bare));
      }
      if (text[at] === ',') at += 1;
    }
    at += 1;
    return values;
  };
  return list();
}
