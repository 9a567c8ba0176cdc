/**
 * Orders that the venue takes at the moment, learnt from its answers: a restart of its engine, post-only and cancel-only minutes,
 * its rate limits. New orders pause until the time that the venue named, else for a time that grows; then one order finds
 * out. Cancels are never paused.
 */
import type { Address } from '@bellwether/protocol';
import type { VenueReply } from './http.ts';
import { errorTextOf } from './order-refusals.ts';

export type VenueMode = 'restarting' | 'post_only' | 'cancel_only' | 'disabled' | 'rate_limited';

export interface Pause {
  readonly mode: VenueMode;
  /** Epoch milliseconds. */
  readonly until: number;
}

export interface Modes {
  /** Reads the mode out of any answer to an order. */
  note(reply: VenueReply, signer: Address): void;
  /** Why an order would not be taken now; `null` when it may be sent. */
  pause(order: { readonly postOnly: boolean; readonly signer: Address }): Pause | null;
  /** `ready`, or a sentence that says why no order at all is sent. */
  status(): string;
}

const SENTENCES: Readonly<Record<VenueMode, string>> = {
  restarting: 'the venue restarts its matching engine',
  post_only: 'the venue takes post-only orders and cancels only',
  cancel_only: 'the venue takes cancels only',
  disabled: 'the venue has stopped trading',
  rate_limited: 'the venue asks for fewer orders',
};

export const sentenceOf = ({ mode, until }: Pause): string =>
  `${SENTENCES[mode]}; orders are tried again at ${new Date(until).toISOString()}`;

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** A pause that the venue names is believed up to this. */
const MAX_NAMED_PAUSE_MS = 5 * 60_000;
const MAX_SIGNERS = 10_000;

export function createModes(clock: { now(): number }): Modes {
  let everyone: Pause | null = null;
  let repeats = 0;
  const signers = new Map<Address, Pause>();

  const untilOf = (named: number | null): number => {
    const doublings = Math.min(Math.max(0, repeats - 1), 10);
    const grown = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** doublings);
    return clock.now() + Math.min(named ?? grown, MAX_NAMED_PAUSE_MS);
  };
  const pauseAll = (mode: VenueMode, named: number | null): void => {
    // Orders that were on their way together meet one trouble, however many they are.
    if (current(everyone) === null) repeats += 1;
    everyone = { mode, until: untilOf(named) };
  };
  const current = (pause: Pause | null | undefined): Pause | null =>
    pause != null && pause.until > clock.now() ? pause : null;

  return {
    note(reply, signer) {
      const { status, limits } = reply;
      if (status === 425) return pauseAll('restarting', limits.retryAfterMs);
      if (status === 503) {
        const mode = modeOf(reply);
        if (mode !== null) pauseAll(mode, limits.retryAfterMs ?? namedSeconds(reply));
        return;
      }
      if (status === 429) {
        if (limits.remaining === null && limits.reset === null)
          return pauseAll('rate_limited', limits.retryAfterMs);
        const named =
          limits.retryAfterMs ?? (limits.reset === null ? null : limits.reset * 1000 - clock.now());
        if (signers.size >= MAX_SIGNERS)
          for (const [key, one] of signers) if (current(one) === null) signers.delete(key);
        if (signers.size < MAX_SIGNERS)
          signers.set(signer, { mode: 'rate_limited', until: untilOf(Math.max(named ?? FIRST_PAUSE_MS, 0)) });
        return;
      }
      if (status < 500) {
        everyone = null;
        repeats = 0;
      }
    },
    pause({ postOnly, signer }) {
      const all = current(everyone);
      if (all !== null && !(all.mode === 'post_only' && postOnly)) return all;
      return current(signers.get(signer));
    },
    status() {
      const all = current(everyone);
      return all === null || all.mode === 'post_only' ? 'ready' : sentenceOf(all);
    },
  };
}

function modeOf(reply: VenueReply): VenueMode | null {
  const code = (reply.value as { readonly code?: unknown } | null | undefined)?.code;
  const text = errorTextOf(reply);
  if (code === 'post_only_mode' || /post-only mode/i.test(text)) return 'post_only';
  if (/cancel-only/i.test(text)) return 'cancel_only';
  if (/Trading is currently disabled/i.test(text)) return 'disabled';
  if (/Service is not ready/i.test(text)) return 'restarting';
  return null;
}

function namedSeconds({ value }: VenueReply): number | null {
  const seconds = (value as { readonly retry_after_seconds?: unknown } | null | undefined)
    ?.retry_after_seconds;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1000 : null;
}
