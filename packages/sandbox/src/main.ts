/**
 * The standalone paper exchange with its doors: `npm run exchange`. It only wires. The keys of its accounts derive from
 * MASTER_KEY exactly as in the service, so both may use one database, one after the other.
 */
import { hkdfSync } from 'node:crypto';
import { formatMicro } from '@bellwether/contract/decimals';
import { openPool } from '@bellwether/durable';
import { migrateExchange, openExchange, systemClock } from '@bellwether/exchange';
import { gammaDoor } from '@bellwether/exchange/doors/gamma';
import {
  addressBuckets,
  charge,
  type DoorGuard,
  guardDoor,
  NulInUrl,
  sayWhen,
  TooManyRequests,
} from '@bellwether/exchange/doors/limits';
import { EXCHANGE_KEYS_SCHEMA, polymarketDoor, VenueKeys } from '@bellwether/exchange/doors/polymarket';
import { exchangeDomains, nobleRecover, parseSolanaAddress } from '@bellwether/protocol';
import { type FastifyError, type FastifyInstance, fastify } from 'fastify';
import {
  ALL_SANDBOX_DOORS,
  MAX_PARAM_CHARS,
  openSandbox,
  registerSandboxDoors,
  SANDBOX_PATHS,
  SANDBOX_SCHEMA,
  type Sandbox,
} from './sandbox.ts';

const CLOB_PREFIX = '/paper/clob';
const GAMMA_PREFIX = '/paper/gamma';
const FAUCET_PATH = '/paper/faucet';
/** Initial balance of a Solana wallet: 10,000 USDC, and one SOL for fees. */
const FAUCET_COLLATERAL = 10_000_000_000n;
const FAUCET_LAMPORTS = 1_000_000_000n;
const BODY_BYTES = 64 * 1024;
/** Per network address, at any door. */
const TOKENS_PER_SECOND = 50;
const BURST = 100;
/** Wallets per network address for which the faucet may be asked: its gifts are stored permanently. */
const GIFTS_PER_DAY = 50;
const DAY_S = 86_400;
/** As at the venue. */
const GTD_MIN_LEAD_S = 180;
/** A request must be complete by then. */
const RECEIVE_TIMEOUT_MS = 20_000;
/** Without a byte in either direction. */
const IDLE_TIMEOUT_MS = 120_000;

interface Settings {
  readonly databaseUrl: string;
  readonly masterKey: Buffer;
  readonly host: string;
  readonly port: number;
  readonly seed: string;
  readonly speed: number;
  readonly chainId: number;
  readonly orderVersion: 1 | 2;
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
    orderVersion: orderVersionOf(env.VENUE_A_ORDER_PROFILE || 'interface'),
  };
}

/** @throws Error */
function orderVersionOf(profile: string): 1 | 2 {
  if (profile !== 'interface' && profile !== 'polymarket')
    throw new Error(`VENUE_A_ORDER_PROFILE must be interface or polymarket, not "${profile}".`);
  return profile === 'interface' ? 1 : 2;
}

async function main(): Promise<void> {
  const settings = readSettings(process.env);
  const sql = openPool(settings.databaseUrl, { max: 5 });
  const [desk] = await sql`select to_regclass('safeguards') is not null as here`;
  if (desk?.here) {
    // Fills and expiries of this process would never reach the desk's records.
    throw new Error(
      'this database belongs to a desk, which runs the exchange itself; use a separate database here',
    );
  }
  await migrateExchange(sql);
  await sql.unsafe(EXCHANGE_KEYS_SCHEMA);
  await sql.unsafe(SANDBOX_SCHEMA);
  const log = (message: string, details?: unknown): void => console.error(message, details ?? '');
  const exchange = await openExchange({
    sql,
    seed: settings.seed,
    speed: settings.speed,
    log,
  });
  const sandbox = await openSandbox({
    ...{ sql, exchange, log },
    seed: settings.seed,
    clock: systemClock,
    switches: { maintenance: 'schedule' },
  });
  const secret = new Uint8Array(
    hkdfSync('sha256', settings.masterKey, 'bellwether', 'paper venue keys v1', 32),
  );
  const app = fastify({
    bodyLimit: BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    requestTimeout: RECEIVE_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
  });
  const guard = addressBuckets({ perSecond: TOKENS_PER_SECOND, burst: BURST, now: Date.now });
  await app.register(polymarketDoor, {
    prefix: CLOB_PREFIX,
    exchange: () => exchange,
    keys: new VenueKeys({ sql, secret }),
    recover: nobleRecover,
    chainId: settings.chainId,
    domains: exchangeDomains(settings.chainId),
    gtdMinLeadS: GTD_MIN_LEAD_S,
    limitsSigners: true,
    now: Date.now,
    orderVersion: settings.orderVersion,
    guard,
  });
  await app.register(gammaDoor, { prefix: GAMMA_PREFIX, exchange: () => exchange, guard });
  await registerSandboxDoors(app, { find: () => sandbox, guard, doors: ALL_SANDBOX_DOORS });
  await app.register(async (door) => faucetRoute(door, sandbox, guard));
  const address = await app.listen({ host: settings.host, port: settings.port });
  console.log(`The paper exchange is ready: ${address}${CLOB_PREFIX} (simulated money)`);
  console.log(
    `Solana wallets: ${Object.values(SANDBOX_PATHS).join(', ')}; USDC: POST ${FAUCET_PATH} {"address"}`,
  );

  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    await app.close();
    await sandbox.close();
    await exchange.close();
    await sql.end({ timeout: 5 });
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function faucetRoute(app: FastifyInstance, sandbox: Sandbox, guard: DoorGuard): void {
  guardDoor(app, guard);
  const gifts = addressBuckets({ perSecond: GIFTS_PER_DAY / DAY_S, burst: GIFTS_PER_DAY, now: Date.now });
  app.setErrorHandler((error: FastifyError | TooManyRequests | NulInUrl, _request, reply) => {
    if (error instanceof TooManyRequests) return sayWhen(reply, error).send({ error: error.message });
    const status = error instanceof NulInUrl ? 400 : (error.statusCode ?? 500);
    if (status >= 500) console.error('the faucet failed', error);
    return reply.code(status).send({ error: status < 500 ? error.message : 'internal error' });
  });
  app.post(FAUCET_PATH, async (request, reply) => {
    const { address } = (request.body ?? {}) as { readonly address?: unknown };
    const wallet = typeof address === 'string' ? parseSolanaAddress(address) : null;
    if (wallet === null)
      return reply.code(400).send({ error: 'address must be a Solana wallet: base58 of 32 bytes' });
    await charge(gifts, request, 1);
    await sandbox.venue.credit(wallet, FAUCET_COLLATERAL, FAUCET_LAMPORTS);
    return { address: wallet, collateral: formatMicro(FAUCET_COLLATERAL), lamports: String(FAUCET_LAMPORTS) };
  });
}

await main().catch((error: unknown) => {
  console.error(`The paper exchange cannot start: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
