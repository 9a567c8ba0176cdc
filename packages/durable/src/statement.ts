/**
 * Statements and their values. Values are converted between JavaScript and PostgreSQL's text format; bytes and
 * declared arrays are binary. Money is bigint in both directions: a 64-bit integer never passes through a double
 * unchecked. What has no form is refused before anything is sent.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { BinaryArray } from './binary-array.ts';

/** Sent as jsonb. */
class Json {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

export const json = (value: unknown): Json => new Json(value);

type Value =
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

type Encoded = string | Buffer | null;

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** @throws TypeError for what a statement cannot carry; the message does not show the value */
function encode(value: unknown): Encoded {
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
const quotedElement = (text: string): string =>
  text.includes('"') || text.includes('\\') ? `"${text.replace(EACH_SPECIAL, '\\$&')}"` : `"${text}"`;

function arrayLiteral(values: readonly unknown[]): string {
  let literal = '{';
  for (let at = 0; at < values.length; at += 1) literal += (at === 0 ? '' : ',') + element(values[at]);
  return `${literal}}`;
}

function element(value: unknown): string {
  if (typeof value === 'string') return quotedElement(value);
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value);
  if (value === null) return 'NULL';
  if (Array.isArray(value)) return arrayLiteral(value);
  // The array's own escape of the backslash, without looking for others among the digits.
  if (value instanceof Uint8Array) return `"\\\\x${asBuffer(value).toString('hex')}"`;
  return quotedElement(encode(value) as string);
}

/**
 * The cast after a parameter that follows from the value's JavaScript type. The server infers the other types (text,
 * numbers, arrays, null) from the statement.
 */
function castOf(value: unknown): string {
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

// Statements as tagged templates: sql`select * from notes where id = ${id}`. A value becomes a parameter; a nested
// statement becomes part of the outer one. Nothing is sent before the statement is awaited (or `execute` is called), so
// that the same template can be a statement or a fragment.

/** A row as the server returns it; the caller knows its columns. */
// biome-ignore lint/suspicious/noExplicitAny: the driver cannot know the columns' types
export type Row = Record<string, any>;

export type Rows<T extends readonly Row[] = Row[]> = T & {
  /** Rows that the statement returned or affected. */
  readonly count: number;
  /** The server's command tag: `SELECT`, `INSERT`, `COMMIT` …. */
  readonly command: string;
};

export const rowsWith = (rows: Row[], count: number, command: string): Rows =>
  Object.defineProperties(rows, { count: { value: count }, command: { value: command } }) as unknown as Rows;

const origins = new AsyncLocalStorage<string | undefined>();

/**
 * For whom a statement is sent: a request's id, or a job's name. Only where somebody watches statements does anyone say
 * so; elsewhere there is none, and nothing is carried.
 */
export const currentOrigin = (): string | undefined => origins.getStore();

/** Runs with this origin; `undefined` for work of no request, such as a note that is written after the answer. */
export const withOrigin = <T>(origin: string | undefined, run: () => T): T =>
  origin === origins.getStore() ? run() : origins.run(origin, run);

/** Ready to be sent on a connection. */
export interface Rendered {
  readonly text: string;
  /** Name of the prepared statement; `null` where preparing is not worth its cost. */
  readonly name: string | null;
  readonly values: readonly Encoded[];
  /** See `currentOrigin`. */
  readonly origin?: string | undefined;
}

/** Sends statements: a pool, a session or a transaction. */
export interface Issuer {
  issue(statement: Rendered): Promise<Rows>;
  /** Rejects a statement that could not be rendered. Nothing of it was sent. */
  refuse(fault: unknown): Promise<never>;
}

/** A part of a statement. */
export type Fragment = Statement<Row[]> | Columns;

type Parameter = Value | Fragment;

type ColumnValues = Readonly<Record<string, unknown>>;

/** Issues statements. */
export interface Tag {
  <T extends readonly Row[] = Row[]>(
    strings: TemplateStringsArray,
    ...values: readonly Parameter[]
  ): Statement<T>;
  /** A quoted name; after `insert into … ` the columns and values of rows; after `set ` assignments. */
  (columns: string | ColumnValues | readonly ColumnValues[]): Fragment;
  /** The text, unchanged; without values it may contain several statements. */
  unsafe<T extends readonly Row[] = Row[]>(text: string, values?: readonly Value[]): Statement<T>;
  json(value: unknown): Json;
}

class Columns {
  readonly value: string | ColumnValues | readonly ColumnValues[];

  constructor(value: Columns['value']) {
    this.value = value;
  }
}

export const quotedName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const ASSIGNMENTS_FOLLOW = /\bset\s*$/i;

/** Collects text and values of one statement. */
class Writer {
  text = '';
  readonly values: Encoded[] = [];

  template(strings: TemplateStringsArray, values: readonly unknown[]): void {
    this.text += strings[0];
    values.forEach((value, index) => {
      if (value instanceof Statement) value.writeTo(this);
      else if (value instanceof Columns) this.#columns(value.value);
      else this.#parameter(value);
      this.text += strings[index + 1];
    });
  }

  #parameter(value: unknown): void {
    this.values.push(encode(value));
    this.text += `$${this.values.length}${castOf(value)}`;
  }

  #columns(value: Columns['value']): void {
    if (typeof value === 'string') this.text += quotedName(value);
    else if (ASSIGNMENTS_FOLLOW.test(this.text)) this.#assignments(value as ColumnValues);
    else this.#insertion((Array.isArray(value) ? value : [value]) as readonly ColumnValues[]);
  }

  #assignments(columns: ColumnValues): void {
    Object.entries(columns).forEach(([name, value], index) => {
      this.text += `${index === 0 ? '' : ', '}${quotedName(name)} = `;
      this.#parameter(value);
    });
  }

  #insertion(rows: readonly ColumnValues[]): void {
    const names = Object.keys(rows[0] ?? {});
    this.text += `(${names.map(quotedName).join(', ')}) values `;
    rows.forEach((row, index) => {
      this.text += index === 0 ? '(' : ', (';
      names.forEach((name, place) => {
        if (place > 0) this.text += ', ';
        this.#parameter(row[name]);
      });
      this.text += ')';
    });
  }
}

const nameOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

interface Static {
  readonly text: string;
  readonly name: string;
}

/** The parts that do not change between two uses of a template, by the casts of its values. */
const templates = new WeakMap<TemplateStringsArray, Map<string, Static>>();
/** Names of statements that are composed of fragments. */
const composed = new Map<string, string>();
const MAX_COMPOSED = 2_000;

function composedName(text: string): string {
  let name = composed.get(text);
  if (name === undefined) {
    if (composed.size >= MAX_COMPOSED) composed.clear();
    name = nameOf(text);
    composed.set(text, name);
  }
  return name;
}

function renderTemplate(strings: TemplateStringsArray, values: readonly unknown[]): Rendered {
  if (values.some((value) => value instanceof Statement || value instanceof Columns)) {
    const writer = new Writer();
    writer.template(strings, values);
    const name = composedName(writer.text);
    return { text: writer.text, name, values: writer.values, origin: currentOrigin() };
  }
  const encoded = values.map(encode);
  const casts = values.map(castOf).join();
  let known = templates.get(strings);
  if (known === undefined) {
    known = new Map();
    templates.set(strings, known);
  }
  let parts = known.get(casts);
  if (parts === undefined) {
    const writer = new Writer();
    writer.template(strings, values);
    parts = { text: writer.text, name: nameOf(writer.text) };
    known.set(casts, parts);
  }
  return { ...parts, values: encoded, origin: currentOrigin() };
}

type Source =
  | { readonly strings: TemplateStringsArray; readonly values: readonly unknown[] }
  | { readonly text: string; readonly values: readonly unknown[] };

class Statement<T extends readonly Row[] = Row[]> implements Promise<Rows<T>> {
  readonly [Symbol.toStringTag] = 'Statement';
  readonly #issuer: Issuer;
  readonly #source: Source;
  #answer: Promise<Rows<T>> | undefined;

  constructor(issuer: Issuer, source: Source) {
    this.#issuer = issuer;
    this.#source = source;
  }

  /** Sends the statement without awaiting it. */
  execute(): this {
    this.#answer ??= this.#send() as Promise<Rows> as unknown as Promise<Rows<T>>;
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: a statement is sent when it is awaited
  then<A = Rows<T>, B = never>(
    onAnswer?: ((rows: Rows<T>) => A | PromiseLike<A>) | null,
    // biome-ignore lint/suspicious/noExplicitAny: as a promise has it
    onFault?: ((fault: any) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.execute();
    return (this.#answer as Promise<Rows<T>>).then(onAnswer, onFault);
  }

  // biome-ignore lint/suspicious/noExplicitAny: as a promise has it
  catch<B = never>(onFault?: ((fault: any) => B | PromiseLike<B>) | null): Promise<Rows<T> | B> {
    return this.then(undefined, onFault);
  }

  finally(onEnd?: (() => void) | null): Promise<Rows<T>> {
    this.execute();
    return (this.#answer as Promise<Rows<T>>).finally(onEnd);
  }

  /** Writes this statement as a part of another one. */
  writeTo(writer: Writer): void {
    const source = this.#source;
    if ('strings' in source) writer.template(source.strings, source.values);
    else if (source.values.length === 0) writer.text += source.text;
    else throw new TypeError('a statement with numbered parameters cannot be a part of another one');
  }

  #send(): Promise<Rows> {
    let rendered: Rendered;
    try {
      rendered = this.#render();
    } catch (fault) {
      return this.#issuer.refuse(fault);
    }
    return this.#issuer.issue(rendered);
  }

  #render(): Rendered {
    const source = this.#source;
    if ('strings' in source) return renderTemplate(source.strings, source.values);
    const name = source.values.length === 0 ? null : composedName(source.text);
    return { text: source.text, name, values: source.values.map(encode), origin: currentOrigin() };
  }
}

/** @param requireOpen throws when no further statement may be created */
export function createTag(issuer: Issuer, requireOpen: () => void = () => {}): Tag {
  const tag = (first: TemplateStringsArray | Columns['value'], ...values: readonly unknown[]): unknown => {
    if (typeof first !== 'object' || !('raw' in first) || !Array.isArray(first))
      return new Columns(first as Columns['value']);
    requireOpen();
    return new Statement(issuer, { strings: first as unknown as TemplateStringsArray, values });
  };
  const unsafe = (text: string, values: readonly Value[] = []): unknown => {
    requireOpen();
    return new Statement(issuer, { text, values });
  };
  return Object.assign(tag, { unsafe, json }) as unknown as Tag;
}
