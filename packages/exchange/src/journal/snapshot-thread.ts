/**
 * Writes snapshots without the main thread: the thread recovers the state from the last snapshot and the journal, as a
 * new process would, on its own connection. It sees only committed commands, so what it writes is valid whichever
 * process leads by then. It keeps the state for the next one, because a new thread spends more time on becoming fast than
 * on the commands; when none is asked for, it ends, and its memory is free again.
 */
import { Worker } from 'node:worker_threads';
import type { PoolAddress } from '@bellwether/durable';

/** Megabytes of the thread's heap: beyond it the thread fails, not the process. */
const MOST_HEAP_MB = 1_024;
/** Megabytes of its new objects. No request waits while this thread collects garbage, so it may do that often. */
const YOUNG_HEAP_MB = 8;
/** A busy exchange asks for the next one sooner. */
const ENDS_AFTER_MS = 60_000;

export interface ThreadData {
  readonly database: PoolAddress;
}

/** Asks for the snapshot of the state after this command, which is committed. */
export interface ToThread {
  readonly seq: number;
}

export type FromThread =
  | { readonly kind: 'log'; readonly message: string }
  | { readonly kind: 'written' }
  | { readonly kind: 'failed'; readonly error: string };

const endedEarly = (): Error => new Error('the thread that writes it ended early');

export class SnapshotThread {
  readonly #worker: Worker;
  #writing: PromiseWithResolvers<void> | undefined;
  #end: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(data: ThreadData, log: (message: string) => void) {
    this.#worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), {
      workerData: data,
      name: 'exchange-snapshot',
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
    });
    this.#worker.on('message', (message: FromThread) => {
      if (message.kind === 'log') log(message.message);
      else if (message.kind === 'written') this.#writing?.resolve();
      else this.#writing?.reject(new Error(message.error));
    });
    this.#worker.on('error', (error) => this.#over(error));
    this.#worker.on('exit', () => this.#over(endedEarly()));
  }

  /** Whether it takes no further snapshot. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Resolves when the snapshot is written. One at a time; each of a later command than the one before.
   * @throws Error when it was not: then the thread ends, because nothing is known of its state
   */
  async write(seq: number): Promise<void> {
    if (this.#isOver) throw endedEarly();
    clearTimeout(this.#end);
    this.#writing = Promise.withResolvers<void>();
    this.#worker.postMessage({ seq } satisfies ToThread);
    try {
      await this.#writing.promise;
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#end = setTimeout(() => void this.stop(), ENDS_AFTER_MS);
    this.#end.unref();
  }

  /** Ends the thread. What it has not committed by then is not written. */
  async stop(): Promise<void> {
    clearTimeout(this.#end);
    this.#over(endedEarly());
    await this.#worker.terminate();
  }

  #over(reason: Error): void {
    this.#isOver = true;
    this.#writing?.reject(reason);
  }
}
