/** What can go wrong between the service and its database. None of these errors carries a parameter's value. */
import { DatabaseError as ServerFault } from 'pg';

/** The connection died, or there was none to be had. What its transaction wrote is undone. */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
  /** Callers know by it that the database is away. */
  readonly code = 'CONNECTION_CLOSED';
}

/** The connection died over the commit: it may or may not have happened. */
export class CommitInDoubt extends ConnectionLost {
  override readonly name = 'CommitInDoubt';
}

/** The pool is closed, or the connection could not be made in time. */
export class ConnectionRefused extends Error {
  override readonly name = 'ConnectionRefused';
  readonly code: 'CONNECTION_ENDED' | 'CONNECT_TIMEOUT';

  constructor(code: ConnectionRefused['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** What the server answered. Its `detail` and `where` quote rows and parameters, so they are left behind. */
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

/** Codes with which the server ends the session; their severity is written in the server's language. */
const SESSION_OVER = /^(57P0[1-5]|25P0[34]|08...)$/;

export const endsSession = (fault: unknown): boolean =>
  fault instanceof ServerFault &&
  (fault.severity === 'FATAL' || fault.severity === 'PANIC' || SESSION_OVER.test(fault.code ?? ''));

export const asLoss = (cause: unknown): ConnectionLost =>
  cause instanceof ConnectionLost ? cause : new ConnectionLost('the database connection was lost', { cause });

/** Whether a connection could not be made, for a reason that the server did not give. */
export const isConnectFault = (fault: unknown): boolean =>
  fault instanceof ConnectionRefused ||
  (fault instanceof Error && 'errno' in fault) ||
  fault instanceof AggregateError;
