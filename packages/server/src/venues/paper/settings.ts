/** The paper exchange and the sandbox on its book: their world, their money, their doors and how they behave. */
import {
  ConfigError,
  choice,
  type EnvironmentOf,
  flag,
  integer,
  number,
  refuseAll,
  text,
} from '../../platform/settings.ts';

/** A door of a venue, as PAPER_DOORS opens and shuts it. */
interface DoorTerms {
  readonly name: string;
  readonly isOpenByDefault: boolean;
  readonly isShutBecause?: string;
}

const variables = {
  PAPER_DOORS: text(
    'auto',
    'The doors that speak the venues’ own protocols and ask for no agent key: `auto`, `on` (all), `off` (none), or a comma-separated list of `clob`, `dflow`, `solana`. `clob` is all of venue A’s. `auto`: `clob` wherever venue A is paper; `dflow` and `solana` where venue B is paper, too, and HOST is a loopback address.',
  ),
  PAPER_SEED: integer(
    1,
    [0, 4_294_967_295],
    'Seed of the simulated world. Read once, when the database is new.',
  ),
  PAPER_V2_MARKETS: choice(
    ['none', 'few', 'third'],
    'few',
    'How many markets of the simulated world are of the venue’s Protocol V2: none, eight, or a third. Read once, when the database is new.',
  ),
  PAPER_SPEED: number(1, { minimum: 0.001, maximum: 100_000 }, 'World time per wall time.'),
  PAPER_WORLD: flag('on', 'Off stops the simulated world: house quotes do not change and no market ends.'),
  PAPER_GTD_MIN_LEAD_S: integer(180, [0, 86_400], 'Seconds that a GTD order’s expiration must lie ahead.'),
  PAPER_B_FILL: choice(
    ['auto', 'partial', 'revert', 'never'],
    'auto',
    'How the sandbox of venue B fills orders.',
  ),
  PAPER_B_FILL_DELAY_MS: integer(
    600,
    [0, 600_000],
    'Milliseconds from an order on the sandbox chain to its fill.',
  ),
  PAPER_B_MAINTENANCE: choice(
    ['off', 'on', 'schedule'],
    'off',
    'Whether the sandbox is closed for maintenance; `schedule` is Kalshi’s own window, Thursday 3 to 5 in New York.',
  ),
  PAPER_B_KYC: choice(
    ['off', 'required'],
    'off',
    'Whether wallets that buy on the sandbox must be verified: a wallet is once the link that its key signed was opened at `/paper/dflow/trade/proof`, until the sandbox starts anew.',
  ),
  PAPER_B_GEOBLOCK: choice(
    ['off', 'on'],
    'off',
    'Whether the sandbox refuses its callers because of their country.',
  ),
  PAPER_FAUCET_PER_DAY: integer(
    10_000,
    [0, 1_000_000_000],
    'Collateral that the faucet gives an address per UTC day.',
  ),
  SIMULATION_BALANCE: number(
    10_000,
    { minimum: 0, maximum: 1_000_000_000 },
    'Collateral that a wallet is credited when it is first registered.',
  ),
};

type Environment = EnvironmentOf<typeof variables>;

export const paperSettings = {
  variables,
  prefixes: ['PAPER_', 'SIMULATION_'],
  make: (env: Environment) => ({
    paper: {
      seed: env.PAPER_SEED,
      speed: env.PAPER_SPEED,
      v2Share: env.PAPER_V2_MARKETS,
      world: env.PAPER_WORLD === 'on',
      gtdMinLeadS: env.PAPER_GTD_MIN_LEAD_S,
      faucetPerDay: env.PAPER_FAUCET_PER_DAY,
      sandbox: {
        fill: env.PAPER_B_FILL,
        fillDelayMs: env.PAPER_B_FILL_DELAY_MS,
        maintenance: env.PAPER_B_MAINTENANCE,
        kyc: env.PAPER_B_KYC,
        geoblock: env.PAPER_B_GEOBLOCK,
      },
      simulationBalance: env.SIMULATION_BALANCE,
    },
  }),
};

/**
 * Which of the doors that venues declare are open.
 *
 * @param given PAPER_DOORS
 * @throws ConfigError
 */
export function openDoors(given: string, doors: readonly DoorTerms[]): ReadonlySet<string> {
  const names = doors.map(({ name }) => name);
  const possible = doors.filter(({ isShutBecause }) => isShutBecause === undefined);
  if (given === 'off') return new Set();
  if (given === 'on') return new Set(possible.map(({ name }) => name));
  if (given === 'auto')
    return new Set(possible.filter((door) => door.isOpenByDefault).map(({ name }) => name));
  const named = given.split(',');
  if (!named.every((name) => names.includes(name)))
    throw new ConfigError(
      `PAPER_DOORS must be auto, on, off, or some of ${names.join(', ')}, separated by commas; not "${given}".`,
    );
  refuseAll(
    doors
      .filter(({ name, isShutBecause }) => named.includes(name) && isShutBecause !== undefined)
      .map(({ name, isShutBecause }) => `PAPER_DOORS names ${name}, but ${isShutBecause}.`),
  );
  return new Set(named);
}
