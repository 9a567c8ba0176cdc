/** Errors between the service and its database. None of them contains a parameter's value. */
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
