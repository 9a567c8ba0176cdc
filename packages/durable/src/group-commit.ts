/**
 * Group commit: items become durable in the order in which they arrive. While one commit runs, arriving items wait for
 * the next one. The first failure of a commit that has taken items closes the queue: those items may or may not be
 * durable, later items are certainly not.
 */
import { CommitInDoubt } from './errors.ts';
import { currentOrigin, withOrigin } from './statement.ts';

/** A commit that takes longer counts as lost: a half-open connection reports no error. */
const COMMIT_TIMEOUT_MS = 15_000;

export interface GroupCommitOptions<T> {
  /**
   * Writes everything that `take` returns, or nothing. It may prepare before it takes, and add items meanwhile. What it
   * throws before it has taken concerns no item: the queue stays open, and the items wait for the next commit.
   * @throws CommitInDoubt when the outcome is unknown; any other error proves that nothing was written
   */
  readonly commit: (take: Take<T>) => Promise<void>;
  /** Called once the batch is durable, after the promises of its senders are resolved; for no one of them. */
  readonly onCommitted?: (batch: readonly T[]) => void;
  /** How long a commit took that held items. */
  readonly onTimed?: (ms: number) => void;
  /** Called once, before any sender receives the error. */
  readonly onFailed: (cause: unknown) => void;
  /** Makes the error that a sender receives: `executed` is 'no' with proof, else 'unknown'. */
  readonly errorOf: (executed: 'no' | 'unknown', cause: unknown) => Error;
}

/** Removes waiting items from the queue, oldest first; to be called once. @param most default: all of them */
export type Take<T> = (most?: number) => readonly T[];

interface WaitingRecord<T> {
  readonly item: T;
  /** A commit is sent for the first of its items. */
  readonly origin: string | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

const ignored = (): void => {};

export class GroupCommit<T> {
  readonly #options: GroupCommitOptions<T>;
  #waiting: WaitingRecord<T>[] = [];
  #running: Promise<void> | null = null;
  #isWoken = false;
  #failure: { readonly cause: unknown } | null = null;

  constructor(options: GroupCommitOptions<T>) {
    this.#options = options;
  }

  /** Items that wait for the next commit. */
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
      this.#waiting.push({ item, origin: currentOrigin(), resolve, reject });
      this.#start();
    });
  }

  /** Adds an item during `commit`, before it takes: its outcome is the outcome of that commit. */
  append(item: T): void {
    this.#waiting.push({ item, origin: currentOrigin(), resolve: ignored, reject: ignored });
  }

  /** Runs another commit, also when no item waits. */
  wake(): void {
    this.#isWoken = true;
    this.#start();
  }

  #start(): void {
    // Items that arrive in the same turn of the event loop share the commit.
    this.#running ??= new Promise<void>((turn) => setImmediate(turn)).then(() => this.#run());
  }

  /** Resolves when no commit is running, after success or failure. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Closes the queue: items not sent yet are rejected. A running commit still settles its own items. */
  fail(cause: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = { cause };
    this.#options.onFailed(cause);
    const unsent = this.#waiting;
    this.#waiting = [];
    for (const { reject } of unsent) reject(this.#options.errorOf('no', cause));
  }

  async #run(): Promise<void> {
    while ((this.#waiting.length > 0 || this.#isWoken) && this.#failure === null) {
      this.#isWoken = false;
      await withOrigin(this.#waiting[0]?.origin, () => this.#runOne());
    }
    this.#running = null;
  }

  async #runOne(): Promise<void> {
    const { onCommitted, onTimed, errorOf } = this.#options;
    const begun = performance.now();
    let batch: readonly WaitingRecord<T>[] = [];
    const take: Take<T> = (most = this.#waiting.length) => {
      batch = this.#waiting.splice(0, most);
      return batch.map(({ item }) => item);
    };
    try {
      await this.#commitInTime(take);
    } catch (cause) {
      // A commit in doubt may still be running on its connection.
      if (batch.length === 0 && !(cause instanceof CommitInDoubt)) return;
      this.fail(cause);
      const error = errorOf(cause instanceof CommitInDoubt ? 'unknown' : 'no', cause);
      for (const { reject } of batch) reject(error);
      return;
    }
    for (const { resolve } of batch) resolve();
    if (batch.length > 0) onTimed?.(performance.now() - begun);
    if (batch.length > 0) withOrigin(undefined, () => onCommitted?.(batch.map(({ item }) => item)));
  }

  async #commitInTime(take: Take<T>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new CommitInDoubt(`no commit within ${COMMIT_TIMEOUT_MS} ms`)),
        COMMIT_TIMEOUT_MS,
      );
      timer.unref();
    });
    const commit = this.#options.commit(take);
    // A rejection after the timeout must not end the process; the next term determines the commit's outcome.
    commit.catch(() => {});
    try {
      await Promise.race([commit, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }
}
