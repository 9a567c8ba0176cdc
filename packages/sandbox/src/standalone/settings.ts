/**
 * The settings of the standalone exchange, from its environment, and the database that they name: a server, or an
 * embedded one in a data folder of its own, which is watched while the exchange runs. Without any setting the exchange
 * starts with a database of its own.
 */

import { randomUUID } from 'node:crypto';
import { openPool, refusePooler, type Sql, socketUrl } from '@bellwether/durable';
import {
  type EmbeddedPostgres,
  readMasterKeyFile,
  startEmbeddedPostgres,
  watchEmbedded,
} from '@bellwether/durable/embedded';
import { migrateExchange } from '@bellwether/exchange';
import {
  EXCHANGE_KEYS_SCHEMA,
  type FaultPlan,
  NO_FAULTS,
  parseFaultPlan,
} from '@bellwether/exchange/doors/polymarket';
import { RELAYED_SCHEMA } from '@bellwether/exchange/doors/relayer';
import { SANDBOX_SCHEMA } from '../sandbox.ts';

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

// The database.

export interface Database {
  readonly sql: Sql;
  readonly masterKey: Buffer;
  /** For people. */
  readonly where: string;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly settings: Pick<Settings, 'databaseUrl' | 'dataDir' | 'masterKey'>;
  readonly log: (message: string, details?: unknown) => void;
  /** The embedded server is gone and does not start again. */
  readonly onLost: (error: Error) => void;
}

const CONNECTIONS = 10;
const END_WITHIN_S = 1;
const STOP_WITHIN_MS = 5_000;
/** The names of connections of services and of exchanges begin with it. */
const NAMES = 'bellwether ';

/** @throws Error with a sentence, after which nothing of it runs */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { databaseUrl, masterKey } = options.settings;
  if (databaseUrl === null) return openEmbedded(options);
  const sql = openPool(databaseUrl, { max: CONNECTIONS });
  const close = () => sql.end({ timeout: END_WITHIN_S });
  try {
    await refusePooler(sql);
    if (await isDesks(sql))
      throw new Error(
        'the database of DATABASE_URL belongs to a desk, which runs the exchange itself; use another one',
      );
    await migrate(sql);
  } catch (error) {
    await close();
    throw error;
  }
  if (masterKey === null) throw new Error('DATABASE_URL needs MASTER_KEY beside it');
  return { sql, masterKey, where: 'the server of DATABASE_URL', close };
}

async function openEmbedded({ settings, log, onLost }: DatabaseOptions): Promise<Database> {
  const { dataDir } = settings;
  const postgres = await startEmbeddedPostgres({ dataDir });
  const name = `${NAMES}exchange ${randomUUID()}`;
  const sql = openPool(socketUrl(postgres, postgres.database), { max: CONNECTIONS, applicationName: name });
  let isShared = false;
  try {
    isShared = await isInUse(sql, name);
    if (isShared)
      throw new Error(
        `another Bellwether is running on ${dataDir}; stop it, or set DATA_DIR to another folder`,
      );
    if (await isDesks(sql))
      throw new Error(
        `the folder ${dataDir} belongs to a desk, which runs the exchange itself; set DATA_DIR to another folder`,
      );
    await migrate(sql);
  } catch (error) {
    await sql.end({ timeout: END_WITHIN_S });
    // The other process would lose its database.
    if (!isShared) await postgres.stop(STOP_WITHIN_MS);
    throw error;
  }
  const watch = watchEmbedded({
    postgres,
    onLost,
    log: {
      warn: (context, message) => log(message, context),
      error: (context, message) => log(message, context),
    },
  });
  return {
    sql,
    masterKey: settings.masterKey ?? readMasterKeyFile(dataDir),
    where: nameOf(postgres, dataDir),
    async close() {
      watch.stop();
      await sql.end({ timeout: END_WITHIN_S });
      await postgres.stop(STOP_WITHIN_MS);
    },
  };
}

function nameOf({ how, dataDir: home }: EmbeddedPostgres, dataDir: string): string {
  const note = how === 'unprivileged copy' ? ` (as an unprivileged user, in ${home})` : '';
  return `embedded PostgreSQL in ${dataDir}${note}`;
}

async function isInUse(sql: Sql, ownName: string): Promise<boolean> {
  const [other] = await sql`
    select 1 from pg_stat_activity where datname = current_database()
      and application_name like ${`${NAMES}%`} and application_name <> ${ownName}`;
  return other !== undefined;
}

/** A desk's records would never receive the fills and expiries of this process. */
async function isDesks(sql: Sql): Promise<boolean> {
  const [desk] = await sql`select to_regclass('safeguards') is not null as here`;
  return desk?.here === true;
}

async function migrate(sql: Sql): Promise<void> {
  await migrateExchange(sql);
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  await sql.unsafe(RELAYED_SCHEMA);
  await sql.unsafe(SANDBOX_SCHEMA);
}
