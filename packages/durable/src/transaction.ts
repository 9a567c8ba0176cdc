/**
 * Transactions. Statements are sent in order, without waiting for one another, followed by the commit; a lost
 * connection rejects them all. Only this file interprets PostgreSQL's answer to a commit.
 */
import type { Connection } from './connection.ts';
import { asLoss, CommitInDoubt, ConnectionLost, isConnectFault } from './errors.ts';
import type { Connections } from './pool.ts';
import { createTag, currentOrigin, type Rendered, type Rows, type Tag } from './statement.ts';

/** Issues the statements of one transaction. */
export type Tx = Tag;

export interface Transaction {
  /** Each statement rejects with the database's error, or with `ConnectionLost`. */
  readonly tx: Tx;
  /** Sent after the statements issued before. @throws CommitInDoubt; any other error proves that nothing was written */
  commit(): Promise<void>;
  /** Never throws: uncommitted work is rolled back in any case. */
  rollback(): Promise<void>;
}

/** A pool, or a session. */
interface Database {
  readonly connections: Connections;
}

/** Commits all that `work` issues, or nothing. @throws CommitInDoubt; other errors prove that nothing was written */
export async function transact<T>(database: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  const transaction = openTransaction(database);
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

/**
 * Commits everything that `issue` returns, or nothing. The statements and the commit are sent together, without waiting
 * in between; the commit fails when one of the statements fails.
 * @throws CommitInDoubt; any other error proves that nothing was written
 */
export async function commitAll(
  database: Database,
  issue: (tx: Tx) => readonly PromiseLike<unknown>[],
): Promise<void> {
  const { tx, commit, rollback } = openTransaction(database);
  try {
    for (const statement of issue(tx)) statement.then(undefined, () => {});
  } catch (error) {
    await rollback();
    throw error;
  }
  await commit();
}

/** Must be committed or rolled back: until then it occupies a connection. */
export function openTransaction({ connections }: Database): Transaction {
  const line = new TransactionLine(connections);
  return {
    tx: createTag(line, () => line.requireOpen()),
    commit: () => line.commit(),
    rollback: () => line.rollback(),
  };
}

const plain = (text: string, name: string | null = null): Rendered => ({
  ...{ text, name, values: [] },
  origin: currentOrigin(),
});
const isOver = (): Error => new Error('the transaction is over');

/** Waits for the connection. */
interface Queued {
  readonly statement: Rendered;
  readonly resolve: (rows: Promise<Rows>) => void;
  readonly reject: (fault: unknown) => void;
}

class TransactionLine {
  readonly #connections: Connections;
  #connection: Connection | undefined;
  #queued: Queued[] = [];
  /** Why no further statement can be issued. */
  #closed: unknown;
  /** The first failure of a statement: the whole transaction is rolled back. */
  #failure: unknown;
  #lastHanded: Rendered | undefined;
  #isEnding = false;
  #isReleased = false;

  constructor(connections: Connections) {
    this.#connections = connections;
    // Prepared, so that it shares the answer of the statements behind it, which must not run outside the transaction.
    this.#send(plain('begin', 'begin_transaction')).catch((fault: unknown) => {
      this.#closed ??= fault;
    });
    connections.acquire(
      (connection) => this.#begin(connection),
      (fault) => this.#close(isConnectFault(fault) ? asLoss(fault) : fault),
    );
  }

  requireOpen(): void {
    if (this.#isEnding) throw isOver();
  }

  issue(statement: Rendered): Promise<Rows> {
    if (this.#isEnding) return Promise.reject(isOver());
    return this.#watched(this.#send(statement));
  }

  refuse(fault: unknown): Promise<never> {
    this.#failure ??= fault;
    return this.#watched(Promise.reject(fault));
  }

  async commit(): Promise<void> {
    this.requireOpen();
    if (this.#failure !== undefined) {
      await this.rollback();
      throw this.#failure;
    }
    this.#isEnding = true;
    const statement = plain('commit');
    try {
      const { command } = await this.#sendLast(statement);
      // PostgreSQL answers the commit of a failed transaction with ROLLBACK and no error.
      if (command !== 'COMMIT') throw this.#failure ?? new Error(`the commit was answered with ${command}`);
    } catch (cause) {
      if (this.#lastHanded !== statement || !(cause instanceof ConnectionLost)) throw cause;
      throw new CommitInDoubt('the database connection was lost over the commit', { cause });
    } finally {
      this.#release();
    }
  }

  async rollback(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#connection === undefined) return this.#close(isOver());
    await this.#sendLast(plain('rollback')).catch(() => {});
    this.#release();
  }

  #begin(connection: Connection): void {
    if (this.#closed !== undefined) {
      this.#connections.release(connection);
      return;
    }
    this.#connection = connection;
    const queued = this.#queued;
    this.#queued = [];
    for (const { statement, resolve } of queued) resolve(this.#hand(connection, statement));
  }

  #send(statement: Rendered): Promise<Rows> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#connection !== undefined) return this.#hand(this.#connection, statement);
    return new Promise((resolve, reject) => this.#queued.push({ statement, resolve, reject }));
  }

  #sendLast(statement: Rendered): Promise<Rows> {
    const answer = this.#send(statement);
    if (this.#connections.isPipelined) this.#release();
    return answer;
  }

  #hand(connection: Connection, statement: Rendered): Promise<Rows> {
    if (!connection.isLost) this.#lastHanded = statement;
    return connection.issue(statement, { joins: true });
  }

  #watched<T>(answer: Promise<T>): Promise<T> {
    answer.catch((fault: unknown) => {
      this.#failure ??= fault;
    });
    return answer;
  }

  /** Closes a transaction that has no connection. */
  #close(reason: unknown): void {
    this.#closed = reason;
    const queued = this.#queued;
    this.#queued = [];
    for (const { reject } of queued) reject(reason);
  }

  #release(): void {
    if (this.#isReleased || this.#connection === undefined) return;
    this.#isReleased = true;
    this.#connections.release(this.#connection);
  }
}
