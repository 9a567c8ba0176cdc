/** JSON from elsewhere: integers of any size survive, and nothing is believed that its schema does not say. */
import type { Static, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/** ES2026: what the reviver is told about a value beside it. */
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

/** The text's value when it is JSON; `undefined`, which no schema admits, when it is none. */
export function tryJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Checks by a schema, compiled at its first use: the value, or `null` when it has another shape. */
export function checkedBy<T extends TSchema>(schema: T): (value: unknown) => Static<T> | null {
  let compiled: Validator | undefined;
  return (value) => {
    compiled ??= Compile(schema) as unknown as Validator;
    return compiled.Check(value) ? (value as Static<T>) : null;
  };
}
