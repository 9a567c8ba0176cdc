/**
 * Reads the promises of a client's own typings, field by field. `Shape<T>` is computed from the typing by the compiler, so a table of
 * cases that lacks a field, or promises something else of it, does not compile; `faultsOf` compares it with what arrived.
 */
import { expect } from 'vitest';

type IsAny<T> = 0 extends 1 & T ? true : false;
type Given<T> = Exclude<T, undefined | null>;
type Nothing = ReturnType<() => void>;
/** A field that may be missing or null. */
type MayBeAbsent<T> = undefined extends T ? true : null extends T ? true : false;

type Shape<T> =
  IsAny<T> extends true
    ? 'any'
    : [T] extends [Nothing]
      ? 'nothing'
      : [T] extends [string]
        ? 'string'
        : [T] extends [number]
          ? 'number'
          : [T] extends [boolean]
            ? 'boolean'
            : [T] extends [Date]
              ? 'any'
              : [T] extends [readonly (infer Entry)[]]
                ? readonly ['list', Shape<Entry>]
                : [keyof Named<T>] extends [never]
                  ? readonly ['map', Shape<T[keyof T]>]
                  : ShapeOfFields<Named<T>>;

type ShapeOfFields<T> = {
  readonly [Name in keyof T]-?: IsAny<T[Name]> extends true
    ? 'any'
    : MayBeAbsent<T[Name]> extends true
      ? readonly ['maybe', Shape<Given<T[Name]>>]
      : Shape<T[Name]>;
};

/** Without an index signature: the fields that have a name. */
type Named<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };

type AnyShape = string | readonly [string, AnyShape] | { readonly [name: string]: AnyShape };

/** Sentences, one for each field that is not what the typing promises. */
function faultsOf(shape: AnyShape, value: unknown, path = 'answer'): string[] {
  if (typeof shape === 'string') return faultsOfWord(shape, value, path);
  const [kind, inner = 'any'] = Array.isArray(shape) ? (shape as readonly [string, AnyShape]) : ['fields'];
  if (kind === 'maybe') return value === undefined || value === null ? [] : faultsOf(inner, value, path);
  if (kind === 'list')
    return Array.isArray(value)
      ? value.flatMap((entry, index) => faultsOf(inner, entry, `${path}[${index}]`))
      : [`${path} is no array but ${describe(value)}`];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${path} is no object but ${describe(value)}`];
  const given = value as Record<string, unknown>;
  const fields =
    kind === 'map' ? Object.keys(given).map((name) => [name, inner] as const) : Object.entries(shape);
  return fields.flatMap(([name, of]) => faultsOf(of, given[name], `${path}.${name}`));
}

function faultsOfWord(word: string, value: unknown, path: string): string[] {
  if (word === 'any') return [];
  if (word === 'nothing')
    return value === undefined || value === '' || value === 'OK' ? [] : [`${path} is ${describe(value)}`];
  const isGood = typeof value === word && !(word === 'number' && !Number.isFinite(value));
  return isGood ? [] : [`${path} is no ${word} but ${describe(value)}`];
}

const describe = (value: unknown): string => `${typeof value} ${JSON.stringify(value)?.slice(0, 200)}`;

/** Public methods of a client: what its typings show. */
type MethodsOf<Client> = {
  [Name in keyof Client as Client[Name] extends (...given: never[]) => unknown ? Name : never]: Client[Name];
};

type AnswerOf<Method> = Method extends (...given: never[]) => infer Answer ? Awaited<Answer> : never;

/** Where one typing says nothing, what the other promises. Two that differ have no shape in common. */
type ShapeOfBoth<One, Two> =
  IsAny<One> extends true ? Shape<Two> : IsAny<Two> extends true ? Shape<One> : Shape<One> & Shape<Two>;

/** Only what promises nothing needs no shape. */
type Promised<Shape> = [Shape] extends [never]
  ? { readonly shape: never }
  : [Shape] extends ['any']
    ? { readonly shape?: never }
    : { readonly shape: Shape };

/** A call of a method, what its typing promises of the answer, and what else has to hold. */
type Case<One, Two, Client> = {
  /** Without them, the method is called with nothing. */
  readonly args?: One extends (...given: infer Given) => unknown ? () => Given : never;
  /** Instead of a call with `args` on the client of the table. */
  readonly run?: (client: Client) => Promise<AnswerOf<One>> | AnswerOf<One>;
  readonly equals?: () => unknown;
} & (
  | (Promised<ShapeOfBoth<AnswerOf<One>, AnswerOf<Two>>> & {
      readonly also?: (answer: AnswerOf<One>) => void;
    })
  // The typing does not describe what the venue answers: the case says what arrives instead.
  | { readonly typingIsWrong: string; readonly equals: () => unknown }
);

/** One case for every public method of a client; of two clients, for every method that both have. */
export type Cases<One, Two = One> = {
  readonly [Name in keyof MethodsOf<One> & keyof MethodsOf<Two>]-?: Case<
    One[Name & keyof One],
    Two[Name & keyof Two],
    One
  >;
};

export interface AnyCase {
  readonly args?: () => readonly unknown[];
  readonly run?: (client: never) => unknown;
  readonly shape?: unknown;
  readonly equals?: () => unknown;
  readonly also?: (answer: never) => void;
  /** The call ends with this error of the client. */
  readonly throws?: string;
}

/** @returns the faults of an answer against the case's shape; throws where it is not what the case says */
export async function examine(client: object, name: string, one: AnyCase): Promise<string[]> {
  const methods = client as Record<string, (...args: readonly unknown[]) => unknown>;
  const run = async () =>
    one.run === undefined ? methods[name]!(...(one.args?.() ?? [])) : one.run(client as never);
  if (one.throws !== undefined) {
    const text = await run().then((answer) => `answered ${JSON.stringify(answer)}`, String);
    return text.includes(one.throws) ? [] : [text];
  }
  const answer = await run();
  const faults = one.shape === undefined ? [] : faultsOf(one.shape as AnyShape, answer);
  if (faults.length > 0) return faults;
  if (one.equals !== undefined) expect(answer).toEqual(one.equals());
  one.also?.(answer as never);
  return [];
}

/** Methods of a class as it runs, without its constructor. */
export const methodNames = (clientClass: { readonly prototype: object }): string[] =>
  Object.getOwnPropertyNames(clientClass.prototype)
    .filter((name) => name !== 'constructor')
    .sort();
