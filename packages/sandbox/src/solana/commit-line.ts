/**
 * Commits in order, one at a time: what is applied while one is on its way goes together into the next. After the
 * first failure the line is dead, and what stood in it behind the failed commit certainly did not happen.
 */
import { CommitInDoubt } from '@bellwether/durable';
import type { Change, Tenure } from './chain-store.ts';
import { SandboxChainUnavailable } from './types.ts';

/** Transactions in one commit: bounds its size, and how long the next has to wait. */
const MAX_BATCH = 200;
/** A commit that takes longer is taken for lost: a half-open connection says nothing by itself. */
const COMMIT_TIMEOUT_MS = 15_000;

interface Waiting {
  readonly change: Change;
  readonly resolve: () => void;
  readonly reject: (reason: SandboxChainUnavailable) => void;
}

export interface CommitLineOptions {
  readonly tenure: Tenure;
  /** Called once, before anybody who waits is told. */
  readonly onFailed: (cause: unknown) => void;
}

export class CommitLine {
  readonly #options: CommitLineOptions;
  #waiting: Waiting[] = [];
  #running: Promise<void> | null = null;
  #failed = false;

  constructor(options: CommitLineOptions) {
    this.#options = options;
    // While a commit is on its way, the commit itself tells.
    options.tenure.lost.catch((cause: unknown) => {
      if (!this.#failed && this.#running === null) this.#fail([], cause);
    });
  }

  /** Resolves when it is durable. @throws SandboxChainUnavailable */
  add(change: Change): Promise<void> {
    if (this.#failed) return Promise.reject(notLanded());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      // Whatever else arrives in this turn of the event loop shares the commit.
      this.#running ??= new Promise<void>((turn) => setImmediate(turn)).then(() => this.#run());
    });
  }

  /** Resolves when nothing is on its way, whether it came through or not. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** Gives up the connection. Nothing may be on its way. */
  end(): void {
    this.#failed = true;
    this.#options.tenure.end();
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      try {
        await this.#commit(batch.map(({ change }) => change));
      } catch (cause) {
        this.#fail(batch, cause);
        break;
      }
      for (const { resolve } of batch) resolve();
    }
    this.#running = null;
  }

  async #commit(changes: readonly Change[]): Promise<void> {
    const { tenure } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new CommitInDoubt(`no commit within ${COMMIT_TIMEOUT_MS} ms`)),
        COMMIT_TIMEOUT_MS,
      );
      timer.unref();
    });
    const commit = tenure.commit(changes);
    // One that outlives the timeout is fenced off by whoever reads the chain anew.
    commit.catch(() => {});
    try {
      await Promise.race([commit, timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  #fail(batch: readonly Waiting[], cause: unknown): void {
    this.#failed = true;
    this.#options.tenure.end();
    this.#options.onFailed(cause);
    const error =
      cause instanceof CommitInDoubt
        ? new SandboxChainUnavailable('unknown', 'the database was lost during the commit', { cause })
        : notLanded(cause);
    for (const { reject } of batch) reject(error);
    const behind = this.#waiting;
    this.#waiting = [];
    for (const { reject } of behind) reject(notLanded(cause));
  }
}

const notLanded = (cause?: unknown): SandboxChainUnavailable =>
  new SandboxChainUnavailable('no', 'the sandbox chain could not be written', { cause });
