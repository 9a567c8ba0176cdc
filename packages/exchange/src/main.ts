/**
 * The paper exchange by itself, behind its doors: `npm run exchange`. It wires and nothing else. The keys of its
 * accounts derive from MASTER_KEY exactly as in the service, so both may run on one database, one after the other.
 */
import { hkdfSync } from 'node:crypto';
import { nobleRecover } from '@bellwether/protocol';
import { fastify } from 'fastify';
import postgres from 'postgres';
import { EXCHANGE_KEYS_SCHEMA, polymarketDoor, VenueKeys } from './doors/polymarket/index.ts';
import { migrateExchange, openExchange } from './index.ts';

const CLOB_PREFIX = '/paper/clob';

interface Settings {
  readonly databaseUrl: string;
  readonly masterKey: Buffer;
  readonly host: string;
  readonly port: number;
  readonly seed: string;
  readonly speed: number;
  readonly chainId: number;
}

/** @throws Error with a sentence that names the variable. */
function readSettings(env: NodeJS.ProcessEnv): Settings {
  const number = (name: string, fallback: number): number => {
    const value = Number(env[name] || fallback);
    if (!(value >= 0)) throw new Error(`${name} must be a number, not "${env[name]}".`);
    return value;
  };
  if (!env.DATABASE_URL)
    throw new Error('DATABASE_URL is required: the PostgreSQL (15 or later) to keep the journal in.');
  if (!/^[0-9a-fA-F]{64}$/.test(env.MASTER_KEY ?? ''))
    throw new Error(
      'MASTER_KEY is required: 32 random bytes as 64 hex digits, e.g. from "openssl rand -hex 32".',
    );
  return {
    databaseUrl: env.DATABASE_URL,
    masterKey: Buffer.from(env.MASTER_KEY!, 'hex'),
    host: env.HOST || '127.0.0.1',
    port: number('PORT', 8081),
    seed: env.PAPER_SEED || '1',
    speed: number('PAPER_SPEED', 1),
    chainId: number('CHAIN_ID', 137),
  };
}

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const sql = postgres(settings.databaseUrl, { max: 5, max_lifetime: null, onnotice: () => {} });
  const [desk] = await sql`select to_regclass('safeguards') is not null as here`;
  if (desk?.here) {
    // What this process would fill or expire there would never reach the desk's own records.
    throw new Error(
      'this database belongs to a desk, which runs the exchange itself; give this one a database of its own',
    );
  }
  await migrateExchange(sql);
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  const exchange = await openExchange({
    sql,
    seed: settings.seed,
    speed: settings.speed,
    log: (message, details) => console.error(message, details ?? ''),
  });
  const secret = new Uint8Array(
    hkdfSync('sha256', settings.masterKey, 'bellwether', 'paper venue keys v1', 32),
  );
  const app = fastify();
  await app.register(polymarketDoor, {
    prefix: CLOB_PREFIX,
    exchange,
    keys: new VenueKeys({ sql, secret }),
    recover: nobleRecover,
    chainId: settings.chainId,
    now: Date.now,
  });
  const address = await app.listen({ host: settings.host, port: settings.port });
  console.log(`The paper exchange is ready: ${address}${CLOB_PREFIX} (simulated money)`);

  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    await app.close();
    await exchange.close();
    await sql.end({ timeout: 5 });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

await main().catch((error: unknown) => {
  console.error(`The paper exchange cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
