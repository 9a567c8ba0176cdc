/** Days as budgets and results count them. */
import { LAST_MS } from '@bellwether/contract';

const DAY_MS = 86_400_000;

/** A group of trades asks many times, nearly always about today. */
let last = { day: Number.NaN, text: '' };

/** The UTC day of a time, such as `2026-11-22`. @param at epoch milliseconds */
export function utcDay(at: number): string {
  const day = Math.floor(at / DAY_MS);
  if (day !== last.day) last = { day, text: new Date(at).toISOString().slice(0, 10) };
  return last.text;
}

/** Milliseconds that a venue calls a time; `null`: they are none that ISO texts and the database carry. */
export const timeAt = (ms: number): number | null => (ms >= 0 && ms <= LAST_MS ? Math.floor(ms) : null);
