/**
 * How much is taken in at once, and who is turned away first when more comes than can be done. A request that would
 * only wait is refused at the door, before its key is looked up and its body read: that costs a tenth of serving it,
 * and keeps what was accepted fast.
 *
 * - Exits (cancel, redeem, pause, revoke) never wait in line, and are refused only beyond twice the bound of all.
 * - Trades have slots. Those that find none wait in line: a burst for as long as it takes, but once the line has stood
 *   for a quarter of a second it is no burst: it may hold only what is served within 150 ms, and those that waited longer for
 *   their turn to begin are turned away.
 * - Streams have bounds of their own, for each agent and for all; to open one is little work.
 * - Everything else goes first: it is refused as soon as trades stand in line, or the process itself is late.
 */
import type { Operation } from '@bellwether/contract';
import { refusal } from '../refusal.ts';
import { StartScheduler } from './start-scheduler.ts';

/** `vital`: probes, and the calls of other replicas, which were admitted there. */
export type Kind = 'vital' | 'exit' | 'trade' | 'stream' | 'other';

export interface AdmissionOptions {
  readonly maxTrades: number;
  readonly maxRequests: number;
  /** Milliseconds that only grow. */
  readonly now: () => number;
}

const LONGEST_BURST_MS = 250;
const STRAINED_AFTER_MS = 100;
/** The longest wait of a trade in a line that stands. */
const WAIT_MS = 150;
/** A line that moves slower than it did: a request that waits as long as this is refused after all. */
const LONGEST_WAIT_MS = 250;
const LONGEST_LINE = 1_000;
const SHORTEST_LINE = 4;
/** The pace is counted over this and the time since: trades end in bunches, as their commits do. */
const PACE_MS = 500;
/** A process so late, with as many requests since it was looked at last as a part of the trades that it may do at once, is late because of them. */
const LATE_MS = 100;
const MANY_SINCE = 1 / 4;
const FEWEST_SINCE = 32;
const LATE_LOOKS = 3;
const RETRY_S = 1;
const MORE_THAN_CAN_BE_PLACED = 'More orders come in than can be placed.';

interface Waiter {
  readonly who: string;
  readonly since: number;
  readonly isGone: () => boolean;
  readonly enter: () => void;
  readonly refuse: (reason: Error) => void;
}

const overloaded = (detail: string): Error => refusal('overloaded', detail, { retryAfterS: RETRY_S });

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #starts: StartScheduler;
  #requests = 0;
  #trades = 0;
  readonly #tradesOf = new Map<string, number>();
  #line: Waiter[] = [];
  #lineSince: number | null = null;
  /** Trades that ended: in the whole window before, where there was one, and in this one. */
  #pace = { wholeMs: 0, whole: 0, since: 0, ended: 0 };
  #since = 0;
  #lateLooks = 0;
  #shed = 0;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#starts = new StartScheduler(options.now);
  }

  /** Requests under way and waiting, for people and metrics. */
  get state(): { readonly requests: number; readonly trades: number; readonly waiting: number } {
    return { requests: this.#requests, trades: this.#trades, waiting: this.#line.length };
  }

  /** Requests that were turned away since the start. */
  get shed(): number {
    return this.#shed;
  }

  /** At the door. @returns why the request is turned away, or `null` */
  refusalOf(kind: Kind): string | null {
    const reason = this.#reasonAgainst(kind);
    if (reason !== null) this.#shed += 1;
    return reason;
  }

  #reasonAgainst(kind: Kind): string | null {
    const { maxRequests } = this.#options;
    this.#since += 1;
    switch (kind) {
      case 'vital':
        return null;
      case 'exit':
        return this.#requests < 2 * maxRequests ? null : 'Too many requests are under way.';
      case 'trade':
        if (this.#requests >= maxRequests) return 'Too many requests are under way.';
        return this.#isBehind(WAIT_MS, LONGEST_BURST_MS) || this.#isFull() ? MORE_THAN_CAN_BE_PLACED : null;
      case 'stream':
        return this.#requests < maxRequests ? null : 'Too many requests are under way.';
      case 'other':
        if (this.#requests >= maxRequests / 2) return 'Too many requests are under way; orders go first.';
        return this.#isStrained() ? 'The desk is busy with orders, which go first.' : null;
    }
  }

  /**
   * When the turn of a trade comes that was let in at the door: calls `begin`, or `turnAway` with the reason where it has waited
   * for too long. Neither may throw.
   */
  inTurn(begin: () => void, turnAway: (reason: string) => void): void {
    this.#starts.next((waitedMs) => {
      const isLate = waitedMs > WAIT_MS && this.#isBehind(WAIT_MS, LONGEST_BURST_MS);
      if (isLate) {
        this.#shed += 1;
        turnAway(MORE_THAN_CAN_BE_PLACED);
      } else begin();
      return !isLate;
    });
  }

  /** A request whose body is there. @returns what ends it */
  enter(): () => void {
    this.#requests += 1;
    return () => {
      this.#requests -= 1;
    };
  }

  /**
   * Waits for a trade's slot. @returns what gives it back
   * @param who of several in line, who has most slots already comes last
   * @param isGone whether the caller has gone
   * @throws Refusal overloaded
   */
  async tradeSlot(who: string, isGone: () => boolean): Promise<() => void> {
    const free = this.freeSlot(who);
    if (free !== null) return free;
    if (this.#isFull()) {
      this.#shed += 1;
      throw overloaded(MORE_THAN_CAN_BE_PLACED);
    }
    const since = this.#options.now();
    if (this.#lineSince === null) {
      this.#lineSince = since;
      // Only while there is always a next one does the pace say what can be done.
      this.#pace = { wholeMs: 0, whole: 0, since, ended: 0 };
    }
    await new Promise<void>((enter, refuse) => {
      this.#line.push({ who, since, isGone, enter, refuse });
    });
    return this.#heldBy(who);
  }

  /** A trade's slot without waiting. @returns what gives it back, or `null` when all are taken */
  freeSlot(who: string): (() => void) | null {
    if (this.#trades >= this.#options.maxTrades) return null;
    this.#take(who);
    return this.#heldBy(who);
  }

  #heldBy(who: string): () => void {
    let isHeld = true;
    return () => {
      if (isHeld) this.#leave(who);
      isHeld = false;
    };
  }

  /** At short, regular intervals. @param lateMs how much later than it should have been */
  look(lateMs: number): void {
    const many = Math.max(FEWEST_SINCE, MANY_SINCE * this.#options.maxTrades);
    this.#lateLooks = lateMs > LATE_MS && this.#since > many ? this.#lateLooks + 1 : 0;
    this.#since = 0;
  }

  #take(who: string): void {
    this.#trades += 1;
    this.#tradesOf.set(who, (this.#tradesOf.get(who) ?? 0) + 1);
  }

  #leave(who: string): void {
    const now = this.#options.now();
    this.#turnPace(now);
    this.#pace.ended += 1;
    this.#trades -= 1;
    const left = (this.#tradesOf.get(who) ?? 1) - 1;
    if (left > 0) this.#tradesOf.set(who, left);
    else this.#tradesOf.delete(who);
    this.#next(now);
  }

  #next(now: number): void {
    const isStanding = this.#hasStood(LONGEST_BURST_MS);
    this.#line = this.#line.filter((waiter) => {
      const isLate = isStanding && now - waiter.since > LONGEST_WAIT_MS;
      if (!isLate && !waiter.isGone()) return true;
      if (isLate) this.#shed += 1;
      waiter.refuse(overloaded(MORE_THAN_CAN_BE_PLACED));
      return false;
    });
    while (this.#line.length > 0 && this.#trades < this.#options.maxTrades) {
      const share = this.#options.maxTrades / 2;
      const modest = this.#line.findIndex(({ who }) => (this.#tradesOf.get(who) ?? 0) < share);
      const [waiter] = this.#line.splice(Math.max(0, modest), 1);
      if (waiter === undefined) break;
      this.#take(waiter.who);
      waiter.enter();
    }
    if (this.#line.length === 0) this.#lineSince = null;
  }

  #hasStood(ms: number): boolean {
    return this.#lineSince !== null && this.#options.now() - this.#lineSince > ms;
  }

  /** Whether the line holds all that it may. */
  #isFull(): boolean {
    if (!this.#hasStood(LONGEST_BURST_MS)) return this.#line.length >= LONGEST_LINE;
    const now = this.#options.now();
    this.#turnPace(now);
    const { wholeMs, whole, since, ended } = this.#pace;
    const perMs = (whole + ended) / Math.max(1, wholeMs + now - since);
    return this.#line.length >= Math.max(SHORTEST_LINE, WAIT_MS * perMs);
  }

  #turnPace(now: number): void {
    const { since, ended } = this.#pace;
    const elapsed = now - since;
    if (elapsed < PACE_MS) return;
    // Over a long pause the count and its time stay together: nothing that ends is a pace, too.
    this.#pace = { wholeMs: elapsed, whole: ended, since: now, ended: 0 };
  }

  /**
   * Whether more trades wait for their turn to begin than may be under way, and too long. No line shows it: where the
   * processor is what there is too little of, few get there.
   */
  #isBehind(waitMs: number, standsForMs: number): boolean {
    const { count, firstMs, standsMs } = this.#starts.delay;
    return count > this.#options.maxTrades && firstMs > waitMs && standsMs > standsForMs;
  }

  #isStrained(): boolean {
    return (
      this.#hasStood(STRAINED_AFTER_MS) ||
      this.#isBehind(STRAINED_AFTER_MS, STRAINED_AFTER_MS) ||
      this.#lateLooks >= LATE_LOOKS
    );
  }
}

export function kindOf({ rateClass, produces }: Pick<Operation, 'rateClass' | 'produces'>): Kind {
  if (produces === 'text/event-stream') return 'stream';
  if (rateClass === 'exit' || rateClass === 'trade') return rateClass;
  if (rateClass === 'relay') return 'trade';
  return rateClass === 'none' ? 'vital' : 'other';
}
