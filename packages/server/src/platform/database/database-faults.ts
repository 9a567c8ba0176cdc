/**
 * Texts for database faults, by the codes of PostgreSQL and of the operating system. These faults are temporary, so the
 * answer is 503; any other error is a bug of the service.
 */

const GONE = 'The database is not reachable.';
const SHORT = 'The database has no resources left for this.';

/** By the first two characters of PostgreSQL's code. */
const CLASSES: Readonly<Record<string, string>> = {
  '08': GONE,
  '28': 'The database does not let the service in.',
  '53': SHORT,
  '58': 'The database met a fault of its system.',
};

const CODES: Readonly<Record<string, string>> = {
  '25006': 'The database takes no writes now.',
  '3D000': 'The database is gone.',
  '40001': 'The database was too busy to do this.',
  '40P01': 'The database was too busy to do this.',
  '53100': 'The disk of the database is full.',
  '53200': 'The database is out of memory.',
  '53300': 'The database has no free connection.',
  '55P03': 'The database was too busy to do this.',
  '57014': 'The database gave up on this.',
  '57P01': GONE,
  '57P02': GONE,
  '57P03': GONE,
  '57P04': 'The database is gone.',
  '57P05': GONE,
  BW002: 'The master key was rotated; this replica is about to use the new one.',
  CONNECT_TIMEOUT: 'The database does not answer.',
  CONNECTION_CLOSED: GONE,
  CONNECTION_DESTROYED: GONE,
  CONNECTION_ENDED: GONE,
  EARLIER_TIMELINE: 'Of the database, only a server takes writes that another has replaced.',
  EACCES: GONE,
  EAI_AGAIN: GONE,
  ECONNREFUSED: GONE,
  ECONNRESET: GONE,
  EHOSTUNREACH: GONE,
  ENETUNREACH: GONE,
  ENOENT: GONE,
  ENOTFOUND: GONE,
  EPIPE: GONE,
  ETIMEDOUT: GONE,
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** @returns null when the error is not a database fault */
export function databaseFault(error: unknown): string | null {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  if (typeof code !== 'string') return null;
  return CODES[code] ?? (SQLSTATE.test(code) ? (CLASSES[code.slice(0, 2)] ?? null) : null);
}
