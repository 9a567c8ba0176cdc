/** The thread that writes one snapshot. Only `snapshot-thread.ts` starts it. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { openPool, transact } from '@bellwether/durable';
import { recover } from './recovery.ts';
import type { FromThread, ThreadData } from './snapshot-thread.ts';
import { packHere, writeSnapshot } from './snapshots.ts';

/** Of 19: when processors are busy, the other threads of the process run first. */
const NICENESS = 5;
/** The close of the exchange waits a few seconds for this thread. */
const LONGEST_PAUSE_MS = 50;

const post = (message: FromThread): void => parentPort?.postMessage(message);

/** Linux has a priority per thread. On other systems this does nothing. */
function lowerPriority(): void {
  try {
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), NICENESS);
  } catch {
    // Not Linux, or no /proc: the thread keeps the default priority.
  }
}

/**
 * Rests for as long as the thread has worked. The embedded PostgreSQL has a lower priority than this thread, which would take
 * the processor from the commits of trades; with a lower priority than that it hardly runs on a machine that is busy.
 */
function createPause(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    await sleep(Math.min(performance.now() - since, LONGEST_PAUSE_MS));
    since = performance.now();
  };
}

async function write({ database, seq }: ThreadData): Promise<void> {
  const sql = openPool(database.url, { ...database.options, max: 1 });
  try {
    const recovered = await transact(sql, async (tx) => {
      // One view of the database: another process may write a snapshot and prune the journal behind it meanwhile.
      await tx`set transaction isolation level repeatable read, read only`;
      return recover(tx, (message) => post({ kind: 'log', message }), { upTo: seq, pause: createPause() });
    });
    if (recovered?.seq !== seq) throw new Error(`the journal does not reach its last command, ${seq}`);
    const { world } = recovered;
    await writeSnapshot(sql, { seq, at: world.now, state: world.snapshot() }, packHere);
  } finally {
    await sql.end();
  }
}

lowerPriority();
try {
  await write(workerData as ThreadData);
} catch (error) {
  post({ kind: 'failed', error: error instanceof Error ? error.message : String(error) });
}
