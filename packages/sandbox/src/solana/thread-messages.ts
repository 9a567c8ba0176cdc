/** Messages between the chain's thread and the others. All of them survive a structured clone. */

import { openPool, type PoolAddress, type Sql } from '@bellwether/durable';
import { AirdropRefused, type ChainCalls, SandboxChainUnavailable } from './chain-interface.ts';
import type { BlockOrigin } from './slots.ts';

export type CallName = keyof ChainCalls;

/** Unique per call; its answer carries the same id. */
export type CallMessage = {
  [Name in CallName]: {
    readonly kind: 'call';
    readonly id: number;
    readonly name: Name;
    readonly args: Parameters<ChainCalls[Name]>;
    /** The chain's time: its thread has no clock. */
    readonly nowMs: number;
    /** The newest slot that the sender has shown to anybody: the chain's own clock must not be behind it. */
    readonly slot: number;
    /** External calls wait until the desk's calls have started. */
    readonly isExternal: boolean;
  };
}[CallName];

export type ToChain =
  /** The first message but pings: the thread opens the chain. */
  | ({ readonly kind: 'open' } & Opening)
  | CallMessage
  /** A thread that is not stuck answers immediately. */
  | { readonly kind: 'ping'; readonly nowMs: number }
  | { readonly kind: 'close' };

/** `superseded`: another process has opened the chain, and this one stops using it. */
export type ChainState =
  | { readonly kind: 'open'; readonly blocks: BlockOrigin }
  | { readonly kind: 'reading' | 'superseded' };

export type FromChain =
  /** It has loaded what it needs to open a chain. */
  | { readonly kind: 'prepared' }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: ErrorFacts }
  | { readonly kind: 'state'; readonly state: ChainState }
  /** The first opening of the chain failed, and the thread ends. */
  | { readonly kind: 'unopened'; readonly error: ErrorFacts }
  /** Everything is committed, and the term is over; the thread ends. */
  | { readonly kind: 'closed' }
  | { readonly kind: 'landed' }
  | { readonly kind: 'pong' }
  | { readonly kind: 'log'; readonly message: string; readonly details: unknown };

export interface ThreadData {
  readonly database: DatabaseAddress;
}

export interface Opening {
  readonly seed: string;
  readonly landing: string | null;
  readonly name: string;
  readonly generation: number;
  readonly resume: boolean;
  readonly nowMs: number;
}

/** A structured clone loses classes; those that callers distinguish are restored. */
interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly landed: SandboxChainUnavailable['landed'] | null;
  /** Of a fault of the database or the system. */
  readonly code: string | null;
}

export function factsOf(error: unknown): ErrorFacts {
  const { name, message, code } = (error instanceof Error ? error : new Error(String(error))) as Error & {
    readonly code?: unknown;
  };
  return {
    name,
    message,
    landed: error instanceof SandboxChainUnavailable ? error.landed : null,
    code: typeof code === 'string' ? code : null,
  };
}

export function errorFrom({ name, message, landed, code }: ErrorFacts): Error {
  if (landed !== null) return new SandboxChainUnavailable(landed, message);
  if (name === 'AirdropRefused') return new AirdropRefused(message);
  if (name === 'RangeError') return new RangeError(message);
  return code === null ? new Error(message) : Object.assign(new Error(message), { code });
}

// The address of the chain's database as data: the thread opens its own connections.

type DatabaseAddress = PoolAddress;

/** One session writes; reads of the history use the others. */
const READERS = 2;

export const addressOf = (sql: Sql): DatabaseAddress => sql.address();

export const openDatabase = ({ url, options }: DatabaseAddress): Sql =>
  openPool(url, { ...options, max: READERS });
