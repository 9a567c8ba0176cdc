/**
 * The database of the standalone exchange: a server that was named, or an embedded one in a data folder of its own, which
 * is watched while the exchange runs.
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
import { EXCHANGE_KEYS_SCHEMA } from '@bellwether/exchange/doors/polymarket';
import { RELAYED_SCHEMA } from '@bellwether/exchange/doors/relayer';
import { SANDBOX_SCHEMA } from '../sandbox.ts';
import type { Settings } from './settings.ts';

export interface Database {
  readonly sql: Sql;
  readonly masterKey: Buffer;
  /** For people. */
  readonly where: string;
  close(): Promise<void>;
}

export interface DatabaseOptions {
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
