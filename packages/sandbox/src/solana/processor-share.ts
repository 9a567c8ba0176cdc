/**
 * How much of a processor strangers may make the chain's thread use: a quarter of one, over some tens of milliseconds. The
 * thread's own processor time is what is counted, whatever it was spent on, since a call's work is not all in one turn.
 */

/** Processor milliseconds that come back in a millisecond. */
const SHARE = 0.25;
/** As much may be used at once. */
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

  /** @returns milliseconds until there is some of it again; 0: there is */
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
