/**
 * The standalone paper exchange with its doors, the venue in a box: `npm run exchange`. It only wires. The keys of its
 * accounts derive from the master key exactly as in the service.
 */
import { hkdfSync } from 'node:crypto';
import { whilePassing } from '@bellwether/durable';
import { openExchange, systemClock } from '@bellwether/exchange';
import { dataDoor } from '@bellwether/exchange/doors/data';
import { gammaDoor } from '@bellwether/exchange/doors/gamma';
import { addressBuckets } from '@bellwether/exchange/doors/limits';
import {
  Faults,
  polymarketDoor,
  polymarketSocketDoor,
  VenueKeys,
} from '@bellwether/exchange/doors/polymarket';
import { createRelayedStore, relayerDoor } from '@bellwether/exchange/doors/relayer';
import { exchangeDomains, nobleRecover } from '@bellwether/protocol';
import { fastify } from 'fastify';
import {
  ALL_SANDBOX_DOORS,
  MAX_PARAM_CHARS,
  openSandbox,
  registerSandboxDoors,
  SANDBOX_PATHS,
} from './sandbox.ts';
import { CONTROL_PATH, controlDoor, FAUCET_PATH, faucetDoor } from './standalone/doors.ts';
import { type Database, openDatabase, readSettings, type Settings } from './standalone/settings.ts';

const CLOB_PREFIX = '/paper/clob';
const GAMMA_PREFIX = '/paper/gamma';
const DATA_PREFIX = '/paper/data';
const SOCKETS_PREFIX = '/paper/ws';
const RELAYER_PREFIX = '/paper/relayer';
const BODY_BYTES = 64 * 1024;
/** Seconds' worth of requests that an address may send at once. */
const BURST_S = 2;
/** As at the venue. */
const GTD_MIN_LEAD_S = 180;
/** A request must be complete by then. */
const RECEIVE_TIMEOUT_MS = 20_000;
/** Without a byte in either direction. */
const IDLE_TIMEOUT_MS = 120_000;
/** The process exits this long after a signal, even if the shutdown hangs. */
const END_WITHIN_MS = 9_500;

type Close = () => Promise<unknown>;

const log = (message: string, details?: unknown): void => console.error(message, details ?? '');

interface Parts {
  readonly settings: Settings;
  /** Receives what ends each part, as soon as the part is open. */
  readonly closing: Close[];
  readonly onLost: (error: Error) => void;
}

async function start({ settings, closing, onLost }: Parts): Promise<string> {
  const database = await openDatabase({ settings, log, onLost });
  closing.push(database.close);
  const { sql, masterKey } = database;
  const { seed, speed, v2Share } = settings;
  const faults = new Faults(Date.now, settings.faults);
  const exchange = await openExchange({
    ...{ sql, seed, speed, v2Share, log },
    failingTrades: ({ number }) => faults.fails(number),
  });
  closing.push(() => exchange.close());
  const sandbox = await openSandbox({
    ...{ sql, exchange, log, seed },
    clock: systemClock,
    switches: { maintenance: 'schedule' },
  });
  closing.push(() => sandbox.close());
  const secret = new Uint8Array(hkdfSync('sha256', masterKey, 'bellwether', 'paper venue keys v1', 32));
  const app = fastify({
    bodyLimit: BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    requestTimeout: RECEIVE_TIMEOUT_MS,
    connectionTimeout: IDLE_TIMEOUT_MS,
    forceCloseConnections: true,
  });
  const { requestsPerSecond: perSecond } = settings;
  const guard = addressBuckets({ perSecond, burst: perSecond * BURST_S, now: Date.now });
  const keys = new VenueKeys({ sql, secret });
  await app.register(polymarketDoor, {
    prefix: CLOB_PREFIX,
    exchange: () => exchange,
    keys,
    recover: nobleRecover,
    chainId: settings.chainId,
    domains: exchangeDomains(settings.chainId),
    gtdMinLeadS: GTD_MIN_LEAD_S,
    limitsSigners: true,
    now: Date.now,
    orderVersion: settings.orderVersion,
    guard,
    faults,
  });
  await app.register(gammaDoor, { prefix: GAMMA_PREFIX, exchange: () => exchange, guard });
  await app.register(dataDoor, { prefix: DATA_PREFIX, exchange: () => exchange, now: Date.now, guard });
  await app.register(polymarketSocketDoor, {
    prefix: SOCKETS_PREFIX,
    find: () => exchange,
    keys,
    now: Date.now,
    guard,
    faults,
  });
  await app.register(relayerDoor, {
    ...{ prefix: RELAYER_PREFIX, exchange: () => exchange, keys, relayed: createRelayedStore(sql) },
    ...{ recover: nobleRecover, chainId: settings.chainId, now: Date.now, guard, faults },
  });
  await registerSandboxDoors(app, { find: () => sandbox, guard, doors: ALL_SANDBOX_DOORS });
  await app.register(faucetDoor, { exchange, sandbox, guard });
  const { controlKey } = settings;
  if (controlKey !== null)
    await app.register(async (door) => controlDoor(door, { faults, guard, key: controlKey }));
  const address = await app.listen({ host: settings.host, port: settings.port });
  closing.push(() => app.close());
  return banner(address, database, settings);
}

function banner(address: string, { where }: Database, { orderVersion, controlKey }: Settings): string {
  const { rpc, metadata, trade } = SANDBOX_PATHS;
  const seconds = (performance.now() / 1000).toFixed(1);
  return `The paper exchange is ready (${seconds} s), with simulated money

  CLOB        ${address}${CLOB_PREFIX}  (orders of version ${orderVersion})
  Gamma       ${address}${GAMMA_PREFIX}
  Data API    ${address}${DATA_PREFIX}
  Relayer     ${address}${RELAYER_PREFIX}
  sockets     ${address.replace('http', 'ws')}${SOCKETS_PREFIX}/market and /user
  DFlow       ${address}${metadata}
              ${address}${trade}
  Solana      ${address}${rpc}  (wsEndpoint ${address.replace('http', 'ws')}${rpc}/ws)
  faucet      POST ${address}${FAUCET_PATH}  {"address": a wallet of either kind}
${controlKey === null ? '' : `  faults      PUT ${address}${CONTROL_PATH}\n`}  database    ${where}

Try it, in another terminal:
  curl '${address}${GAMMA_PREFIX}/markets?limit=1'
  curl -X POST ${address}${FAUCET_PATH} -H 'content-type: application/json' -d '{"address":"0x…"}'`;
}

/** The message when it cannot start: one sentence, no stack. */
function explain(error: unknown): string {
  const fault = error as NodeJS.ErrnoException & { readonly port?: number };
  if (fault.code === 'EADDRINUSE')
    return `Port ${fault.port} is taken. Stop what is listening there, or set PORT to another.`;
  return fault.message || String(error);
}

/** Begins again where the database, or what is read from it, is in a state that passes. */
const startPatiently = (parts: Parts, signal: AbortSignal): Promise<string> =>
  whilePassing(
    async () => {
      try {
        return await start(parts);
      } catch (error) {
        await closeAll(parts.closing);
        throw error;
      }
    },
    {
      hasServer: parts.settings.databaseUrl === null,
      passing: ['ExchangeUnavailable', 'SandboxChainUnavailable'],
      onWait: (state) => log(`The paper exchange begins its start again: ${state}`),
      signal,
    },
  );

async function closeAll(closing: Close[]): Promise<boolean> {
  let isClean = true;
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) {
    try {
      await close();
    } catch (error) {
      isClean = false;
      log('something did not stop cleanly', error);
    }
  }
  return isClean;
}

async function main(): Promise<void> {
  const closing: Close[] = [];
  let stopping = false;
  let starting: Promise<string> | undefined;
  const ending = new AbortController();
  // npm repeats a signal that the terminal has already sent: the second must not interrupt the shutdown.
  const end = async (code: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    ending.abort();
    setTimeout(() => process.exit(1), END_WITHIN_MS);
    // A part that is still being opened could not be closed.
    await starting?.catch(() => {});
    process.exit((await closeAll(closing)) ? code : 1);
  };
  process.on('SIGTERM', () => end(0));
  process.on('SIGINT', () => end(0));
  try {
    const onLost = (error: Error) => {
      console.error(`The paper exchange ends: ${explain(error)}`);
      end(1);
    };
    starting = startPatiently({ settings: readSettings(process.env), closing, onLost }, ending.signal);
    const text = await starting;
    if (!stopping) console.log(text);
  } catch (error) {
    if (stopping) return;
    console.error(`The paper exchange cannot start: ${explain(error)}`);
    end(1);
  }
}

await main();
