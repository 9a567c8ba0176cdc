/**
 * Lets requests begin in the order of their arrival, a few in each turn of the event loop. Between two turns the process
 * reads what the database has answered. Without this, that answer, and the group of trades that waits for it, would stand
 * behind all requests that arrived together.
 */

/**
 * Requests that begin in one turn: verifying an order is most of their work. Few enough that an answer of the database waits
 * for two milliseconds, and many enough that a group of trades has company: a small one costs nearly as much.
 */
const LEAST = 4;
/** Of a long queue more begin in one turn, so that overload shows as a slow event loop, by which it is recognised. */
const SHARE = 1 / 32;

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Calls `begin` in one of the next turns. It must not throw. */
  next(begin: () => void): void {
    this.#waiting.push(begin);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const portion = Math.max(LEAST, Math.ceil(this.#waiting.length * SHARE));
      for (const begin of this.#waiting.splice(0, portion)) begin();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
