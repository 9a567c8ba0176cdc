/**
 * Work that waits to join a commit of the journal; each commit takes one. While a commit is running, the next work may
 * already read: its statements go out behind the commit and see what it wrote.
 */
import type { JoinedWork } from '../paper-exchange.ts';
import { beginReading, type Leading, type Reading } from './commit.ts';

interface Waiting {
  readonly work: JoinedWork;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

export interface Joined extends Waiting {
  readonly reading: Reading;
}

export class JoiningWork {
  readonly #lead: Leading;
  #waiting: Waiting[] = [];
  /** It has read, or is reading, behind the commit that is running. */
  #ahead: Joined | null = null;
  #isCommitSent = false;

  constructor(lead: Leading) {
    this.#lead = lead;
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when the work is durable. */
  add(work: JoinedWork): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
      if (this.#isCommitSent) this.readAhead();
    });
  }

  /** The work for the next commit. `null`: none waits. */
  next(): Joined | null {
    const next = this.#ahead ?? this.#begin();
    this.#ahead = null;
    this.#isCommitSent = false;
    return next;
  }

  /** The running commit is sent. */
  readAhead(): void {
    this.#isCommitSent = true;
    this.#ahead ??= this.#begin();
  }

  fail(reason: Error): void {
    void this.#ahead?.reading.rollback();
    this.#ahead?.reject(reason);
    this.#ahead = null;
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #begin(): Joined | null {
    const waiting = this.#waiting.shift();
    return waiting === undefined
      ? null
      : { ...waiting, reading: beginReading(this.#lead, waiting.work.read) };
  }
}
