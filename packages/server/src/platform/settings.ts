/**
 * How a setting is declared, beside what it configures: its values, its default, one sentence of description. The table of all
 * settings is config.ts, which also writes docs/configuration.md and every error.
 */
import { type Static, type TObject, type TProperties, type TSchemaOptions, Type } from 'typebox';

/** A wrong or unknown setting. Stops the start with a sentence that names it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Refuses what does not fit together. @throws ConfigError with all of the sentences, where there is one */
export function refuseAll(problems: readonly (string | false)[]): void {
  const sentences = problems.filter((one) => one !== false);
  if (sentences.length > 0) throw new ConfigError(sentences.join(' '));
}

/** The settings of one subject. */
export interface SettingsGroup {
  readonly variables: TProperties;
  /** How names of settings begin that only this service has: an unknown name like that is misspelt. */
  readonly prefixes: readonly string[];
  /**
   * Makes of the checked environment what the service reads. Given are all settings, so that it can name in its parameter those
   * of other subjects that it depends on.
   *
   * @throws ConfigError for what fits each variable alone and does not fit together
   */
  make(environment: never): object;
}

/** The checked values of the variables that a group declares. */
export type EnvironmentOf<Variables extends TProperties> = Static<TObject<Variables>>;

export interface About {
  /** The values in words, where a pattern would be hard to read. */
  readonly values?: string;
  /** In words, what holds when it is not set. */
  readonly unset?: string;
  /** Why a bound is where it is: errors say it. */
  readonly because?: string;
  /** Its value must reach no error, log or answer. */
  readonly secret?: true;
}

interface TextRule extends About {
  readonly minLength?: number;
  readonly pattern?: string;
  /** Each part, between commas, must be an address that can be called. */
  readonly addresses?: true;
}

const described = (description: string, { values, unset, because, secret }: About) => ({
  description,
  ...(values === undefined ? {} : { 'x-values': values }),
  ...(unset === undefined ? {} : { 'x-unset': unset }),
  ...(because === undefined ? {} : { 'x-because': because }),
  ...(secret === undefined ? {} : { 'x-secret': secret }),
});

const ruled = (description: string, { minLength, pattern, addresses, ...about }: TextRule) => ({
  ...described(description, about),
  ...(minLength === undefined ? {} : { minLength }),
  ...(pattern === undefined ? {} : { pattern }),
  ...(addresses === undefined ? {} : { 'x-addresses': true }),
});

export const text = (fallback: string, description: string, rule: TextRule = {}) =>
  Type.String({ default: fallback, ...ruled(description, rule) });
export const optionalText = (description: string, rule: TextRule = {}) =>
  Type.Optional(Type.String(ruled(description, rule)));

export const url = (description: string, about: About = {}) =>
  optionalText(description, {
    values: 'http or https URL',
    ...about,
    pattern: '^https?://[^\\s]+$',
    addresses: true,
  });
export const socketUrl = (description: string, about: About = {}) =>
  optionalText(description, {
    values: 'ws or wss URL',
    ...about,
    pattern: '^wss?://[^\\s]+$',
    addresses: true,
  });

type Bounds = readonly [minimum: number, maximum: number];

export const integer = (
  fallback: number,
  [minimum, maximum]: Bounds,
  description: string,
  about: About = {},
) => Type.Integer({ minimum, maximum, default: fallback, ...described(description, about) });
export const number = (
  fallback: number,
  bounds: { readonly minimum?: number; readonly exclusiveMinimum?: number; readonly maximum: number },
  description: string,
) => Type.Number({ ...bounds, default: fallback, description });

const oneOf = <const T extends string>(options: readonly T[], about: TSchemaOptions) =>
  Type.Unsafe<T>(
    Type.Union(
      options.map((option) => Type.Literal(option)),
      about,
    ),
  );
export const choice = <const T extends string>(
  options: readonly T[],
  fallback: NoInfer<T>,
  description: string,
) => oneOf(options, { default: fallback, description });
export const optionalChoice = <const T extends string>(
  options: readonly T[],
  description: string,
  about: About = {},
) => Type.Optional(oneOf(options, described(description, about)));
export const flag = (fallback: 'on' | 'off', description: string) =>
  choice(['on', 'off'], fallback, description);

/** `a,b` → its parts. */
export const listed = (given: string | undefined): readonly string[] =>
  given === undefined ? [] : given.split(',');

export const withoutSlash = (address: string): string => address.replace(/\/+$/, '');

/** Requires settings without which others mean nothing. @throws ConfigError that names all that are missing */
export function required<E extends object, const Name extends keyof E & string>(
  environment: E,
  because: string,
  names: readonly Name[],
): { readonly [N in Name]: NonNullable<E[N]> } {
  const missing = names.filter((name) => environment[name] === undefined);
  if (missing.length > 0) throw new ConfigError(`${because} needs ${missing.join(', ')}.`);
  return environment as never;
}
