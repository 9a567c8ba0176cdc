/** The thread that writes snapshots. Only `snapshot-thread.ts` starts it. */
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { openPool, transact } from '@bellwether/durable';
import { type Recovered, recover } from './recovery.ts';
import type { FromThread, ThreadData, ToThread } from './snapshot-thread.ts';
import { packHere, writeSnapshot } from './snapshots.ts';

/** Niceness, of at most 19: when processors are busy, the other threads of the process run first. */
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

/** The state of the last snapshot: the next one goes on from it. */
let reached: Recovered | undefined;

async function write({ database }: ThreadData, seq: number): Promise<void> {
  const sql = openPool(database.url, { ...database.options, max: 1 });
  try {
    reached = await transact(sql, async (tx) => {
      // One view of the database: another process may write a snapshot and prune the journal behind it meanwhile.
      await tx`set transaction isolation level repeatable read, read only`;
      const log = (message: string): void => post({ kind: 'log', message });
      return recover(tx, log, { upTo: seq, pause: createPause(), from: reached });
    });
    if (reached?.seq !== seq) throw new Error(`the journal does not reach its last command, ${seq}`);
    const { world } = reached;
    await writeSnapshot(sql, { seq, at: world.now, state: world.snapshot() }, packHere);
  } finally {
    await sql.end();
  }
}

lowerPriority();
parentPort?.on('message', ({ seq }: ToThread) => {
  write(workerData as ThreadData, seq).then(
    () => post({ kind: 'written' }),
    (error: unknown) =>
      post({ kind: 'failed', error: error instanceof Error ? error.message : String(error) }),
  );
});
