/** What the chain's thread and the others say to each other. Everything here survives a structured clone. */
import type { DatabaseAddress } from './database-address.ts';
import { AirdropRefused, type ChainCalls, SandboxChainUnavailable } from './types.ts';

export type CallName = keyof ChainCalls;

/** One for each call; its answer carries the same id. */
export type CallMessage = {
  [Name in CallName]: {
    readonly kind: 'call';
    readonly id: number;
    readonly name: Name;
    readonly args: Parameters<ChainCalls[Name]>;
    /** The chain's time: its thread has no clock of its own. */
    readonly nowMs: number;
    /** Strangers wait for the desk. */
    readonly isStranger: boolean;
  };
}[CallName];

export type ToChain =
  | CallMessage
  /** Answered at once by a thread that is not stuck. */
  | { readonly kind: 'ping'; readonly nowMs: number }
  | { readonly kind: 'close' };

export type FromChain =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failure'; readonly id: number; readonly error: ErrorFacts }
  | { readonly kind: 'state'; readonly state: 'open' | 'reading' | 'superseded' }
  /** It could not be opened for the first time, and the thread ends. */
  | { readonly kind: 'unopened'; readonly error: ErrorFacts }
  | { readonly kind: 'landed' }
  | { readonly kind: 'pong' }
  | { readonly kind: 'log'; readonly message: string; readonly details: unknown };

export interface ThreadData {
  readonly database: DatabaseAddress;
  readonly seed: string;
  readonly landing: string | null;
  readonly name: string;
  readonly generation: number;
  readonly resume: boolean;
  readonly nowMs: number;
}

/** Classes do not survive the way between threads; the ones that a caller tells apart are made again. */
export interface ErrorFacts {
  readonly name: string;
  readonly message: string;
  readonly landed: SandboxChainUnavailable['landed'] | null;
}

export function factsOf(error: unknown): ErrorFacts {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message, landed: error instanceof SandboxChainUnavailable ? error.landed : null };
}

export function errorFrom({ name, message, landed }: ErrorFacts): Error {
  if (landed !== null) return new SandboxChainUnavailable(landed, message);
  if (name === 'AirdropRefused') return new AirdropRefused(message);
  if (name === 'RangeError') return new RangeError(message);
  return new Error(message);
}
