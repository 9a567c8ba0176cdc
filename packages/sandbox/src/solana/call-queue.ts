/**
 * Calls in order, the desk's before strangers'. Each begins in a turn of the event loop of its own, so that what
 * arrives meanwhile is seen, and ends when it can: those that wait for the database hold up none behind them.
 */
export class CallQueue<Call> {
  readonly #begin: (call: Call) => void;
  readonly #pauseMs: () => number;
  readonly #desk: Call[] = [];
  readonly #strangers: Call[] = [];
  /** What looks at the queue next. */
  #turn: { readonly cancel: () => void; readonly isPause: boolean } | null = null;

  /** @param pauseMs until a stranger's call may begin; 0: now */
  constructor(begin: (call: Call) => void, pauseMs: () => number) {
    this.#begin = begin;
    this.#pauseMs = pauseMs;
  }

  add(call: Call, isStranger: boolean): void {
    (isStranger ? this.#strangers : this.#desk).push(call);
    // The desk does not wait for strangers' pause to end.
    if (this.#turn === null || (this.#turn.isPause && !isStranger)) this.#take(0);
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
    if (this.#desk.length === 0 && this.#strangers.length === 0) return;
    const pauseMs = this.#desk.length > 0 ? 0 : this.#pauseMs();
    const call = pauseMs > 0 ? undefined : (this.#desk.shift() ?? this.#strangers.shift());
    this.#take(pauseMs);
    if (call !== undefined) this.#begin(call);
  };
}
