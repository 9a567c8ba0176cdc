/** Time: the clock that the desk goes by, and points in time as requests name them. */

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

const SECONDS = /^\d{9,10}$/;
const MILLISECONDS = /^\d{12,13}$/;
const ISO_WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/i;

/** ISO 8601 with zone, epoch seconds or epoch milliseconds. @returns epoch milliseconds; NaN when it is none of them */
export function parseTime(text: string): number {
  if (SECONDS.test(text)) return Number(text) * 1000;
  if (MILLISECONDS.test(text)) return Number(text);
  // A plus sign that was not escaped arrives as a space.
  const iso = text.replace(/ (?=\d\d:?\d\d$)/, '+');
  return ISO_WITH_ZONE.test(iso) ? Date.parse(iso) : Number.NaN;
}
