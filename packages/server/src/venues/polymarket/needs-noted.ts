/**
 * Amounts that orders have needed of an account's figures lately: the figures were read before the venue heard of those orders, or
 * while it did.
 */
import type { Micro } from '@bellwether/contract/decimals';
import { BoundedCache } from '../../domain/bounded-cache.ts';

const NAMES_KEPT = 50_000;
/** So long after it was judged an order may still reach the venue. */
const MAY_ARRIVE_MS = 6_000;
/** An account that places more at once is asked about. */
const MOST_NOTES = 200;

interface Note {
  readonly at: number;
  readonly amount: Micro;
}

export function createNeedsNoted() {
  const kept = new BoundedCache<readonly Note[]>({
    entries: NAMES_KEPT,
    weight: NAMES_KEPT,
    weightOf: () => 1,
  });
  return {
    note(name: string, amount: Micro): void {
      const now = performance.now();
      const before = kept.get(name) ?? [];
      // The oldest of too many orders are put together, at the time of the next one: they count too long rather than too short.
      const [oldest, next, ...rest] = before;
      const notes =
        before.length < MOST_NOTES || oldest === undefined || next === undefined
          ? before
          : [{ at: next.at, amount: oldest.amount + next.amount }, ...rest];
      kept.set(name, [...notes, { at: now, amount }]);
    },
    /** Needs that are not in figures which were asked for at that time. */
    since(name: string, askedAt: number): Micro {
      const notes = (kept.get(name) ?? []).filter(({ at }) => at >= askedAt - MAY_ARRIVE_MS);
      kept.set(name, notes);
      return notes.reduce((sum, { amount }) => sum + amount, 0n);
    },
  };
}
