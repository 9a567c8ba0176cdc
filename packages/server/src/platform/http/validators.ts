/**
 * The validators of requests, and the keywords that JSON Schema does not have. One pass finds every invalid field.
 *
 * - `x-unknown-fields: near` refuses fields that look like a declared one misspelt.
 * - `x-aliases` moves the value of a second name to the first.
 * - `x-left-out-as` takes a value out that says the same as nothing.
 * - `x-hex` turns hexadecimal identifiers into lower case, the one form in which they are stored and answered.
 * - `x-not-blank` refuses texts without a word, and says what to send instead.
 * - `x-refused` refuses a field that would be misunderstood, and says why.
 * - `x-decimals` refuses numbers that are finer than money is counted.
 */
import { DecimalError, type Operation, parseMicro } from '@bellwether/contract';
import { Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { TSchema } from 'typebox';
import { validateWhenUsed } from './compile-when-used.ts';
import { isNear } from './field-names.ts';

const COMMON = { allErrors: true, removeAdditional: false, verbose: true, strict: false } as const;

type Fields = Record<string, unknown>;

/** A keyword's function with the errors of its last call, as the validator reads them. */
interface Check<Schema, Data> {
  (schema: Schema, data: Data, parent?: unknown, place?: FieldPlace): boolean;
  errors?: Partial<ErrorObject>[];
}

interface FieldPlace {
  readonly parentData: Fields;
  readonly parentDataProperty: string | number;
}

const unknownFields: Check<'near', Fields> = (_policy, data, parent) => {
  const known = Object.keys((parent as { properties?: Fields }).properties ?? {});
  unknownFields.errors = Object.keys(data)
    .filter((name) => !known.includes(name) && known.some((other) => isNear(name, other)))
    .map((name) => ({
      keyword: 'additionalProperties',
      params: { additionalProperty: name },
      parentSchema: parent as object,
    }));
  return unknownFields.errors.length === 0;
};

const sameValue = (a: unknown, b: unknown): boolean =>
  typeof a === 'string' && typeof b === 'string' ? a.toLowerCase() === b.toLowerCase() : a === b;

/** Of objects whose fields were moved to their first names: the names that were sent. */
const SENT = new WeakMap<object, Readonly<Record<string, string>>>();

export const sentNames = (fields: unknown): Readonly<Record<string, string>> =>
  (typeof fields === 'object' && fields !== null ? SENT.get(fields) : undefined) ?? {};

const aliases: Check<Record<string, string>, Fields> = (names, data) => {
  aliases.errors = [];
  for (const [from, to] of Object.entries(names)) {
    if (!Object.hasOwn(data, from)) continue;
    if (Object.hasOwn(data, to) && !sameValue(data[from], data[to])) {
      aliases.errors.push({ keyword: 'x-aliases', params: { from, to } });
      continue;
    }
    // An older client sends one name, and must be told about that one.
    if (!Object.hasOwn(data, to)) SENT.set(data, { ...SENT.get(data), [to]: from });
    data[to] = data[from];
    delete data[from];
  }
  return aliases.errors.length === 0;
};

const leftOutAs: Check<string, string> = (value, data, _parent, place) => {
  if (data === value && place !== undefined) delete place.parentData[place.parentDataProperty];
  return true;
};

const HEX = /^(0x[0-9a-f]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

const hex: Check<true, string> = (_on, data, _parent, place) => {
  const lower = data.toLowerCase();
  // Most clients write them in lower case.
  if (lower !== data && place !== undefined && HEX.test(data))
    place.parentData[place.parentDataProperty] = lower;
  return true;
};

const decimals: Check<number, number> = (most, data) => {
  decimals.errors = [];
  try {
    parseMicro(data);
  } catch (error) {
    if (!(error instanceof DecimalError)) throw error;
    decimals.errors.push({ keyword: 'x-decimals', params: { limit: most } });
  }
  return decimals.errors.length === 0;
};

const notBlank: Check<string, string> = (advice, data) => {
  // An empty text is too short already.
  notBlank.errors = data !== '' && data.trim() === '' ? [{ keyword: 'x-not-blank', params: { advice } }] : [];
  return notBlank.errors.length === 0;
};

const refused: Check<string, unknown> = (advice) => {
  refused.errors = [{ keyword: 'x-refused', params: { advice } }];
  return false;
};

const KEYWORDS = [
  // Before everything else, so that the moved value is the one that is judged.
  { keyword: 'x-aliases', type: 'object', before: 'required', modifying: true, validate: aliases },
  { keyword: 'x-unknown-fields', type: 'object', validate: unknownFields },
  { keyword: 'x-hex', type: 'string', before: 'pattern', modifying: true, validate: hex },
  { keyword: 'x-left-out-as', type: 'string', modifying: true, validate: leftOutAs },
  { keyword: 'x-not-blank', type: 'string', validate: notBlank },
  { keyword: 'x-refused', validate: refused },
  { keyword: 'x-decimals', type: 'number', validate: decimals },
] as const;

function validator(coerceTypes: false | 'array'): Ajv {
  const ajv = formats.default(new Ajv({ ...COMMON, coerceTypes, useDefaults: coerceTypes !== false }));
  for (const keyword of KEYWORDS)
    ajv.addKeyword({ ...keyword, errors: true } as unknown as FuncKeywordDefinition);
  return ajv;
}

/** Bodies are judged as they are; what comes in a URL is text and is read as what the schema wants. */
const BODIES = validator(false);
const URLS = validator('array');

export const compileFor = (schema: object, httpPart: string | undefined): ValidateFunction =>
  httpPart === 'body'
    ? validateWhenUsed('body', schema, () => boundedLists(schema))
    : validateWhenUsed('url', schema, () => URLS.compile(schema));

interface BodySchema {
  readonly properties?: Readonly<Record<string, { readonly maxItems?: number }>>;
}

/**
 * Reporting all errors means looking at every item, also of a list that is too long by thousands: of such a list only so
 * many are looked at that it is still seen to be too long.
 */
function boundedLists(schema: BodySchema): ValidateFunction {
  const check = BODIES.compile(schema);
  const bounds = Object.entries(schema.properties ?? {}).filter(([, { maxItems }]) => maxItems !== undefined);
  if (bounds.length === 0) return check;
  const bounded = ((body: unknown) => {
    const fits = check(cutLists(body, bounds));
    bounded.errors = check.errors ?? null;
    return fits;
  }) as ValidateFunction;
  return bounded;
}

function cutLists(
  body: unknown,
  bounds: readonly (readonly [string, { readonly maxItems?: number }])[],
): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const lists = body as Readonly<Record<string, unknown>>;
  const cut = bounds.flatMap(([name, { maxItems = 0 }]) => {
    const list = lists[name];
    return Array.isArray(list) && list.length > maxItems ? [[name, list.slice(0, maxItems + 1)]] : [];
  });
  return cut.length === 0 ? body : { ...body, ...Object.fromEntries(cut) };
}

type Node = Record<string, unknown> & {
  readonly properties?: Record<string, Node>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
};

/** Writes an operation's policy for unknown fields into the schema of each of its objects. */
export function withUnknownFields(schema: TSchema, policy: Operation['unknownFields']): TSchema {
  if (policy === 'ignore') return schema;
  const rule = policy === 'refuse' ? { additionalProperties: false } : { 'x-unknown-fields': 'near' };
  const walk = (node: Node): Node => {
    const { properties, items, anyOf } = node;
    return {
      ...node,
      ...(properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(
              Object.entries(properties).map(([name, field]) => [name, walk(field)]),
            ),
            ...('additionalProperties' in node ? {} : rule),
          }),
      ...(items === undefined ? {} : { items: walk(items) }),
      ...(anyOf === undefined ? {} : { anyOf: anyOf.map(walk) }),
    };
  };
  return walk(schema as unknown as Node) as unknown as TSchema;
}

export const UNKNOWN_FIELDS_TEXT = {
  near: 'Unknown fields are ignored, unless they look like a declared one misspelt: then 400.',
  refuse: 'Unknown fields are refused (400).',
  ignore: 'Unknown fields are ignored.',
} as const;

/** The schema of a body without that of the items of an array which are judged by themselves. */
export function withoutItems(schema: TSchema, array: string): TSchema {
  const { properties, ...rest } = schema as unknown as Node;
  const list = properties?.[array];
  if (list === undefined) throw new Error(`the body has no array "${array}"`);
  const { items: _checkedSeparately, ...bare } = list;
  return { ...rest, properties: { ...properties, [array]: bare } } as unknown as TSchema;
}
