/** JSON from external services: integers of any size stay exact, and every value is checked against a schema. */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/** ES2026: the reviver's third argument has the source text of the value. */
type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

const INTEGER = /^-?\d+$/;

/** Integers beyond 2^53 become bigints. @throws SyntaxError */
export function parseJson(text: string): unknown {
  const revive: SourceReviver = (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && INTEGER.test(source)
      ? BigInt(source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** The text's value; `undefined`, which no schema accepts, when the text is not JSON. */
export function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Checks against a schema, compiled at its first use: returns the value, or `null` when it does not match. */
export function checkedBy<T extends TSchema>(schema: T): (value: unknown) => Static<T> | null {
  let compiled: Validator | undefined;
  return (value) => {
    compiled ??= Compile(schema) as unknown as Validator;
    return compiled.Check(value) ? (value as Static<T>) : null;
  };
}
