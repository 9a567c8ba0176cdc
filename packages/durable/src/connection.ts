/**
 * One connection. Statements are sent immediately, in order, without waiting for earlier answers; statements issued in
 * the same turn of the event loop share one write. When the connection ends, every unanswered statement and every
 * later one is rejected with `ConnectionLost`.
 */
import { Client, type ClientConfig, type CustomTypesConfig, Query } from 'pg';
import type { DatabaseAddress, Endpoint, Tls } from './database-url.ts';
import {
  asLoss,
  asOwnError,
  type ConnectionLost,
  ConnectionRefused,
  DatabaseError,
  endsSession,
} from './errors.ts';
import { parserOf, quotedName, type Rendered, type Rows, rowsWith } from './statement.ts';

interface ConnectionOptions {
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

// Statements that are sent together and share one synchronisation point (`Sync`): the server answers them with one write
// instead of one for each, and after an error it skips the rest of them. So they must belong to one transaction.
//
// The driver asks with each statement which columns it returns. Here that is asked once for a prepared statement: its
// columns never change, the server refuses to run it instead.

interface Columns {
  readonly names: readonly string[];
  readonly parsers: readonly ((text: string) => unknown)[];
  /** A row in which every column is null. */
  readonly empty: Readonly<Record<string, null>>;
}

/** A statement that this connection has prepared, or is preparing. */
interface Prepared {
  /** `undefined` until it has answered once. */
  columns: Columns | undefined;
}

/** The prepared statements of a connection, by name. Those beyond the most are prepared for each use. */
class PreparedStatements {
  readonly #most: number;
  readonly #known = new Map<string, Prepared>();
  /** They failed when they were used first: the server may know them or not. */
  readonly #doubtful = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  get(name: string): Prepared | undefined {
    return this.#known.get(name);
  }

  /** @returns undefined: it gets no name */
  begin(name: string): Prepared | undefined {
    if (this.#known.size >= this.#most) return undefined;
    const prepared = { columns: undefined };
    this.#known.set(name, prepared);
    return prepared;
  }

  /** It was to be prepared and was not, or failed. */
  forget(name: string): void {
    this.#known.delete(name);
    this.#doubtful.add(name);
  }

  /** Whether it must be closed before it is prepared. The doubt is over then. */
  takeDoubt(name: string): boolean {
    return this.#doubtful.delete(name);
  }
}

/** One statement of a batch, with its answer so far. */
class Item {
  readonly statement: Rendered;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (fault: unknown) => void;
  readonly #rows: Record<string, unknown>[] = [];
  prepared: Prepared | undefined;
  /** Its text was sent with it. */
  isNew = false;
  columns: Columns = NO_COLUMNS;
  #command = '';
  #count = 0;
  /** The cause that made a value unreadable. */
  #fault: unknown;

  constructor(statement: Rendered, resolve: Item['resolve'], reject: Item['reject']) {
    this.statement = statement;
    this.resolve = resolve;
    this.reject = reject;
  }

  add(texts: readonly (string | null)[]): void {
    const { names, parsers, empty } = this.columns;
    const row: Record<string, unknown> = { ...empty };
    try {
      for (let at = 0; at < texts.length; at += 1) {
        const text = texts[at];
        if (text !== null && text !== undefined) row[names[at]!] = parsers[at]!(text);
      }
      this.#rows.push(row);
    } catch (fault) {
      this.#fault ??= fault;
    }
  }

  complete(tag: string): void {
    const words = tag.split(' ');
    this.#command = words[0] ?? '';
    this.#count = words.length > 1 ? Number(words.at(-1)) : 0;
    if (this.prepared !== undefined) this.prepared.columns = this.columns;
  }

  answer(): void {
    if (this.#fault !== undefined) {
      this.reject(this.#fault);
      return;
    }
    this.resolve(rowsWith(this.#rows, this.#count, this.#command));
  }
}

const NO_COLUMNS: Columns = { names: [], parsers: [], empty: {} };

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

const columnsOf = (fields: readonly Field[]): Columns => ({
  names: fields.map(({ name }) => name),
  parsers: fields.map(({ dataTypeID }) => parserOf(dataTypeID)),
  empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
});

/** The driver's connection, as far as it is used here. */
interface Wire {
  close(message: { readonly type: 'S'; readonly name: string }): void;
  parse(message: { readonly text: string; readonly name: string }): void;
  bind(message: { readonly statement: string; readonly values: readonly unknown[] }): void;
  describe(message: { readonly type: 'P'; readonly name: '' }): void;
  execute(message: { readonly portal: '' }): void;
  sync(): void;
}

/** In a pipeline the driver takes no other objects than its own queries. */
const DriversQuery = Query as unknown as new (text: string) => object;

/** The driver calls its methods with the server's messages. */
class Batch extends DriversQuery {
  readonly #items: Item[] = [];
  readonly #prepared: PreparedStatements;
  #answered = 0;

  constructor(prepared: PreparedStatements) {
    super('');
    this.#prepared = prepared;
  }

  add(item: Item): void {
    this.#items.push(item);
  }

  submit(wire: Wire): null {
    for (const item of this.#items) this.#send(wire, item);
    wire.sync();
    return null;
  }

  #send(wire: Wire, item: Item): void {
    const { text, name, values } = item.statement;
    const known = name === null ? undefined : this.#prepared.get(name);
    item.prepared = known ?? (name === null ? undefined : this.#prepared.begin(name));
    const called = item.prepared === undefined || name === null ? '' : name;
    if (known === undefined) {
      item.isNew = true;
      if (this.#prepared.takeDoubt(called)) wire.close({ type: 'S', name: called });
      wire.parse({ text, name: called });
    }
    wire.bind({ statement: called, values });
    if (known?.columns === undefined) wire.describe({ type: 'P', name: '' });
    else item.columns = known.columns;
    wire.execute({ portal: '' });
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    const item = this.#items[this.#answered];
    if (item !== undefined) item.columns = columnsOf(fields);
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#items[this.#answered]?.add(fields);
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#items[this.#answered]?.complete(text);
    this.#answered += 1;
  }

  handleEmptyQuery(): void {
    this.#answered += 1;
  }

  /** Error of the server, or of a lost connection. The statements after the one that failed were not executed. */
  handleError(fault: unknown): void {
    for (const item of this.#items.slice(0, this.#answered)) item.answer();
    for (const item of this.#items.slice(this.#answered)) {
      if (item.isNew && item.prepared !== undefined) this.#prepared.forget(item.statement.name as string);
      item.reject(fault);
    }
  }

  handleReadyForQuery(): void {
    for (const item of this.#items) item.answer();
  }
}

// Notifications of the database, on a separate connection that is reopened whenever it is lost. Notifications sent
// meanwhile are lost: listeners must not depend on receiving every one.

/** Between attempts to connect again. */
const RETRY_MS = 250;
/** A connection that only listens does not notice its loss, so it sends a query at this interval. */
const ASK_EVERY_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;

type OnNotify = (payload: string) => void;

/** A payload that a listener cannot read is like a lost notification; it must not end the process. */
function notifyListener(onNotify: OnNotify, payload: string): void {
  try {
    onNotify(payload);
  } catch {
    // Listeners must not depend on receiving every notification.
  }
}

export class Listener {
  readonly #open: () => Promise<Connection>;
  readonly #channels = new Map<string, Set<OnNotify>>();
  /** The only one: open, or being opened. With a second one everything would come twice. */
  #connection: Promise<Connection> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(open: () => Promise<Connection>) {
    this.#open = open;
  }

  /** @returns what ends it: the server may go on sending what nothing listens to */
  async listen(channel: string, onNotify: OnNotify): Promise<() => void> {
    const listeners = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, listeners.add(onNotify));
    const unlisten = (): void => {
      listeners.delete(onNotify);
      if (listeners.size === 0 && this.#channels.get(channel) === listeners) this.#channels.delete(channel);
    };
    try {
      // Where the connection listens already, this asks for nothing new.
      await issueText(await this.#connect(), `listen ${quotedName(channel)}`);
    } catch (fault) {
      unlisten();
      throw fault;
    }
    return unlisten;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#retry);
  }

  #connect(): Promise<Connection> {
    clearTimeout(this.#retry);
    this.#connection ??= this.#attempt().catch((fault: unknown) => {
      this.#lost(RETRY_MS);
      throw fault;
    });
    return this.#connection;
  }

  #lost(retryMs: number): void {
    this.#connection = undefined;
    if (this.#isStopped || this.#channels.size === 0) return;
    this.#retry = setTimeout(() => void this.#connect().catch(() => {}), retryMs);
  }

  /** @returns a connection that listens to every channel */
  async #attempt(): Promise<Connection> {
    const connection = await this.#open();
    connection.onNotification = (channel, payload) => {
      for (const onNotify of this.#channels.get(channel) ?? []) notifyListener(onNotify, payload);
    };
    try {
      for (const channel of this.#channels.keys())
        await issueText(connection, `listen ${quotedName(channel)}`);
    } catch (fault) {
      connection.destroy(fault);
      throw fault;
    }
    const asking = setInterval(() => void askAlive(connection), ASK_EVERY_MS);
    asking.unref();
    connection.onLost(() => {
      clearInterval(asking);
      this.#lost(0);
    });
    return connection;
  }
}

const issueText = (connection: Connection, text: string): Promise<unknown> =>
  connection.issue({ text, name: null, values: [] });

async function askAlive(connection: Connection): Promise<void> {
  const timer = setTimeout(
    () => connection.destroy(new Error('the database does not answer')),
    ANSWER_WITHIN_MS,
  );
  timer.unref();
  await issueText(connection, 'select 1').catch(() => {});
  clearTimeout(timer);
}
