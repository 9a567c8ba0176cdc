/**
 * Stops what was started in the reverse order, within ten seconds, whether its parts answer or not: a step that waits for a
 * database that never answers again is left behind, for the process ends anyway.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Stops {
  /** @param withinMs how long the step may take at most; what it is given may be less */
  push(what: string, withinMs: number, run: (withinMs: number) => Promise<unknown>): void;
  /** Nothing else waits for the database once this says that it is away. */
  watch(isAway: () => boolean): void;
  /** Idempotent. @returns false when something did not stop cleanly */
  run(): Promise<boolean>;
}

const ALL_WITHIN_MS = 9_000;
/** Kept for the steps that come after: the last of them ends the embedded database. */
const RESERVE_MS = 3_500;
/** Enough for what does not need the database. */
const AWAY_STEP_MS = 250;
const LATE = Symbol('late');

interface StopStep {
  readonly what: string;
  readonly withinMs: number;
  readonly run: (withinMs: number) => Promise<unknown>;
}

export function createStops(log: { warn(context: object, message: string): void }): Stops {
  const steps: StopStep[] = [];
  let isAway = (): boolean => false;
  let running: Promise<boolean> | undefined;

  const runAll = async (): Promise<boolean> => {
    const end = performance.now() + ALL_WITHIN_MS;
    let clean = true;
    const unfinished = new Set<string>();
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      const { what, withinMs, run } = step;
      const left = end - performance.now() - (steps.length === 0 ? 0 : RESERVE_MS);
      const ms = Math.max(AWAY_STEP_MS, Math.min(withinMs, isAway() ? AWAY_STEP_MS : left));
      const late = new AbortController();
      try {
        // The last may take a moment more: it ends what would otherwise live on.
        const grace = steps.length === 0 ? RESERVE_MS : 0;
        const stopped = run(ms);
        const first = await Promise.race([stopped, sleep(ms + grace, LATE, { signal: late.signal })]);
        if (first !== LATE) continue;
        unfinished.add(what);
        // On a busy machine it may still stop while the steps after it do: then nothing was left behind.
        stopped.then(
          () => unfinished.delete(what),
          () => {},
        );
        log.warn({ what, ms }, 'something did not stop in time');
      } catch (error) {
        clean = false;
        log.warn({ err: error, what }, 'something did not stop cleanly');
      } finally {
        late.abort();
      }
    }
    return clean && unfinished.size === 0;
  };

  return {
    push(what, withinMs, run) {
      steps.push({ what, withinMs, run });
    },
    watch(question) {
      isAway = question;
    },
    run() {
      running ??= runAll();
      return running;
    },
  };
}
