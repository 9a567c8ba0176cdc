/**
 * Where calls wait while the lead, or the sandbox, moves from one replica to another: until it has arrived, at most for
 * `mostMs`, and at most so many of them. One look is made for all of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { VenueUnavailable } from '../../domain/unavailable.ts';

/** Only a few unknown callers may wait, so that they cannot take the places of the desk's own calls. */
export type Waiter = 'desk' | 'external';

export interface WaitingRoom {
  /** From now on it is on its way. */
  moves(): void;
  /** It has not arrived, and may still. */
  isMoving(): boolean;
  /** Resolves at once unless it moves, else when it has arrived or the time is over. @throws VenueUnavailable for one too many */
  passed(waiter: Waiter): Promise<void>;
}

export interface WaitingRoomOptions {
  /** Named in errors. */
  readonly what: string;
  readonly mostMs: number;
  readonly hasArrived: () => boolean;
  /** When it went without `moves`, a number of its own each time; `null` while it has not. */
  readonly leftAt: () => number | null;
  /** Finds out where it is. */
  readonly look: () => Promise<unknown>;
}

const MOST_WAITING: Readonly<Record<Waiter, number>> = { desk: 5_000, external: 1_000 };
const LOOK_AGAIN_MS = 20;

export function createWaitingRoom(options: WaitingRoomOptions): WaitingRoom {
  const { what, mostMs, hasArrived, look } = options;
  const waiting = { desk: 0, external: 0 };
  let until = 0;
  let seenLeft: number | null = null;
  let watching: Promise<unknown> | null = null;

  const moves = (): void => {
    until = performance.now() + mostMs;
  };
  const isMoving = (): boolean => {
    const leftAt = options.leftAt();
    // Counted from the first look: who went may have stood still for longer than calls wait.
    if (leftAt !== null && leftAt !== seenLeft) moves();
    seenLeft = leftAt ?? seenLeft;
    return performance.now() < until && !hasArrived();
  };
  const lookUntilArrived = async (): Promise<void> => {
    for (;;) {
      await Promise.all([look().catch(() => {}), sleep(LOOK_AGAIN_MS)]);
      if (!isMoving()) return;
    }
  };
  const watch = async (): Promise<void> => {
    const over = new AbortController();
    // A look may hang as long as the database does.
    await Promise.race([
      lookUntilArrived(),
      sleep(Math.max(0, until - performance.now()), undefined, { signal: over.signal }),
    ]);
    over.abort();
  };

  return {
    moves,
    isMoving,
    async passed(waiter) {
      if (!isMoving()) return;
      if (waiting[waiter] >= MOST_WAITING[waiter])
        throw new VenueUnavailable(`Too many calls wait for ${what}: try again in a second.`);
      waiting[waiter] += 1;
      try {
        while (isMoving()) {
          watching ??= watch().finally(() => {
            watching = null;
          });
          await watching;
        }
      } finally {
        waiting[waiter] -= 1;
      }
    },
  };
}
