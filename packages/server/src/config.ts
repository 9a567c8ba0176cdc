/**
 * The table of all settings, each declared beside what it configures, and the environment read by it, once. Wrong and unknown
 * values stop the service with sentences that name them all; nothing else reads `process.env`.
 */
import { feeSettings } from './fees/settings.ts';
import { marketSettings } from './markets/settings.ts';
import { operatorSettings } from './operator/settings.ts';
import { databaseSettings } from './platform/database/settings.ts';
import { httpSettings, rateLimitSettings } from './platform/http/settings.ts';
import { systemSettings, tracingSettings } from './platform/process-settings.ts';
import { ConfigError, checkEnvironment, type SettingsGroup, schemaOf } from './platform/settings.ts';
import { streamSettings } from './streams/settings.ts';
import type { ConfiguredVenue, VenueDeclaration } from './venues/configured.ts';
import { openDoors, paperSettings } from './venues/paper/settings.ts';
import { RESERVED_NAMES, venueSettings } from './venues/settings.ts';
import { webhookSettings } from './webhooks/settings.ts';
import { VENUES } from './wiring/venue-registry.ts';

/** In the order of docs/configuration.md, in which the venues' own follow. */
const GROUPS = [
  httpSettings,
  rateLimitSettings,
  systemSettings,
  databaseSettings,
  operatorSettings,
  feeSettings,
  webhookSettings,
  streamSettings,
  marketSettings,
  tracingSettings,
  paperSettings,
  venueSettings,
] as const satisfies readonly SettingsGroup[];

type Both<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;
type Group = (typeof GROUPS)[number];
type Environment = Both<Parameters<Group['make']>[0]>;
type Made = Both<ReturnType<Group['make']>>;

export type Config = Omit<Made, 'paper'> & {
  /** In the order of the registry. */
  readonly venues: readonly ConfiguredVenue[];
  /** The venue of requests that name none. */
  readonly defaultVenue: string;
  readonly paper: Made['paper'] & {
    /** The names of those that are open. */
    readonly doors: ReadonlySet<string>;
  };
};

/** Name, meaning and default of every variable. */
export const ENVIRONMENT = schemaOf([...GROUPS, ...VENUES]);

/**
 * @throws ConfigError with everything that is wrong: names that are misspelt, values that their settings do not take, and what
 * does not fit together
 */
export function readConfig(
  source: Readonly<Record<string, string | undefined>>,
  venues: readonly VenueDeclaration[] = VENUES,
): Config {
  const { values, problems: found, named } = checkEnvironment([...GROUPS, ...venues], source);
  const problems = [...found];
  const config = assemble(values as Environment, venues, (sentence) => {
    // A consequence of a known problem is not reported again.
    if (!sentence.split(/[^A-Z0-9_]+/).some((word) => named.has(word))) problems.push(sentence);
  });
  if (problems.length > 0) throw new ConfigError(problems.join(' '));
  return config;
}

/** Lets each subject make its part. `refuse` is called for each that cannot: the configuration is then incomplete. */
function assemble(
  environment: Environment,
  declared: readonly VenueDeclaration[],
  refuse: (sentence: string) => void,
): Config {
  const tried = <T>(make: () => T): T[] => {
    try {
      return [make()];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      refuse(error.message);
      return [];
    }
  };
  const all: Made = Object.assign(
    {},
    ...GROUPS.flatMap((group) => tried<object>(() => group.make(environment))),
  );
  const venues = declared.flatMap(({ make }) => tried(() => make(environment as never)));
  const names = namesOf(environment, declared, refuse);
  const terms = venues.flatMap((venue) => venue.doors);
  // The doors of a venue that was refused are not known.
  const isWhole = venues.length === declared.length;
  const [doors = new Set<string>()] = tried(() =>
    openDoors(isWhole ? environment.PAPER_DOORS : 'off', terms),
  );
  return {
    ...all,
    venues,
    defaultVenue: environment.DEFAULT_VENUE ?? (names[0] as string),
    paper: { ...all.paper, doors },
  };
}

/** The venues' names, which must differ from each other and from what they would be taken for. */
function namesOf(
  environment: Environment,
  declared: readonly VenueDeclaration[],
  refuse: (sentence: string) => void,
): readonly string[] {
  const given = declared.map(({ nameVariable: variable }) => ({
    variable,
    name: (environment as unknown as Readonly<Record<string, string>>)[variable] as string,
  }));
  for (const [nth, { variable, name }] of given.entries()) {
    const same = given.slice(0, nth).find((earlier) => earlier.name === name);
    if (same !== undefined) refuse(`${same.variable} and ${variable} must differ.`);
    if (RESERVED_NAMES.has(name))
      refuse(`${variable}=${name} is the first segment of a route or a reserved word; choose another name.`);
  }
  return given.map(({ name }) => name);
}
