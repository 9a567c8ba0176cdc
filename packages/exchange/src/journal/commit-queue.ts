/**
 * Group commit under one lead. Rows go in as their commands are applied and come out as durable; while one batch is
 * on its way the next collects. After the first failure the queue is dead: the rows of the failed batch may or may
 * not be in the journal, those behind it certainly are not.
 */
import type { Entry, Recorder } from '../index.ts';
import { commitRows, type JournalRow } from './commit.ts';
import type { Lead } from './lead.ts';
import { ExchangeUnavailable } from './unavailable.ts';

/** Commands per transaction: bounds the size of a write, and how long the next batch waits. */
const MAX_BATCH_ROWS = 500;

interface Waiting {
  readonly row: JournalRow;
  readonly resolve: () => void;
  readonly reject: (reason: ExchangeUnavailable) => void;
}

export interface CommitQueueOptions {
  readonly lead: Lead;
  readonly recorder: Recorder | undefined;
  readonly onCommitted: (entries: readonly Entry[]) => void;
  /** Called once, before anybody who waits is told. */
  readonly onFailed: (cause: unknown) => void;
}

export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #waiting: Waiting[] = [];
  #idle: Promise<void> = Promise.resolve();
  #running = false;
  #failed = false;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Resolves when the row is durable. @throws ExchangeUnavailable */
  add(row: JournalRow): Promise<void> {
    if (this.#failed)
      return Promise.reject(new ExchangeUnavailable('no', 'its database connection was lost'));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ row, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      // Whatever else arrives in this turn of the event loop shares the first batch.
      this.#idle = new Promise((done) => setImmediate(() => this.#run().then(done)));
    });
  }

  /** Resolves when nothing is on its way, whether it came through or not. */
  async settled(): Promise<void> {
    while (this.#running) await this.#idle;
  }

  /** Gives up: whatever has not been sent is refused. */
  fail(cause: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#options.onFailed(cause);
    const unsent = this.#waiting;
    this.#waiting = [];
    for (const { reject } of unsent)
      reject(new ExchangeUnavailable('no', 'its database connection was lost', { cause }));
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#failed) {
      const batch = this.#waiting.splice(0, MAX_BATCH_ROWS);
      const rows = batch.map((one) => one.row);
      try {
        await commitRows(this.#options.lead.session, rows, this.#options.recorder);
      } catch (cause) {
        this.fail(cause);
        const error = new ExchangeUnavailable('unknown', 'the database was lost during the commit', {
          cause,
        });
        for (const { reject } of batch) reject(error);
        break;
      }
      for (const { resolve } of batch) resolve();
      this.#options.onCommitted(rows.map((row) => row.entry));
    }
    this.#running = false;
  }
}
