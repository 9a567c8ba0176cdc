/** Shapes of the contract as tables: fields, types, and what they mean with their units and bounds. */
import * as contract from '@bellwether/contract';
import type { TSchema } from 'typebox';
import { table } from './markdown.ts';

/** The part of JSON Schema that the contract uses. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

const keyOf = (schema: object): string => JSON.stringify(schema);
const isShape = (value: unknown): value is Shape =>
  typeof value === 'object' && value !== null && (value as Shape).type === 'object' && 'properties' in value;

/** Names of the contract's objects, by their content: an optional field holds a copy of its schema. */
const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries(contract as Readonly<Record<string, unknown>>)
    .filter((entry): entry is [string, Shape] => isShape(entry[1]))
    .map(([name, schema]) => [keyOf(schema), name]),
);

const MAX_INLINE_WORDS = 8;

/** The type as TypeScript writes it; a named shape by its name, which is noted. */
function typeText(shape: Shape, named: Set<string>): string {
  const name = NAMES.get(keyOf(shape));
  if (name !== undefined) {
    named.add(name);
    return name;
  }
  if (shape.const !== undefined) return JSON.stringify(shape.const);
  if (shape.enum !== undefined) {
    const shown = shape.enum.slice(0, MAX_INLINE_WORDS).map((word) => JSON.stringify(word));
    return [...shown, ...(shape.enum.length > shown.length ? ['…'] : [])].join(' | ');
  }
  if (shape.anyOf !== undefined)
    return [...new Set(shape.anyOf.map((one) => typeText(one, named)))].join(' | ');
  if (shape.type === 'array') {
    const item = typeText(shape.items ?? {}, named);
    return /[ |]/.test(item) ? `(${item})[]` : `${item}[]`;
  }
  if (shape.properties !== undefined) {
    const fields = Object.entries(shape.properties).map(
      ([field, one]) => `${field}${isOptional(shape, field) ? '?' : ''}: ${typeText(one, named)}`,
    );
    return `{ ${fields.join('; ')} }`;
  }
  const [values] = Object.values(shape.patternProperties ?? {});
  if (values !== undefined) return `Record<string, ${typeText(values, named)}>`;
  return { integer: 'number', object: 'object' }[shape.type ?? ''] ?? shape.type ?? 'unknown';
}

const isOptional = (shape: Shape, field: string): boolean => shape.required?.includes(field) !== true;

function boundsText(shape: Shape): string {
  const between = (least: number | undefined, most: number | undefined, unit: string): string[] => {
    if (least !== undefined && most !== undefined) return [`${least} to ${most}${unit}`];
    if (most !== undefined) return [`at most ${most}${unit}`];
    return least === undefined || (least === 0 && unit !== '') ? [] : [`at least ${least}${unit}`];
  };
  return [
    ...between(shape.minimum, shape.maximum, ''),
    ...between(shape.minLength, shape.maxLength, ' characters'),
    ...between(shape.minItems, shape.maxItems, ' items'),
    ...(shape.default === undefined ? [] : [`default ${JSON.stringify(shape.default)}`]),
  ].join(', ');
}

/** @param named is filled with the names of the shapes that the table mentions */
export function fieldsTable(schema: TSchema, named: Set<string>): string {
  const shape = schema as Shape;
  if (shape.properties === undefined) return `\`${typeText(shape, named)}\``;
  return table(
    ['Field', 'Type', 'Meaning'],
    Object.entries(shape.properties).map(([field, one]) => [
      `\`${field}${isOptional(shape, field) ? '?' : ''}\``,
      `\`${typeText(one, named)}\``,
      [one.description, boundsText(one)].filter((text) => text !== undefined && text !== '').join('; '),
    ]),
  );
}

/** The name of a schema, or its type. */
export const shapeName = (schema: TSchema, named: Set<string>): string => typeText(schema as Shape, named);

/** A section for each shape and for those that it mentions, by name. */
export function shapeSections(named: Set<string>): string {
  const done = new Map<string, string>();
  for (let left = [...named]; left.length > 0; left = [...named].filter((name) => !done.has(name)))
    for (const name of left)
      done.set(name, fieldsTable((contract as Readonly<Record<string, unknown>>)[name] as TSchema, named));
  return [...done]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, fields]) => `### ${name}\n\n${fields}`)
    .join('\n\n');
}
