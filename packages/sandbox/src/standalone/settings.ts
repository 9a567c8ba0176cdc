/** The environment of the standalone exchange. Without any of it the exchange starts with a database of its own. */
import { type FaultPlan, NO_FAULTS, parseFaultPlan } from '@bellwether/exchange/doors/polymarket';

export interface Settings {
  /** `null`: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** `null`: kept in a file of `dataDir`. */
  readonly masterKey: Buffer | null;
  readonly host: string;
  readonly port: number;
  readonly seed: string;
  readonly speed: number;
  readonly v2Share: 'none' | 'few' | 'third';
  readonly chainId: number;
  readonly orderVersion: 1 | 2;
  /** Requests per second and network address, at any door; twice as many at once. */
  readonly requestsPerSecond: number;
  readonly faults: FaultPlan;
  /** Opens the control route; `null`: there is none. */
  readonly controlKey: string | null;
}

/** Not the desk's: each would find the other's records in its database. */
const DATA_DIR = './exchange-data';

/** @throws Error with a sentence that names the variable. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const number = (name: string, fallback: number): number => {
    const value = Number(env[name] || fallback);
    if (!(value >= 0)) throw new Error(`${name} must be a number, not "${env[name]}".`);
    return value;
  };
  if (env.MASTER_KEY && !/^[0-9a-fA-F]{64}$/.test(env.MASTER_KEY))
    throw new Error('MASTER_KEY must be 32 random bytes as 64 hex digits, e.g. from "openssl rand -hex 32".');
  if (env.DATABASE_URL && !env.MASTER_KEY)
    throw new Error(
      'DATABASE_URL needs MASTER_KEY beside it: 32 random bytes as 64 hex digits, e.g. from "openssl rand -hex 32".',
    );
  return {
    databaseUrl: env.DATABASE_URL || null,
    dataDir: env.DATA_DIR || DATA_DIR,
    masterKey: env.MASTER_KEY ? Buffer.from(env.MASTER_KEY, 'hex') : null,
    host: env.HOST || '127.0.0.1',
    port: number('PORT', 8081),
    seed: env.PAPER_SEED || '1',
    speed: number('PAPER_SPEED', 1),
    v2Share: v2ShareOf(env.PAPER_V2_MARKETS || 'few'),
    chainId: number('CHAIN_ID', 137),
    orderVersion: orderVersionOf(env.VENUE_A_ORDER_PROFILE || 'interface'),
    requestsPerSecond: requestsOf(number('PAPER_REQUESTS_PER_S', 50)),
    faults: faultsOf(env.PAPER_FAULTS),
    controlKey: controlKeyOf(env.PAPER_CONTROL_KEY),
  };
}

function v2ShareOf(share: string): 'none' | 'few' | 'third' {
  if (share !== 'none' && share !== 'few' && share !== 'third')
    throw new Error(`PAPER_V2_MARKETS must be none, few or third, not "${share}".`);
  return share;
}

function orderVersionOf(profile: string): 1 | 2 {
  if (profile !== 'interface' && profile !== 'polymarket')
    throw new Error(`VENUE_A_ORDER_PROFILE must be interface or polymarket, not "${profile}".`);
  return profile === 'interface' ? 1 : 2;
}

/** @throws Error */
function requestsOf(value: number): number {
  if (value >= 1) return value;
  throw new Error('PAPER_REQUESTS_PER_S must be at least 1.');
}

/** @throws Error */
function faultsOf(text: string | undefined): FaultPlan {
  if (!text) return NO_FAULTS;
  try {
    return parseFaultPlan(text);
  } catch (error) {
    throw new Error(`PAPER_FAULTS: ${(error as Error).message}.`);
  }
}

const LEAST_KEY_CHARS = 16;

/** @throws Error */
function controlKeyOf(key: string | undefined): string | null {
  if (!key) return null;
  if (key.length < LEAST_KEY_CHARS)
    throw new Error(`PAPER_CONTROL_KEY must have at least ${LEAST_KEY_CHARS} characters.`);
  return key;
}
