/**
 * Group commit: items are made durable in the order in which they come. While one commit is on its way, the next
 * collects. After the first failure the queue is closed: the items of the failed commit may or may not be durable, those
 * behind it certainly are not.
 */
import { CommitInDoubt } from './errors.ts';

/** A commit that takes longer counts as lost: a half-open connection says nothing by itself. */
const COMMIT_TIMEOUT_MS = 15_000;

export interface GroupCommitOptions<T> {
  /**
   * All of it or nothing.
   * @throws CommitInDoubt when nobody can tell; anything else is proof that nothing was written
   */
  readonly commit: (batch: readonly T[]) => Promise<void>;
  /** Items of one commit, at most: bounds its size, and how long the next one waits. */
  readonly maxBatch: number;
  /** Called once the batch is durable and its senders have their answers on the way. */
  readonly onCommitted?: (batch: readonly T[]) => void;
  /** Called once, before any sender has its answer. */
  readonly onFailed: (cause: unknown) => void;
  /** What a sender is told: `executed` is 'no' with proof, else 'unknown'. */
  readonly errorOf: (executed: 'no' | 'unknown', cause: unknown) => Error;
}

interface Waiting<T> {
  readonly item: T;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>;
  #waiting: Waiting<T>[] = [];
  #running: Promise<void> | null = null;
  #failure: { readonly cause: unknown } | null = null;

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options;
  }

  /** Of those that wait for the next commit. */
  get length(): number {
    return this.#waiting.length;
  }

  get isFailed(): boolean {
    return this.#failure !== null;
  }

  /** Resolves when the item is durable. @throws what `errorOf` makes */
  add(item: T): Promise<void> {
    if (this.#failure !== null) return Promise.reject(this.#options.errorOf('no', this.#failure.cause));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      // What else arrives in this turn of the event loop shares the commit.
      this.#running ??= new Promise<void>((turn) => setImmediate(turn)).then(() => this.#run());
    });
  }

  /** Resolves when nothing is on its way, whether it came through or not. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Gives up: what has not been sent is refused. A commit on its way still answers for its own items. */
  fail(cause: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = { cause };
    this.#options.onFailed(cause);
    const unsent = this.#waiting;
    this.#waiting = [];
    for (const { reject } of unsent) reject(this.#options.errorOf('no', cause));
  }

  async #run(): Promise<void> {
    const { maxBatch, onCommitted, errorOf } = this.#options;
    while (this.#waiting.length > 0 && this.#failure === null) {
      const batch = this.#waiting.splice(0, maxBatch);
      const items = batch.map(({ item }) => item);
      try {
        await this.#commitInTime(items);
      } catch (cause) {
        this.fail(cause);
        const error = errorOf(cause instanceof CommitInDoubt ? 'unknown' : 'no', cause);
        for (const { reject } of batch) reject(error);
        break;
      }
      for (const { resolve } of batch) resolve();
      onCommitted?.(items);
    }
    this.#running = null;
  }

  async #commitInTime(items: readonly T[]): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new CommitInDoubt(`no commit within ${COMMIT_TIMEOUT_MS} ms`)),
        COMMIT_TIMEOUT_MS,
      );
      timer.unref();
    });
    const commit = this.#options.commit(items);
    // One that outlives the time-out must not end the process; the next term decides what became of it.
    commit.catch(() => {});
    try {
      await Promise.race([commit, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
