/**
 * Opens a pool from a DATABASE_URL. The driver knows no URL for Unix sockets; PostgreSQL's own spelling
 * (`postgres://user@/database?host=/folder&port=5432`) is understood here.
 */
import type { Socket } from 'node:net';
import postgres from 'postgres';
import { harden } from './pool-socket.ts';

export type Sql = postgres.Sql<{ bigint: bigint }>;

/** Issues the statements of one transaction: see transaction.ts. */
export interface Tx extends postgres.ISql<{ bigint: bigint }> {
  readonly notify: never;
  readonly file: never;
  readonly types: never;
  readonly typed: never;
}

/** A part of a statement. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

export interface PoolOptions {
  readonly max?: number;
  readonly applicationName?: string;
  readonly connectTimeoutSeconds?: number;
  /**
   * False for a pool that sends no arrays and may be dropped at any moment: the driver would ask its first connection for
   * the types of arrays, and when that question dies with the connection, so does the process.
   */
  readonly learnsTypes?: boolean;
  /** Sees every statement as it is handed to a connection; never its parameters, which may be secret. */
  readonly onStatement?: (connection: number, statement: string) => void;
  /** Sees the socket of every connection, of the pools that are made from its options, too. */
  readonly onSocket?: (socket: Socket) => void;
}

/** 64-bit integers arrive as bigint: money must not pass through a double. */
const types = {
  bigint: {
    to: 20,
    from: [20],
    serialize: (value: bigint) => value.toString(),
    parse: (text: string) => BigInt(text),
  },
};

/** Longer than any transaction of a living process waits between its statements. */
const IDLE_IN_TRANSACTION_MS = 15_000;

const SOCKET_URL = /^postgres(?:ql)?:\/\/(?:([^:@/]*)(?::([^@/]*))?@)?\/([^?]*)\?(.*)$/;

/**
 * What a request asks for lies behind an index. A plan that is made while its table is nearly empty, and kept, would
 * read all of the table for every request until its statistics are gathered.
 */
const PLANNING = { enable_seqscan: 'off', jit: 'off' };

export function openPool(url: string, options: PoolOptions = {}): Sql {
  const common = {
    max: options.max ?? 10,
    types,
    ...(options.onStatement === undefined ? {} : { debug: options.onStatement }),
    onnotice: () => {},
    fetch_types: options.learnsTypes ?? true,
    connection: {
      application_name: options.applicationName ?? 'bellwether',
      // A process that is frozen within a transaction holds its agent's lock from every other replica.
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      ...PLANNING,
    },
    // The driver would close healthy connections every half hour, and with them locks and listeners.
    max_lifetime: null,
    connect_timeout: options.connectTimeoutSeconds ?? 10,
    // The driver's own grows to twenty seconds: so long after an outage, requests would still wait.
    backoff: (failures: number) => Math.min(3 ** failures / 100, 1) * (0.5 + Math.random() / 2),
  };
  const socket = SOCKET_URL.exec(url);
  if (socket === null) return harden(postgres(url, common), options.onSocket);
  const [, user, password, database, query] = socket;
  const params = new URLSearchParams(query);
  const pool = postgres({
    ...common,
    host: params.get('host') ?? '/var/run/postgresql',
    port: Number(params.get('port') ?? 5432),
    database: decodeURIComponent(database ?? ''),
    ...(user === undefined ? {} : { user: decodeURIComponent(user) }),
    ...(password === undefined ? {} : { password: decodeURIComponent(password) }),
  });
  return harden(pool, options.onSocket);
}

/** The URL of a database behind a Unix socket. */
export const socketUrl = (
  where: { socketDir: string; port: number; user: string },
  database: string,
): string =>
  `postgres://${where.user}@/${database}?host=${encodeURIComponent(where.socketDir)}&port=${where.port}`;
