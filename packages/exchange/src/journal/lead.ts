/** The right to write the exchange's journal. */
import { endOwnSession, type Lead, type Sql, takeLead } from '@bellwether/durable';

/** "Bellweth" in ASCII, as one signed 64-bit key. Earlier releases take the same lock. */
const LOCK_KEY = '4784349392266425448';

/** @returns undefined when another process leads. @throws when the database does not answer */
export const takeExchangeLead = (database: Sql, holder: string): Promise<Lead | undefined> =>
  takeLead(database, { name: 'exchange', holder, lockKey: LOCK_KEY, settings: PLANNING });

/** Ends the session that this process lost, where the server still believes in it. */
export const endLostSession = (database: Sql, backendPid: number): Promise<void> =>
  endOwnSession(database, LOCK_KEY, backendPid);

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
