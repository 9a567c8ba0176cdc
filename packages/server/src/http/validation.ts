/** Validator messages as one entry per field, in words that say what is wanted. Never quotes what was sent. */
import { NAME, PRINTABLE } from '@bellwether/contract';
import type { FastifySchemaValidationError } from 'fastify';

interface Verbose extends FastifySchemaValidationError {
  readonly schema?: unknown;
  readonly parentSchema?: {
    readonly anyOf?: readonly { readonly const?: unknown; readonly type?: string }[];
  };
}

export interface FieldError {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

const CONTROL = 'must not contain control characters (line breaks are among them) or broken Unicode';

const REVERSING = 'must not contain control characters, bidirectional overrides or broken Unicode';

export function fieldErrors(errors: readonly Verbose[], part: string): FieldError[] {
  // Every branch of a choice reports; the choice itself says it once.
  const choices = new Set(
    errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath),
  );
  const found = new Map<string, FieldError>();
  for (const error of errors) {
    if (error.keyword !== 'anyOf' && choices.has(error.instancePath) && /\/anyOf\//.test(error.schemaPath))
      continue;
    const path = pathOf(error, part);
    const key = `${path} ${error.keyword}`;
    if (!found.has(key))
      found.set(key, { path, code: error.keyword, message: `${path} ${messageOf(error)}` });
  }
  return [...found.values()];
}

function pathOf(error: Verbose, part: string): string {
  const parts = error.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const { missingProperty, additionalProperty } = error.params as Record<string, string | undefined>;
  const last = missingProperty ?? additionalProperty;
  if (last !== undefined) parts.push(last);
  return parts.length === 0 ? part : parts.join('.');
}

function messageOf(error: Verbose): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'anyOf':
      return choiceMessage(error);
    case 'pattern':
      if (error.params.pattern === NAME) return REVERSING;
      return error.params.pattern === PRINTABLE ? CONTROL : `must match ${error.params.pattern}`;
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`;
    case 'minLength':
      return `must have at least ${error.params.limit} character${error.params.limit === 1 ? '' : 's'}`;
    default:
      return error.message ?? 'is invalid';
  }
}

function choiceMessage(error: Verbose): string {
  const options = error.parentSchema?.anyOf ?? [];
  const constants = options.map((option) => option.const).filter((value) => value !== undefined);
  if (constants.length === options.length) return `must be one of ${constants.map(String).join(', ')}`;
  const types = options.map((option) => (option.const === undefined ? option.type : String(option.const)));
  return `must be ${types.join(' or ')}, within its limits`;
}
