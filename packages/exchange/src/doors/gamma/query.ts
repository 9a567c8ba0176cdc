/**
 * What a list is asked for: its parameters, which rows they choose and in which order, and the refusal of what cannot
 * be read. As at the venue: repeated keys are lists, the bracket form (`id[]=`) and unknown names are ignored, and a
 * value that cannot be read is 422.
 */

import { conditionIdOfBothWidths } from '@bellwether/protocol';
import type { FastifyRequest } from 'fastify';
import type { GammaEvent, GammaMarket } from './directory.ts';
import { slugOf, type TagRecord } from './records.ts';

/** Values of one parameter: the venue takes about as many. */
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 300;
const WHOLE = /^-?\d{1,15}$/;
const DECIMAL = /^-?\d{1,15}(\.\d{1,12})?$/;

const FLAGS: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false };

export class Query {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  static of = (request: FastifyRequest): Query => new Query(request.query as Record<string, unknown>);

  /** @throws GammaError for too many or too long values */
  all(name: string): readonly string[] {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== undefined && one !== '');
    if (values.length > MAX_VALUES) throw invalid(`${name}: at most ${MAX_VALUES} values`);
    return values.map((one) => {
      const text = String(one);
      if (text.length > MAX_VALUE_CHARS) throw invalid(`${name} is not valid`);
      return text;
    });
  }

  text(name: string): string | undefined {
    return this.all(name).at(-1);
  }

  flag(name: string): boolean | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const flag = Object.hasOwn(FLAGS, text.toLowerCase()) ? FLAGS[text.toLowerCase()] : undefined;
    if (flag === undefined) throw invalid(`${name} is not valid`);
    return flag;
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (!DECIMAL.test(text)) throw invalid(`${name} is not valid`);
    return Number(text);
  }

  /** Larger values than `most` are clamped, as at the venue. */
  whole(name: string, fallback: number, most = Number.MAX_SAFE_INTEGER): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (!WHOLE.test(text) || Number(text) < 0) throw invalid(`${name} is not valid`);
    return Math.min(Number(text), most);
  }

  /** RFC 3339, or a day. @returns epoch milliseconds */
  time(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
    if (Number.isNaN(at)) throw invalid(`${name} is not valid`);
    return at;
  }
}

// Which markets and events a list shows. Wire reference 1.2 and 1.3.

type Test<T> = (row: T) => boolean;

/** Filters on what the paper world does not have: a list that asks for it is empty. */
const ABSENT_OF_MARKETS = ['game_id', 'sports_market_types', 'market_maker_address'];
const ABSENT_OF_EVENTS = [
  'game_id',
  'series_id',
  'recurrence',
  'event_date',
  'event_week',
  'parent_event_id',
];

const isAskedFor = (query: Query, names: readonly string[]): boolean =>
  names.some((name) => query.all(name).length > 0);

function oneOf<T>(values: readonly string[], pick: (row: T) => readonly string[]): Test<T>[] {
  if (values.length === 0) return [];
  const wanted = new Set(values.map((value) => value.toLowerCase()));
  return [(row) => pick(row).some((value) => wanted.has(value.toLowerCase()))];
}

function flag<T>(query: Query, name: string, pick: (row: T) => boolean, fallback?: boolean): Test<T>[] {
  const wanted = query.flag(name) ?? fallback;
  return wanted === undefined ? [] : [(row) => pick(row) === wanted];
}

/** `<name>_min` and `<name>_max`, both inclusive. */
function range<T>(
  read: (name: string) => number | undefined,
  name: string,
  pick: (row: T) => number,
): Test<T>[] {
  const [least, most] = [read(`${name}_min`), read(`${name}_max`)];
  if (least === undefined && most === undefined) return [];
  return [(row) => pick(row) >= (least ?? -Infinity) && pick(row) <= (most ?? Infinity)];
}

const all =
  <T>(tests: readonly Test<T>[]): Test<T> =>
  (row) =>
    tests.every((test) => test(row));

const tagIds = (tags: readonly TagRecord[]): readonly string[] => tags.map(({ id }) => id);

function dates<T>(query: Query, startOf: (row: T) => number, endOf: (row: T) => number): Test<T>[] {
  const time = (name: string) => query.time(name);
  return [...range(time, 'start_date', startOf), ...range(time, 'end_date', endOf)];
}

function tags<T>(query: Query, tagsOf: (row: T) => readonly TagRecord[]): Test<T>[] {
  const excluded = new Set(query.all('exclude_tag_id'));
  return [
    ...oneOf<T>(query.all('tag_id'), (row) => tagIds(tagsOf(row))),
    ...oneOf<T>(query.all('tag_slug'), (row) => tagsOf(row).map(({ slug }) => slug)),
    ...(excluded.size === 0 ? [] : [(row: T) => !tagsOf(row).some(({ id }) => excluded.has(id))]),
  ];
}

/** Markets of Protocol V2 have none. */
const umaStatusOf = (record: object): unknown =>
  (record as { readonly umaResolutionStatus?: unknown }).umaResolutionStatus;

export function marketFilter(query: Query): Test<GammaMarket> {
  if (isAskedFor(query, ABSENT_OF_MARKETS)) return () => false;
  const number = (name: string) => query.number(name);
  const decimalized = query.flag('decimalized');
  const status = query.text('uma_resolution_status');
  const leastReward = query.number('rewards_min_size') ?? 0;
  return all<GammaMarket>([
    ...flag<GammaMarket>(query, 'closed', ({ record }) => record.closed, false),
    ...flag<GammaMarket>(query, 'active', ({ record }) => record.active),
    ...flag<GammaMarket>(query, 'archived', ({ record }) => record.archived),
    ...flag<GammaMarket>(query, 'cyom', ({ record }) => record.cyom),
    ...flag<GammaMarket>(query, 'rfq_enabled', ({ record }) => record.rfqEnabled),
    ...oneOf<GammaMarket>(query.all('id'), ({ view }) => [view.id]),
    ...oneOf<GammaMarket>(query.all('slug'), ({ view }) => [view.slug]),
    ...oneOf<GammaMarket>(query.all('condition_ids').map(conditionIdOfBothWidths), ({ view }) => [
      view.conditionId,
    ]),
    ...oneOf<GammaMarket>(query.all('question_ids').map(conditionIdOfBothWidths), ({ view }) => [
      view.conditionId,
    ]),
    ...oneOf<GammaMarket>(query.all('clob_token_ids'), ({ view }) => view.tokenIds),
    ...tags<GammaMarket>(query, ({ event }) => event.tags),
    ...range<GammaMarket>(number, 'liquidity_num', ({ record }) => record.liquidityNum),
    ...range<GammaMarket>(number, 'volume_num', ({ record }) => record.volumeNum),
    ...dates<GammaMarket>(
      query,
      ({ view }) => view.createdAt,
      ({ view }) => view.endDate,
    ),
    // As seen at the venue: `true` means ticks of 0.001, `false` ticks of 0.01.
    ...(decimalized === undefined
      ? []
      : [({ view }: GammaMarket) => view.tickSize === (decimalized ? 10 : 100)]),
    ...(status === undefined ? [] : [({ record }: GammaMarket) => umaStatusOf(record) === status]),
    ...(leastReward > 0 ? [({ record }: GammaMarket) => record.rewardsMinSize >= leastReward] : []),
  ]);
}

export function eventFilter(query: Query): Test<GammaEvent> {
  if (isAskedFor(query, ABSENT_OF_EVENTS)) return () => false;
  const number = (name: string) => query.number(name);
  const title = query.text('title_search')?.toLowerCase();
  return all<GammaEvent>([
    ...flag<GammaEvent>(query, 'closed', ({ record }) => record.closed, false),
    ...flag<GammaEvent>(query, 'active', ({ record }) => record.active),
    ...flag<GammaEvent>(query, 'archived', ({ record }) => record.archived),
    ...flag<GammaEvent>(query, 'featured', ({ record }) => record.featured),
    ...flag<GammaEvent>(query, 'live', ({ record }) => record.live),
    ...flag<GammaEvent>(query, 'cyom', ({ record }) => record.cyom),
    ...oneOf<GammaEvent>(query.all('id'), ({ listed }) => [listed.id]),
    ...oneOf<GammaEvent>(query.all('slug'), ({ listed }) => [listed.slug]),
    ...tags<GammaEvent>(query, ({ listed }) => listed.tags),
    ...range<GammaEvent>(number, 'liquidity', ({ record }) => record.liquidity),
    ...range<GammaEvent>(number, 'volume', ({ record }) => record.volume),
    ...dates<GammaEvent>(
      query,
      ({ record }) => Date.parse(record.startDate),
      ({ record }) => Date.parse(record.endDate),
    ),
    ...(title === undefined ? [] : [({ listed }: GammaEvent) => listed.title.toLowerCase().includes(title)]),
  ]);
}

/** Filters of a search. `events_tag` takes slugs, labels or ids. */
export function searchFilter(query: Query): Test<GammaEvent> {
  const status = query.text('events_status') ?? 'all';
  const wanted = query.all('events_tag').map(slugOf);
  const excluded = new Set(query.all('exclude_tag_id'));
  const isOfAbsentKind = isAskedFor(query, ['recurrence']);
  return ({ listed, record }) => {
    if (isOfAbsentKind) return false;
    if (status === 'active' && record.closed) return false;
    if (status === 'closed' && !record.closed) return false;
    if (
      wanted.length > 0 &&
      !listed.tags.some(({ id, slug }) => wanted.includes(slug) || wanted.includes(id))
    )
      return false;
    return !listed.tags.some(({ id }) => excluded.has(id));
  };
}

// The order of a list, and its two kinds of pages. Fields are named as in the records (camelCase); where a row lacks the
// field it comes last, in either direction. Rows that are equal in it are ordered by id, so that a page begins where the
// one before ended.

type Value = string | number | boolean | undefined;

interface Ordering {
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

/** A refusal in the venue's shape: `{type, error}`. */
export class GammaError extends Error {
  override readonly name = 'GammaError';
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, text: string) {
    super(text);
    this.status = status;
    this.type = type;
  }
}

export const invalid = (text: string): GammaError => new GammaError(422, 'validation error', text);
export const notFound = (what: 'id' | 'slug'): GammaError =>
  new GammaError(404, 'not found error', `${what} not found`);
