/**
 * Limits the processor time of external calls in the chain's thread: a tenth of one processor, over some tens of
 * milliseconds. All processor time of the thread counts, because a call's work spans several turns, except what the desk's
 * calls take at once: a busy desk must not shut the door.
 */

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
