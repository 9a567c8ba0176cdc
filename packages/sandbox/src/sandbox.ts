/**
 * The quote venue's sandbox: the chain, the venue on it, and their doors, which answer in the process (`request`) and
 * over HTTP (`registerSandboxDoors`). Both paths run the same code.
 */

import { setTimeout as sleep } from 'node:timers/promises';
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
import { SANDBOX_PATHS } from './paths.ts';
import {
  askChain,
  openChain,
  type PreparedThread,
  prepareThread,
  RECENT_SLOTS,
  type RpcAnswer,
  SANDBOX_CHAIN_SCHEMA,
  type SandboxChain,
  SLOT_MS,
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

// Forgets old transactions, as a node does: the chain's history and the venue's ended orders are kept for two days of
// blocks. What somebody may still ask for is kept longer: the last blocks before a stop, open orders, and every signature
// that the desk has not settled. It deletes in small steps, so that it delays no request.

export const HISTORY_SLOTS = (2 * 86_400_000) / SLOT_MS;
const ROWS_PER_STEP = 500;
/** Between two steps: at most some thousand rows a second. */
const STEP_PAUSE_MS = 100;

interface HistoryOptions {
  readonly sql: Sql;
  /** A query of the signatures that the embedder still asks for, as its only column. */
  readonly awaited: string | null;
  /** Ends it between two steps. */
  readonly signal: AbortSignal;
}

/** @param slot the newest one. @returns the number of transactions that were forgotten */
export async function forgetHistory(options: HistoryOptions, slot: number): Promise<number> {
  let forgotten = 0;
  while (!options.signal.aborted) {
    const some = await forgetSome(options, slot - HISTORY_SLOTS);
    forgotten += some;
    if (some < ROWS_PER_STEP) break;
    await sleep(STEP_PAUSE_MS);
  }
  return forgotten;
}

async function forgetSome({ sql, awaited }: HistoryOptions, before: number): Promise<number> {
  const isAwaited =
    awaited === null
      ? sql``
      : sql`and not exists (select 1 from (${sql.unsafe(awaited)}) a (signature) where a.signature = t.signature)`;
  const [row] = await sql`
    with old as (
      select signature from sandbox_transactions t
      where slot < least(${before}::bigint, (select max(slot) from sandbox_transactions) - ${RECENT_SLOTS}::bigint)
        and not exists (select 1 from sandbox_orders o where o.signature = t.signature and o.status = 'open')
        ${isAwaited}
      order by slot limit ${ROWS_PER_STEP}
    ), gone as (
      delete from sandbox_transactions where signature in (select signature from old) returning signature
    ), orders as (
      delete from sandbox_orders where signature in (select signature from gone) and status <> 'open'
    )
    update sandbox_chain set forgotten = forgotten + (select count(*) from gone)
    returning (select count(*)::int from gone) as gone`;
  return row?.gone ?? 0;
}
