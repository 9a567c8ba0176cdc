/**
 * How long somebody waits for an answer. Work that has no effect yet must not get one once the caller has gone; what
 * was handed to a venue can only be reported as it is.
 */
import type { ErrorCode } from '@bellwether/contract';
import { type Refusal, refusal } from '../refusal.ts';

/** Answer when the time is up after the hand-over. */
export interface InDoubt {
  readonly code: Extract<ErrorCode, 'order_outcome_unknown' | 'fee_outcome_unknown'>;
  readonly orderId?: string;
}

export interface Deadline {
  /** 0 when it is over. */
  leftMs(): number;
  /** Just before the first effect that cannot be taken back. @returns false when it is over: then it must not happen */
  handOver(doubt: InDoubt): boolean;
}

/** For work without a waiting caller. */
export const ENDLESS: Deadline = { leftMs: () => Number.POSITIVE_INFINITY, handOver: () => true };

/** Of work that another process takes over then. @param until epoch milliseconds */
export const deadlineAt = (until: number, clock: { now(): number }): Deadline => ({
  leftMs: () => Math.max(0, until - clock.now()),
  handOver: () => clock.now() < until,
});

const RETRY_S = 1;

export const tooLate = (): Refusal =>
  refusal('service_unavailable', 'This could not be done in time, and had no effect.', {
    retryAfterS: RETRY_S,
  });

/** @throws Refusal when the caller has gone */
export function requireTime(deadline: Deadline): void {
  if (deadline.leftMs() <= 0) throw tooLate();
}

/** Ends a little before another one, so that there is time left to say what came of it. */
export function within(
  outer: Deadline,
  marginMs: number,
): Deadline & { readonly doubt: () => InDoubt | null } {
  let handed: InDoubt | null = null;
  const leftMs = () => Math.max(0, outer.leftMs() - marginMs);
  return {
    leftMs,
    handOver(doubt) {
      if (leftMs() <= 0 || !outer.handOver(doubt)) return false;
      handed = doubt;
      return true;
    },
    doubt: () => handed,
  };
}
