/**
 * One connection of the chain's own, and transactions on it. The driver's `begin` is not used: when its connection dies
 * it writes a rollback to what is no longer there, and the error that follows ends the process.
 */
import postgres, { type ReservedSql, type Sql } from 'postgres';

export interface Session {
  readonly tx: ReservedSql;
  isLost(): boolean;
  /** Rejects when the connection is gone; never resolves. */
  readonly lost: Promise<never>;
  /** Cuts it; what was not committed is rolled back by the database. */
  end(): void;
}

/** The commit may or may not have happened. */
export class CommitInDoubt extends Error {
  override readonly name = 'CommitInDoubt';
}

/** With the options of the caller's pool. @throws when the database does not answer */
export async function openSession(pool: Sql): Promise<Session> {
  let isLost = false;
  let declareLost: (reason: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    declareLost = reject;
  });
  lost.catch(() => {});
  const lose = (): void => {
    isLost = true;
    declareLost(new Error('the sandbox chain’s connection was closed'));
  };
  const own = { ...pool.options, max: 1, idle_timeout: null, max_lifetime: null, onclose: lose };
  // The driver takes its own parsed options back (its `listen` does the same); its types do not say so.
  const single = postgres(own as unknown as postgres.Options<Record<string, never>>) as unknown as Sql;
  const end = (): void => {
    lose();
    single.end({ timeout: 0 }).catch(() => {});
  };
  try {
    // The driver never hands out a connection that was opened to be reserved, unless it asks for types on the way.
    await single`select 1`;
    return { tx: await single.reserve(), isLost: () => isLost, lost, end };
  } catch (error) {
    end();
    throw error;
  }
}

/**
 * Everything that `issue` returns, or nothing. After an error the session is of no use: end it.
 * @param accept is given the statements' answers before the commit; throws to prevent it
 * @throws CommitInDoubt when the connection was lost over the commit itself; anything else is proof that nothing
 *   was written
 */
export async function transact(
  session: Session,
  issue: (tx: Sql) => readonly PromiseLike<unknown>[],
  accept: (answers: readonly unknown[]) => void = () => {},
): Promise<void> {
  const { tx, lost } = session;
  assertAlive(session);
  // All are handed to the driver here, in order and in one turn; those behind a failed one fail for that reason alone.
  const statements = [tx`begin`, ...issue(tx)].map((statement) =>
    Promise.resolve(statement.then((rows) => rows)),
  );
  for (const statement of statements) statement.catch(() => {});
  const [, ...answers] = await Promise.race([Promise.all(statements), lost]);
  accept(answers);
  assertAlive(session);
  let answer: { readonly command: string };
  try {
    answer = await Promise.race([tx`commit`.then((rows) => rows), lost]);
  } catch (cause) {
    throw new CommitInDoubt('the database was lost during the commit', { cause });
  }
  // PostgreSQL answers the commit of a failed transaction with ROLLBACK and no error.
  if (answer.command !== 'COMMIT') throw new Error(`the commit was answered with ${answer.command}`);
}

function assertAlive(session: Session): void {
  if (session.isLost()) throw new Error('the sandbox chain’s connection is gone');
}
