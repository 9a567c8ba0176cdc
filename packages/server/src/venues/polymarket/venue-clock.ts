/**
 * How far the venue's clock is from ours, asked of its `/time`. Requests are signed with the venue's time, because it refuses
 * signatures that are too old or too new; how old is nowhere documented. Beyond half a minute one of the two clocks is
 * plainly wrong, and ends of orders and matches would be judged by it: the venue then takes no orders, and says why.
 */
import type { OutboundLog } from '../../platform/outbound/http.ts';
import type { VenueHttp } from './http.ts';

export interface VenueClock {
  /** Our clock, with the difference added. Epoch milliseconds. */
  now(): number;
  /** Whole seconds that the venue's clock is ahead of ours, negative: behind; `null`: never heard. */
  aheadS(): number | null;
  /** `ready`, or a sentence that says what is wrong. No I/O. */
  status(): string;
  stop(): void;
}

export interface VenueClockParts {
  readonly http: Pick<VenueHttp, 'ask'>;
  readonly clock: { now(): number };
  readonly log: OutboundLog;
  /** Shorter ones for tests. */
  readonly everyMs?: number;
  readonly againMs?: number;
}

const EVERY_MS = 60_000;
/** While the clocks differ too much, so that it shows soon when one was set right. */
const AGAIN_MS = 5_000;
const MOST_AHEAD_MS = 30_000;
/** A slower answer says too little of the moment in which it was given. */
const MAX_ROUND_TRIP_MS = 4_000;
/** The venue tells whole seconds: on average it is half a second later. */
const HALF_A_SECOND_MS = 500;
const SECOND_MS = 1_000;
const EARLIEST_S = Date.UTC(2020, 0, 1) / SECOND_MS;
const LATEST_S = Date.UTC(2100, 0, 1) / SECOND_MS;

export function startVenueClock(parts: VenueClockParts): VenueClock {
  const { http, clock, log, everyMs = EVERY_MS, againMs = AGAIN_MS } = parts;
  let aheadMs: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const isTooFar = (): boolean => aheadMs !== null && Math.abs(aheadMs) > MOST_AHEAD_MS;

  const ask = async (): Promise<void> => {
    const sent = performance.now();
    const sentAt = clock.now();
    const { status, value } = await http.ask({ path: '/time' });
    const tookMs = performance.now() - sent;
    const isTime =
      status === 200 &&
      Number.isSafeInteger(value) &&
      (value as number) > EARLIEST_S &&
      (value as number) < LATEST_S;
    if (!isTime || tookMs > MAX_ROUND_TRIP_MS) return;
    const wasTooFar = isTooFar();
    const ahead = (value as number) * SECOND_MS + HALF_A_SECOND_MS - (sentAt + tookMs / 2);
    // A difference within whole seconds is none.
    aheadMs = Math.abs(ahead) < SECOND_MS ? 0 : ahead;
    if (isTooFar() !== wasTooFar)
      log.warn(
        { aheadS: secondsOf(aheadMs) },
        isTooFar() ? 'the clocks differ too much' : 'the clocks agree again',
      );
  };
  const again = (): void => {
    // A venue that does not answer says nothing of its clock.
    ask()
      .catch(() => {})
      .finally(() => {
        if (!isStopped) timer = setTimeout(again, isTooFar() ? againMs : everyMs).unref();
      });
  };
  again();

  return {
    now: () => clock.now() + (aheadMs ?? 0),
    aheadS: () => (aheadMs === null ? null : secondsOf(aheadMs)),
    status() {
      if (aheadMs === null || !isTooFar()) return 'ready';
      const [seconds, side] = [Math.abs(secondsOf(aheadMs)), aheadMs > 0 ? 'ahead of' : 'behind'];
      return `the venue's clock is ${seconds} s ${side} this service's: set the clock of this machine (NTP)`;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

const secondsOf = (ms: number): number => Math.round(ms / SECOND_MS);
