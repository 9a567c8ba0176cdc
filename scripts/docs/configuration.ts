/** The table of docs/configuration.md: every environment variable, its default and its values. */
import { ENVIRONMENT } from '../../packages/server/src/config.ts';
import { table } from './markdown.ts';

interface Schema {
  readonly type?: string;
  readonly default?: unknown;
  readonly description: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly 'x-values'?: string;
  readonly 'x-unset'?: string;
  readonly 'x-secret'?: boolean;
  readonly anyOf?: readonly { readonly const?: unknown }[];
}

const grouped = (value: number): string =>
  Number.isSafeInteger(value) ? value.toLocaleString('en-US') : String(value);

function valuesOf(schema: Schema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map((option) => `\`${option.const}\``).join(', ');
  if (schema.type === 'integer' && schema.maximum === Number.MAX_SAFE_INTEGER)
    return `integer from ${schema.minimum}`;
  if (schema.type === 'integer')
    return `integer, ${grouped(schema.minimum ?? 0)} to ${grouped(schema.maximum ?? 0)}`;
  if (schema.type === 'number')
    return schema.minimum === undefined
      ? `above ${schema.exclusiveMinimum}, to ${grouped(schema.maximum ?? 0)}`
      : `${schema.minimum} to ${grouped(schema.maximum ?? 0)}`;
  return (
    schema['x-values'] ?? ((schema.minLength ?? 0) > 1 ? `at least ${schema.minLength} characters` : 'text')
  );
}

export const configurationTable = (): string =>
  table(
    ['Variable', 'Default', 'Values', 'Meaning'],
    Object.entries(ENVIRONMENT.properties as Record<string, Schema>).map(([name, schema]) => [
      `\`${name}\``,
      schema['x-unset'] ??
        (schema.default === undefined || schema.default === '' ? 'none' : `\`${schema.default}\``),
      valuesOf(schema) + (schema['x-secret'] === true ? ', secret' : ''),
      schema.description,
    ]),
  );
