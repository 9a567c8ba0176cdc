/**
 * How a setting is declared, beside what it configures: its values, its default, one sentence of description. The table of all
 * settings is config.ts, which also writes docs/configuration.md and every error.
 */
import { type Static, type TObject, type TProperties, type TSchemaOptions, Type } from 'typebox';
import { Value } from 'typebox/value';

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

interface About {
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

// Checks the environment by the settings that are declared: every name, and every value by itself.

/** Every variable of all groups: the documentation's table is made from this. */
export const schemaOf = (groups: readonly Pick<SettingsGroup, 'variables'>[]) =>
  Type.Object(Object.assign({}, ...groups.map(({ variables }) => variables)) as TProperties);

type Schema = ReturnType<typeof schemaOf>;

interface CheckedEnvironment {
  /** Without the settings that are wrong, so that the rest can be looked at as a whole. */
  readonly values: object;
  /** Sentences. */
  readonly problems: readonly string[];
  /** The settings that the problems are about. */
  readonly named: ReadonlySet<string>;
}

interface Rule {
  readonly type?: string;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly 'x-because'?: string;
  readonly 'x-addresses'?: boolean;
}

const ruleOf = ({ properties }: Schema, name: string): Rule | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined;

/** Values are not rounded: 80.5 is not a port. */
const NUMERIC = new Set<string | undefined>(['integer', 'number']);
const NUMBER = /^-?\d+(\.\d+)?$/;

export function checkEnvironment(
  groups: readonly Pick<SettingsGroup, 'variables' | 'prefixes'>[],
  source: Readonly<Record<string, string | undefined>>,
): CheckedEnvironment {
  const schema = schemaOf(groups);
  const spelling = spellingOf(groups, Object.keys(schema.properties));
  const given: Record<string, string | number> = {};
  const problems: string[] = [];
  const named = new Set<string>();
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || value === '') continue;
    const rule = ruleOf(schema, name);
    if (rule !== undefined) {
      given[name] = NUMERIC.has(rule.type) && NUMBER.test(value) ? Number(value) : value;
    } else if (spelling.isOurs(name)) {
      const meant = spelling.nearest(name);
      named.add(meant);
      problems.push(`${name} is not a setting of this service. Did you mean ${meant}?`);
    }
  }
  const wrong = wrongValues(schema, given);
  if (wrong.length > 0) problems.push(`${[...new Set(wrong.map(({ text }) => text))].join('; ')}.`);
  for (const { name } of wrong) {
    named.add(name);
    delete given[name];
  }
  for (const name of brokenAddresses(schema, given)) {
    problems.push(`${name} has an address that is no URL: look at its host and port.`);
    named.add(name);
    delete given[name];
  }
  return { values: Value.Default(schema, given) as object, problems, named };
}

const wrongValues = (schema: Schema, given: Readonly<Record<string, unknown>>) =>
  Value.Errors(schema, Value.Default(schema, { ...given })).map(({ instancePath, message }) => {
    const name = instancePath.slice(1);
    return { name, text: expectation(name, ruleOf(schema, name), message) };
  });

/** Says what a value must be. For a choice, the validator's message does not list the options. */
function expectation(name: string, rule: Rule | undefined, message: string): string {
  const { anyOf: options, 'x-because': reason }: Rule = rule ?? {};
  const wanted =
    options === undefined
      ? message
      : `must be one of ${options.map((each) => String(each.const)).join(', ')}`;
  return `${name} ${wanted}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The settings with addresses that their patterns let pass, and that nothing can call. */
const brokenAddresses = (schema: Schema, given: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(given)
    .filter(([name]) => ruleOf(schema, name)?.['x-addresses'] === true)
    .filter(([, value]) => !listed(String(value)).every((address) => URL.canParse(address)))
    .map(([name]) => name);

/** Shorter names are within an edit of too much that is not meant for this service. */
const LEAST_NAME_CHARS = 7;
/** Many other programs read it. */
const OF_OTHERS = 'LOGLEVEL';
const plain = (name: string): string => name.replaceAll('_', '').toUpperCase();

function spellingOf(groups: readonly Pick<SettingsGroup, 'prefixes'>[], settings: readonly string[]) {
  const prefixes = groups.flatMap((group) => group.prefixes);
  /** The setting that a name spells in another way, or with one letter too many, missing, replaced or swapped. */
  const misspelt = (name: string): string | undefined => {
    const given = plain(name);
    if (given.length < LEAST_NAME_CHARS || name === OF_OTHERS) return undefined;
    return settings.find((setting) => isOneEdit(given, plain(setting)));
  };
  const shared = (a: string, b: string) => [...a].filter((c, i) => b[i] === c).length;
  return {
    /** Whether a name that is no setting is meant for this service. */
    isOurs: (name: string): boolean =>
      prefixes.some((prefix) => name.startsWith(prefix)) || misspelt(name) !== undefined,
    /** The setting that it most likely means. */
    nearest: (name: string): string =>
      misspelt(name) ??
      settings.reduce((one, other) => (shared(name, other) > shared(name, one) ? other : one)),
  };
}

function isOneEdit(a: string, b: string): boolean {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < most - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [left, right] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isSwap = left.length === 2 && left === [...right].toReversed().join('');
  return isSwap || (left.length <= 1 && right.length <= 1);
}
