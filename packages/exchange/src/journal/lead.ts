/** The right to write the exchange's journal. */
import { endOwnSession, type Lead, type Sql, takeLead } from '@bellwether/durable';

/** "Bellweth" in ASCII, as one signed 64-bit key. */
const LOCK_KEY = '4784349392266425448';

/** @returns undefined when another process leads. @throws when the database does not answer */
export const takeExchangeLead = (database: Sql, holder: string): Promise<Lead | undefined> =>
  takeLead(database, { name: 'exchange', holder, lockKey: LOCK_KEY, settings: PLANNING });

/** Ends this process's lost session on the server, if it still exists there. */
export const endLostSession = (database: Sql, backendPid: number): Promise<void> =>
  endOwnSession(database, LOCK_KEY, backendPid);

/**
 * All writes go to a few rows by their keys. The planner does not know the size of a batch, or how large a table has
 * grown since planning: with default settings it may read the whole table for every batch.
 */
export const PLANNING = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // Otherwise a scan of a whole cached index seems as cheap as one lookup per row of the batch.
  enable_material: 'off',
  // Some versions estimate a forced plan as expensive, and compile it.
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
};
