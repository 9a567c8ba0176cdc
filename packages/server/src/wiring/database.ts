/** The service's database: a server that was named, or the embedded one, which is watched as long as the service runs. */
import {
  type EmbeddedPostgres,
  type EmbeddedWatch,
  startEmbeddedPostgres,
  watchEmbedded,
} from '@bellwether/durable/embedded';
import { EXCHANGE_SCHEMA } from '@bellwether/exchange';
import { EXCHANGE_KEYS_SCHEMA } from '@bellwether/exchange/doors/polymarket';
import { RELAYED_SCHEMA } from '@bellwether/exchange/doors/relayer';
import { SANDBOX_SCHEMA } from '@bellwether/sandbox';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import {
  openPool,
  type PoolOptions,
  refuseLoneCommits,
  refusePooler,
  type Sql,
  socketUrl,
} from '../platform/database/connection.ts';
import { type DatabasePulse, startPulse } from '../platform/database/database-pulse.ts';
import { migrate } from '../platform/database/migrate.ts';
import { countOtherReplicas, replicaName } from '../platform/database/replica-watch.ts';
import type { Stops } from './stopping.ts';

interface Database {
  readonly sql: Sql;
  /** For people. */
  readonly where: string;
  /** Whether it is known to be away: then no part waits for it, not even to stop. */
  isAway(): boolean;
  /** Its probe needs the tables. */
  readonly pulse: DatabasePulse;
  /** Lets go of the pool, which by then is empty or will never be. */
  close(): Promise<void>;
  /** Ends the embedded server; nothing where the server is somebody else's. */
  stop(withinMs: number): Promise<void>;
}

interface DatabaseParts {
  readonly config: Config;
  readonly replicaId: string;
  /** Names of the master keys that this process knows. */
  readonly keyNames: readonly string[];
  readonly log: Logger;
  readonly onStatement?: PoolOptions['onStatement'];
  /** The embedded server, when somebody has begun to start it. */
  readonly postgres?: Promise<EmbeddedPostgres>;
  /** The embedded server is gone and does not start again. */
  readonly onLost: (error: Error) => void;
}

/** Schemas of the parts that share the database; each may be applied again at any time. */
export const SCHEMAS = [EXCHANGE_SCHEMA, EXCHANGE_KEYS_SCHEMA, RELAYED_SCHEMA, SANDBOX_SCHEMA];

const STOP_POOL_MS = 1_000;
const STOP_DATABASE_MS = 5_000;
const END_WITHIN_S = 1;
/** A pulse that is late by this much says more than that the machine is busy. */
const AWAY_MS = 2_000;

/** The database with the tables of this release, watched until `stops` run. */
export async function startDatabase({
  stops,
  ...parts
}: DatabaseParts & { readonly stops: Stops }): Promise<Database> {
  const url = parts.config.databaseUrl;
  const database = await (url === null ? openEmbedded(parts) : openGiven(parts, url));
  stops.watch(database.isAway);
  stops.push('database', STOP_DATABASE_MS, database.stop);
  stops.push('pool', STOP_POOL_MS, database.close);
  await migrate(database.sql, SCHEMAS);
  return database;
}

async function openGiven(parts: DatabaseParts, url: string): Promise<Database> {
  const sql = pool(parts, url);
  const pulse = startPulse({
    sql,
    // Statements that wait for an answer fail and are asked anew, on connections that may find a server that lives.
    onSilence: () => {
      parts.log.error({}, 'the database does not answer; its connections are given up');
      sql.dropConnections(new Error('the database kept silent'));
    },
  });
  const close = async () => {
    pulse.stop();
    await sql.end({ timeout: END_WITHIN_S });
  };
  try {
    await refusePooler(sql);
    if (!parts.config.databaseMayLoseCommits) await refuseLoneCommits(sql, url);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ...{ sql, pulse, close },
    where: 'the server of DATABASE_URL',
    isAway: () => pulse.status() !== 'ready',
    async stop() {},
  };
}

async function openEmbedded(parts: DatabaseParts): Promise<Database> {
  const { config, replicaId, log } = parts;
  const embedded = await (parts.postgres ?? startEmbeddedPostgres({ dataDir: config.dataDir }));
  const sql = pool(parts, socketUrl(embedded, embedded.database));
  let others = 0;
  try {
    // It is ours alone: another service on the same folder would fight over it.
    if (embedded.adopted) others = await countOtherReplicas(sql, replicaId);
    if (others > 0)
      throw new Error(
        `Another Bellwether is running on ${config.dataDir}. Stop it, or give this one its own DATA_DIR.`,
      );
  } catch (error) {
    await sql.end({ timeout: END_WITHIN_S });
    // The other would lose its database.
    if (others > 0) embedded.release();
    else await embedded.stop(STOP_DATABASE_MS);
    throw error;
  }
  const watch: EmbeddedWatch = watchEmbedded({ postgres: embedded, onLost: parts.onLost, log });
  const pulse = startPulse({ sql, onSilence: watch.silent });
  const adopted = embedded.adopted ? ', adopted from a service that died' : '';
  const note =
    embedded.how === 'unprivileged copy' ? ` (as an unprivileged user, in ${embedded.dataDir})` : '';
  return {
    ...{ sql, pulse },
    where: `embedded PostgreSQL in ${config.dataDir}${adopted}${note}`,
    isAway: () => !embedded.isAlive() || pulse.silentMs() >= AWAY_MS,
    async close() {
      watch.stop();
      pulse.stop();
      await sql.end({ timeout: END_WITHIN_S });
    },
    stop: (withinMs) => embedded.stop(withinMs),
  };
}

function pool({ config, replicaId, keyNames, onStatement }: DatabaseParts, url: string): Sql {
  return openPool(url, {
    applicationName: replicaName(replicaId, keyNames),
    max: config.databasePool,
    ...(onStatement === undefined ? {} : { onStatement }),
  });
}
