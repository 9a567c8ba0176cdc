/**
 * The venue's POLY_* headers. Node delivers them in lower case.
 */

export type AuthHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Most difference between a signed request's clock and ours, either way. The venue does not document its limit; five
 * minutes tolerates ordinary clocks and bounds how long a captured request can be replayed.
 */
export const AUTH_TOLERANCE_S = 300;

const SECONDS = /^[0-9]{1,12}$/;

/** The header's text, '' when it is missing or was sent more than once. */
export function headerText(headers: AuthHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Whether the decimal epoch seconds are within the tolerance. */
export const isFresh = (timestamp: string, nowMs: number): boolean =>
  SECONDS.test(timestamp) && Math.abs(Number(timestamp) - nowMs / 1000) <= AUTH_TOLERANCE_S;
