/**
 * A bounded number of connections, each lent to one user at a time: to a statement until its answer, to a transaction
 * until its end. Further users wait in a queue. Connections are opened on demand and reopened after a loss; a failed
 * attempt rejects the users that waited for it when no other connection is in use.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, Listener, openConnection } from './connection.ts';
import { type DatabaseAddress, type Endpoint, readDatabaseUrl, type Tls } from './database-url.ts';
import { asLoss, ConnectionRefused } from './errors.ts';
import { createTag, type Issuer, type Rendered, type Rows, type Tag } from './statement.ts';
import { WritableHosts } from './writable-hosts.ts';

export interface PoolOptions {
  readonly max?: number;
  readonly applicationName?: string;
  readonly connectTimeoutSeconds?: number;
  /**
   * Milliseconds after which the server cancels a statement; 0: never. The client destroys a connection that receives
   * nothing for that long plus some seconds: the statements of one turn of a transaction are answered together, so they
   * have that long together.
   */
  readonly statementTimeoutMs?: number;
  /** Settings of every session, by PostgreSQL's names. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Overrides the URL. */
  readonly tls?: Tls;
  /** Of several hosts, servers of earlier timelines are not used. */
  readonly timeline?: string;
  /**
   * Receives the text of every statement that is given to a connection, and for whom it is sent (see `withOrigin`); never
   * parameters, which may be secret.
   */
  readonly onStatement?: (connection: number, statement: string, origin: string | undefined) => void;
}

/** The arguments that open a pool on the same database: `openPool(address.url, address.options)`. */
export interface PoolAddress {
  readonly url: string;
  readonly options: Omit<PoolOptions, 'onStatement' | 'max'>;
}

/** Lends connections. `use` is called immediately when one is free. */
export interface Connections {
  acquire(use: (connection: Connection) => void, fail: (fault: unknown) => void): void;
  /**
   * A transaction returns the connection once its last statement is sent: the next one goes out behind it, instead of
   * waiting for its answer. Of a pool, another connection may be free.
   */
  readonly isPipelined: boolean;
  /** Returns the connection; every statement issued on it must be answered, or about to be. */
  release(connection: Connection): void;
}

export interface Sql extends Tag {
  readonly connections: Connections;
  /** Calls back with each notification, also after the connection was lost and reopened. @returns ends it */
  listen(channel: string, onNotify: (payload: string) => void): Promise<() => void>;
  notify(channel: string, payload: string): Promise<void>;
  /** A separate connection outside the pool. It is not reopened when it is lost. */
  session(options?: Pick<PoolOptions, 'settings'>): Promise<Session>;
  /** Address and options as data for another thread; contains the password. */
  address(): PoolAddress;
  /** Another pool on the same database, with these options beside its own: what one learns of the hosts, both know. */
  beside(options: PoolOptions): Sql;
  /** Of several hosts, the system and the latest timeline of it that was seen; empty: none yet, or there is one host. */
  timeline(): string;
  /**
   * Another process has seen this timeline: connections to servers of earlier ones end, and none is made any more.
   * @returns whether it is news; a timeline of another system is none
   */
  hearTimeline(timeline: string): boolean;
  /** Closes every connection immediately, sessions included. Pending statements are rejected. */
  dropConnections(reason: Error): void;
  /** Waits for running statements, for five seconds or `timeout` seconds, then closes every connection. */
  end(options?: { readonly timeout?: number }): Promise<void>;
}

export interface Session extends Tag {
  readonly connections: Connections;
  /** Process id of the session's backend. */
  readonly backendPid: number;
  isLost(): boolean;
  /** Rejects when the connection is gone; never resolves. */
  readonly lost: Promise<never>;
  /** Closes it immediately; the server rolls back uncommitted work. */
  end(): void;
}

/** Longer than any transaction of a running process waits between its statements. */
const IDLE_IN_TRANSACTION_MS = 15_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_S = 10;
const TICK_MS = 1_000;
/** Beyond the server's own limit, so that its error can arrive first. */
const GRACE_TICKS = 5;
const MAX_CONNECTIONS = 10;
const END_WITHIN_S = 5;
const GOODBYE_MS = 500;
/** Between attempts to connect while other connections are alive. */
const RETRY_MS = 250;

interface WaitingCaller {
  readonly use: (connection: Connection) => void;
  readonly fail: (fault: unknown) => void;
}

interface Shared {
  readonly address: DatabaseAddress;
  readonly hosts: WritableHosts;
  readonly options: PoolOptions;
  /** Every connection of the pool, its sessions and its listener. */
  readonly alive: Set<Connection>;
  /** Connections opened so far: numbers them. */
  opened: number;
  isEnded: boolean;
}

/** Any host, or of several the one that accepts writes. */
async function connect(shared: Shared, settings: PoolOptions['settings'] = {}): Promise<Connection> {
  const { address, hosts, alive } = shared;
  const open = (endpoint: Endpoint, stop?: AbortSignal) => openAt(shared, endpoint, settings, stop);
  const connection = address.mustWrite ? await hosts.connect(open) : await open(address.hosts[0]);
  if (shared.isEnded) {
    connection.destroy(new Error('the pool was closed'));
    throw new ConnectionRefused('CONNECTION_ENDED', 'the pool is closed');
  }
  alive.add(connection);
  connection.onLost(() => alive.delete(connection));
  return connection;
}

async function openAt(
  shared: Shared,
  endpoint: Endpoint,
  settings: PoolOptions['settings'],
  stop: AbortSignal | undefined,
): Promise<Connection> {
  const { address, options } = shared;
  const { onStatement, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  shared.opened += 1;
  const number = shared.opened;
  return openConnection({
    address,
    endpoint,
    tls: options.tls ?? address.tls,
    applicationName: options.applicationName ?? 'bellwether',
    settings: {
      // A process that is frozen within a transaction blocks its agent's lock for every other replica.
      idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
      statement_timeout: String(statementTimeoutMs),
      ...options.settings,
      ...settings,
    },
    connectTimeoutMs: (options.connectTimeoutSeconds ?? CONNECT_TIMEOUT_S) * 1_000,
    maxSilentTicks: statementTimeoutMs === 0 ? 0 : Math.ceil(statementTimeoutMs / TICK_MS) + GRACE_TICKS,
    onStatement: onStatement && (({ text, origin }) => onStatement(number, text, origin)),
    stop,
  });
}

/** Silence of a server beside which another one may have been promoted. */
const PROBE_AFTER_TICKS = 2;

export function openPool(url: string, options: PoolOptions = {}): Sql {
  const address = readDatabaseUrl(url);
  return openOn({ url, address, hosts: new WritableHosts(address.hosts, options.timeline) }, options);
}

function openOn(
  database: Pick<Shared, 'address' | 'hosts'> & { readonly url: string },
  options: PoolOptions,
): Sql {
  const { url, address, hosts } = database;
  const { onStatement: _, max: __, ...inherited } = options;
  const shared: Shared = { address, hosts, options, alive: new Set(), opened: 0, isEnded: false };
  const onPromotion = (timeline: number): void => {
    for (const connection of [...shared.alive])
      if (connection.timeline < timeline) connection.destroy(new Error('another server was promoted'));
  };
  hosts.onPromotion.add(onPromotion);
  const pool = new Pool(shared);
  const listener = new Listener(() => connect(shared));
  const ticker = setInterval(() => {
    for (const connection of shared.alive) connection.tick();
    const isSilent = [...shared.alive].some(({ silentTicks }) => silentTicks >= PROBE_AFTER_TICKS);
    if (address.mustWrite)
      void shared.hosts.probe((endpoint, stop) => openAt(shared, endpoint, {}, stop), isSilent);
  }, TICK_MS);
  ticker.unref();
  const tag = createTag(issuerOf(pool));
  return Object.assign(tag, {
    connections: pool,
    listen: (channel: string, onNotify: (payload: string) => void) => listener.listen(channel, onNotify),
    async notify(channel: string, payload: string) {
      await tag`select pg_notify(${channel}, ${payload})`;
    },
    session: (own: Pick<PoolOptions, 'settings'> = {}) => openSession(shared, own),
    address: () => ({ url, options: { ...inherited, timeline: hosts.timeline } }),
    beside: (own: PoolOptions) => openOn(database, { ...inherited, ...own }),
    timeline: () => hosts.timeline,
    hearTimeline: (timeline: string) => hosts.hear(timeline),
    dropConnections(reason: Error) {
      for (const connection of [...shared.alive]) connection.destroy(reason);
    },
    async end({ timeout = END_WITHIN_S }: { readonly timeout?: number } = {}) {
      clearInterval(ticker);
      hosts.onPromotion.delete(onPromotion);
      shared.isEnded = true;
      listener.stop();
      await pool.drain(timeout * 1_000);
      for (const connection of [...shared.alive]) connection.destroy(new Error('the pool was closed'));
    },
  });
}

/** A pool's statement uses a connection exclusively until it is answered. */
const issuerOf = (connections: Connections): Issuer => ({
  issue: (statement: Rendered): Promise<Rows> =>
    new Promise((resolve, reject) => {
      connections.acquire((connection) => {
        connection.issue(statement).then(
          (rows) => {
            connections.release(connection);
            resolve(rows);
          },
          (fault: unknown) => {
            connections.release(connection);
            reject(fault);
          },
        );
      }, reject);
    }),
  refuse: (fault) => Promise.reject(fault),
});

class Pool implements Connections {
  readonly isPipelined = false;
  readonly #shared: Shared;
  readonly #max: number;
  readonly #idle: Connection[] = [];
  readonly #busy = new Set<Connection>();
  #waiting: WaitingCaller[] = [];
  #opening = 0;
  #retry: NodeJS.Timeout | undefined;
  #onIdle: () => void = () => {};

  constructor(shared: Shared) {
    this.#shared = shared;
    this.#max = shared.options.max ?? MAX_CONNECTIONS;
  }

  acquire(use: WaitingCaller['use'], fail: WaitingCaller['fail']): void {
    if (this.#shared.isEnded) {
      fail(new ConnectionRefused('CONNECTION_ENDED', 'the pool is closed'));
      return;
    }
    for (let free = this.#idle.pop(); free !== undefined; free = this.#idle.pop()) {
      if (free.isClean) {
        this.#lend(free, use);
        return;
      }
      free.destroy(new Error('the connection was left in a transaction'));
    }
    this.#waiting.push({ use, fail });
    this.#open();
  }

  release(connection: Connection): void {
    this.#busy.delete(connection);
    if (!connection.isLost) this.#give(connection);
    if (this.#busy.size === 0 && this.#waiting.length === 0) this.#onIdle();
    this.#open();
  }

  /** Rejects queued users; resolves when no connection is in use, or after `withinMs`. */
  async drain(withinMs: number): Promise<void> {
    clearTimeout(this.#retry);
    const refused = this.#waiting;
    this.#waiting = [];
    for (const { fail } of refused) fail(new ConnectionRefused('CONNECTION_ENDED', 'the pool is closed'));
    if (this.#busy.size > 0 && withinMs > 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#onIdle = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    if (withinMs === 0) return;
    const goodbyes = Promise.all(this.#idle.map((connection) => connection.end()));
    await Promise.race([goodbyes, sleep(GOODBYE_MS, undefined, { ref: false })]);
  }

  #lend(connection: Connection, use: WaitingCaller['use']): void {
    this.#busy.add(connection);
    use(connection);
  }

  #give(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#lend(connection, next.use);
    else this.#idle.push(connection);
  }

  /** Opens one connection per waiting user, up to `max`. */
  #open(): void {
    if (this.#retry !== undefined) return;
    const isFull = () => this.#idle.length + this.#busy.size + this.#opening >= this.#max;
    while (this.#opening < this.#waiting.length && !isFull() && !this.#shared.isEnded) this.#openOne();
  }

  #openOne(): void {
    this.#opening += 1;
    const waitedFor = this.#waiting.at(-1);
    connect(this.#shared).then(
      (connection) => {
        this.#opening -= 1;
        connection.onLost(() => this.#forget(connection));
        this.#give(connection);
      },
      (fault: unknown) => {
        this.#opening -= 1;
        this.#failed(fault, waitedFor);
      },
    );
  }

  #failed(fault: unknown, waitedFor: WaitingCaller | undefined): void {
    if (this.#busy.size > 0) {
      // The waiting users get the connections in use when those are released.
      this.#retry ??= setTimeout(() => {
        this.#retry = undefined;
        this.#open();
      }, RETRY_MS);
      return;
    }
    const last = waitedFor === undefined ? -1 : this.#waiting.indexOf(waitedFor);
    for (const { fail } of this.#waiting.splice(0, last + 1)) fail(fault);
    this.#open();
  }

  #forget(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
    // The user of a lent connection receives the loss and releases it.
    if (!this.#busy.has(connection)) this.#open();
  }
}

async function openSession(shared: Shared, { settings }: Pick<PoolOptions, 'settings'>): Promise<Session> {
  const connection = await connect(shared, settings);
  const lost = new Promise<never>((_, reject) => connection.onLost(reject));
  lost.catch(() => {});
  const queue: WaitingCaller[] = [];
  let isLent = false;
  const connections: Connections = {
    isPipelined: true,
    acquire(use, fail) {
      if (isLent) return void queue.push({ use, fail });
      isLent = true;
      use(connection);
    },
    release() {
      const next = queue.shift();
      if (next === undefined) isLent = false;
      else next.use(connection);
    },
  };
  const end = (): void => connection.destroy(asLoss(new Error('the session was ended')));
  try {
    const tag = createTag(issuerOf(connections));
    const [row] = await tag`select pg_backend_pid() as pid`;
    return Object.assign(tag, {
      ...{ connections, lost, end },
      backendPid: Number(row?.pid),
      isLost: () => connection.isLost,
    });
  } catch (fault) {
    end();
    throw fault;
  }
}

// Refuses a connection pooler such as pgbouncer between this process and PostgreSQL. It drops the settings of our sessions
// (time limits, keepalive, what the journal's session needs), or refuses them, and in transaction mode it lends one session to
// several clients, which breaks the lead, notifications and prepared statements.

const POOLER_ADVICE =
  'Name PostgreSQL itself in DATABASE_URL: the service keeps its own pool, of DATABASE_POOL connections, and needs its sessions for itself';

/** @throws Error with a sentence, or the database's own error */
export async function refusePooler(sql: Sql): Promise<void> {
  const rows = await sql<{ readonly setting: string }[]>`
    select setting from pg_settings where name = 'idle_in_transaction_session_timeout'`.catch(
    (error: unknown) => {
      if (!(error instanceof Error) || !/unsupported startup parameter/i.test(error.message)) throw error;
      throw new Error(
        `a connection pooler such as pgbouncer stands before the database and refuses the settings of our sessions. ${POOLER_ADVICE}`,
        { cause: error },
      );
    },
  );
  if (rows[0]?.setting !== String(IDLE_IN_TRANSACTION_MS))
    throw new Error(
      `a connection pooler such as pgbouncer stands before the database and drops the settings of our sessions. ${POOLER_ADVICE}`,
    );
}

// Refuses a database of several hosts in which a commit is acknowledged before a standby has it.

/** Of `synchronous_commit`: no standby is waited for. */
const ALONE_LEVELS: ReadonlySet<string> = new Set(['off', 'local']);

/** @throws Error with a sentence */
export async function refuseLoneCommits(sql: Sql, url: string): Promise<void> {
  if (readDatabaseUrl(url).hosts.length === 1) return;
  const [row] = await sql<{ readonly names: string; readonly waits: string }[]>`
    select current_setting('synchronous_standby_names') as names, current_setting('synchronous_commit') as waits`;
  if (row !== undefined && row.names.trim() !== '' && !ALONE_LEVELS.has(row.waits)) return;
  throw new Error(
    'DATABASE_URL names several hosts, and no standby must confirm a commit: a promotion would lose what was acknowledged last. Set synchronous_standby_names and synchronous_commit = on on the servers, or say DATABASE_MAY_LOSE_COMMITS=on',
  );
}
