/** The paper exchange and the sandbox on its book: their world, their money, their doors and how they behave. */
import {
  ConfigError,
  choice,
  type EnvironmentOf,
  flag,
  integer,
  number,
  optionalText,
  refuseAll,
  text,
} from '../../platform/settings.ts';

const variables = {
  PAPER_DOORS: text(
    'auto',
    'The doors that speak the venues’ own protocols and ask for no agent key: `auto`, `on` (all), `off` (none), or a comma-separated list of `clob`, `dflow`, `solana`. `clob` is all of venue A’s. `auto`: `clob` wherever venue A is paper; `dflow` and `solana` where venue B is paper, too, and HOST is a loopback address.',
  ),
  PAPER_MARKETS: choice(
    ['simulated', 'live'],
    'simulated',
    'Which markets are traded on paper: those of the simulated world, or those of the live venue at POLYMARKET_…_URL, with its books, trades and outcomes ([going-live.md](going-live.md)). A database belongs to one of them for good; venue B on paper has no markets beside live ones.',
  ),
  PAPER_SEED: integer(
    1,
    [0, 4_294_967_295],
    'Seed of the simulated world. Read once, when the database is new.',
  ),
  PAPER_V2_MARKETS: choice(
    ['few', 'third'],
    'few',
    'How many markets of the simulated world are of the venue’s Protocol V2: six, or a third. Read once, when the database is new.',
  ),
  PAPER_SPEED: number(1, { minimum: 0.001, maximum: 100_000 }, 'World time per wall time.'),
  PAPER_WORLD: flag('on', 'Off stops the simulated world: house quotes do not change and no market ends.'),
  PAPER_GTD_MIN_LEAD_S: integer(180, [0, 86_400], 'Seconds that a GTD order’s expiration must lie ahead.'),
  PAPER_FAULTS: optionalText(
    'JSON. The faults that venue A’s doors show, to test clients against them: [doors.md](doors.md). Only on paper, and only while PUBLIC_URL is this machine.',
  ),
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
    'Whether buyers on the sandbox must be verified; no buyer is.',
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

type Environment = EnvironmentOf<typeof variables> & {
  readonly VENUE_A_BACKEND: 'paper' | 'live';
  readonly VENUE_B_BACKEND: 'paper' | 'live';
  readonly HOST: string;
  readonly PUBLIC_URL?: string;
};

const DOORS = ['clob', 'dflow', 'solana'] as const;
/** Named in PAPER_DOORS, and by the paths under /paper that they serve. */
export type PaperDoor = (typeof DOORS)[number];

const isDoor = (name: string): name is PaperDoor => DOORS.some((door) => door === name);

export const paperSettings = {
  variables,
  prefixes: ['PAPER_', 'SIMULATION_'],
  make(env: Environment) {
    const isLive = env.VENUE_A_BACKEND === 'live';
    const hasFaults = env.PAPER_FAULTS !== undefined;
    refuseAll([
      isLive &&
        env.PAPER_MARKETS === 'live' &&
        'PAPER_MARKETS=live is for venue A on paper, but VENUE_A_BACKEND is live.',
      isLive && hasFaults && 'PAPER_FAULTS is for the paper venue, but VENUE_A_BACKEND=live.',
      // Others who reach the service must not meet a venue that lies on purpose.
      hasFaults &&
        env.PUBLIC_URL !== undefined &&
        !LOOPBACK.test(new URL(env.PUBLIC_URL).hostname) &&
        'PAPER_FAULTS is for tests on this machine, but PUBLIC_URL names another host.',
    ]);
    return {
      paper: {
        doors: paperDoors(env),
        markets: env.PAPER_MARKETS,
        seed: env.PAPER_SEED,
        speed: env.PAPER_SPEED,
        v2Share: env.PAPER_V2_MARKETS,
        world: env.PAPER_WORLD === 'on',
        gtdMinLeadS: env.PAPER_GTD_MIN_LEAD_S,
        faucetPerDay: env.PAPER_FAUCET_PER_DAY,
        /** JSON. */
        faults: env.PAPER_FAULTS ?? null,
        sandbox: {
          fill: env.PAPER_B_FILL,
          fillDelayMs: env.PAPER_B_FILL_DELAY_MS,
          maintenance: env.PAPER_B_MAINTENANCE,
          kyc: env.PAPER_B_KYC,
          geoblock: env.PAPER_B_GEOBLOCK,
        },
        simulationBalance: env.SIMULATION_BALANCE,
      },
    };
  },
};

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/i;

const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/i;

/** The sandbox chain and its venue give money and computing time to any caller: by default only this machine has access. */
function paperDoors({
  PAPER_DOORS,
  HOST,
  VENUE_A_BACKEND,
  VENUE_B_BACKEND,
}: Environment): ReadonlySet<PaperDoor> {
  // The doors of a venue that is live here would be mistaken for it.
  const doors = DOORS.filter((door) => door !== 'clob' || VENUE_A_BACKEND === 'paper');
  switch (PAPER_DOORS) {
    case 'off':
      return new Set();
    case 'on':
      return new Set(doors);
    case 'auto': {
      const isSandboxOpen = VENUE_B_BACKEND === 'paper' && LOOPBACK_HOST.test(HOST);
      return new Set(doors.filter((door) => door === 'clob' || isSandboxOpen));
    }
  }
  const named = PAPER_DOORS.split(',');
  if (!named.every(isDoor))
    throw new ConfigError(
      `PAPER_DOORS must be auto, on, off, or some of ${DOORS.join(', ')}, separated by commas; not "${PAPER_DOORS}".`,
    );
  if (named.includes('clob') && VENUE_A_BACKEND === 'live')
    throw new ConfigError('PAPER_DOORS names clob, but venue A is live.');
  return new Set(named);
}
