/**
 * When the next attempt of a webhook follows, and when it is given up. Pauses double from five seconds to an hour and
 * vary by up to a quarter. An event is given up when its next attempt would be more than a day after the event.
 *
 * Order: an endpoint receives one event at a time, oldest first. A failed event holds back later events during its
 * first attempts, so that a short outage does not change the order; after that the later events are sent, so that one
 * event that a receiver cannot process does not block the rest.
 */
export const FIRST_PAUSE_MS = 5_000;
export const LONGEST_PAUSE_MS = 3_600_000;
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** 5 + 10 + 20 + 40 + 80 seconds. */
export const HOLD_ATTEMPTS = 5;
/** An endpoint is switched off after this many failures in a row ... */
export const SWITCH_OFF_AFTER_FAILURES = 20;
/** ... over at least this time: a short outage of a busy agent's receiver must not switch it off. */
export const SWITCH_OFF_AFTER_MS = 6 * 3_600_000;

export interface Failure {
  readonly at: number;
  /** Attempts of this event, including the failed one. */
  readonly attempts: number;
  /** Time of the event. */
  readonly createdAt: number;
  /** Consecutive failures of the endpoint, including this one; and the time of the first. */
  readonly failures: number;
  readonly failingSince: number;
  /** The receiver's `Retry-After`. */
  readonly retryAfterMs: number | null;
  /** 0 ≤ chance < 1. */
  readonly chance: number;
}

export interface Consequence {
  /** `null`: given up. */
  readonly nextAttemptAt: number | null;
  /** `null`: later events are sent. */
  readonly holdUntil: number | null;
  readonly switchOff: boolean;
}

export function afterFailure(failure: Failure): Consequence {
  const doubled = FIRST_PAUSE_MS * 2 ** Math.min(failure.attempts - 1, 30);
  const pause = Math.min(LONGEST_PAUSE_MS, Math.max(doubled, failure.retryAfterMs ?? 0));
  const next = failure.at + Math.round(pause * (0.75 + failure.chance / 2));
  const givenUp = next > failure.createdAt + GIVE_UP_AFTER_MS;
  return {
    nextAttemptAt: givenUp ? null : next,
    holdUntil: !givenUp && failure.attempts <= HOLD_ATTEMPTS ? next : null,
    switchOff:
      failure.failures >= SWITCH_OFF_AFTER_FAILURES &&
      failure.at - failure.failingSince >= SWITCH_OFF_AFTER_MS,
  };
}
