/**
 * Counts refusals that are the same: of one agent, in one market, on one side, with one code. The answer tells an agent that
 * loops to wait longer each time; the desk still judges every attempt. In memory, so each replica counts its own; the alert of
 * the agent's owner counts those of all (functions/refusals.sql).
 */

/** What makes refusals the same, and when one was. */
interface Refused {
  readonly agentId: string;
  readonly conditionId: string;
  readonly side: 'BUY' | 'SELL';
  readonly code: string;
  readonly at: number;
}

const WINDOW_MS = 60_000;
/** From so many within the window on. */
const REPEATED = 10;
const LONGEST_S = 60;
/** Further ones say nothing new: the wait is at its longest by then. */
const MOST_TIMES = REPEATED + 6;
const MOST_KEYS = 10_000;

export class RepeatedRefusals {
  /** Those that were refused last are at the end. */
  readonly #times = new Map<string, readonly number[]>();

  /** @returns how long to wait, in seconds; `null`: it was not refused so often */
  add({ agentId, conditionId, side, code, at }: Refused): number | null {
    const key = `${agentId} ${side} ${code} ${conditionId}`;
    const before = this.#times.get(key) ?? [];
    const times = [...before.filter((time) => time > at - WINDOW_MS), at].slice(-MOST_TIMES);
    this.#times.delete(key);
    this.#times.set(key, times);
    const [oldest] = this.#times.keys();
    if (this.#times.size > MOST_KEYS && oldest !== undefined) this.#times.delete(oldest);
    return times.length < REPEATED ? null : Math.min(2 ** (times.length - REPEATED), LONGEST_S);
  }
}
