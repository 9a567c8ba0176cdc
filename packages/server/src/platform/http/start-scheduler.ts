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
/** Share of a long queue that begins in one turn, so that overload shows as a slow event loop, by which it is recognised. */
const SHARE = 1 / 32;
/** To turn one away is little work, but of a thousand it would be a long turn. */
const MOST_TURNED_AWAY = 64;

interface WaitingStart {
  readonly since: number;
  readonly begin: Begin;
}

/** @returns whether it began; else it was turned away @param waitedMs since it came */
type Begin = (waitedMs: number) => boolean;

export class StartScheduler {
  readonly #now: () => number;
  readonly #waiting: WaitingStart[] = [];
  /** Since when there has always been one that waits. */
  #standsSince = 0;
  #isScheduled = false;

  /** @param now milliseconds that only grow */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Calls `begin` in one of the next turns. It must not throw. */
  next(begin: Begin): void {
    const since = this.#now();
    if (this.#waiting.length === 0) this.#standsSince = since;
    this.#waiting.push({ since, begin });
    this.#schedule();
  }

  /** How many wait, how long the first of them has, and for how long there has always been one; 0 while none waits. */
  get delay(): { readonly count: number; readonly firstMs: number; readonly standsMs: number } {
    const [first] = this.#waiting;
    if (first === undefined) return { count: 0, firstMs: 0, standsMs: 0 };
    const now = this.#now();
    return { count: this.#waiting.length, firstMs: now - first.since, standsMs: now - this.#standsSince };
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      let toBegin = Math.max(LEAST, Math.ceil(this.#waiting.length * SHARE));
      let toTurnAway = MOST_TURNED_AWAY;
      const now = this.#now();
      while (toBegin > 0 && toTurnAway > 0) {
        const next = this.#waiting.shift();
        if (next === undefined) break;
        if (next.begin(now - next.since)) toBegin -= 1;
        else toTurnAway -= 1;
      }
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
