/**
 * Writes a snapshot without the main thread: the thread recovers the state from the last snapshot and the journal, as a
 * new process would, on its own connection. It sees only committed commands, so what it writes is valid whichever
 * process leads by then. It ends when the snapshot is written, and its memory is free again.
 */
import { Worker } from 'node:worker_threads';
import type { PoolAddress } from '@bellwether/durable';

/** Of the thread's heap: beyond it the thread fails, not the process. */
const MOST_HEAP_MB = 1_024;

export interface ThreadData {
  readonly database: PoolAddress;
  /** The last command of the snapshot; committed. */
  readonly seq: number;
}

export type FromThread =
  | { readonly kind: 'log'; readonly message: string }
  | { readonly kind: 'failed'; readonly error: string };

export interface SnapshotThread {
  /** Resolves when the snapshot is written. @throws Error when it was not */
  readonly written: Promise<void>;
  /** Ends the thread. What it has not committed by then is not written. */
  stop(): Promise<void>;
}

export function startSnapshotThread(data: ThreadData, log: (message: string) => void): SnapshotThread {
  const worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), {
    workerData: data,
    name: 'exchange-snapshot',
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  });
  const written = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'log') log(message.message);
      else reject(new Error(message.error));
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error('the thread that writes it ended early'));
    });
  });
  // Its first failure may come before the caller waits.
  written.catch(() => {});
  return { written, stop: async () => void (await worker.terminate()) };
}
