/** When snapshots are written: by a thread while commands go on, and by this thread at the close. */
import type { Sql } from '@bellwether/durable';
import { pruneJournal } from './pruning.ts';
import { SnapshotThread } from './snapshot-thread.ts';
import { type Snapshot, writeSnapshot } from './snapshots.ts';

const EVERY_COMMANDS = 20_000;
const EVERY_MS = 5 * 60_000;
/** How long the close waits for a thread. */
const THREAD_END_MS = 3_500;

export interface SnapshotOptions {
  readonly sql: Sql;
  readonly snapshotEveryCommands?: number;
  readonly snapshotEveryMs?: number;
  readonly prunesJournal?: boolean;
  /** Resolves when what is derived from the journal covers the command `seq`: only then a snapshot may replace it. */
  readonly cover: (seq: number) => Promise<void>;
  readonly log: (message: string, details?: unknown) => void;
}

export class SnapshotSchedule {
  readonly #options: SnapshotOptions;
  /** Position and time of the last one that was begun. A failed one is not tried again before the next is due. */
  #seq = 0;
  #at = 0;
  /** Position of the last one that was written. */
  #writtenSeq = 0;
  #writing: Promise<void> | undefined;
  /** It has the state of the last snapshot of this term. */
  #thread: SnapshotThread | undefined;
  /** Which is writing; after a new term not the one above. */
  #busy: SnapshotThread | undefined;

  constructor(options: SnapshotOptions) {
    this.#options = options;
  }

  /**
   * A term begins. The journal may be another one by now, as after a restore, so no thread goes on from its own state.
   * @param seq of the snapshot that the state was recovered from; 0 without one
   */
  begin(seq: number, at: number): void {
    this.#beginAt(seq, at);
    this.#writtenSeq = seq;
    const thread = this.#thread;
    this.#thread = undefined;
    void (this.#writing ?? Promise.resolve()).then(() => thread?.stop());
  }

  #beginAt(seq: number, at: number): void {
    this.#seq = seq;
    this.#at = at;
  }

  isDue(seq: number, at: number): boolean {
    const { snapshotEveryCommands = EVERY_COMMANDS, snapshotEveryMs = EVERY_MS } = this.#options;
    if (this.#writing !== undefined) return false;
    return seq - this.#seq >= snapshotEveryCommands || at - this.#at >= snapshotEveryMs;
  }

  /** @param durable resolves when the command `seq` is committed */
  take(seq: number, at: number, durable: Promise<void>): void {
    const { sql, cover, log } = this.#options;
    this.#beginAt(seq, at);
    this.#writing = durable
      .then(() => cover(seq))
      .then(() => {
        if (this.#thread === undefined || this.#thread.isOver)
          this.#thread = new SnapshotThread({ database: sql.address() }, log);
        this.#busy = this.#thread;
        return this.#busy.write(seq);
      })
      .then(() => {
        this.#writtenSeq = seq;
      })
      .catch((error: unknown) => this.#failed(error))
      // Also then: a thread that was ended may have written its snapshot.
      .then(() => this.#prune())
      .finally(() => {
        this.#busy = undefined;
        this.#writing = undefined;
      });
  }

  /** Ends the threads. */
  async end(): Promise<void> {
    const timer = setTimeout(() => void this.#busy?.stop(), THREAD_END_MS);
    await this.#writing;
    clearTimeout(timer);
    await this.#thread?.stop();
  }

  /** After the end: the last state, whose last command is committed. Nothing runs any more that it could delay. */
  async writeLast(seq: number, state: () => Omit<Snapshot, 'seq'>): Promise<void> {
    if (seq === this.#writtenSeq) return;
    const { sql, cover } = this.#options;
    await cover(seq)
      .then(() => writeSnapshot(sql, { seq, ...state() }))
      .then(() => {
        this.#writtenSeq = seq;
      })
      .then(() => this.#prune())
      .catch((error: unknown) => this.#failed(error));
  }

  async #prune(): Promise<void> {
    const { sql, prunesJournal = true, log } = this.#options;
    if (!prunesJournal) return;
    await pruneJournal(sql).catch((error: unknown) =>
      log('the journal of the paper exchange was not pruned', error),
    );
  }

  #failed(error: unknown): void {
    this.#options.log('a snapshot of the paper exchange was not written', error);
  }
}
