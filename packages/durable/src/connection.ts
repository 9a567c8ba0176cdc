/**
 * One connection. Statements are sent immediately, in order, without waiting for earlier answers; statements issued in
 * the same turn of the event loop share one write. When the connection ends, every unanswered statement and every
 * later one is rejected with `ConnectionLost`.
 */
import { Client, type ClientConfig, type CustomTypesConfig } from 'pg';
import { Batch, Item, PreparedStatements } from './batch.ts';
import type { DatabaseAddress, Endpoint, Tls } from './database-url.ts';
import {
  asLoss,
  asOwnError,
  type ConnectionLost,
  ConnectionRefused,
  DatabaseError,
  endsSession,
} from './errors.ts';
import { type Rendered, type Rows, rowsWith } from './statement.ts';
import { parserOf } from './values.ts';

export interface ConnectionOptions {
  readonly address: DatabaseAddress;
  /** One of the address's. */
  readonly endpoint: Endpoint;
  readonly tls: Tls;
  readonly applicationName: string;
  /** Session settings, by PostgreSQL's names. */
  readonly settings: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
  /** Ticks (see `tick`) without an answer after which the connection is destroyed; 0: never. */
  readonly maxSilentTicks: number;
  readonly onStatement: ((statement: Rendered) => void) | undefined;
  /** Ends the attempt, not the connection. */
  readonly stop: AbortSignal | undefined;
}

/** TCP keepalive starts after this long without traffic; ten more seconds without an answer end the connection. */
const KEEPALIVE_AFTER_MS = 5_000;
/** The server's keepalive. Ignored on Unix sockets. */
const SERVER_KEEPALIVE = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '5',
  tcp_user_timeout: '15000',
};
/** Prepared statements of one connection; statements beyond them are prepared for each use. */
const MAX_NAMED = 1_000;
/** A migration by another process changed what a prepared statement returns, or a pooler forgot it. */
const STALE_STATEMENT: ReadonlySet<string> = new Set(['0A000', '26000']);
/** PostgreSQL's function that waits for standbys; a warning of it means that it gave up. Texts are localised. */
const UNCONFIRMED = 'SyncRepWaitForLSN';
/** SQLSTATE read_only_sql_transaction. */
const READ_ONLY = '25006';
const NO_TLS = 'The server does not support SSL connections';

const types = { getTypeParser: parserOf } as unknown as CustomTypesConfig;

/** @throws the system's error, the server's, or ConnectionRefused */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { tls } = options;
  try {
    return await Connection.open(options, tls);
  } catch (fault) {
    if (tls !== 'prefer' || !(fault instanceof Error) || fault.message !== NO_TLS) throw withCode(fault);
  }
  return Connection.open(options, false).catch((fault: unknown) => {
    throw withCode(fault);
  });
}

/** The driver's own errors have no code; callers need one to recognise that the database is unavailable. */
function withCode(fault: unknown): unknown {
  const own = asOwnError(fault);
  return typeof (own as { readonly code?: unknown }).code === 'string' ? own : asLoss(own);
}

export class Connection {
  readonly #client: Client;
  readonly #options: ConnectionOptions;
  /** Of the server when the connection was made: a promotion begins a new one. 0: not asked for. */
  timeline = 0;
  readonly #pending = new Set<(loss: ConnectionLost) => void>();
  readonly #lossListeners = new Set<(loss: ConnectionLost) => void>();
  readonly #prepared = new PreparedStatements(MAX_NAMED);
  /** Not sent yet: it takes further statements until the end of the turn. */
  #open: Batch | undefined;
  #loss: ConnectionLost | undefined;
  #isCorked = false;
  #silentTicks = 0;
  #isWorn = false;
  onNotification: (channel: string, payload: string) => void = () => {};

  private constructor(client: Client, options: ConnectionOptions) {
    this.#client = client;
    this.#options = options;
    client.on('error', (fault) => this.#lose(fault));
    client.on('end', () => this.#lose(new Error('the connection was closed')));
    client.on('notice', ({ routine }) => {
      // The commit is durable here and not on the standby that must confirm it: whether it lasts is not known.
      if (routine === UNCONFIRMED) this.#lose(new Error('the standby did not confirm a commit'));
    });
    client.on('notification', ({ channel, payload }) => this.onNotification(channel, payload ?? ''));
  }

  /** Use `openConnection`. */
  static open(options: ConnectionOptions, tls: Tls): Promise<Connection> {
    const { stop } = options;
    const client = new Client(configOf(options, tls));
    const connection = new Connection(client, options);
    return new Promise((resolve, reject) => {
      stop?.throwIfAborted();
      const seconds = options.connectTimeoutMs / 1_000;
      const timer = setTimeout(
        () => fail(new ConnectionRefused('CONNECT_TIMEOUT', `no connection within ${seconds} s`)),
        options.connectTimeoutMs,
      );
      const onStop = (): void => fail(stop?.reason);
      stop?.addEventListener('abort', onStop);
      const settle = (): void => {
        clearTimeout(timer);
        stop?.removeEventListener('abort', onStop);
      };
      const fail = (fault: unknown): void => {
        settle();
        reject(fault);
        connection.destroy(fault);
      };
      client.connect((fault: Error | null | undefined) => {
        if (fault) return fail(fault);
        settle();
        unwatch();
        resolve(connection);
      });
      const unwatch = connection.onLost(fail);
    });
  }

  /** Seconds, about, that a statement has waited for any answer. */
  get silentTicks(): number {
    return this.#silentTicks;
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** Whether it can be reused: it is outside a transaction, and its prepared statements are valid. */
  get isClean(): boolean {
    return !this.isLost && !this.#isWorn && this.#client.getTransactionStatus() === 'I';
  }

  /** Calls back once; immediately when the connection is already lost. @returns removes the listener */
  onLost(listener: (loss: ConnectionLost) => void): () => void {
    if (this.#loss !== undefined) listener(this.#loss);
    else this.#lossListeners.add(listener);
    return () => this.#lossListeners.delete(listener);
  }

  /**
   * @param joins it belongs to the same transaction as the statements issued before it in this turn: they are answered
   *   together, and when one fails, the ones after it are not executed
   * @throws ConnectionLost, or the server's error
   */
  issue(statement: Rendered, { joins = false }: { readonly joins?: boolean } = {}): Promise<Rows> {
    return new Promise((resolve, reject) => {
      if (this.#loss !== undefined) return reject(this.#loss);
      this.#pending.add(reject);
      this.#options.onStatement?.(statement);
      const settle = (): boolean => {
        this.#silentTicks = 0;
        return this.#pending.delete(reject);
      };
      const onRows = (rows: Rows): void => {
        if (settle()) resolve(rows);
      };
      const onFault = (fault: unknown): void => {
        if (settle()) reject(this.#faultOf(fault));
      };
      this.#cork();
      // Without values the simple protocol is used, which accepts several statements.
      if (statement.name === null && statement.values.length === 0) {
        this.#flush();
        this.#client.query({ text: statement.text }, ((fault: unknown, result: StatementAnswer) =>
          fault ? onFault(fault) : onRows(rowsOf(result))) as never);
        return;
      }
      if (!joins) this.#flush();
      this.#open ??= new Batch(this.#prepared);
      this.#open.add(new Item(statement, onRows, onFault));
      if (!joins) this.#flush();
    });
  }

  #faultOf(fault: unknown): unknown {
    if (endsSession(fault)) {
      this.#lose(fault);
      return this.#loss;
    }
    const own = asOwnError(fault);
    if (this.#options.address.mustWrite && own instanceof DatabaseError && own.code === READ_ONLY) {
      // The server became a standby.
      this.#lose(fault);
      return this.#loss;
    }
    if (own instanceof DatabaseError && STALE_STATEMENT.has(own.code)) this.#isWorn = true;
    return own;
  }

  /**
   * Called at a regular interval; destroys the connection after too many ticks without an answer. It counts ticks, not
   * milliseconds: the time in which the process was frozen must not count.
   */
  tick(): void {
    if (this.#pending.size === 0) this.#silentTicks = 0;
    else this.#silentTicks += 1;
    const most = this.#options.maxSilentTicks;
    if (most > 0 && this.#silentTicks > most) this.destroy(new Error('the database does not answer'));
  }

  /** Closes the connection after pending statements have their answers; resolves when it is closed. */
  async end(): Promise<void> {
    if (!this.isLost) await this.#client.end().catch(() => {});
  }

  /** Closes the socket immediately: the server rolls back uncommitted work. */
  destroy(cause: unknown): void {
    this.#lose(cause);
  }

  #flush(): void {
    const batch = this.#open;
    if (batch === undefined) return;
    this.#open = undefined;
    try {
      this.#client.query(batch as never);
    } catch (fault) {
      // A message that could not be written whole: what follows it would be read as its rest.
      this.#lose(fault);
    }
  }

  /** Without this, each statement of a pipeline would be a separate write. */
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const { stream } = this.#client.connection;
    stream.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#flush();
      stream.uncork();
    });
  }

  #lose(cause: unknown): void {
    if (this.#loss !== undefined) return;
    const loss = asLoss(asOwnError(cause));
    this.#loss = loss;
    this.#client.connection.stream.destroy();
    const rejected = [...this.#pending];
    this.#pending.clear();
    for (const reject of rejected) reject(loss);
    const listeners = [...this.#lossListeners];
    this.#lossListeners.clear();
    for (const listener of listeners) listener(loss);
  }
}

interface StatementAnswer {
  readonly rows: Record<string, unknown>[];
  readonly rowCount: number | null;
  readonly command: string | null;
}

/** Takes several statements in one text, too: the rows of the last one. */
function rowsOf(answer: StatementAnswer | readonly StatementAnswer[]): Rows {
  const { rows, rowCount, command } = (Array.isArray(answer) ? answer.at(-1) : answer) as StatementAnswer;
  return rowsWith(rows, rowCount ?? 0, command ?? '');
}

const escaped = (value: string): string => value.replace(/[\\ ]/g, '\\$&');

function configOf(options: ConnectionOptions, tls: Tls): ClientConfig {
  const { address, endpoint, applicationName } = options;
  const { host, port } = endpoint;
  const isSocket = host.startsWith('/');
  const settings = {
    ...(isSocket ? {} : SERVER_KEEPALIVE),
    ...address.settings,
    ...options.settings,
  };
  const chosen = Object.entries(settings).map(([name, value]) => `-c ${name}=${escaped(value)}`);
  return {
    host,
    port,
    user: address.user,
    password: address.password,
    database: address.database,
    application_name: applicationName,
    options: [address.options, ...chosen].join(' ').trim(),
    ssl: isSocket ? false : tlsConfig(tls),
    ...(address.isTlsDirect ? { sslnegotiation: 'direct' } : {}),
    pipeline: true,
    keepAlive: !isSocket,
    keepAliveInitialDelayMillis: KEEPALIVE_AFTER_MS,
    types,
  };
}

function tlsConfig(tls: Tls): ClientConfig['ssl'] {
  if (tls === 'prefer' || tls === 'require') return { rejectUnauthorized: false };
  return tls === 'verify-full' ? true : tls;
}
