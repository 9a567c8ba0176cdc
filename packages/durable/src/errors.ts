/**
 * Errors between the service and its database, and which of them pass by themselves. None of them contains a
 * parameter's value.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseError as ServerFault } from 'pg';

/** The connection was lost, or none could be opened. Its transaction is rolled back. */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
  /** Callers recognise by it that the database is unavailable. */
  readonly code = 'CONNECTION_CLOSED';
}

/** The connection was lost during the commit: the transaction may or may not be committed. */
export class CommitInDoubt extends ConnectionLost {
  override readonly name = 'CommitInDoubt';
}

/** The pool is closed, the connection could not be made in time, or the server is of an earlier timeline than one that was used. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly code: 'CONNECTION_ENDED' | 'CONNECT_TIMEOUT' | 'EARLIER_TIMELINE';

  constructor(code: ConnectionRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** An error of the server, without its `detail` and `where`: they quote rows and parameters. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE. */
  readonly code: string;
  readonly severity: string | undefined;
  readonly schema: string | undefined;
  readonly table: string | undefined;
  readonly constraint: string | undefined;
  readonly routine: string | undefined;

  constructor(fault: ServerFault) {
    super(fault.message);
    this.code = fault.code ?? '';
    this.severity = fault.severity;
    this.schema = fault.schema;
    this.table = fault.table;
    this.constraint = fault.constraint;
    this.routine = fault.routine;
  }
}

export const asOwnError = (fault: unknown): unknown =>
  fault instanceof ServerFault ? new DatabaseError(fault) : fault;

/** Codes with which the server ends the session; the severity cannot be used because it is localised. */
const SESSION_OVER = /^(57P0[1-5]|25P0[34]|08...)$/;

export const endsSession = (fault: unknown): boolean =>
  fault instanceof ServerFault &&
  (fault.severity === 'FATAL' || fault.severity === 'PANIC' || SESSION_OVER.test(fault.code ?? ''));

/** It says why: a command shows the message alone. */
export const asLoss = (cause: unknown): ConnectionLost =>
  cause instanceof ConnectionLost
    ? cause
    : new ConnectionLost(`the database connection was lost: ${wordsOf(cause)}`, { cause });

function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Node's fault of a name with several addresses has a code alone.
  return cause.message || (cause as NodeJS.ErrnoException).code || cause.name;
}

/** Whether connecting failed for a reason that did not come from the server. */
export const isConnectFault = (fault: unknown): boolean =>
  fault instanceof ConnectionRefused ||
  (fault instanceof Error && 'errno' in fault) ||
  fault instanceof AggregateError;

// A start beside a database that starts, ends or recovers: what cut it short passes by itself, so it begins again.

interface WaitOptions {
  /** There is a server. Else one that was never reached may have another address. */
  readonly hasServer: boolean;
  /** Names of errors of what is read from the database, which pass, too. */
  readonly passing: readonly string[];
  /** Called once for each state, with its name. */
  readonly onWait: (state: string) => void;
  /** Ends the wait: the last attempt's error is thrown. */
  readonly signal: AbortSignal;
}

const WITHIN_MS = 60_000;
const AGAIN_MS = 500;
/** A connection was lost; and of SQLSTATE: the server ends, starts or recovers, or has no connection free. */
const PASSING: readonly unknown[] = [
  ...['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', '57P01', '57P02', '57P03', '53300'],
];

/** None was made. ENOENT is a socket's that is not there; of a folder it has another call. */
const UNREACHED: readonly unknown[] = [
  ...['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  'CONNECT_TIMEOUT',
];
const CONNECTS: readonly unknown[] = ['connect', 'getaddrinfo', undefined];

/** By its code, which a fault keeps on its way from a thread, unlike its class. */
function isPassing(error: unknown, hasServer: boolean): boolean {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  return PASSING.includes(code) || (hasServer && UNREACHED.includes(code) && CONNECTS.includes(syscall));
}

/** With what is behind it: an exchange that is unavailable says what its database said. */
function stateOf({ message, cause }: Error): string {
  const behind = cause instanceof Error ? stateOf(cause) : '';
  return message.includes(behind) ? message : `${message}: ${behind}`;
}

/**
 * Attempts a start until it succeeds, or ends by something that does not pass by itself.
 * @param attempt stops what it has started before it fails
 * @throws the error of the last attempt, also when the same state has lasted for a minute
 */
export async function whilePassing<T>(attempt: () => Promise<T>, options: WaitOptions): Promise<T> {
  const { hasServer, passing, onWait, signal } = options;
  const until = performance.now() + WITHIN_MS;
  const said = new Set<string>();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const isOver = signal.aborted || performance.now() > until;
      const state = stateOf(error as Error);
      const goesOn = passing.includes((error as Error).name) || isPassing(error, hasServer || said.size > 0);
      if (isOver || !goesOn) throw error;
      if (!said.has(state)) onWait(state);
      said.add(state);
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw error;
    }
  }
}
