/**
 * Reads the promises of a client's own typings, field by field. `Shape<T>` is computed from the typing by the compiler, so a table of
 * cases that lacks a field, or has one too many, does not compile; `faultsOf` compares it with what arrived.
 */

type IsAny<T> = 0 extends 1 & T ? true : false;
type Given<T> = Exclude<T, undefined | null>;
type Nothing = ReturnType<() => void>;
/** A field that may be missing or null. */
type MayBeAbsent<T> = undefined extends T ? true : null extends T ? true : false;

export type Shape<T> =
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
  if (Array.isArray(shape)) {
    const [kind, inner] = shape as readonly [string, AnyShape];
    if (kind === 'maybe') return value === undefined || value === null ? [] : faultsOf(inner, value, path);
    if (kind === 'list')
      return Array.isArray(value)
        ? value.flatMap((entry, index) => faultsOf(inner, entry, `${path}[${index}]`))
        : [`${path} is no array but ${describe(value)}`];
    return isRecord(value)
      ? Object.entries(value).flatMap(([name, entry]) => faultsOf(inner, entry, `${path}.${name}`))
      : [`${path} is no object but ${describe(value)}`];
  }
  if (!isRecord(value)) return [`${path} is no object but ${describe(value)}`];
  return Object.entries(shape).flatMap(([name, inner]) => faultsOf(inner, value[name], `${path}.${name}`));
}

function faultsOfWord(word: string, value: unknown, path: string): string[] {
  if (word === 'any') return [];
  if (word === 'nothing')
    return value === undefined || value === '' || value === 'OK' ? [] : [`${path} is ${describe(value)}`];
  const isGood = typeof value === word && !(word === 'number' && !Number.isFinite(value));
  return isGood ? [] : [`${path} is no ${word} but ${describe(value)}`];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const describe = (value: unknown): string => `${typeof value} ${JSON.stringify(value)?.slice(0, 200)}`;

/** Public methods of a client: what its typings show. */
export type MethodsOf<Client> = {
  [Name in keyof Client as Client[Name] extends (...given: never[]) => unknown ? Name : never]: Client[Name];
};

type AnswerOf<Method> = Method extends (...given: never[]) => infer Answer ? Awaited<Answer> : never;

/** A call of a method, what its typing promises of the answer, and what else has to hold. */
export interface Case<Answer> {
  readonly run: () => Promise<Answer> | Answer;
  readonly shape: Shape<Answer>;
  readonly also?: (answer: Answer) => void;
}

/** A case whose typing does not describe what the venue answers: it says so, and what arrives instead. */
export interface WrongTyping<Answer> {
  readonly run: () => Promise<Answer> | Answer;
  readonly typingIsWrong: string;
  readonly also: (answer: Answer) => void;
}

/** A method that ends with an error of the client. */
export interface Throws<Answer> {
  readonly run: () => Promise<Answer> | Answer;
  readonly throws: string;
}

/** One case for every public method of a client. */
export type Cases<Client> = {
  readonly [Name in keyof MethodsOf<Client>]-?:
    | Case<AnswerOf<Client[Name & keyof Client]>>
    | WrongTyping<AnswerOf<Client[Name & keyof Client]>>
    | Throws<AnswerOf<Client[Name & keyof Client]>>;
};

export type AnyCase = {
  readonly run: () => unknown;
  readonly shape?: unknown;
  readonly also?: (answer: never) => void;
  readonly throws?: string;
};

/** @returns the faults of an answer against the case's shape; throws what `also` throws */
export async function examine(one: AnyCase): Promise<string[]> {
  if (one.throws !== undefined) {
    const text = await Promise.resolve()
      .then(one.run)
      .then(
        (answer) => `answered ${JSON.stringify(answer)}`,
        (error: unknown) => String(error),
      );
    return text.includes(one.throws) ? [] : [text];
  }
  const answer = await one.run();
  const faults = one.shape === undefined ? [] : faultsOf(one.shape as AnyShape, answer);
  if (faults.length === 0) one.also?.(answer as never);
  return faults;
}

/** Methods of a class as it runs, without its constructor. */
export const methodNames = (clientClass: { readonly prototype: object }): string[] =>
  Object.getOwnPropertyNames(clientClass.prototype)
    .filter((name) => name !== 'constructor')
    .sort();
