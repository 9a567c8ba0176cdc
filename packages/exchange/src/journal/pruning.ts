/**
 * Deletes the journal's rows that no recovery can need: those before the oldest snapshot that is kept. A recovery begins at
 * a snapshot and reads what follows it. While there are fewer snapshots than are kept, none of them replaces the journal.
 */
import type { Sql } from '@bellwether/durable';
import { SNAPSHOTS_KEPT } from './snapshots.ts';

const ROWS_PER_DELETE = 5_000;
/** A stop waits for the rest of a turn. What is left is deleted after the next snapshot. */
const DELETES_PER_TURN = 20;

export async function pruneJournal(database: Sql): Promise<void> {
  for (let turn = 0; turn < DELETES_PER_TURN; turn += 1) {
    const { count } = await database`
      delete from exchange_journal where seq = any(array(
        select seq from exchange_journal
        where seq < (select min(seq) from exchange_snapshots having count(*) >= ${SNAPSHOTS_KEPT}::int) order by seq limit ${ROWS_PER_DELETE}::int))`;
    if (count < ROWS_PER_DELETE) return;
  }
}
