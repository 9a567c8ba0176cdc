/** Validator messages as one entry per field, in words that say what is wanted. Never quotes what was sent. */
import { LINES, PRINTABLE } from '@bellwether/contract';
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

/** The errors' own codes, where the registry has one that says more than the validator's keyword. */
const CODES: Readonly<Record<string, string>> = {
  'x-decimals': 'too_many_decimals',
  'x-aliases': 'contradiction',
};

export function fieldErrors(errors: readonly Verbose[], part: string): FieldError[] {
  // Every branch of a choice reports; the choice itself says it once, in the words of the branch that was meant.
  const choices = new Map<string, Verbose[]>();
  for (const error of errors) if (error.keyword === 'anyOf') choices.set(error.instancePath, []);
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && /\/anyOf\//.test(error.schemaPath))
      choices.get(error.instancePath)?.push(error);
  }
  const found = new Map<string, FieldError>();
  for (const error of errors) {
    if (choices.get(error.instancePath)?.includes(error)) continue;
    const path = pathOf(error, part);
    const key = `${path} ${error.keyword}`;
    if (found.has(key)) continue;
    const branches = error.keyword === 'anyOf' ? (choices.get(error.instancePath) ?? []) : [];
    const message = `${path} ${messageOf(error, branches, found.size < MOST_GUESSES)}`;
    found.set(key, { path, code: CODES[error.keyword] ?? error.keyword, message });
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

function messageOf(error: Verbose, branches: readonly Verbose[], mayGuess: boolean): string {
  const { limit, pattern } = error.params as { limit?: number; pattern?: string };
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return `is not a known field${mayGuess ? hintFor(error) : ''}`;
    case 'x-aliases':
      return `and ${String(error.params.to)} are two names of one field and must not differ`;
    case 'x-not-blank':
      return `is blank: ${String(error.params.advice)}`;
    case 'x-decimals':
      return `has more than ${limit} decimals`;
    case 'anyOf':
      return choiceMessage(error, branches);
    case 'pattern':
      if (pattern === PRINTABLE) return CONTROL;
      if (pattern === LINES) return CONTROL_IN_LINES;
      return `must match ${pattern}`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minLength':
      return `must have at least ${limit} character${limit === 1 ? '' : 's'}`;
    default:
      return error.message ?? 'is invalid';
  }
}

/** What was most likely meant, else what there is. */
function hintFor(error: Verbose): string {
  const known = Object.keys(error.parentSchema?.properties ?? {});
  const nearest = nearestName((error.params as { additionalProperty: string }).additionalProperty, known);
  if (nearest !== null) return `; did you mean "${nearest}"?`;
  return known.length === 0 ? '; none is taken here' : `; known are ${known.join(', ')}`;
}

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Where the value has the type of a branch, which of that branch's limits it breaks; else what it could be. */
function choiceMessage(error: Verbose, branches: readonly Verbose[]): string {
  const options = error.parentSchema?.anyOf ?? [];
  const constants = options.map((option) => option.const).filter((value) => value !== undefined);
  if (constants.length === options.length) return `must be one of ${constants.map(String).join(', ')}`;
  const given = typeOf(error.data);
  const limits = branches.filter(
    ({ keyword, data }) => keyword !== 'type' && keyword !== 'const' && typeOf(data) === given,
  );
  const [only, ...more] = [...new Set(limits.map((limit) => messageOf(limit, [], false)))];
  if (only !== undefined && more.length === 0) return only;
  const description = error.parentSchema?.description;
  if (only !== undefined)
    return description === undefined ? [only, ...more].join(' or ') : `must be ${description}`;
  const types = options.map((option) => (option.const === undefined ? option.type : String(option.const)));
  return `must be ${[...new Set(types)].join(' or ')}`;
}
