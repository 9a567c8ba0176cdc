/**
 * Limits the processor time of external calls in the chain's thread: a quarter of one processor, over some tens of
 * milliseconds. All processor time of the thread counts, because a call's work spans several turns.
 */

/** Processor milliseconds that are refilled per millisecond. */
const SHARE = 0.25;
/** Burst: the most that may be used without a pause. */
const BURST_MS = 50;

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
    this.#heldMs = Math.min(BURST_MS, this.#heldMs + back - (used - this.#used));
    this.#at = now;
    this.#used = used;
    return this.#heldMs > 0 ? 0 : Math.ceil(-this.#heldMs / SHARE) + 1;
  }
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
