/** Validator messages as one entry per field, in words that say what is wanted. Never quotes what was sent. */
import { LAST_SECOND, LINES, NAME, PRINTABLE } from '@bellwether/contract';
import type { FastifySchemaValidationError } from 'fastify';
import { nearestName } from './field-names.ts';

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
