/** How long until something, for people: hours, or minutes where "0 hours" would say nothing. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function timeLeft(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute';
  if (ms < HOUR_MS) {
    const minutes = Math.round(ms / MINUTE_MS);
    return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  }
  const hours = Math.round((ms / HOUR_MS) * 10) / 10;
  return hours === 1 ? 'an hour' : `${hours} hours`;
}
