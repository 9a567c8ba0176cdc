/**
 * The quote venue's sandbox: the chain, the venue on it, and their doors, which answer in the process (`request`) and
 * over HTTP (`registerSandboxDoors`). Both paths run the same code.
 */
import type { Sql } from '@bellwether/durable';
import type { Clock, JournalledExchange } from '@bellwether/exchange';
import type { Guarded } from '@bellwether/exchange/doors/limits';
import type { Relay } from '@bellwether/exchange/doors/web-sockets';
import { type FastifyInstance, fastify } from 'fastify';
import {
  DFLOW_SANDBOX_SCHEMA,
  type DflowSandbox,
  dflowMetadataDoor,
  dflowTradeDoor,
  LANDING,
  loadTransactions,
  openDflowSandbox,
  type Switches,
} from './dflow/index.ts';
import { forgetHistory } from './history.ts';
import { SANDBOX_PATHS } from './paths.ts';
import {
  askChain,
  openChain,
  type PreparedThread,
  prepareThread,
  type RpcAnswer,
  SANDBOX_CHAIN_SCHEMA,
  type SandboxChain,
  solanaRpcDoor,
} from './solana/index.ts';

export type { DoorGuard } from '@bellwether/exchange/doors/limits';
export type { Switches } from './dflow/index.ts';
export { SANDBOX_PATHS } from './paths.ts';
export type { RpcAnswer } from './solana/index.ts';

export const SANDBOX_SCHEMA = `${SANDBOX_CHAIN_SCHEMA}\n${DFLOW_SANDBOX_SCHEMA}`;

/** Longer than any ticker, so that an unknown name of any length gets the door's own 404. */
export const MAX_PARAM_CHARS = 300;

export interface SandboxOptions {
  /** A pool on a database that has EXCHANGE_SCHEMA and SANDBOX_SCHEMA. */
  readonly sql: Sql;
  /** This process leads it while the sandbox is open: its book is the sandbox's liquidity. */
  readonly exchange: JournalledExchange;
  /** The world's seed; the sandbox's keys and mints derive from it. */
  readonly seed: string;
  readonly clock: Clock;
  readonly switches: Partial<Switches>;
  /** See HistoryOptions. */
  readonly awaited?: string;
  readonly log: (message: string, details?: unknown) => void;
  /** Parts that `prepareSandbox` has begun to load; else they are loaded now. */
  readonly prepared?: PreparedSandbox | null;
}

/** A sandbox's parts that are loaded before it can be opened. It writes nothing, and another process may have the sandbox open. */
export interface PreparedSandbox extends Pick<PreparedThread, 'ready' | 'end'> {
  readonly thread: PreparedThread;
}

export interface SandboxRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface SandboxResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Sandbox {
  readonly venue: DflowSandbox;
  readonly chain: SandboxChain;
  /** Gives the same answers as the doors over HTTP. Only path and query of the URL matter. */
  request(request: SandboxRequest): Promise<SandboxResponse>;
  /** The chain's answer to one JSON-RPC call of the desk, the same as its door gives. */
  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer>;
  close(): Promise<void>;
}

type Find = () => Pick<Sandbox, 'venue' | 'chain'> | null;

export interface SandboxDoors {
  /** `null` while another process leads the sandbox: the doors then answer with that error. */
  readonly find: Find;
  /** `null`: the desk itself is the caller. */
  readonly guard: Guarded;
  /** For sockets, where another process may lead the sandbox. */
  readonly relay?: Relay;
  /** The doors to register. */
  readonly doors: ReadonlySet<'dflow' | 'solana'>;
}

export const ALL_SANDBOX_DOORS: SandboxDoors['doors'] = new Set(['dflow', 'solana']);

export async function registerSandboxDoors(
  app: FastifyInstance,
  { find, guard, doors, relay }: SandboxDoors,
): Promise<void> {
  const sandbox = () => find()?.venue ?? null;
  if (doors.has('dflow')) {
    await app.register(dflowMetadataDoor, { prefix: SANDBOX_PATHS.metadata, sandbox, guard });
    await app.register(dflowTradeDoor, { prefix: SANDBOX_PATHS.trade, sandbox, guard });
  }
  if (doors.has('solana'))
    await app.register(solanaRpcDoor, {
      prefix: SANDBOX_PATHS.rpc,
      chain: () => find()?.chain ?? null,
      guard,
      relay,
    });
}

const FORGET_EVERY_MS = 60_000;

/** @returns ends it */
function keepForgetting(
  parts: Pick<SandboxOptions, 'sql' | 'clock' | 'log'> & {
    readonly chain: SandboxChain;
    readonly awaited: string | null;
  },
): () => void {
  const { sql, chain, clock, awaited, log } = parts;
  const over = new AbortController();
  let isRunning = false;
  const ticker = clock.every(FORGET_EVERY_MS, () => {
    if (isRunning || !chain.isOpen()) return;
    isRunning = true;
    forgetHistory({ sql, awaited, signal: over.signal }, chain.blocks().slot)
      .catch((error: unknown) => {
        if (!over.signal.aborted)
          log('the history of the sandbox chain could not be shortened', { err: error });
      })
      .finally(() => {
        isRunning = false;
      });
  });
  return () => {
    ticker.stop();
    over.abort();
  };
}

/** Begins to load the code and the virtual machine, so that opening only has to read the chain. */
export function prepareSandbox(sql: Sql): PreparedSandbox {
  const thread = prepareThread(sql);
  const ready = Promise.all([thread.ready, loadTransactions()]).then(() => {});
  ready.catch(() => {});
  return { thread, ready, end: thread.end };
}

export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { sql, exchange, seed, clock, switches, awaited = null, log, prepared = null } = options;
  // The chain's thread loads its code while this one loads what the venue builds transactions with.
  const [chain] = await Promise.all([
    openChain({ sql, seed, clock, log, landing: LANDING }, prepared?.thread),
    loadTransactions(),
  ]);
  try {
    const venue = await openDflowSandbox({ sql, exchange, chain, seed, clock, switches, log });
    const doors = fastify({ routerOptions: { maxParamLength: MAX_PARAM_CHARS } });
    await registerSandboxDoors(doors, {
      find: () => ({ venue, chain }),
      guard: null,
      doors: ALL_SANDBOX_DOORS,
    });
    await doors.ready();
    const stopForgetting = keepForgetting({ sql, chain, clock, awaited, log });
    return {
      venue,
      chain,
      async request({ method, url, headers, body }) {
        const { pathname, search } = new URL(url, 'http://sandbox');
        const answer = await doors.inject({
          method,
          url: pathname + search,
          headers: { ...headers },
          ...(body === undefined ? {} : { payload: body }),
        });
        return {
          status: answer.statusCode,
          headers: Object.fromEntries(
            Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
          ),
          body: answer.body,
        };
      },
      ask: (method, params) => askChain(chain, method, params),
      async close() {
        stopForgetting();
        await doors.close();
        await venue.close();
        await chain.close();
      },
    };
  } catch (error) {
    await chain.close();
    throw error;
  }
}
