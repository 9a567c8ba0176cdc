/**
 * Calls in order, the desk's before external ones. Each external call starts in a separate turn of the event loop, so that
 * messages which arrive meanwhile are seen. Calls run concurrently: one that waits for the database does not block the
 * next, and transactions that start in one turn share a commit.
 */

/** A few milliseconds' work. */
const DESK_CALLS_PER_TURN = 16;

export class CallQueue<Call> {
  readonly #begin: (call: Call) => void;
  readonly #pauseMs: () => number;
  readonly #desk: Call[] = [];
  readonly #external: Call[] = [];
  /** The timer that looks at the queue next. */
  #turn: { readonly cancel: () => void; readonly isPause: boolean } | null = null;

  /** @param pauseMs until an external call may start; 0: immediately */
  constructor(begin: (call: Call) => void, pauseMs: () => number) {
    this.#begin = begin;
    this.#pauseMs = pauseMs;
  }

  add(call: Call, isExternal: boolean): void {
    (isExternal ? this.#external : this.#desk).push(call);
    // The desk's calls do not wait for the pause of external calls.
    if (this.#turn === null || (this.#turn.isPause && !isExternal)) this.#take(0);
  }

  #take(pauseMs: number): void {
    this.#turn?.cancel();
    if (pauseMs > 0) {
      const timer = setTimeout(this.#next, pauseMs);
      this.#turn = { cancel: () => clearTimeout(timer), isPause: true };
    } else {
      const turn = setImmediate(this.#next);
      this.#turn = { cancel: () => clearImmediate(turn), isPause: false };
    }
  }

  readonly #next = (): void => {
    this.#turn = null;
    if (this.#desk.length === 0 && this.#external.length === 0) return;
    const some = this.#desk.splice(0, DESK_CALLS_PER_TURN);
    const pauseMs = some.length > 0 ? 0 : this.#pauseMs();
    const external = some.length > 0 || pauseMs > 0 ? undefined : this.#external.shift();
    if (external !== undefined) some.push(external);
    this.#take(pauseMs);
    for (const call of some) this.#begin(call);
  };
}
