/**
 * The right to write the journal: a connection of its own that holds a session advisory lock. Connection lost, lead
 * lost: nothing else may ever be sent through it, because a new connection would write without the lock. A pooler
 * that hands one session to several clients (transaction pooling) breaks this; the lead needs a real session.
 */
import postgres, { type ReservedSql, type Sql } from 'postgres';
import type { Database } from './schema.ts';

/** "Bellweth" in ASCII, as one signed 64-bit key. */
const LOCK_KEY = '4784349392266425448';

export interface Lead {
  /** For the journal's statements only, and only while `isLost()` is false. */
  readonly tx: ReservedSql;
  readonly backendPid: number;
  isLost(): boolean;
  /** Rejects when the lead is lost; never resolves. */
  readonly lost: Promise<never>;
  /** Gives the lead up for good, and waits until the lock is free where the connection still answers. */
  release(): Promise<void>;
  /** Cuts the connection without a word. */
  abandon(): void;
}

/** @returns undefined when another session leads. @throws when the database does not answer. */
export async function takeLead(database: Database): Promise<Lead | undefined> {
  let declareLost: (reason: Error) => void = () => {};
  const lost = new Promise<never>((_, reject) => {
    declareLost = reject;
  });
  lost.catch(() => {});
  let isLost = false;
  const pool = ownPool(database as Sql, () => {
    isLost = true;
    declareLost(new Error('the journal’s connection was closed'));
  });
  const abandon = (): void => {
    isLost = true;
    declareLost(new Error('the journal’s connection was given up'));
    pool.end({ timeout: 0 }).catch(() => {});
  };
  try {
    // The driver never hands out a connection that was opened to be reserved, unless it asks for types on the way.
    await pool`select 1`;
    const tx = await pool.reserve();
    const [row] =
      await tx`select pg_try_advisory_lock(${LOCK_KEY}::bigint) as locked, pg_backend_pid() as pid`;
    if (row?.locked !== true) {
      abandon();
      return undefined;
    }
    const release = async (): Promise<void> => {
      if (isLost) return;
      await Promise.race([tx`select pg_advisory_unlock(${LOCK_KEY}::bigint)`, lost]).catch(() => {});
      abandon();
    };
    return { tx, backendPid: Number(row.pid), isLost: () => isLost, lost, release, abandon };
  } catch (error) {
    abandon();
    throw error;
  }
}

/** Ends a session of ours that the server still believes in, so that its lock does not outlive it by minutes. */
export async function endStaleLead(database: Database, backendPid: number): Promise<void> {
  await (database as Sql)`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and objsubid = 1 and granted and pid = ${backendPid}
      and (classid::bigint << 32) | objid::bigint = ${LOCK_KEY}::bigint`;
}

/**
 * Everything written here goes to a few rows by their keys. The planner cannot know how few a batch holds, or how large
 * a table has grown since it planned: left alone, it reads all of it for every batch.
 */
export const PLANNING = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Else a walk of a whole index, kept in memory, looks as cheap as one look for each row of the batch.
  enable_material: 'off',
  // Some versions take a plan without another choice for a dear one, and compile it.
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** One connection with the options of the caller's pool, watched for its end. */
function ownPool(database: Sql, onclose: () => void): Sql {
  const own = {
    ...database.options,
    connection: { ...database.options.connection, ...PLANNING },
    max: 1,
    idle_timeout: null,
    max_lifetime: null,
    onclose,
  };
  // The driver takes its own parsed options back (its `listen` does the same); its types do not say so.
  return postgres(own as unknown as postgres.Options<Record<string, never>>) as unknown as Sql;
}
