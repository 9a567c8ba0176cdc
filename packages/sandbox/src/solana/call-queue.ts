/**
 * The calls of the chain's thread: in order, the desk's before external ones, and how much processor time external ones
 * get.
 *
 * Each external call starts in a separate turn of the event loop, so that messages which arrive meanwhile are seen.
 * Calls run concurrently: one that waits for the database does not block the next, and transactions that start in one
 * turn share a commit.
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

// Limits the processor time of external calls in the chain's thread: a tenth of one processor, over some tens of
// milliseconds. All processor time of the thread counts, because a call's work spans several turns, except what the desk's
// calls take at once: a busy desk must not shut the door.

/** Processor milliseconds that are refilled per millisecond. */
const SHARE = 0.1;
/** Burst: the most that may be used without a pause. */
const BURST_MS = 25;
/** The most time that a use beyond the share has to be repaid: a second's pause. */
const MAX_DEBT_MS = 100;

export class ProcessorShare {
  readonly #now: () => number;
  readonly #usedMs: () => number;
  #heldMs = BURST_MS;
  #at: number;
  #used: number;

  constructor(now: () => number = () => performance.now(), usedMs: () => number = threadMs) {
    this.#now = now;
    this.#usedMs = usedMs;
    this.#at = now();
    this.#used = usedMs();
  }

  /** @returns milliseconds until some of it is available; 0: available */
  pauseMs(): number {
    const [now, used] = [this.#now(), this.#usedMs()];
    const back = (now - this.#at) * SHARE;
    const held = this.#heldMs + back - (used - this.#used);
    this.#heldMs = Math.max(-MAX_DEBT_MS, Math.min(BURST_MS, held));
    this.#at = now;
    this.#used = used;
    return this.#heldMs > 0 ? 0 : Math.ceil(-this.#heldMs / SHARE) + 1;
  }

  /** Runs work of the desk, which does not count. */
  exempt(work: () => void): void {
    const before = this.#usedMs();
    work();
    this.#used += this.#usedMs() - before;
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
