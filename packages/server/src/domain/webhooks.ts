/**
 * When a webhook is tried again, and when it is given up. Pauses double from five seconds to an hour and are spread by
 * a quarter either way. An event is given up when it would be tried again more than a day after it happened.
 *
 * Order: an endpoint is sent one event at a time, oldest first. An event that fails holds back those behind it for its
 * first attempts, so that a short outage changes nothing; after that it is tried by itself and the others pass, so that
 * one event that a receiver cannot take does not cost it all the rest.
 */
export const FIRST_PAUSE_MS = 5_000;
export const LONGEST_PAUSE_MS = 3_600_000;
export const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** 5 + 10 + 20 + 40 + 80 seconds. */
export const HOLD_ATTEMPTS = 5;
/** An endpoint is switched off after this many failures in a row ... */
export const SWITCH_OFF_AFTER_FAILURES = 20;
/** ... when they span at least this time: a busy agent's short outage must not do it. */
export const SWITCH_OFF_AFTER_MS = 6 * 3_600_000;

export interface Failure {
  readonly at: number;
  /** Of this event, the failed one included. */
  readonly attempts: number;
  /** Of the event. */
  readonly createdAt: number;
  /** Of the endpoint, in a row, the failed one included; and since when. */
  readonly failures: number;
  readonly failingSince: number;
  /** What the receiver asked for. */
  readonly retryAfterMs: number | null;
  /** 0 ≤ chance < 1. */
  readonly chance: number;
}

export interface Consequence {
  /** `null`: given up. */
  readonly nextAttemptAt: number | null;
  /** `null`: the events behind it may pass. */
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
