/**
 * The order of a list, and its two kinds of pages. Fields are named as in the records (camelCase); where a row lacks the
 * field it comes last, in either direction. Rows that are equal in it are ordered by id, so that a page begins where the
 * one before ended.
 */
import { invalid } from './gamma-error.ts';
import type { Query } from './query.ts';

type Value = string | number | boolean | undefined;

export interface Ordering {
  readonly fields: readonly string[];
  readonly ascending: boolean;
}

interface Keyed<T> {
  readonly row: T;
  readonly key: readonly Value[];
}

const MAX_FIELDS = 5;

/** @param known the fields of a record that can be ordered by */
export function orderingOf(query: Query, known: ReadonlySet<string>): Ordering {
  const fields = (query.text('order') ?? '')
    .split(',')
    .map((field) => field.trim())
    .filter((field) => field !== '');
  if (fields.length > MAX_FIELDS || fields.some((field) => !known.has(field)))
    throw invalid('order fields are not valid');
  return { fields, ascending: query.flag('ascending') ?? true };
}

const keyOf = (record: Readonly<Record<string, unknown>>, field: string): Value => {
  const value = record[field];
  if (field === 'id') return Number(value);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined;
};

function compare(a: readonly Value[], b: readonly Value[], ascending: boolean): number {
  for (const [nth, left] of a.entries()) {
    const right = b[nth];
    if (left === right) continue;
    if (left === undefined) return 1;
    if (right === undefined) return -1;
    return left < right === ascending ? -1 : 1;
  }
  return 0;
}

export class Arranged<T> {
  readonly #rows: readonly Keyed<T>[];
  readonly #ordering: Ordering;

  constructor(
    rows: Iterable<T>,
    ordering: Ordering,
    recordOf: (row: T) => Readonly<Record<string, unknown>> & { readonly id: string },
  ) {
    const fields = [...ordering.fields, 'id'];
    const keyed = Array.from(rows, (row) => {
      const record = recordOf(row);
      return { row, key: fields.map((field) => keyOf(record, field)) };
    });
    this.#ordering = ordering;
    this.#rows = keyed.sort((a, b) => compare(a.key, b.key, ordering.ascending));
  }

  get total(): number {
    return this.#rows.length;
  }

  slice(offset: number, limit: number): readonly T[] {
    return this.#rows.slice(offset, offset + limit).map(({ row }) => row);
  }

  /** @returns the rows behind the cursor, and the cursor behind them unless they are the last. */
  after(cursor: string | undefined, limit: number): { readonly rows: readonly T[]; readonly next?: string } {
    const { ascending } = this.#ordering;
    const from = cursor === undefined ? undefined : this.#decode(cursor);
    const first =
      from === undefined ? 0 : this.#rows.findIndex(({ key }) => compare(key, from, ascending) > 0);
    const page = first < 0 ? [] : this.#rows.slice(first, first + limit);
    const last = page.at(-1);
    const rows = page.map(({ row }) => row);
    if (last === undefined || first + page.length >= this.#rows.length) return { rows };
    return { rows, next: this.#encode(last.key) };
  }

  /** A cursor belongs to its order: under another one it would skip rows without a word. */
  get #name(): string {
    return `${this.#ordering.fields.join()} ${this.#ordering.ascending}`;
  }

  #encode(key: readonly Value[]): string {
    return Buffer.from(JSON.stringify([this.#name, ...key.map((value) => value ?? null)])).toString(
      'base64url',
    );
  }

  #decode(cursor: string): readonly Value[] {
    let parts: unknown;
    try {
      parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    } catch {
      throw invalid('after_cursor is not valid');
    }
    const isOurs =
      Array.isArray(parts) &&
      parts.length === this.#ordering.fields.length + 2 &&
      parts[0] === this.#name &&
      parts.every((part) => part === null || typeof part !== 'object');
    if (!isOurs) throw invalid('after_cursor is not valid');
    return (parts as unknown[]).slice(1).map((part) => (part === null ? undefined : (part as Value)));
  }
}
