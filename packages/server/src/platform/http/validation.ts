/** What a request says: its body read as JSON, its fields held against the schema, every fault in words. Never quotes what was sent. */
import { isUtf8 } from 'node:buffer';
import {
  DecimalError,
  LAST_SECOND,
  LINES,
  NAME,
  type Operation,
  PRINTABLE,
  parseMicro,
} from '@bellwether/contract';
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import { Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type {
  FastifyInstance,
  FastifyRequest,
  FastifySchemaValidationError,
  FastifyServerOptions,
} from 'fastify';
import type { TSchema } from 'typebox';
import { refusal } from '../refusal.ts';

class UnsupportedMediaType extends Error {
  readonly code = 'FST_ERR_CTP_INVALID_MEDIA_TYPE';
  readonly statusCode = 415;
}

export function parseBodies(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser('error', 'error');
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (isCoded(request)) return done(new UnsupportedMediaType());
    // Decoded all the same, a wrong byte would be stored as the sign that stands for it.
    if (!isUtf8(body as Buffer)) return done(refusal('invalid_json', 'The body is not encoded as UTF-8.'));
    const text = body.toString('utf8');
    const finish = (value: unknown): void => {
      const path = repeatedKey(text, value);
      if (path === null) done(null, value);
      else done(refusal('invalid_json', `An object has the key ${JSON.stringify(path)} twice.`, { path }));
    };
    // Many clients send the header with an empty body; the route says whether it needs one.
    if (text.charCodeAt(0) !== BRACE && text.trim() === '') return done(null, undefined);
    const value = mayNeedCare(text) ? undefined : parsePlain(text);
    if (value !== undefined) return finish(value);
    return parse(request, text, (error, careful) => (error === null ? finish(careful) : done(error)));
  });
  // Other types are read all the same: too large comes before the wrong type, and an empty body has none.
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    if (body === '') done(null, undefined);
    else done(new UnsupportedMediaType(), undefined);
  });
}

/** Whether the body is compressed, or encoded in another way. */
export function isCoded({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const coding = headers['content-encoding'] ?? 'identity';
  return coding !== '' && coding.toLowerCase() !== 'identity';
}

const BRACE = '{'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);
const SPACE = ' '.charCodeAt(0);
const BYTE_ORDER_MARK = 0xfeff;

/** Whether a key that would change what an object is could stand in it, spelt out or by escapes. */
const mayNeedCare = (text: string): boolean =>
  text.includes('\\') ||
  text.includes('__proto__') ||
  text.includes('constructor') ||
  text.charCodeAt(0) === BYTE_ORDER_MARK;

/** `undefined` for what is not JSON. */
function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Path of the first key that its object had before; `null` without one. Most bodies are cleared by two counts: the text has at
 * least as many ends of keys as it has keys, and the value has each key once.
 */
const repeatedKey = (text: string, value: unknown): string | null =>
  typeof value !== 'object' || value === null || keysOf(value as JsonNode) === endsOfKeys(text)
    ? null
    : search(text);

type JsonNode = Readonly<Record<string, unknown>>;

/** Without recursion, as all here: a body can be nested deeper than the stack is. */
function keysOf(value: JsonNode): number {
  const open: JsonNode[] = [value];
  let count = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) {
      for (const item of node) if (typeof item === 'object' && item !== null) open.push(item);
      continue;
    }
    // Twice as fast as a list of its members, which every request would pay for.
    for (const key in node) {
      const member = node[key];
      count += 1;
      if (typeof member === 'object' && member !== null) open.push(member as JsonNode);
    }
  }
  return count;
}

/** Colons after a quote: each key has one, and texts may hold more. */
function endsOfKeys(text: string): number {
  let count = 0;
  for (let colon = text.indexOf(':'); colon >= 0; colon = text.indexOf(':', colon + 1)) {
    let at = colon - 1;
    while (text.charCodeAt(at) <= SPACE) at -= 1;
    if (text.charCodeAt(at) === QUOTE) count += 1;
  }
  return count;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]/g;
/** Longest path that is repeated in an answer. */
const MOST_PATH_CHARS = 100;

/** @param text known to be JSON */
function search(text: string): string | null {
  /** `keys` of an object; an array counts its items. */
  const open: { readonly keys: Set<string> | null; at: string | number }[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '{') open.push({ keys: new Set(), at: '' });
    else if (token === '[') open.push({ keys: null, at: 0 });
    else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof inner?.at === 'number') inner.at += 1;
    else if (token === ':' && inner?.keys) {
      const key = JSON.parse(last) as string;
      inner.at = key;
      if (inner.keys.has(key)) return shortened(open.map(({ at }) => at).join('.'));
      inner.keys.add(key);
    } else last = token;
  }
  return null;
}

const shortened = (path: string): string =>
  path.length > MOST_PATH_CHARS ? `${path.slice(0, MOST_PATH_CHARS)}…` : path;

// The validators of requests, and the keywords that JSON Schema does not have. One pass finds every invalid field.
//
// - `x-unknown-fields: near` refuses fields that look like a declared one misspelt.
// - `x-aliases` moves the value of a second name to the first.
// - `x-left-out-as` takes a value out that says the same as nothing.
// - `x-hex` turns hexadecimal identifiers into lower case, the one form in which they are stored and answered.
// - `x-not-blank` refuses texts without a word, and says what to send instead.
// - `x-refused` refuses a field that would be misunderstood, and says why.
// - `x-decimals` refuses numbers that are finer than money is counted.

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

// Validator messages as one entry per field, in words that say what is wanted. Never quotes what was sent.

interface Branch {
  readonly const?: unknown;
  readonly type?: string;
  readonly description?: string;
}

interface Verbose extends FastifySchemaValidationError {
  readonly schema?: unknown;
  readonly data?: unknown;
  readonly parentSchema?: {
    readonly anyOf?: readonly Branch[];
    readonly properties?: Readonly<Record<string, unknown>>;
    readonly description?: string;
    readonly 'x-not-blank'?: string;
    readonly 'x-form'?: string;
  };
}

export interface FieldError {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

const CONTROL = 'must not contain control characters (line breaks are among them) or broken Unicode';
const CONTROL_IN_LINES =
  'must not contain control characters other than line breaks and tabs, or broken Unicode';
/** Longest name of a field that is repeated in an answer. */
const MOST_NAME_CHARS = 100;
/** For so many the nearest known name is looked up; a body of thousands must not cost more than its answer. */
const MOST_GUESSES = 50;

const KNOWN = / \(known are [^)]*\)$/;

/** The errors' own codes, where the registry has one that says more than the validator's keyword. */
const CODES: Readonly<Record<string, string>> = {
  'x-decimals': 'too_many_decimals',
  'x-aliases': 'contradiction',
  'x-refused': 'not_taken_here',
  'x-not-blank': 'blank',
};

/** Python writes them with a capital. */
const BOOLEAN = 'true or false, in lower case';
/** The one format that requests have. */
const DATE_TIME = 'an ISO 8601 time with zone, such as 2026-01-31T12:00:00Z';

const REVERSING = 'must not contain control characters, bidirectional overrides or broken Unicode';

export function fieldErrors(errors: readonly Verbose[], part: string): FieldError[] {
  // Every branch of a choice reports; the choice itself says it once, in the words of the branch that was meant.
  const choices = new Map<string, Verbose[]>();
  for (const error of errors) if (error.keyword === 'anyOf') choices.set(error.instancePath, []);
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && /\/anyOf\//.test(error.schemaPath))
      choices.get(error.instancePath)?.push(error);
  }
  const found = new Map<string, FieldError>();
  const lists = new Set<string>();
  for (const error of errors) {
    if (choices.get(error.instancePath)?.includes(error)) continue;
    const path = pathOf(error, part);
    const key = `${path} ${error.keyword}`;
    if (found.has(key)) continue;
    const branches = error.keyword === 'anyOf' ? (choices.get(error.instancePath) ?? []) : [];
    const limits = limitsOf(error, branches);
    const meant = limits.length === 1 ? (limits[0] as Verbose) : error;
    let message = `${path} ${messageOf(meant, limits, found.size < MOST_GUESSES)}`;
    // The same list after every unknown name would bury the names.
    const known = KNOWN.exec(message)?.[0];
    if (known !== undefined && lists.has(known)) message = message.replace(known, '');
    else if (known !== undefined) lists.add(known);
    found.set(key, { path, code: CODES[meant.keyword] ?? meant.keyword, message });
  }
  return [...found.values()];
}

function pathOf(error: Verbose, part: string): string {
  const parts = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty, from } = error.params as Record<string, string | undefined>;
  const last = missingProperty ?? additionalProperty ?? from;
  if (last !== undefined)
    parts.push(last.length > MOST_NAME_CHARS ? `${last.slice(0, MOST_NAME_CHARS)}…` : last);
  return parts.length === 0 ? part : parts.join('.');
}

function messageOf(error: Verbose, limits: readonly Verbose[], mayGuess: boolean): string {
  const { limit, pattern, type, allowedValue, allowedValues } = error.params as {
    limit?: number;
    pattern?: string;
    type?: string;
    allowedValue?: unknown;
    allowedValues?: readonly unknown[];
  };
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return `is not a known field${mayGuess ? hintFor(error) : ''}`;
    case 'x-aliases':
      return `and ${String(error.params.to)} are two names of one field and must not differ`;
    case 'x-refused':
      return `is not taken here: ${String(error.params.advice)}`;
    case 'x-not-blank':
      return `is blank: ${String(error.params.advice)}`;
    case 'x-decimals':
      return `has more than ${limit} decimals`;
    case 'anyOf':
      return choiceMessage(error, limits);
    case 'pattern':
      if (pattern === PRINTABLE) return CONTROL;
      if (pattern === LINES) return CONTROL_IN_LINES;
      if (pattern === NAME) return REVERSING;
      return `must be ${error.parentSchema?.['x-form']}`;
    case 'enum':
      return `must be one of ${allowedValues?.join(', ')}`;
    case 'const':
      return `must be ${allowedValue}`;
    case 'format':
      return `must be ${DATE_TIME}`;
    case 'type':
      return `must be ${type === 'boolean' ? BOOLEAN : type}`;
    case 'maximum':
      return `must be <= ${limit}${limit === LAST_SECOND ? ': it is in seconds, not milliseconds' : ''}`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minLength':
      return `must have at least ${limit} character${limit === 1 ? '' : 's'}${adviceOf(error)}`;
    default:
      return error.message ?? 'is invalid';
  }
}

/** Advice on what to send instead of nothing, where the field says so. */
function adviceOf({ parentSchema }: Verbose): string {
  const advice = parentSchema?.['x-not-blank'];
  return advice === undefined ? '' : `: ${advice}`;
}

/** The most likely meaning, else the possible values. */
function hintFor(error: Verbose): string {
  const known = Object.keys(error.parentSchema?.properties ?? {});
  const nearest = nearestName((error.params as { additionalProperty: string }).additionalProperty, known);
  if (nearest !== null) return ` (did you mean "${nearest}"?)`;
  return known.length === 0 ? ' (none is taken here)' : ` (known are ${known.join(', ')})`;
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Where the value has the type of a branch: which of that branch's limits it breaks. */
function limitsOf(error: Verbose, branches: readonly Verbose[]): readonly Verbose[] {
  const given = typeOf(error.data);
  const found = new Map<string, Verbose>();
  for (const branch of branches) {
    if (branch.keyword === 'type' || branch.keyword === 'const' || typeOf(branch.data) !== given) continue;
    found.set(messageOf(branch, [], false), branch);
  }
  return [...found.values()];
}

function choiceMessage(error: Verbose, limits: readonly Verbose[]): string {
  const options = error.parentSchema?.anyOf ?? [];
  const constants = options.map((option) => option.const).filter((value) => value !== undefined);
  if (constants.length === options.length) return `must be one of ${constants.map(String).join(', ')}`;
  if (limits.length > 0) {
    const description = error.parentSchema?.description;
    return description === undefined
      ? limits.map((limit) => messageOf(limit, [], false)).join(' or ')
      : `must be ${description}`;
  }
  const types = options.map(({ const: only, type }) => {
    if (only !== undefined) return String(only);
    return type === 'boolean' ? BOOLEAN : type;
  });
  return `must be ${[...new Set(types)].join(' or ')}`;
}

// Names of fields that look alike: a typing error must not pass for an unknown field.

const MOST_EDITS = 2;
/** Worse than a typing error, better than more edits. */
const PART_COST = MOST_EDITS + 0.5;
/** Longer names are no typing errors, and comparing them costs time. */
const MOST_CHARS = 64;

/** Without what the spellings of one name differ in: `market_id`, `market-id`, `MarketId`. */
const plain = (name: string): string => name.replaceAll(/[_-]/g, '').toLowerCase();

/** Insertions, deletions and replacements between two texts; `most` + 1 when there are more. */
export function edits(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return Math.min(row[b.length] as number, most + 1);
}

/** Whether a name is within two edits of a known one; of a short one, within fewer, or every short name would be. */
export function isNear(name: string, known: string): boolean {
  if (name.length > MOST_CHARS) return false;
  const most = Math.min(MOST_EDITS, known.length - 1);
  return edits(plain(name), plain(known), most) <= most;
}

/** The known name that was most likely meant; `null` when none is like it. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > MOST_CHARS) return null;
  const wanted = plain(name);
  let best: { readonly name: string; readonly cost: number } | null = null;
  for (const candidate of known) {
    const other = plain(candidate);
    const most = Math.max(MOST_EDITS, Math.floor(other.length / 3));
    const cost = edits(wanted, other, most);
    // A part of the name, such as "status" for "orderStatus", is a better guess than many edits.
    const isPart = wanted.length > MOST_EDITS && (other.includes(wanted) || wanted.includes(other));
    const score = isPart ? Math.min(cost, PART_COST) : cost;
    if ((isPart || cost <= most) && (best === null || score < best.cost))
      best = { name: candidate, cost: score };
  }
  return best?.name ?? null;
}

// Compiles the validators and serializers of a route when they are first used. There are hundreds of them, most for
// answers that a process never gives: compiled together, they were most of what a start takes.
//
// A process that starts several services, one after the other, compiles each schema once.

/** Compiled functions by the text of their schema. */
class Compiled<Result> {
  readonly #bySchema = new Map<string, Result>();

  get(schema: string, compile: () => Result): Result {
    const known = this.#bySchema.get(schema) ?? compile();
    this.#bySchema.set(schema, known);
    return known;
  }
}

const validators = new Compiled<ValidateFunction>();
const serializers = new Compiled<(data: unknown) => string>();

/** @param name tells apart validators that treat the same schema in different ways */
function validateWhenUsed(name: string, schema: object, compile: () => ValidateFunction): ValidateFunction {
  let compiled: ValidateFunction | undefined;
  const validate = ((data: unknown) => {
    compiled ??= validators.get(name + JSON.stringify(schema), compile);
    const fits = compiled(data);
    validate.errors = compiled.errors ?? null;
    return fits;
  }) as ValidateFunction;
  return validate;
}

type Factories = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;

export const serializeWhenUsed: NonNullable<Factories['buildSerializer']> = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options);
  const shared = JSON.stringify(schemas);
  return (route) => {
    let compiled: ReturnType<typeof compile> | undefined;
    return (data) => {
      compiled ??= serializers.get(shared + JSON.stringify(route.schema), () => compile(route));
      return compiled(data);
    };
  };
};
