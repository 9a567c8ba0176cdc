/**
 * The switches of a running paper venue. They are off unless a plan is set, by configuration, a test or the standalone exchange's
 * control route; every decision follows from the plan's seed and the number of decisions of its kind. The doors ask it; the exchange's
 * own state is not touched.
 */
import { createHash } from 'node:crypto';
import { type FaultPlan, NO_FAULTS, readFaultPlan, type VenueMode } from './fault-plan.ts';

/** Kinds of decisions, each with its own random sequence: another kind of traffic does not change who is hit. */
type Kind =
  | 'latency'
  | 'limited'
  | 'bare'
  | 'unavailable'
  | 'dropped'
  | 'failed'
  | 'garbled'
  | 'timed_out'
  | 'timed_out_late'
  | 'delayed'
  | 'frozen'
  | 'cut'
  | 'duplicate'
  | 'reordered'
  | 'gap';

export interface Mode {
  readonly mode: VenueMode;
  /** Until the mode is over, where that is known. */
  readonly leftMs: number | null;
}

export class Faults {
  /** Epoch milliseconds. */
  readonly now: () => number;
  #plan: FaultPlan = NO_FAULTS;
  #isOn = false;
  #setAt = 0;
  #draws = new Map<Kind, number>();

  constructor(now: () => number, plan: FaultPlan = NO_FAULTS) {
    this.now = now;
    this.set(plan);
  }

  get plan(): FaultPlan {
    return this.#plan;
  }

  /** False: nothing is asked of the rest. */
  get isOn(): boolean {
    return this.#isOn;
  }

  /** Fields that are not given are off. @throws Error for an impossible one */
  set(plan: Partial<FaultPlan>): void {
    this.#plan = readFaultPlan(plan);
    this.#isOn = JSON.stringify(this.#plan) !== JSON.stringify(NO_FAULTS);
    this.#setAt = this.now();
    this.#draws = new Map();
  }

  /** The mode that clients meet now: the plan's, or that of a restart. */
  mode(): Mode {
    const { mode, restart } = this.#plan;
    if (restart === null || mode !== 'open') return { mode, leftMs: null };
    const { everyMs, downMs, postOnlyMs } = restart;
    const into = (this.now() - this.#setAt) % everyMs;
    // The first restart comes after a while of service.
    const since = into - (everyMs - downMs - postOnlyMs);
    if (since < 0) return { mode: 'open', leftMs: null };
    return since < downMs
      ? { mode: 'restarting', leftMs: downMs - since }
      : { mode: 'post_only', leftMs: downMs + postOnlyMs - since };
  }

  /** Whether the next of its kind is hit. */
  hits(kind: Kind, share: number): boolean {
    return share > 0 && this.#draw(kind) < share;
  }

  latencyMs(): number {
    const { least, most } = this.#plan.latencyMs;
    return most === 0 ? 0 : least + Math.floor(this.#draw('latency') * (most - least + 1));
  }

  /** How long an order waits before it is matched; 0: not at all. */
  delayMs(): number {
    const { delayedShare, delayedMs } = this.#plan;
    return this.hits('delayed', delayedShare) ? delayedMs : 0;
  }

  /** Whether the trade of this number fails when it should be mined. */
  fails(trade: number): boolean {
    const { seed, failingTradesShare } = this.#plan;
    return failingTradesShare > 0 && fractionOf(`${seed}\0trade\0${trade}`) < failingTradesShare;
  }

  /** From 0 to below 1. */
  #draw(kind: Kind): number {
    const number = (this.#draws.get(kind) ?? 0) + 1;
    this.#draws.set(kind, number);
    return fractionOf(`${this.#plan.seed}\0${kind}\0${number}`);
  }
}

/** From 0 to below 1, the same for the same text. */
const fractionOf = (text: string): number =>
  createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;
