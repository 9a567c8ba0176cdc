/**
 * The right to write the journal: a connection of its own that holds a session advisory lock. Connection lost, lead
 * lost: nothing else may ever be sent through it, because a new connection would write without the lock. A pooler
 * that hands one session to several clients (transaction pooling) breaks this; the lead needs a real session.
 */
import type { Session, Sql } from '@bellwether/durable';

/** "Bellweth" in ASCII, as one signed 64-bit key. */
const LOCK_KEY = '4784349392266425448';

export interface Lead {
  /** For the journal's statements only. Lost: the lead is lost. */
  readonly session: Session;
  /** Gives the lead up for good, and waits until the lock is free where the connection still answers. */
  release(): Promise<void>;
}

/** @returns undefined when another session leads. @throws when the database does not answer. */
export async function takeLead(database: Sql): Promise<Lead | undefined> {
  const session = await database.session({ settings: PLANNING });
  try {
    const [row] = await session`select pg_try_advisory_lock(${LOCK_KEY}::bigint) as locked`;
    if (row?.locked !== true) {
      session.end();
      return undefined;
    }
  } catch (error) {
    session.end();
    throw error;
  }
  return {
    session,
    async release() {
      if (session.isLost()) return;
      await session`select pg_advisory_unlock(${LOCK_KEY}::bigint)`.catch(() => {});
      session.end();
    },
  };
}

/** Ends a session of ours that the server still believes in, so that its lock does not outlive it by minutes. */
export async function endStaleLead(database: Sql, backendPid: number): Promise<void> {
  await database`
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
