/**
 * Transactions that outlive their connection's death. The driver's own (`sql.begin`, `sql.reserve`) do not: when the
 * connection dies they write to what is no longer there, an error that nothing can catch and that ends the process; and
 * a statement that waits its turn then waits for ever. Here a statement is handed to a living connection or rejected.
 *
 * Built on what the driver's `begin` is built on, and no more: the statement option `onexecute`, which names the
 * connection, and that connection's `execute`, `reserved` and `onclose` (postgres 3.4.9, pinned).
 */
import type { Sql, Tx } from './connection.ts';

/** The connection died, or there was none to be had. What the transaction wrote is undone. */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
  /** The driver's word for it, by which callers know that the database is away. */
  readonly code = 'CONNECTION_CLOSED';
}

/** The connection died over the commit: it may or may not have happened. */
export class CommitInDoubt extends ConnectionLost {
  override readonly name = 'CommitInDoubt';
}

export interface Transaction {
  /**
   * Issues statements. They go out at once and in order, without waiting for one another; each rejects with the
   * database's error, or with `ConnectionLost`.
   */
  readonly tx: Tx;
  /** Goes out behind what was issued before. @throws CommitInDoubt; anything else is proof that nothing was written */
  commit(): Promise<void>;
  /** Never throws: what is not committed is undone in any case. */
  rollback(): Promise<void>;
}

/** What the driver calls a query: a promise that is handed to a connection when somebody waits for it. */
interface Query extends Promise<{ readonly command: string }> {
  handler: (query: Query) => void;
  reject(error: unknown): void;
  execute(): Query;
}

interface Connection {
  /** @returns whether it takes another one now */
  execute(query: Query): boolean | undefined;
  /** Set: it belongs to a transaction, and this is called when everything it was given is answered. */
  reserved: (() => void) | null;
  onclose: ((error: Error) => void) | null;
}

/** No statement, so it does no harm on a connection that cannot be taken: the driver then fails to name it. */
const CLAIM = '-- transaction';
const CLAIMS = 20;

/** Everything that `work` issues, or nothing. @throws CommitInDoubt; anything else is proof that nothing was written */
export async function transact<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = openTransaction(sql);
  let result: T;
  try {
    result = await work(transaction.tx);
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
  await transaction.commit();
  return result;
}

/** Must be committed or rolled back: until then it keeps a connection from everybody else. */
export function openTransaction(sql: Sql): Transaction {
  const line = openLine(sql);
  let failure: unknown;
  let last: Query | undefined;
  const own = (query: Query): Query => {
    const { reject } = query;
    query.handler = line.issue;
    query.reject = (fault) => {
      const error = isConnectionFault(fault) ? asLoss(fault) : fault;
      failure ??= error;
      reject(error);
    };
    return query;
  };
  const end = (statement: unknown): Promise<{ readonly command: string }> => {
    if (last !== undefined) throw new Error('the transaction is over');
    last = own(statement as Query);
    return line.finish(last);
  };
  // Whatever was to come behind it must not happen outside.
  own(sql`begin` as unknown as Query).catch(line.lose);
  return {
    tx: statements(sql, (query) => {
      if (last !== undefined) throw new Error('the transaction is over');
      return own(query);
    }),
    async commit() {
      try {
        const { command } = await end(sql`commit`);
        // PostgreSQL answers the commit of a failed transaction with ROLLBACK and no error.
        if (command !== 'COMMIT') throw failure ?? new Error(`the commit was answered with ${command}`);
      } catch (cause) {
        if (last === undefined || !line.wasHanded(last) || !(cause instanceof ConnectionLost)) throw cause;
        throw new CommitInDoubt('the database connection was lost over the commit', { cause });
      }
    },
    async rollback() {
      await end(sql`rollback`).catch(() => {});
    },
  };
}

/** One connection, from the claim of it to the answer to the last statement. */
interface Line {
  /** In order; goes out at once unless the connection is not there yet, or must first hear of another one. */
  issue(query: Query): void;
  /** Issues the last one; the driver takes the connection back with the answer to it. */
  finish(query: Query): Promise<{ readonly command: string }>;
  /** Rejects what is unanswered and whatever comes. */
  lose(cause: unknown): void;
  wasHanded(query: Query): boolean;
}

function openLine(sql: Sql): Line {
  let waiting: Query[] = [];
  const handed = new Set<Query>();
  let connection: Connection | undefined;
  let isFull = false;
  let last: Query | undefined;
  let closed: Error | undefined;

  const send = (to: Connection): void => {
    while (!isFull && waiting.length > 0) {
      const query = waiting.shift() as Query;
      handed.add(query);
      isFull = to.execute(query) !== true;
    }
  };
  const lose = (cause: unknown): void => {
    const loss = closed instanceof ConnectionLost ? closed : asLoss(cause);
    closed = loss;
    for (const query of [...handed, ...waiting]) query.reject(loss);
    waiting = [];
  };
  const take = (claimed: Connection): boolean => {
    connection = claimed;
    claimed.onclose = lose;
    claimed.reserved = () => {
      isFull = false;
      send(claimed);
    };
    send(claimed);
    // Nothing of others may follow.
    return false;
  };
  const claim = (attempt: number): void => {
    const query = sql.unsafe(CLAIM, [], { onexecute: take } as object);
    query.then(() => {
      if (connection !== undefined) return;
      if (attempt === CLAIMS) lose(new Error('the driver names no connection'));
      else claim(attempt + 1);
    }, lose);
  };
  claim(1);
  return {
    issue(query) {
      if (closed !== undefined) return query.reject(closed);
      // The connection is somebody else's by the time that this would be answered.
      if (query === last) closed = new Error('the transaction is over');
      waiting.push(query);
      if (connection !== undefined) send(connection);
    },
    async finish(query) {
      last = query;
      try {
        return await query;
      } finally {
        // By now it may be another transaction's.
        if (connection?.onclose === lose) connection.onclose = null;
      }
    },
    lose,
    wasHanded: (query) => handed.has(query),
  };
}

/** What issues the transaction's statements, and nothing that would go elsewhere. */
function statements(sql: Sql, own: (query: Query) => Query): Tx {
  const tagged = (first: TemplateStringsArray, ...rest: never[]): unknown => {
    const made: unknown = sql(first, ...rest);
    return made instanceof Promise ? own(made as Query) : made;
  };
  const unsafe = (...args: Parameters<Sql['unsafe']>) => own(sql.unsafe(...args) as unknown as Query);
  return Object.assign(tagged, { unsafe, json: sql.json, array: sql.array }) as unknown as Tx;
}

const asLoss = (cause: unknown): ConnectionLost =>
  cause instanceof ConnectionLost ? cause : new ConnectionLost('the database connection was lost', { cause });

/** Of the system, or in the system's manner: the driver's own carry an `errno`, the database's do not. */
const isConnectionFault = (fault: unknown): boolean => fault instanceof Error && 'errno' in fault;
