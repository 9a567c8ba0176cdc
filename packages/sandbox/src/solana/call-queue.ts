/**
 * Calls in order, the desk's before strangers'. Each begins in a turn of the event loop of its own, so that what
 * arrives meanwhile is seen, and ends when it can: those that wait for the database hold up none behind them.
 */
export class CallQueue<Call> {
  readonly #begin: (call: Call) => void;
  readonly #desk: Call[] = [];
  readonly #strangers: Call[] = [];
  #isRunning = false;

  constructor(begin: (call: Call) => void) {
    this.#begin = begin;
  }

  add(call: Call, isStranger: boolean): void {
    (isStranger ? this.#strangers : this.#desk).push(call);
    if (this.#isRunning) return;
    this.#isRunning = true;
    setImmediate(this.#next);
  }

  readonly #next = (): void => {
    const call = this.#desk.shift() ?? this.#strangers.shift();
    this.#isRunning = call !== undefined;
    if (call === undefined) return;
    setImmediate(this.#next);
    this.#begin(call);
  };
}
