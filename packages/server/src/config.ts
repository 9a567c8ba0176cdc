/**
 * The table of all settings, each declared beside what it configures, and the environment parsed by it, once. Wrong and unknown
 * values stop the service with sentences that name them all; nothing else reads `process.env`.
 */
import { type TProperties, Type } from 'typebox';
import { Value } from 'typebox/value';
import { feeSettings } from './fees/settings.ts';
import { marketSettings } from './markets/settings.ts';
import { operatorSettings } from './operator/settings.ts';
import { databaseSettings } from './platform/database/settings.ts';
import { rateLimitSettings } from './platform/http/rate-limit-settings.ts';
import { httpSettings } from './platform/http/settings.ts';
import { ConfigError, listed, type SettingsGroup } from './platform/settings.ts';
import { systemSettings } from './platform/system/settings.ts';
import { tracingSettings } from './platform/tracing-settings.ts';
import { streamSettings } from './streams/settings.ts';
import { dflowSettings } from './venues/dflow/settings.ts';
import { paperSettings } from './venues/paper/settings.ts';
import { polymarketSettings, polymarketUrls } from './venues/polymarket/settings.ts';
import { venueSettings } from './venues/settings.ts';
import { webhookSettings } from './webhooks/settings.ts';

/** In the order of docs/configuration.md. */
const GROUPS = [
  httpSettings,
  rateLimitSettings,
  systemSettings,
  databaseSettings,
  operatorSettings,
  venueSettings,
  polymarketSettings,
  dflowSettings,
  feeSettings,
  paperSettings,
  webhookSettings,
  streamSettings,
  marketSettings,
  tracingSettings,
] as const satisfies readonly SettingsGroup[];

type Both<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Group = (typeof GROUPS)[number];
type Environment = Both<Parameters<Group['make']>[0]>;
type Made = Both<ReturnType<Group['make']>>;

export type Config = Omit<Made, 'paper'> & {
  /** The venue of requests that name none. */
  readonly defaultVenue: string;
  /** The live venue whose markets are traded on paper; `null`: those of the simulated world. */
  readonly paper: Omit<Made['paper'], 'markets'> & {
    readonly markets: ReturnType<typeof polymarketUrls> | null;
  };
};

const variables = (): TProperties => Object.assign({}, ...GROUPS.map((group) => group.variables));

/** Name, meaning and default of every variable: the documentation's table is made from this. */
export const ENVIRONMENT = Type.Object(variables());

interface Rule {
  readonly type?: string;
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly 'x-because'?: string;
  readonly 'x-addresses'?: boolean;
}

const ruleOf = (name: string): Rule | undefined =>
  Object.hasOwn(ENVIRONMENT.properties, name) ? ENVIRONMENT.properties[name] : undefined;

/** Values are not rounded: 80.5 is not a port. */
const NUMERIC = new Set<string | undefined>(['integer', 'number']);
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * @throws ConfigError with everything that is wrong: names that are misspelt, values that their settings do not take, and what
 * does not fit together
 */
export function readConfig(source: Readonly<Record<string, string | undefined>>): Config {
  const given: Record<string, string | number> = {};
  const problems: string[] = [];
  /** The settings that a problem is about: what does not fit them is not reported again. */
  const known = new Set<string>();
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || value === '') continue;
    const rule = ruleOf(name);
    if (rule !== undefined) {
      given[name] = NUMERIC.has(rule.type) && NUMBER.test(value) ? Number(value) : value;
    } else if (isOurs(name)) {
      const meant = nearest(name);
      known.add(meant);
      problems.push(`${name} is not a setting of this service. Did you mean ${meant}?`);
    }
  }
  const wrong = wrongValues(given);
  if (wrong.length > 0) problems.push(`${[...new Set(wrong.map(({ text }) => text))].join('; ')}.`);
  for (const { name } of wrong) {
    known.add(name);
    delete given[name];
  }
  for (const name of brokenAddresses(given)) {
    problems.push(`${name} has an address that is no URL: look at its host and port.`);
    known.add(name);
    delete given[name];
  }
  // What is known to be wrong is left out, so that the rest can be looked at as a whole.
  const environment = Value.Default(ENVIRONMENT, given) as Environment;
  const made = assemble(environment, (sentence) => {
    if (!sentence.split(/[^A-Z0-9_]+/).some((word) => known.has(word))) problems.push(sentence);
  });
  if (problems.length > 0) throw new ConfigError(problems.join(' '));
  return made;
}

const wrongValues = (given: Readonly<Record<string, unknown>>) =>
  Value.Errors(ENVIRONMENT, Value.Default(ENVIRONMENT, { ...given })).map(({ instancePath, message }) => {
    const name = instancePath.slice(1);
    return { name, text: expectation(name, message) };
  });

/** Says what a value must be. For a choice, the validator's message does not list the options. */
function expectation(name: string, message: string): string {
  const { anyOf: options, 'x-because': reason }: Rule = ruleOf(name) ?? {};
  const wanted =
    options === undefined
      ? message
      : `must be one of ${options.map((each) => String(each.const)).join(', ')}`;
  return `${name} ${wanted}${reason === undefined ? '' : `: ${reason}`}`;
}

/** The settings with addresses that their patterns let pass, and that nothing can call. */
const brokenAddresses = (given: Readonly<Record<string, unknown>>): string[] =>
  Object.entries(given)
    .filter(([name]) => ruleOf(name)?.['x-addresses'] === true)
    .filter(([, value]) => !listed(String(value)).every((address) => URL.canParse(address)))
    .map(([name]) => name);

/** Not allowed as venue names: first path segments, and words with another meaning where a venue is named. */
const RESERVED = new Set([
  'all',
  'venues',
  'events',
  'internal',
  'agents',
  'agent',
  'owner',
  'operator',
  'markets',
  'wallet',
  'webhooks',
  'paper',
  'docs',
  'venueb',
  'healthz',
  'readyz',
  'metrics',
  'aiagent',
  'openapi.json',
  'llms.txt',
]);

/** Lets each subject make its part. `refuse` is called for each that cannot: the configuration is then incomplete. */
function assemble(environment: Environment, refuse: (sentence: string) => void): Config {
  const tried = <T extends object>(make: () => T): Partial<T> => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      refuse(error.message);
      return {};
    }
  };
  const made = GROUPS.map((group) => tried(() => group.make(environment)));
  const { VENUE_A_NAME, VENUE_B_NAME } = environment;
  if (VENUE_A_NAME === VENUE_B_NAME) refuse('VENUE_A_NAME and VENUE_B_NAME must differ.');
  for (const name of ['VENUE_A_NAME', 'VENUE_B_NAME'] as const) {
    if (RESERVED.has(environment[name]))
      refuse(
        `${name}=${environment[name]} is the first segment of a route or a reserved word; choose another name.`,
      );
  }
  const all: Made = Object.assign({}, ...made);
  const isLive = environment.PAPER_MARKETS === 'live';
  return {
    ...all,
    defaultVenue: environment.DEFAULT_VENUE ?? VENUE_A_NAME,
    paper: { ...all.paper, markets: isLive ? polymarketUrls(environment) : null },
  };
}

/** Shorter names are within an edit of too much that is not meant for this service. */
const LEAST_NAME_CHARS = 7;
/** Many other programs read it. */
const OF_OTHERS = 'LOGLEVEL';
const plain = (name: string): string => name.replaceAll('_', '').toUpperCase();
const NAMES = Object.keys(ENVIRONMENT.properties);
const PREFIXES = GROUPS.flatMap<string>(({ prefixes }) => prefixes);

/** Whether a name that is no setting is meant for this service. */
const isOurs = (name: string): boolean =>
  PREFIXES.some((prefix) => name.startsWith(prefix)) || misspelt(name) !== undefined;

/** The setting that a name spells in another way, or with one letter too many, missing, replaced or swapped. */
function misspelt(name: string): string | undefined {
  const given = plain(name);
  if (given.length < LEAST_NAME_CHARS || name === OF_OTHERS) return undefined;
  return NAMES.find((setting) => isOneEdit(given, plain(setting)));
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

/** The setting that an unknown name most likely means. */
function nearest(name: string): string {
  const shared = (a: string, b: string) => [...a].filter((c, i) => b[i] === c).length;
  const best = NAMES.reduce((one, other) => (shared(name, other) > shared(name, one) ? other : one));
  return misspelt(name) ?? best;
}
