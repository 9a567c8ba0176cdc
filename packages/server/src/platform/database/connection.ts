/** Opens the desk's pools, with the settings that its statements rely on. */

import { setTimeout as sleep } from 'node:timers/promises';
import { openPool as open, type PoolOptions, type Sql } from '@bellwether/durable';

export {
  type Fragment,
  type PoolOptions,
  refuseLoneCommits,
  refusePooler,
  type Sql,
  socketUrl,
  type Tx,
  withOrigin,
} from '@bellwether/durable';

/**
 * All queries of requests use an index. A plan made and kept while its table is nearly empty would scan the whole table
 * for every request until statistics are gathered.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

export const openPool = (url: string, options: PoolOptions = {}): Sql =>
  open(url, { ...options, settings: { ...PLANNING, ...options.settings } });

export const ms = (value: Date): number => value.getTime();
export const msOrNull = (value: Date | null): number | null => (value === null ? null : value.getTime());

/** Column values as parameters of a statement. */
export type ColumnValues = Record<string, unknown>;

/** The one row of a statement that always returns one. */
export function only<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('the statement returned no row');
  return row;
}

/** A row inside JSON, which has neither 64-bit integers nor times. */
export type AsJson<T> = {
  readonly [K in keyof T]: T[K] extends bigint | Date
    ? string
    : T[K] extends Date | null
      ? string | null
      : T[K];
};

// Transactions that change rows of several agents may wait for each other; one of them gives way and is tried again.

/** The lock was not to be had in time; the database ended the transaction because of a deadlock. */
const GAVE_WAY = new Set(['55P03', '40P01']);
const ATTEMPTS = 5;
const LONGEST_REST_MS = 100;

export const gaveWay = (error: unknown): boolean => GAVE_WAY.has((error as { code?: string })?.code ?? '');

/**
 * @param work a whole transaction, so that nothing of an attempt that gave way is left
 * @throws what `work` threw the last time
 */
export async function givingWay<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!gaveWay(error) || attempt === ATTEMPTS) throw error;
      // Not at the same time: the other one may have to give way, too.
      await sleep(Math.random() * LONGEST_REST_MS);
    }
  }
}

// Texts for database faults, by the codes of PostgreSQL and of the operating system. These faults are temporary, so the
// answer is 503; any other error is a bug of the service.

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
