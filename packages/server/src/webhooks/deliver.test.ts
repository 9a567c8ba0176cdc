import { describe, expect, test } from 'vitest';
import {
  afterFailure,
  FIRST_PAUSE_MS,
  GIVE_UP_AFTER_MS,
  HOLD_ATTEMPTS,
  LONGEST_PAUSE_MS,
  SWITCH_OFF_AFTER_FAILURES,
  SWITCH_OFF_AFTER_MS,
} from './deliver.ts';

const T = 1_800_000_000_000;
const failure = (more: Partial<Parameters<typeof afterFailure>[0]> = {}) =>
  afterFailure({
    at: T,
    attempts: 1,
    createdAt: T,
    failures: 1,
    failingSince: T,
    retryAfterMs: null,
    chance: 0.5,
    ...more,
  });
const pause = (more: Parameters<typeof failure>[0]) => (failure(more).nextAttemptAt ?? Number.NaN) - T;

describe('after a failed attempt', () => {
  test('pauses double up to an hour', () => {
    expect([1, 2, 3, 4, 10, 11, 500].map((attempts) => pause({ attempts }))).toEqual([
      FIRST_PAUSE_MS,
      2 * FIRST_PAUSE_MS,
      4 * FIRST_PAUSE_MS,
      8 * FIRST_PAUSE_MS,
      512 * FIRST_PAUSE_MS,
      LONGEST_PAUSE_MS,
      LONGEST_PAUSE_MS,
    ]);
  });

  test('pauses vary by up to a quarter in either direction', () => {
    expect(pause({ chance: 0 })).toBe(FIRST_PAUSE_MS * 0.75);
    expect(pause({ chance: 0.999_999_9 })).toBeCloseTo(FIRST_PAUSE_MS * 1.25, -1);
  });

  test('a receiver may ask for a longer pause, up to an hour', () => {
    expect(pause({ retryAfterMs: 60_000 })).toBe(60_000);
    expect(pause({ retryAfterMs: 1 })).toBe(FIRST_PAUSE_MS);
    expect(pause({ retryAfterMs: 99_999_000 })).toBe(LONGEST_PAUSE_MS);
  });

  test('the first attempts hold back later events, further attempts do not', () => {
    const held = failure({ attempts: HOLD_ATTEMPTS });
    expect(held.holdUntil).toBe(held.nextAttemptAt);
    expect(failure({ attempts: HOLD_ATTEMPTS + 1 }).holdUntil).toBeNull();
  });

  test('an event is given up after a day', () => {
    const createdAt = T - GIVE_UP_AFTER_MS + FIRST_PAUSE_MS;
    expect(failure({ createdAt }).nextAttemptAt).toBe(T + FIRST_PAUSE_MS);
    expect(failure({ createdAt: createdAt - 1 })).toMatchObject({ nextAttemptAt: null, holdUntil: null });
  });

  test('an endpoint is switched off only after many failures and a long time', () => {
    const many = { failures: SWITCH_OFF_AFTER_FAILURES, failingSince: T - SWITCH_OFF_AFTER_MS };
    expect(failure(many).switchOff).toBe(true);
    expect(failure({ ...many, failures: SWITCH_OFF_AFTER_FAILURES - 1 }).switchOff).toBe(false);
    expect(failure({ ...many, failingSince: T - SWITCH_OFF_AFTER_MS + 1 }).switchOff).toBe(false);
  });

  test('a receiver that is down for a day is tried about thirty times', () => {
    let at = T;
    let attempts = 0;
    for (;;) {
      attempts += 1;
      const { nextAttemptAt } = failure({ at, attempts, createdAt: T });
      if (nextAttemptAt === null) break;
      at = nextAttemptAt;
    }
    expect(attempts).toBeGreaterThan(25);
    expect(attempts).toBeLessThan(40);
  });
});
